/* Rounds in which several ranks access one rank, the root. */
#include "gathering.h"
#include "gathering_round.h"

#include "life.h"
#include "sim/random.h"
#include "try.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void gather_point(gather_t *gather, const round_t *round, const char *what)
{
    char text[96];

    if (gather->host->point != NULL) {
        gather->host->point(gather->host);
    }
    if (gather->host->note != NULL) {
        snprintf(text, sizeof(text), "step %u round %u at %u: %s", (unsigned)round->step, round->number,
                 round->ring[round->root], what);
        gather->host->note(gather->host, text);
    }
}

/* The operand by which place @a place changes a counter, in one atomic. The root waits for the sum
 * of all. */
static uint64_t share_of(const gather_t *gather, uint32_t place)
{
    return (gather->kind != GATHER_TOGGLES) ? 1 : 1ull << place;
}

static uint64_t after(const gather_t *gather, uint64_t was, uint64_t share)
{
    return (gather->kind != GATHER_TOGGLES) ? was + share : was ^ share;
}

void gather_words(const gather_t *gather, const round_t *round, uint32_t place, uint64_t *words)
{
    for (unsigned i = 0; i < GATHER_WORDS; i++) {
        words[i] = keel_random_mix(gather->seed ^ (round->step << 24) ^ ((uint64_t)round->number << 16) ^
                                   ((uint64_t)place << 8) ^ i);
    }
}

keel_status_t gather_add(gather_t *gather, const round_t *round, uint32_t to, size_t at, uint64_t share)
{
    const keel_atomic_op_t op = (gather->kind != GATHER_TOGGLES) ? KEEL_ATOMIC_ADD : KEEL_ATOMIC_XOR;

    gather_point(gather, round, "adds");
    return play_did(gather->host, PLAY_DID_PUT, to,
                    keel_atomic(gather->win, op, to, at, sizeof(share), share, 0, NULL));
}

keel_status_t gather_flaw(gather_t *gather, const round_t *round, const char *what)
{
    char text[160];

    snprintf(text, sizeof(text), "rank %u.%u step %u round %u: %s", gather->host->rank, gather->host->incarnation,
             (unsigned)round->step, round->number, what);
    gather->host->flaw(gather->host, text);
    return KEEL_ERR_CORRUPT;
}

keel_status_t gather_await(gather_t *gather, size_t at, uint64_t value)
{
    return keel_wait_until(gather->win, at, sizeof(value), KEEL_COMPARE_EQ, value);
}

/* The root has seen all members, and no rank accesses the counter before the root releases them. */
static void gather_count_again(gather_t *gather)
{
    if (gather_is_several(gather->kinds)) {
        gather->own->count = gather->state.count = 0;
    }
}

/* The signal of the last member to the root. Where members receive values with more bits, the flag
 * is shifted, so no other value of any round equals the signal. */
static uint64_t last_flag(const gather_t *gather, const round_t *round)
{
    return gather_flag(round) << (gather_is_several(gather->kinds) ? GATHER_BITS : 0);
}

/* Signals all other members to continue. */
keel_status_t gather_let_go(gather_t *gather, const round_t *round)
{
    for (uint32_t m = 0; m < round->members; m++) {
        if (m != round->root) {
            TRY(gather_add(gather, round, round->ring[m], offsetof(gather_window_t, leaves), 1));
        }
    }
    return KEEL_OK;
}

keel_status_t gather_await_leave(gather_t *gather, const round_t *round)
{
    gather_point(gather, round, "waits for the announcement");
    gather->state.leaves = after(gather, gather->state.leaves, 1);
    return gather_await(gather, offsetof(gather_window_t, leaves), gather->state.leaves);
}

/* ---- counted ---- */

/* A member puts words, and completes the put before it adds its share to the counter. */
static keel_status_t gather_come(gather_t *gather, const round_t *round)
{
    const uint32_t to = round->ring[round->root];
    uint64_t words[GATHER_WORDS];

    gather_words(gather, round, round->place, words);
    gather_point(gather, round, "puts");
    TRY(play_did(gather->host, PLAY_DID_PUT, to,
                 keel_put(gather->win, to, offsetof(gather_window_t, words[round->place]), words, sizeof(words))));
    TRY((round->seed >> 8 & 1) ? keel_fence(gather->host->ctx) : keel_flush(gather->host->ctx, to));
    TRY(gather_add(gather, round, to, offsetof(gather_window_t, count), share_of(gather, round->place)));
    if (round->seed >> 9 & 1) {
        TRY(play_did(gather->host, PLAY_DID_FLUSH, to, keel_flush(gather->host->ctx, to)));
    }
    return gather_await_leave(gather, round);
}

static keel_status_t gather_compare(gather_t *gather, const round_t *round)
{
    uint64_t words[GATHER_WORDS];

    for (uint32_t m = 0; m < round->members; m++) {
        if (m == round->root) {
            continue;
        }
        gather_words(gather, round, m, words);
        if (memcmp(words, gather->own->words[m], sizeof(words)) != 0) {
            return gather_flaw(gather, round, "what was put before the counter is not there");
        }
        gather->state.hash = keel_random_mix(gather->state.hash ^ gather->own->words[m][0]);
    }
    return KEEL_OK;
}

/* Waits for some members first, no matter which, and then for all. The root adds its own share
 * before, between or after the others. */
static keel_status_t gather_take(gather_t *gather, const round_t *round)
{
    const size_t at = offsetof(gather_window_t, count);
    const uint64_t was = gather->state.count;
    const unsigned own = (unsigned)(round->seed >> 10 & 3);
    uint64_t all = was;

    for (uint32_t m = 0; m < round->members; m++) {
        all = (m == round->root && own == 3) ? all : after(gather, all, share_of(gather, m));
    }
    if (own == 0) {
        TRY(gather_add(gather, round, gather->host->rank, at, share_of(gather, round->root)));
    }
    if (gather->kind == GATHER_ADDS && round->members > 2) {
        gather_point(gather, round, "waits for some");
        TRY(keel_wait_until(gather->win, at, sizeof(was), KEEL_COMPARE_GE,
                            was + 1 + (round->seed >> 16) % (round->members - 1)));
    }
    if (own == 1 || own == 2) {
        TRY(gather_add(gather, round, gather->host->rank, at, share_of(gather, round->root)));
    }
    gather_point(gather, round, "waits for all");
    TRY(gather_await(gather, at, all));
    gather->state.count = all;
    TRY(gather_compare(gather, round));
    gather_count_again(gather);
    return gather_let_go(gather, round);
}

/* ---- tickets ---- */

/* Every member but the last puts; the last puts over their words. The ticket that it fetched proves
 * that the puts of the others are complete. */
static keel_status_t tickets_come(gather_t *gather, const round_t *round)
{
    const uint32_t to = round->ring[round->root];
    const uint64_t flag = last_flag(gather, round);
    uint64_t words[GATHER_WORDS], found = 0;

    gather_words(gather, round, round->place, words);
    gather_point(gather, round, "puts");
    TRY(play_did(gather->host, PLAY_DID_PUT, to,
                 keel_put(gather->win, to, offsetof(gather_window_t, words[round->place]), words, sizeof(words))));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, to, keel_flush(gather->host->ctx, to)));
    gather_point(gather, round, "takes a ticket");
    TRY(play_did(
        gather->host, PLAY_DID_PUT | PLAY_DID_GET, to,
        keel_atomic(gather->win, KEEL_ATOMIC_ADD, to, offsetof(gather_window_t, count), sizeof(found), 1, 0, &found)));
    if ((found & 0xffff) + 1 == round->members - 1) {
        gather_words(gather, round, round->root, words);
        for (uint32_t m = 0; m < round->members; m++) {
            TRY(play_did(gather->host, PLAY_DID_PUT, to,
                         keel_put(gather->win, to, offsetof(gather_window_t, words[m]), words, sizeof(words))));
        }
        TRY(keel_fence(gather->host->ctx));
        TRY(play_did(gather->host, PLAY_DID_PUT, to,
                     keel_put(gather->win, to, offsetof(gather_window_t, announced), &flag, sizeof(flag))));
    }
    return gather_await_leave(gather, round);
}

static keel_status_t tickets_take(gather_t *gather, const round_t *round)
{
    const uint64_t flag = last_flag(gather, round);
    uint64_t words[GATHER_WORDS];

    gather_point(gather, round, "waits for the last");
    TRY(gather_await(gather, offsetof(gather_window_t, announced), flag));
    gather_words(gather, round, round->root, words);
    for (uint32_t m = 0; m < round->members; m++) {
        if (memcmp(words, gather->own->words[m], sizeof(words)) != 0) {
            return gather_flaw(gather, round, "what the last one put is not there");
        }
    }
    gather->own->count = 0; /* no rank accesses the counter before the members are released */
    return gather_let_go(gather, round);
}

/* ---- turns ---- */

#define ROOT_CAME ((uint64_t)1 << 16) /* the root's own share of the counter */

/* Checks the words put here by all other members. With is_over, checks the words put over them by
 * the last member after all turns were taken. */
static keel_status_t turns_compare(gather_t *gather, const round_t *round, int is_over)
{
    uint64_t words[GATHER_WORDS];

    for (uint32_t m = 0; m < round->members; m++) {
        gather_words(gather, round, is_over ? round->members : m, words);
        if (m != round->place && memcmp(words, gather->own->words[m], sizeof(words)) != 0) {
            return gather_flaw(gather, round,
                               is_over ? "what the last one put is not there"
                                       : "what was put before the last turn is not there");
        }
        gather->state.hash = keel_random_mix(gather->state.hash ^ gather->own->words[m][0]);
    }
    return KEEL_OK;
}

/* Puts to all members except the root and the caller. */
static keel_status_t turns_put(gather_t *gather, const round_t *round, uint32_t from)
{
    uint64_t words[GATHER_WORDS];
    const int is_over = from == round->members;

    gather_words(gather, round, from, words);
    gather_point(gather, round, "puts");
    for (uint32_t m = 0; m < round->members; m++) {
        for (uint32_t slot = is_over ? 0 : from; slot < (is_over ? from : from + 1); slot++) {
            if (m != round->root && m != round->place && slot != m) {
                TRY(play_did(gather->host, PLAY_DID_PUT, round->ring[m],
                             keel_put(gather->win, round->ring[m], offsetof(gather_window_t, words[slot]), words,
                                      sizeof(words))));
            }
        }
    }
    for (uint32_t slot = 0; slot < round->members && is_over; slot++) {
        memcpy(gather->own->words[slot], words, sizeof(words));
    }
    return play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx));
}

static keel_status_t turns_fetch(gather_t *gather, const round_t *round, uint64_t share, uint64_t *found)
{
    const uint32_t to = round->ring[round->root];

    gather_point(gather, round, "takes its turn");
    return play_did(gather->host, PLAY_DID_PUT | PLAY_DID_GET, to,
                    keel_atomic(gather->win, KEEL_ATOMIC_ADD, to, offsetof(gather_window_t, count), sizeof(*found),
                                share, 0, found));
}

/* The caller is the last member. Once it finds the root's share too, the puts of all members to all
 * members are complete. */
static keel_status_t turns_end(gather_t *gather, const round_t *round, uint64_t found)
{
    const uint64_t flag = last_flag(gather, round);

    while (found < ROOT_CAME) {
        gather->host->compute(gather->host, 500);
        TRY(keel_progress(gather->host->ctx));
        TRY(turns_fetch(gather, round, 0, &found));
    }
    TRY(turns_compare(gather, round, 0));
    TRY(turns_put(gather, round, round->members));
    return play_did(
        gather->host, PLAY_DID_PUT, round->ring[round->root],
        keel_put(gather->win, round->ring[round->root], offsetof(gather_window_t, announced), &flag, sizeof(flag)));
}

static keel_status_t turns_come(gather_t *gather, const round_t *round)
{
    uint64_t found = 0;

    TRY(turns_put(gather, round, round->place));
    TRY(turns_fetch(gather, round, 1, &found));
    if (gather->kind == GATHER_OWN_TURNS) {
        const uint32_t to = round->ring[round->root];
        const uint64_t said = found + 1;

        TRY(play_did(gather->host, PLAY_DID_PUT, to,
                     keel_put(gather->win, to, offsetof(gather_window_t, found[round->place]), &said, sizeof(said))));
        TRY(play_did(gather->host, PLAY_DID_FLUSH, to, keel_flush(gather->host->ctx, to)));
    }
    TRY((found % ROOT_CAME + 1 == round->members - 1) ? turns_end(gather, round, found) : KEEL_OK);
    TRY(gather_await_leave(gather, round));
    TRY(turns_compare(gather, round, 1));
    TRY(gather_add(gather, round, round->ring[round->root], offsetof(gather_window_t, count), 1));
    /* all members have compared; their memory may be put to again */
    return gather_await_leave(gather, round);
}

/* Every member has a different turn. A member found the root's share exactly if its turn is after
 * the root's. */
static keel_status_t turns_judge(gather_t *gather, const round_t *round, uint64_t own)
{
    uint64_t taken = 0;

    for (uint32_t m = 0; m < round->members; m++) {
        const uint64_t found = gather->own->found[m] - 1, turn = found % ROOT_CAME;

        if (m == round->root) {
            continue;
        }
        if (turn >= round->members - 1 || (taken >> turn & 1) || (turn >= own) != (found >= ROOT_CAME)) {
            return gather_flaw(gather, round, "turns that no order explains");
        }
        taken |= (uint64_t)1 << turn;
    }
    return KEEL_OK;
}

static keel_status_t turns_take(gather_t *gather, const round_t *round)
{
    const uint64_t flag = last_flag(gather, round);
    uint64_t own = 0;

    TRY(turns_put(gather, round, round->place));
    if (gather->kind == GATHER_OWN_TURNS) {
        TRY(turns_fetch(gather, round, ROOT_CAME, &own));
    } else {
        TRY(gather_add(gather, round, round->ring[round->root], offsetof(gather_window_t, count), ROOT_CAME));
    }
    gather_point(gather, round, "waits for the last");
    TRY(gather_await(gather, offsetof(gather_window_t, announced), flag));
    gather->own->count = 0; /* no rank accesses the counter before the members are released */
    TRY(gather_let_go(gather, round));
    TRY(gather_await(gather, offsetof(gather_window_t, count), round->members - 1));
    TRY((gather->kind == GATHER_OWN_TURNS) ? turns_judge(gather, round, own) : KEEL_OK);
    gather->own->count = 0;
    return gather_let_go(gather, round);
}

/* ---- swaps ---- */

/* The share of the counter follows the swap in order. The last swapped value is still in place when
 * the member reads the word again. */
static keel_status_t swaps_come(gather_t *gather, const round_t *round)
{
    const uint32_t to = round->ring[round->root];
    const size_t at = offsetof(gather_window_t, swapped);
    uint64_t words[GATHER_WORDS], found = 0;

    gather_words(gather, round, round->place, words);
    gather_point(gather, round, "swaps");
    TRY(play_did(gather->host, PLAY_DID_PUT, to,
                 keel_atomic(gather->win, KEEL_ATOMIC_SWAP, to, at, sizeof(found), words[0], 0, NULL)));
    TRY(gather_add(gather, round, to, offsetof(gather_window_t, count), 1));
    TRY(gather_await_leave(gather, round));
    gather_point(gather, round, "looks again");
    TRY(play_did(gather->host, PLAY_DID_GET, to, keel_get(gather->win, to, at, &found, sizeof(found))));
    if (found != gather->own->announced) {
        return gather_flaw(gather, round, "the last swap is another one now");
    }
    if (gather_is_several(gather->kinds)) {
        gather->own->announced = 0; /* the value is larger than any signal of other rounds */
    }
    TRY(gather_add(gather, round, to, offsetof(gather_window_t, count), 1));
    /* once all members have looked, a later round without swaps may put to them again */
    return gather_is_several(gather->kinds) ? gather_await_leave(gather, round) : KEEL_OK;
}

static keel_status_t swaps_take(gather_t *gather, const round_t *round)
{
    const size_t at = offsetof(gather_window_t, count);

    gather->state.count += round->members - 1;
    gather_point(gather, round, "waits for all");
    TRY(gather_await(gather, at, gather->state.count));
    for (uint32_t m = 0; m < round->members; m++) {
        if (m != round->root) {
            TRY(play_did(gather->host, PLAY_DID_PUT, round->ring[m],
                         keel_put(gather->win, round->ring[m], offsetof(gather_window_t, announced),
                                  &gather->own->swapped, sizeof(uint64_t))));
        }
    }
    TRY(keel_fence(gather->host->ctx));
    TRY(gather_let_go(gather, round));
    gather->state.count += round->members - 1;
    TRY(gather_await(gather, at, gather->state.count));
    gather_count_again(gather);
    return gather_is_several(gather->kinds) ? gather_let_go(gather, round) : KEEL_OK;
}

/* ---- first come, first served ---- */

uint64_t gather_flag(const round_t *round)
{
    return (round->step << 16 | round->number) + 1;
}

/* The member receives its turn from the root, and puts the value to all members. */
static keel_status_t answers_come(gather_t *gather, const round_t *round)
{
    const uint32_t to = round->ring[round->root];
    const uint64_t flag = gather_flag(round);
    uint64_t words[GATHER_WORDS], announced;

    gather_words(gather, round, round->place, words);
    gather->host->compute(gather->host, (unsigned)(keel_random_mix(round->seed ^ round->place) % 3000));
    gather_point(gather, round, "puts");
    TRY(play_did(gather->host, PLAY_DID_PUT, to,
                 keel_put(gather->win, to, offsetof(gather_window_t, words[round->place]), words, sizeof(words))));
    TRY((round->seed >> 8 & 1) ? keel_fence(gather->host->ctx) : keel_flush(gather->host->ctx, to));
    TRY(play_did(gather->host, PLAY_DID_PUT, to,
                 keel_put(gather->win, to, offsetof(gather_window_t, came[round->place]), &flag, sizeof(flag))));
    gather_point(gather, round, "waits for its turn");
    TRY(keel_wait_until(gather->win, offsetof(gather_window_t, announced), sizeof(announced), KEEL_COMPARE_GE,
                        flag << GATHER_BITS));
    announced = gather->own->announced;
    gather->state.hash = keel_random_mix(gather->state.hash ^ announced);
    for (uint32_t m = 0; m < round->members; m++) {
        if (m != round->place) {
            TRY(play_did(gather->host, PLAY_DID_PUT, round->ring[m],
                         keel_put(gather->win, round->ring[m], offsetof(gather_window_t, found[round->place]),
                                  &announced, sizeof(announced))));
        }
    }
    TRY(play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx)));
    TRY(gather_add(gather, round, to, offsetof(gather_window_t, count), 1));
    TRY(gather_await_leave(gather, round));
    for (uint32_t m = 0; m < round->members; m++) {
        if (m != round->place && m != round->root && gather->own->found[m] >> GATHER_BITS != flag) {
            return gather_flaw(gather, round, "the value announced to another rank is missing");
        }
        if (m != round->place && m != round->root && gather->own->found[m] == announced) {
            return gather_flaw(gather, round, "another rank received the same value");
        }
    }
    TRY(gather_add(gather, round, to, offsetof(gather_window_t, count), 1));
    /* all members have looked; their memory may be put to again */
    return gather_await_leave(gather, round);
}

/* Waits or tests for any member not served yet; *vain counts failed tests. */
static keel_status_t answers_look(gather_t *gather, const round_t *round, keel_word_t *words, uint64_t *vain)
{
    const unsigned draw = (unsigned)(keel_random_mix(round->seed ^ *vain ^ 0x6c6f6f6b) % 4);
    const int tests = (round->seed >> 20) % 3 == 0 ? draw > 0 : (round->seed >> 20) % 3 == 1;
    keel_status_t status;

    gather_point(gather, round, tests ? "tests for any" : "waits for any");
    if (!tests) {
        return keel_wait(gather->host->ctx, KEEL_WAIT_ANY, words, round->members, NULL);
    }
    while ((status = keel_test(gather->host->ctx, KEEL_WAIT_ANY, words, round->members, NULL)) == KEEL_INPROGRESS) {
        gather->host->compute(gather->host, 300);
        ++*vain;
        if (draw == 3) { /* the time of the look matters to other ranks */
            gather_point(gather, round, "announces a vain look");
            TRY(play_did(gather->host, PLAY_DID_PUT, round->ring[(round->root + 1) % round->members],
                         keel_put(gather->win, round->ring[(round->root + 1) % round->members],
                                  offsetof(gather_window_t, found[round->root]), vain, sizeof(*vain))));
        }
    }
    return status;
}

/* Queries the same words in other ways. The root's own word never counts as met, so KEEL_WAIT_ALL
 * never succeeds. */
static keel_status_t answers_ask_otherwise(gather_t *gather, const round_t *round, keel_word_t *words, uint64_t *vain)
{
    const uint64_t draw = keel_random_mix(round->seed ^ *vain ^ 0x6f746865) % 4;
    keel_word_t other[GATHER_RANKS];
    unsigned met = 0;

    if (draw == 0) {
        return KEEL_OK;
    }
    gather_point(gather, round, "asks otherwise");
    if (draw < 3) {
        return (keel_test(gather->host->ctx, KEEL_WAIT_ALL, words, round->members, NULL) == KEEL_OK)
                   ? gather_flaw(gather, round, "a test finds all conditions met, and one is not")
                   : keel_progress(gather->host->ctx);
    }
    memcpy(other, words, round->members * sizeof(*words));
    for (uint32_t m = 0; m < round->members; m++) {
        other[m].compare = KEEL_COMPARE_ALL_BITS;
    }
    TRY(keel_test(gather->host->ctx, KEEL_WAIT_ANY, other, round->members, &met) == KEEL_INPROGRESS
            ? KEEL_OK
            : keel_progress(gather->host->ctx));
    *vain += met; /* values sent to other ranks depend on the result */
    return KEEL_OK;
}

static keel_status_t answers_serve(gather_t *gather, const round_t *round, uint32_t m, uint64_t announced)
{
    uint64_t words[GATHER_WORDS];

    gather_words(gather, round, m, words);
    if (memcmp(words, gather->own->words[m], sizeof(words)) != 0) {
        return gather_flaw(gather, round, "what was put before it came is not there");
    }
    gather_point(gather, round, "serves one");
    TRY(play_did(
        gather->host, PLAY_DID_PUT, round->ring[m],
        keel_put(gather->win, round->ring[m], offsetof(gather_window_t, announced), &announced, sizeof(announced))));
    return (round->seed >> 24 & 1)
               ? play_did(gather->host, PLAY_DID_FLUSH, round->ring[m], keel_flush(gather->host->ctx, round->ring[m]))
               : KEEL_OK;
}

static keel_status_t answers_take(gather_t *gather, const round_t *round)
{
    const uint64_t flag = gather_flag(round), others = round->members - 1;
    uint64_t announced[GATHER_RANKS] = {0}, served = 0, vain = 0;
    keel_word_t words[GATHER_RANKS];

    for (uint32_t m = 0; m < round->members; m++) {
        words[m] = (keel_word_t){.win = gather->win,
                                 .offset = offsetof(gather_window_t, came[m]),
                                 .size = sizeof(flag),
                                 .compare = KEEL_COMPARE_EQ,
                                 .value = flag};
    }
    /* this word is never met: only the value seen matters */
    words[round->root].offset = offsetof(gather_window_t, count);
    words[round->root].value = UINT64_MAX;
    while (served < others) {
        TRY(answers_look(gather, round, words, &vain));
        TRY(gather->host->asks_otherwise ? answers_ask_otherwise(gather, round, words, &vain) : KEEL_OK);
        vain += words[round->root].seen << 8;
        for (uint32_t m = 0; m < round->members; m++) {
            if (words[m].win != NULL && words[m].is_met) {
                announced[m] = flag << GATHER_BITS | served << 16 | (vain & 0xffff);
                TRY(answers_serve(gather, round, m, announced[m]));
                words[m].win = NULL;
                served++;
            }
        }
    }
    gather_point(gather, round, "waits for all");
    TRY(gather_await(gather, offsetof(gather_window_t, count), others));
    for (uint32_t m = 0; m < round->members; m++) {
        if (m != round->root && gather->own->found[m] != announced[m]) {
            return gather_flaw(gather, round, "a rank received another value than it reports");
        }
        gather->state.hash = keel_random_mix(gather->state.hash ^ announced[m]);
    }
    gather->own->count = 0; /* no rank accesses the counter before the members are released */
    TRY(gather_let_go(gather, round));
    TRY(gather_await(gather, offsetof(gather_window_t, count), others));
    gather->own->count = 0;
    /* completes the puts made after failed looks */
    TRY(gather_is_several(gather->kinds) ? keel_flush_all(gather->host->ctx) : KEEL_OK);
    return gather_let_go(gather, round);
}

/* For each class, the kinds without fetches come before the kinds with fetches. */
static gather_kind_t kind_of(gather_kind_t kinds, uint64_t seed)
{
    static const gather_kind_t drawn[] = {GATHER_ADDS,  GATHER_ANSWERS,   GATHER_POLLS,   GATHER_LOOKS, GATHER_TICKETS,
                                          GATHER_TURNS, GATHER_OWN_TURNS, GATHER_TOGGLES, GATHER_SWAPS};
    const uint64_t count = (kinds == GATHER_UNFETCHED) ? 4 : (kinds == GATHER_SEVERAL) ? 7 : 9;

    return gather_is_several(kinds) ? drawn[keel_random_mix(seed ^ 0x6b696e64) % count] : kinds;
}

keel_status_t gather_round(gather_t *gather, const uint32_t *ring, uint32_t members, uint32_t place, uint64_t step,
                           unsigned number)
{
    const round_t round = {.ring = ring,
                           .members = members,
                           .place = place,
                           .root = number % members,
                           .step = step,
                           .number = number,
                           .seed = keel_random_mix(gather->seed ^ (step << 20) ^ number)};

    gather->kind = kind_of(gather->kinds, round.seed);
    switch (gather->kind) {
    case GATHER_TICKETS:
        return (place == round.root) ? tickets_take(gather, &round) : tickets_come(gather, &round);
    case GATHER_TURNS:
    case GATHER_OWN_TURNS:
        return (place == round.root) ? turns_take(gather, &round) : turns_come(gather, &round);
    case GATHER_ANSWERS:
        return (place == round.root) ? answers_take(gather, &round) : answers_come(gather, &round);
    case GATHER_POLLS:
    case GATHER_LOOKS:
        return gather_polls(gather, &round);
    case GATHER_SWAPS:
        return (place == round.root) ? swaps_take(gather, &round) : swaps_come(gather, &round);
    default:
        return (place == round.root) ? gather_take(gather, &round) : gather_come(gather, &round);
    }
}

keel_status_t gather_check(const gather_t *gather)
{
    if (gather->own->count != gather->state.count || gather->own->leaves != gather->state.leaves) {
        gather->host->flaw(gather->host, "what ranks added up to was lost or came twice");
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

keel_atomic_op_t gather_class(gather_kind_t kind)
{
    return (kind == GATHER_SEVERAL || kind == GATHER_UNFETCHED || kind == GATHER_ADDS || kind == GATHER_ANSWERS ||
            kind == GATHER_POLLS || kind == GATHER_LOOKS || (gather_fetches(kind) && kind != GATHER_ALL))
               ? KEEL_ATOMIC_ADD
           : (kind == GATHER_TOGGLES) ? KEEL_ATOMIC_XOR
                                      : KEEL_ATOMIC_LAST;
}

keel_status_t gather_open(gather_t *gather, keel_context_h ctx, unsigned id)
{
    TRY(keel_win_alloc(ctx, sizeof(gather_window_t), NULL, &gather->win));
    gather->own = keel_win_base(gather->win);
    return keel_protect(ctx, id, &gather->state, sizeof(gather->state));
}
