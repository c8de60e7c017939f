/* Status, time and messages of recovery. */
#include "recovery/recovery_status.h"
#include "recovery/shrink.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t keel_recovery_now(const keel_recovery_t *rec)
{
    return rec->lane->runtime->ops->now_ns(rec->lane->runtime);
}

keel_status_t keel_recovery_status(const keel_recovery_t *rec)
{
    if (rec->fatal != KEEL_OK) {
        return rec->fatal;
    }
    if (keel_shrink_is_from_front(rec) && rec->phase < rec->front) {
        return KEEL_OK; /* the gsync up to the front completes */
    }
    return (rec->roll != KEEL_ROLL_NONE || rec->rollback_reason != KEEL_ROLLBACK_NOT_REQUESTED) ? KEEL_ERR_ROLLED_BACK
                                                                                                : KEEL_OK;
}

/* A replacement prints its own messages until it has caught up. Of the survivors only the lowest
 * rank does. */
static int recovery_is_spokesman(const keel_recovery_t *rec)
{
    if (rec->life != KEEL_LIFE_LIVE) {
        return 1;
    }
    for (uint32_t r = 0; r < rec->lane->rank; r++) {
        if (rec->lane->peers[r].is_up) {
            return 0;
        }
    }
    return 1;
}

void keel_recovery_info(keel_recovery_t *rec, const char *format, ...)
{
    const keel_runtime_t *runtime = rec->lane->runtime;
    const char *host = (runtime->place != NULL)  ? runtime->place
                       : (runtime->host != NULL) ? runtime->host[runtime->node[runtime->rank]]
                                                 : NULL;
    char text[256];
    va_list args;
    uint64_t us;

    if (!rec->lane->config->verbose || (!recovery_is_spokesman(rec) && rec->message->level < KEEL_MSG_INFO)) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    us = (keel_recovery_now(rec) + runtime->day_ns) / 1000 % (86400 * UINT64_C(1000000));
    keel_message_print(rec->message, KEEL_MSG_INFO, "%02lu:%02lu:%02lu.%06lu%s%s: %s", us / UINT64_C(3600000000),
                       us / 60000000 % 60, us / 1000000 % 60, us % 1000000, (host != NULL) ? " " : "",
                       (host != NULL) ? host : "", text);
}

void keel_recovery_fail(keel_recovery_t *rec, keel_status_t status)
{
    if (rec->fatal == KEEL_OK) {
        rec->fatal = status;
    }
}
