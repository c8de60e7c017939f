/*
 * The word of a window's lock in MPI: every interleaving of a few ranks, and turns where a rank
 * would be starved.
 */
#include "adapters/mpi/rma/mpi_lock_word.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

typedef enum { AWAY, COUNTED, WAITING, INSIDE } place_t;

typedef struct actor {
    uint64_t seen;
    uint8_t place, is_reader, looks, rounds; /* rounds: remaining rounds */
    uint32_t is_there;                       /* an empty slot of the set is all zeros */
} actor_t;

enum { ACTORS = 3, STATES = 1 << 22 };

typedef struct state {
    uint64_t word;
    actor_t actors[ACTORS];
} state_t;

static const uint64_t waits = KEEL_MPI_LOCK_READER - KEEL_MPI_LOCK_SHARE;

/* One atomic step of an actor. Returns 0 if the actor has nothing more to do. */
static int step(state_t *state, unsigned i)
{
    actor_t *a = &state->actors[i];
    const uint64_t before = state->word;
    uint64_t next;

    switch (a->place) {
    case AWAY:
        if (a->rounds == 0) {
            return 0;
        }
        a->rounds--;
        a->looks = 0;
        if (a->is_reader) {
            state->word += KEEL_MPI_LOCK_SHARE;
            a->place = keel_mpi_lock_is_open(before) ? INSIDE : COUNTED;
        } else {
            state->word = (before == 0) ? KEEL_MPI_LOCK_OWNED : before;
            a->place = (before == 0) ? INSIDE : COUNTED;
        }
        return 1;
    case COUNTED:
        state->word += a->is_reader ? waits : KEEL_MPI_LOCK_WRITER;
        a->seen = state->word;
        a->place = WAITING;
        return 1;
    case WAITING:
        next = a->is_reader ? keel_mpi_lock_step_reader(a->seen, a->looks ? KEEL_MPI_LOCK_PATIENCE : 0)
                            : keel_mpi_lock_step_writer(a->seen);
        if (next != a->seen && a->seen == before) {
            state->word = next;
            if (((next & KEEL_MPI_LOCK_OWNED) == 0) == a->is_reader) {
                a->place = INSIDE;
                a->seen = 0;
                return 1;
            }
        }
        a->seen = state->word; /* the next look */
        return 1;
    default:
        state->word -= a->is_reader ? KEEL_MPI_LOCK_SHARE : KEEL_MPI_LOCK_OWNED;
        a->place = AWAY;
        return 1;
    }
}

static void check(const state_t *state)
{
    unsigned readers = 0, writers = 0;

    for (unsigned i = 0; i < ACTORS; i++) {
        readers += state->actors[i].place == INSIDE && state->actors[i].is_reader;
        writers += state->actors[i].place == INSIDE && !state->actors[i].is_reader;
    }
    ck_assert_msg(writers <= 1 && (writers == 0 || readers == 0), "%u writers and %u readers inside", writers, readers);
}

/* A set of the states that were met, by open addressing. */
static int is_new(state_t *set, const state_t *state)
{
    uint64_t hash = state->word * 0x9e3779b97f4a7c15u;
    static const state_t none;

    for (unsigned i = 0; i < ACTORS; i++) {
        uint64_t small;

        memcpy(&small, (const char *)&state->actors[i] + sizeof(uint64_t), sizeof(small));
        hash = (hash ^ state->actors[i].seen ^ small << 7 * i) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (uint64_t at = hash % STATES;; at = (at + 1) % STATES) {
        if (memcmp(&set[at], state, sizeof(*state)) == 0) {
            return 0;
        }
        if (memcmp(&set[at], &none, sizeof(none)) == 0) {
            set[at] = *state;
            return 1;
        }
    }
}

/* All interleavings, depth first. Returns the number of states. In a state that no actor can
 * change, every actor has to be done. */
static unsigned long explore(state_t *set, state_t *stack, unsigned readers, uint8_t rounds, int is_patient)
{
    state_t begin;
    unsigned long count = 1, ends = 0;
    size_t depth = 0;

    memset(&begin, 0, sizeof(begin));
    for (unsigned i = 0; i < ACTORS; i++) {
        begin.actors[i].is_reader = i < readers;
        begin.actors[i].rounds = rounds;
        begin.actors[i].is_there = 1;
    }
    (void)is_new(set, &begin);
    stack[depth++] = begin;
    while (depth > 0) {
        const state_t from = stack[--depth];
        int moved = 0;

        for (unsigned i = 0; i < ACTORS; i++) {
            for (int insists = 0; insists <= (is_patient ? 0 : 1); insists++) {
                state_t to = from;

                if (insists && (to.actors[i].place != WAITING || !to.actors[i].is_reader)) {
                    continue;
                }
                to.actors[i].looks = (uint8_t)insists;
                if (!step(&to, i)) {
                    continue;
                }
                to.actors[i].looks = 0;
                check(&to);
                moved |= memcmp(&to, &from, sizeof(to)) != 0;
                if (is_new(set, &to)) {
                    ck_assert_uint_lt(++count, STATES / 2);
                    stack[depth++] = to;
                }
            }
        }
        if (!moved) {
            for (unsigned i = 0; i < ACTORS; i++) {
                ck_assert_msg(from.actors[i].place == AWAY && from.actors[i].rounds == 0, "actor %u waits for ever", i);
            }
            ck_assert_uint_eq(from.word, 0);
            ends++;
        }
    }
    ck_assert_uint_gt(ends, 0);
    return count;
}

START_TEST(no_interleaving_breaks_exclusion_or_ends_in_a_deadlock)
{
    state_t *set = calloc(STATES, sizeof(*set)), *stack = malloc(STATES * sizeof(*stack));

    ck_assert_ptr_nonnull(set);
    ck_assert_ptr_nonnull(stack);
    for (unsigned readers = 0; readers <= ACTORS; readers++) {
        for (int is_patient = 0; is_patient <= 1; is_patient++) {
            memset(set, 0, STATES * sizeof(*set));
            ck_assert_uint_gt(explore(set, stack, readers, 2, is_patient), 20);
        }
    }
    free(set);
    free(stack);
}
END_TEST

START_TEST(new_readers_wait_for_a_waiting_writer)
{
    const uint64_t word = KEEL_MPI_LOCK_SHARE + KEEL_MPI_LOCK_WRITER, waiting = word + KEEL_MPI_LOCK_READER;

    ck_assert_int_eq(keel_mpi_lock_is_open(word), 0);
    ck_assert_uint_eq(keel_mpi_lock_step_reader(waiting, KEEL_MPI_LOCK_PATIENCE - 1), waiting);
    ck_assert_uint_eq(keel_mpi_lock_step_reader(waiting, KEEL_MPI_LOCK_PATIENCE), word + KEEL_MPI_LOCK_SHARE);
    ck_assert_uint_eq(keel_mpi_lock_step_writer(KEEL_MPI_LOCK_WRITER + KEEL_MPI_LOCK_READER),
                      KEEL_MPI_LOCK_OWNED + KEEL_MPI_LOCK_READER);
}
END_TEST

START_TEST(a_reader_comes_in_between_two_writers)
{
    uint64_t word = KEEL_MPI_LOCK_OWNED + KEEL_MPI_LOCK_WRITER + KEEL_MPI_LOCK_READER;

    word = keel_mpi_lock_step_reader(word, 0); /* claims the turn */
    ck_assert_uint_eq(keel_mpi_lock_step_writer(word), word);
    word -= KEEL_MPI_LOCK_OWNED;
    ck_assert_uint_eq(keel_mpi_lock_step_writer(word), word);
    word = keel_mpi_lock_step_reader(word, 0);
    ck_assert_uint_eq(keel_mpi_lock_shares(word), 1);
    word = keel_mpi_lock_step_writer(word); /* ends the turn */
    ck_assert_uint_eq(word, KEEL_MPI_LOCK_SHARE + KEEL_MPI_LOCK_WRITER);
    ck_assert_uint_eq(keel_mpi_lock_step_writer(word - KEEL_MPI_LOCK_SHARE), KEEL_MPI_LOCK_OWNED);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_interleaving_breaks_exclusion_or_ends_in_a_deadlock,
                                  new_readers_wait_for_a_waiting_writer, a_reader_comes_in_between_two_writers, NULL};

    return unit_run("mpi_lock_word", tests);
}
