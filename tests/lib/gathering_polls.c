/* Rounds in which ranks poll the progress of other ranks, or of their own requests. The number of
 * polls decides later steps. */
#include "gathering_round.h"

#include "sim/random.h"
#include "try.h"

#include <stddef.h>
#include <string.h>

/* ---- polled ---- */

#define POLLS_TAKEN ((uint64_t)1 << 63)

static keel_status_t polls_put(gather_t *gather, uint32_t to, size_t at, const void *from, size_t length)
{
    return play_did(gather->host, PLAY_DID_PUT, to, keel_put(gather->win, to, at, from, length));
}

/* Polls by keel_poll(). If the program has declared its gets to be polls, memory of other ranks is
 * polled by a get. */
static keel_status_t polls_poll(gather_t *gather, uint32_t from, size_t at, uint64_t *seen)
{
    keel_req_h req = NULL;
    keel_status_t status;

    if ((gather->host->params->flags & KEEL_PARAM_FLAG_POLLS) == 0 || from == gather->host->rank) {
        return keel_poll(gather->win, from, at, seen, sizeof(*seen));
    }
    if ((gather->seed ^ at / sizeof(*seen)) % 2 == 0) {
        return keel_get(gather->win, from, at, seen, sizeof(*seen));
    }
    status = keel_get_nbx(gather->win, from, at, seen, sizeof(*seen), NULL, &req);
    return (req != NULL) ? keel_req_wait(req) : status;
}

/* Polls until the word has the expected value; *vain counts the failed polls. */
static keel_status_t polls_look(gather_t *gather, const round_t *round, size_t at, uint64_t flag, uint64_t *vain)
{
    const uint32_t root = round->ring[round->root], other = round->ring[(round->place + 2) % round->members];
    const unsigned draw = (unsigned)(keel_random_mix(round->seed ^ round->place ^ 0x706f6c6c) % 8);
    uint64_t seen = 0;

    for (gather_point(gather, round, "polls");; gather_point(gather, round, "polls again")) {
        TRY((draw & 1) ? polls_poll(gather, root, at, &seen)
                       : keel_atomic(gather->win, KEEL_ATOMIC_FETCH, root, at, sizeof(seen), 0, 0, &seen));
        if (seen == flag) {
            return KEEL_OK;
        }
        ++*vain;
        if (draw < 2 && *vain < 4) { /* the time of the look matters to other ranks */
            TRY(polls_put(gather, other, offsetof(gather_window_t, announced), vain, sizeof(*vain)));
        }
        if (draw < 6) {
            gather->host->compute(gather->host, 300);
        }
        TRY(keel_progress(gather->host->ctx));
    }
}

/* In some rounds the member puts over the word after it saw the expected value. */
static int polls_consume(const round_t *round)
{
    return (int)(round->seed >> 10 & 1);
}

static keel_status_t polls_each(gather_t *gather, const round_t *round)
{
    const uint32_t root = round->ring[round->root], next = (round->place + 1) % round->members;
    const uint32_t before = round->ring[(round->place + round->members - 1) % round->members];
    const uint64_t flag = gather_flag(round), taken = flag | POLLS_TAKEN;
    uint64_t words[GATHER_WORDS], vain = 0, looked;

    gather->host->compute(gather->host, (unsigned)(keel_random_mix(round->seed ^ round->place) % 3000));
    gather_words(gather, round, round->place, words);
    gather_point(gather, round, "puts");
    TRY(polls_put(gather, root, offsetof(gather_window_t, words[round->place]), words, sizeof(words)));
    TRY(polls_put(gather, before, offsetof(gather_window_t, found[round->place]), words, sizeof(*words)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx)));
    TRY(polls_put(gather, root, offsetof(gather_window_t, came[round->place]), &flag, sizeof(flag)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, root, keel_flush(gather->host->ctx, root)));
    TRY(polls_look(gather, round, offsetof(gather_window_t, came[next]), flag, &vain));
    gather_words(gather, round, next, words);
    if (gather->own->found[next] != words[0]) {
        return gather_flaw(gather, round, "what was put before the word that it polled is not there");
    }
    gather->state.hash = keel_random_mix(gather->state.hash ^ gather->own->found[next]);
    /* possibly before the word's source knows that its put is complete */
    if (polls_consume(round)) {
        gather_point(gather, round, "puts over the word that it polled");
        TRY(polls_put(gather, root, offsetof(gather_window_t, came[next]), &taken, sizeof(taken)));
    }
    looked = flag << GATHER_BITS | (vain & 0xffff);
    if (round->seed >> 9 & 1) {
        gather_point(gather, round, "announces the number of its looks");
        TRY(polls_put(gather, before, offsetof(gather_window_t, looked[round->place]), &looked, sizeof(looked)));
        TRY(play_did(gather->host, PLAY_DID_FLUSH, before, keel_flush(gather->host->ctx, before)));
    }
    gather_point(gather, round, "puts over what was put before it");
    gather_words(gather, round, round->members + next, words);
    TRY(polls_put(gather, root, offsetof(gather_window_t, words[next]), words, sizeof(words)));
    TRY(polls_put(gather, root, offsetof(gather_window_t, looked[round->place]), &looked, sizeof(looked)));
    TRY((round->seed >> 8 & 1) ? keel_flush(gather->host->ctx, root) : KEEL_OK);
    if (!(round->seed >> 9 & 1)) {
        gather_point(gather, round, "announces the number again");
        TRY(polls_put(gather, before, offsetof(gather_window_t, looked[round->place]), &looked, sizeof(looked)));
    }
    return play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx));
}

/* A member puts a word, and later puts the same value again. If a reader received the token in
 * between and finds the value, then the puts before the second put are complete. */
static keel_status_t polls_second_put(gather_t *gather, const round_t *round)
{
    const uint32_t root = round->ring[round->root], next = (round->place + 1) % round->members;
    const uint32_t before = round->ring[(round->place + round->members - 1) % round->members];
    const uint64_t flag = gather_flag(round), none = 0;
    uint64_t seen;

    gather->host->compute(gather->host, (unsigned)(keel_random_mix(round->seed ^ round->place ^ 0x616e6577) % 3000));
    TRY(polls_put(gather, root, offsetof(gather_window_t, sense[round->place]), &flag, sizeof(flag)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, root, keel_flush(gather->host->ctx, root)));
    TRY(polls_put(gather, before, offsetof(gather_window_t, token[round->place]), &flag, sizeof(flag)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, before, keel_flush(gather->host->ctx, before)));
    TRY(polls_poll(gather, root, offsetof(gather_window_t, sense[round->place]), &seen));
    gather_point(gather, round, "puts what is fresh");
    TRY(polls_put(gather, before, offsetof(gather_window_t, fresh[round->place]), &flag, sizeof(flag)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, before, keel_flush(gather->host->ctx, before)));
    TRY(polls_put(gather, root, offsetof(gather_window_t, sense[round->place]), &none, sizeof(none)));
    TRY(play_did(gather->host, PLAY_DID_FLUSH, root, keel_flush(gather->host->ctx, root)));

    gather_point(gather, round, "polls a second put of the word");
    TRY(polls_poll(gather, root, offsetof(gather_window_t, sense[next]), &seen));
    TRY(gather_await(gather, offsetof(gather_window_t, token[next]), flag));
    do {
        TRY(polls_poll(gather, root, offsetof(gather_window_t, sense[next]), &seen));
        gather->host->compute(gather->host, 300);
        TRY(keel_progress(gather->host->ctx));
    } while (seen != none);
    if (gather->own->fresh[next] != flag) {
        return gather_flaw(gather, round, "data before the second put of a word is missing");
    }
    gather_point(gather, round, "has polled the second put");
    return KEEL_OK;
}

/* ---- looked for ---- */

/* Tests both requests until they are complete; NULL: complete. *looked receives the order of
 * completion and the number of failed tests. */
static keel_status_t looks_until(gather_t *gather, const round_t *round, keel_req_h *reqs, uint64_t *looked)
{
    const uint32_t other = round->ring[(round->place + 2) % round->members];
    const unsigned draw = (unsigned)(keel_random_mix(round->seed ^ round->place ^ 0x6c6f6f6b) % 4);
    keel_status_t status;

    for (unsigned i = 0; i < 2 && round->step == 0 && gather_is_undeclared(gather->host, gather->kind); i++) {
        status = (reqs[i] != NULL) ? keel_req_wait(reqs[i]) : KEEL_OK;
        reqs[i] = NULL;
        TRY(status);
    }
    for (unsigned i = 0; reqs[0] != NULL || reqs[1] != NULL; i ^= 1) {
        gather_point(gather, round, "looks");
        status = (reqs[i] != NULL) ? keel_req_test(reqs[i]) : KEEL_OK;
        if (status == KEEL_INPROGRESS) {
            ++*looked;
            if (draw < 2 && *looked < 6) { /* the time of the look matters to other ranks */
                TRY(polls_put(gather, other, offsetof(gather_window_t, announced), looked, sizeof(*looked)));
            }
            gather->host->compute(gather->host, 100 * draw);
            TRY(keel_progress(gather->host->ctx));
        } else if (reqs[i] != NULL) {
            keel_req_free(reqs[i]);
            reqs[i] = NULL;
            TRY(status);
            *looked = *looked << 2 | i;
        }
    }
    return KEEL_OK;
}

static keel_status_t looks_each(gather_t *gather, const round_t *round)
{
    const size_t at = offsetof(gather_window_t, words[round->place]);
    const uint32_t to[] = {round->ring[(round->place + 1) % round->members],
                           round->ring[(round->place + round->members - 1) % round->members]};
    uint64_t words[GATHER_WORDS], got[2][GATHER_WORDS], looked = 0;
    keel_req_h reqs[2] = {NULL, NULL};
    keel_status_t status;

    gather_words(gather, round, round->place, words);
    for (unsigned i = 0; i < 2; i++) {
        TRY(polls_put(gather, to[i], at, words, sizeof(words)));
    }
    TRY(play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx)));
    for (unsigned i = 0; i < 2; i++) {
        gather_point(gather, round, "asks for what it has put");
        status = keel_get_nbx(gather->win, to[i], at, got[i], sizeof(got[i]), NULL, &reqs[i]);
        TRY((status == KEEL_INPROGRESS) ? KEEL_OK : status);
    }
    TRY(looks_until(gather, round, reqs, &looked));
    if (memcmp(got[0], words, sizeof(words)) != 0 || memcmp(got[1], words, sizeof(words)) != 0) {
        return gather_flaw(gather, round, "what it has put is not there when the request is complete");
    }
    looked = gather_flag(round) << GATHER_BITS | (looked & 0xffff);
    gather_point(gather, round, "announces the number of its looks");
    TRY(polls_put(gather, to[1], offsetof(gather_window_t, looked[round->place]), &looked, sizeof(looked)));
    TRY((round->seed >> 9 & 1) ? keel_flush(gather->host->ctx, to[1]) : KEEL_OK);
    gather_point(gather, round, "announces the number again");
    TRY(polls_put(gather, round->ring[round->root], offsetof(gather_window_t, looked[round->place]), &looked,
                  sizeof(looked)));
    return play_did(gather->host, PLAY_DID_FLUSH, PLAY_ALL, keel_flush_all(gather->host->ctx));
}

/* ---- both ---- */

/* Compares the counts sent by place @a m to the root and to another rank. */
static keel_status_t looked_compare(gather_t *gather, const round_t *round, uint32_t m, uint32_t other)
{
    uint64_t looked;

    TRY(play_did(gather->host, PLAY_DID_GET, other,
                 keel_get(gather->win, other, offsetof(gather_window_t, looked[m]), &looked, sizeof(looked))));
    if (looked != gather->own->looked[m] || looked >> GATHER_BITS != gather_flag(round)) {
        return gather_flaw(gather, round, "a rank announced different numbers to two ranks");
    }
    gather->state.hash = keel_random_mix(gather->state.hash ^ looked);
    return KEEL_OK;
}

/* Compares the counts sent by each member to two ranks. Precondition: no rank accesses them any
 * more. */
static keel_status_t polls_compare(gather_t *gather, const round_t *round)
{
    uint64_t words[GATHER_WORDS];

    for (uint32_t m = 0; m < round->members; m++) {
        gather_words(gather, round, round->members + m, words);
        if (gather->kind == GATHER_POLLS && memcmp(words, gather->own->words[m], sizeof(words)) != 0) {
            return gather_flaw(gather, round, "what was put over what was put before a poll is not there");
        }
        if (gather->kind == GATHER_POLLS && polls_consume(round) &&
            gather->own->came[m] != (gather_flag(round) | POLLS_TAKEN)) {
            return gather_flaw(gather, round, "what was put over the word that was polled is not there");
        }
        TRY(looked_compare(gather, round, m, round->ring[(m + round->members - 1) % round->members]));
    }
    return KEEL_OK;
}

static keel_status_t polls_do(gather_t *gather, const round_t *round)
{
    if (gather->kind == GATHER_LOOKS) {
        return looks_each(gather, round);
    }
    TRY(polls_each(gather, round));
    return (round->seed >> 11 & 1) ? polls_second_put(gather, round) : KEEL_OK;
}

static keel_status_t polls_take(gather_t *gather, const round_t *round)
{
    TRY(polls_do(gather, round));
    gather_point(gather, round, "waits for all");
    TRY(gather_await(gather, offsetof(gather_window_t, count), round->members - 1));
    TRY(polls_compare(gather, round));
    gather->own->count = 0; /* no rank accesses the counter before the members are released */
    return gather_let_go(gather, round);
}

static keel_status_t polls_come(gather_t *gather, const round_t *round)
{
    TRY(polls_do(gather, round));
    TRY(gather_add(gather, round, round->ring[round->root], offsetof(gather_window_t, count), 1));
    return gather_await_leave(gather, round);
}

keel_status_t gather_polls(gather_t *gather, const round_t *round)
{
    return (round->place == round->root) ? polls_take(gather, round) : polls_come(gather, round);
}
