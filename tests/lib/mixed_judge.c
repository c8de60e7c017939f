/* The expected memory after a program that mixes. */
#include "mixed_draw.h"
#include "mixed_raced.h"

#include <stdio.h>

static uint64_t *word_of(mixed_memory_t *memory, uint64_t offset)
{
    return (uint64_t *)(void *)((char *)memory + offset);
}

static uint64_t word_in(const mixed_memory_t *memory, uint64_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)memory + offset);
}

static void judge_act(const mixed_options_t *options, const mixed_act_t *act, uint32_t rank, mixed_memory_t *memory,
                      mixed_further_t *further)
{
    const unsigned window = (options->ways & MIXED_WINDOWS) ? mixed_further_of(options, act) : MIXED_FURTHER;
    mixed_memory_t *target = &memory[act->target];

    switch (act->kind) {
    case ACT_SECTION:
        *(mixed_is_other(options, act->value) ? &target->locked_count : &target->count) += act->value;
        break;
    case ACT_READING:
    case ACT_PUT:
        *word_of(target, mixed_slot_at(rank)) = act->value;
        if (window < MIXED_FURTHER) {
            further[act->target].put[window][rank] = act->value;
        }
        break;
    case ACT_ADD:
        if (mixed_is_called(options, act)) {
            target->total += act->value + mixed_called_value(act->value);
            further[act->target].called[rank] = act->value;
            break;
        }
        *(mixed_is_device(options, act) ? &target->device : &target->total) += act->value;
        if (!mixed_is_device(options, act) && mixed_is_other(options, act->value)) {
            other_combine_here(&target->words, act->value);
        }
        break;
    default:
        break;
    }
}

/* Compares the words put to further windows, and those put by callbacks. */
static const char *judge_further(const mixed_options_t *options, const mixed_further_t *is, const mixed_further_t *want,
                                 char *text, size_t size)
{
    for (uint32_t r = 0; r < options->ranks; r++) {
        for (uint32_t q = 0; q < options->ranks; q++) {
            for (unsigned w = 0; w < MIXED_FURTHER; w++) {
                if (is[r].put[w][q] != want[r].put[w][q]) {
                    snprintf(text, size, "rank %u: what rank %u put to window %u ends with %llx instead of %llx", r, q,
                             w, (unsigned long long)is[r].put[w][q], (unsigned long long)want[r].put[w][q]);
                    return text;
                }
            }
            if (is[r].called[q] != want[r].called[q]) {
                snprintf(text, size, "rank %u: what callbacks of rank %u put ends with %llx instead of %llx", r, q,
                         (unsigned long long)is[r].called[q], (unsigned long long)want[r].called[q]);
                return text;
            }
        }
    }
    return NULL;
}

const char *mixed_judge(const mixed_journal_t *journal, char *text, size_t size)
{
    const mixed_options_t *options = &journal->options;
    mixed_memory_t memory[MIXED_RANKS_MAX] = {0};
    mixed_further_t further[MIXED_RANKS_MAX] = {0};
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
                judge_act(options, &acts[i], r, memory, further);
            }
            if (mixed_step_kind(options, step).waits) {
                *word_of(&memory[(r + 1) % options->ranks], mixed_flag_at(r)) = step + 1;
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
            const uint64_t slot = mixed_slot_at(q), flag = mixed_flag_at(q);

            if (word_in(is, slot) != word_in(want, slot) || word_in(is, flag) != word_in(want, flag)) {
                snprintf(text, size, "rank %u: what rank %u put there ends with %llx, %llx instead of %llx, %llx", r, q,
                         (unsigned long long)word_in(is, slot), (unsigned long long)word_in(is, flag),
                         (unsigned long long)word_in(want, slot), (unsigned long long)word_in(want, flag));
                return text;
            }
        }
    }
    for (uint32_t r = 0; r < options->ranks && (options->ways & MIXED_TICKETS); r++) {
        const char *flaw = raced_judge(journal, r, text, size);

        if (flaw != NULL) {
            return flaw;
        }
    }
    return judge_further(options, journal->further, further, text, size);
}
