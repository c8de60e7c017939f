/* Joins the job of a runtime that attaches Keel by the table of include/keel/runtime.h. */
#include "job/init.h"
#include "runtime_ops.h"

#include "runtime/foreign.h"
#include "transports/table.h"

/* sink of messages before there is a context */
static void table_say(void *arg, keel_message_level_t level, const char *line)
{
    const keel_attach_t *table = arg;

    table->message(table->arg, (int)level, line);
}

keel_status_t keel_init_attached(const keel_attach_t *runtime, const keel_params_t *params, keel_context_h *ctx_p)
{
    keel_message_t message = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};
    keel_params_t returning = {0}; /* keel_init_on() checks the copy */
    keel_attached_start_t start = {.is_reported = 0};
    keel_drivers_t drivers = {.runtime = &keel_runtime_attached_ops, .runtime_arg = &start};
    keel_status_t status = keel_attached_check(runtime, &start.table);

    if (status != KEEL_OK) {
        return status;
    }
    if (start.table.transport != NULL) {
        drivers.transport = keel_transport_named(start.table.transport);
        if (drivers.transport == NULL) {
            keel_error(&message, "keel_init_attached: this library has no transport '%s'", start.table.transport);
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    if (params != NULL) {
        returning = *params;
    }
    if (!(returning.field_mask & KEEL_PARAM_FIELD_FLAGS)) {
        returning.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        returning.flags = 0;
    }
    returning.flags |= KEEL_PARAM_FLAG_CHECKSUM_RETURNS;
    status = keel_init_on(&drivers, &returning, ctx_p);
    if (status == KEEL_OK) {
        keel_init_flush(*ctx_p);
    }
    message.sink = (start.table.message != NULL) ? table_say : NULL;
    message.arg = &start.table;
    if (!start.is_reported) {
        keel_init_report(&message, 1, status);
    }
    return status;
}
