/* What memory has to hold after a program that mixes. */
#include "mixed_draw.h"

#include <stdio.h>

static void judge_act(const mixed_options_t *options, const mixed_act_t *act, uint32_t rank, mixed_memory_t *memory)
{
    mixed_memory_t *target = &memory[act->target];

    switch (act->kind) {
    case ACT_SECTION:
        *(mixed_is_other(options, act->value) ? &target->locked_count : &target->count) += act->value;
        break;
    case ACT_READING:
    case ACT_PUT:
        target->slot[rank] = act->value;
        break;
    case ACT_ADD:
        *(mixed_is_device(options, act) ? &target->device : &target->total) += act->value;
        if (!mixed_is_device(options, act) && mixed_is_other(options, act->value)) {
            other_combine_here(&target->words, act->value);
        }
        break;
    default:
        break;
    }
}

const char *mixed_judge(const mixed_journal_t *journal, char *text, size_t size)
{
    const mixed_options_t *options = &journal->options;
    mixed_memory_t memory[MIXED_RANKS_MAX] = {0};
    mixed_act_t acts[MIXED_EACH];

    for (uint64_t step = 0; step < options->steps; step++) {
        const mixed_relay_t relay = mixed_step_relay(options, step);

        if (relay.is_due) {
            memory[relay.at].relay[step] = relay.value[1];
        }
    }
    for (uint32_t r = 0; r < options->ranks; r++) {
        for (uint64_t step = 0; step < options->steps; step++) {
            const unsigned count = mixed_step_acts(options, step, r, acts);

            for (unsigned i = 0; i < count; i++) {
                judge_act(options, &acts[i], r, memory);
            }
            if (mixed_step_kind(options, step).waits) {
                memory[(r + 1) % options->ranks].flag[r] = step + 1;
            }
        }
    }
    for (uint32_t r = 0; r < options->ranks; r++) {
        const mixed_memory_t *is = &journal->end[r], *want = &memory[r];

        if (other_differs(&is->words, &want->words) != NULL) {
            snprintf(text, size, "rank %u: %s of what others combined there is wrong", r,
                     other_differs(&is->words, &want->words));
            return text;
        }
        for (uint64_t step = 0; step < MIXED_RELAYS; step++) {
            if (is->relay[step] != want->relay[step]) {
                snprintf(text, size, "rank %u: what was relayed in step %u is %llx instead of %llx", r, (unsigned)step,
                         (unsigned long long)is->relay[step], (unsigned long long)want->relay[step]);
                return text;
            }
        }

        if (is->device != want->device) {
            snprintf(text, size, "rank %u: what a device adds up is %llx instead of %llx", r,
                     (unsigned long long)is->device, (unsigned long long)want->device);
            return text;
        }
        if (is->locked_count != want->locked_count) {
            snprintf(text, size, "rank %u: what is counted under the window's lock is %llx instead of %llx", r,
                     (unsigned long long)is->locked_count, (unsigned long long)want->locked_count);
            return text;
        }
        if (is->count != want->count || is->total != want->total) {
            snprintf(text, size,
                     "rank %u: the count ends with %llx instead of %llx, the total with %llx instead of %llx", r,
                     (unsigned long long)is->count, (unsigned long long)want->count, (unsigned long long)is->total,
                     (unsigned long long)want->total);
            return text;
        }
        for (uint32_t q = 0; q < options->ranks; q++) {
            if (is->slot[q] != want->slot[q] || is->flag[q] != want->flag[q]) {
                snprintf(text, size, "rank %u: what rank %u put there ends with %llx, %llx instead of %llx, %llx", r, q,
                         (unsigned long long)is->slot[q], (unsigned long long)is->flag[q],
                         (unsigned long long)want->slot[q], (unsigned long long)want->flag[q]);
                return text;
            }
        }
    }
    return NULL;
}
