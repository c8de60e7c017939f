/* One context in a process. */
#include "one_context.h"

#include <base/message.h>

static int is_taken;

keel_status_t keel_one_context_begin(const char *call)
{
    const keel_message_t nobody = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};

    if (__atomic_exchange_n(&is_taken, 1, __ATOMIC_SEQ_CST)) {
        keel_error(&nobody, "%s: this process has a context", call);
        return KEEL_ERR_STATE;
    }
    return KEEL_OK;
}

void keel_one_context_end(void)
{
    __atomic_store_n(&is_taken, 0, __ATOMIC_SEQ_CST);
}
