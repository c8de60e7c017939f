/* The records of atomics. */
#include "rma/atomic_record.h"

#include "access/target.h"

#include "oplog/put_log.h"
#include "peer/combine.h"
#include "wire/digest.h"

size_t keel_atomic_length(const keel_atomic_call_t *call)
{
    return (call->many != NULL) ? sizeof(*call->many) + keel_combine_bytes(call->many) : sizeof(*call->atomic);
}

static void record_write(const keel_atomic_call_t *call, keel_record_t *record)
{
    keel_record_accumulate_t *head = (keel_record_accumulate_t *)(record + 1);

    if (call->many == NULL) {
        memcpy(record + 1, call->atomic, sizeof(*call->atomic));
        return;
    }
    *head = *call->many;
    keel_combine_copy(call->many, head + 1, call->values);
    if (head->may_change) {
        head->compare = keel_digest_data(0, (const uint8_t *)(head + 1), (uint32_t)keel_combine_bytes(head));
    }
}

keel_record_t *keel_atomic_log(const keel_atomic_call_t *call, int is_known)
{
    const keel_context_h ctx = call->win->ctx;
    const size_t length = keel_atomic_length(call);
    keel_record_t *record = keel_put_log_reserve(&ctx->puts, call->rank, length);

    if (record != NULL) {
        (void)keel_put_log_number(&ctx->puts, call->rank);
        keel_put_log_head(&ctx->puts, record, call->where, length);
        record_write(call, record);
    } else if (ctx->lane.peers[call->rank].mode == KEEL_PEER_BEHIND) {
        return NULL; /* the caller tries again and counts then */
    }
    keel_put_log_note_atomic(&ctx->puts, call->rank, keel_classes_kind(call->atomic->op, is_known));
    return record;
}

keel_status_t keel_atomic_bounce(const keel_atomic_call_t *call)
{
    const keel_context_h ctx = call->win->ctx;
    const size_t length = keel_atomic_length(call);
    keel_record_t *record;
    keel_status_t status = keel_bounce_take(ctx, call->rank, call->where, length, &record);

    if (status != KEEL_OK) {
        return status;
    }
    record_write(call, record);
    return keel_bounce_send(ctx, call->rank, length);
}
