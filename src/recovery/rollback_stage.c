/* Progress of all ranks in a rollback. */
#include "recovery/rollback_stage.h"

#include "peer/control.h"

typedef struct rollback_message {
    uint32_t target;
    uint32_t stage;
} rollback_message_t;

static uint64_t rollback_word(uint32_t target, keel_roll_t stage)
{
    return ((uint64_t)target << 2) | stage;
}

void keel_rollback_stage_receive(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    const rollback_message_t *message = (const void *)in->payload;
    uint64_t word;

    if (in->length != sizeof(*message) || message->stage > KEEL_ROLL_RESTORED) {
        keel_error(rec->message, "malformed rollback message from rank %u refused", in->source);
        return;
    }
    word = rollback_word(message->target, (keel_roll_t)message->stage);
    if (word > rec->roll_stages[in->source]) {
        rec->roll_stages[in->source] = word;
    }
}

keel_status_t keel_rollback_stage_announce(keel_recovery_t *rec, uint32_t target, keel_roll_t stage)
{
    const rollback_message_t message = {.target = target, .stage = stage};

    rec->roll = stage;
    return keel_lane_control_send_all(rec->lane, KEEL_CONTROL_ROLLBACK, &message, sizeof(message));
}

int keel_rollback_stage_is_reached(const keel_recovery_t *rec, uint32_t rank, uint32_t target, keel_roll_t stage)
{
    return rec->roll_stages[rank] >= rollback_word(target, stage);
}
