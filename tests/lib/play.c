/* Plays a phase: local work, the accesses of each epoch with all ways to complete them, and the
 * observations. */
#include "play.h"

#include "sim/random.h"

#include <string.h>

#define TRY(_call)                   \
    do {                             \
        keel_status_t _st = (_call); \
        if (_st < 0) {               \
            return _st;              \
        }                            \
    } while (0)

uint64_t play_hash(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *byte = data;
    uint64_t word;

    for (; length >= 8; length -= 8, byte += 8) {
        memcpy(&word, byte, 8);
        hash = (hash ^ word) * 0x9ddfea08eb382d69ull;
        hash ^= hash >> 32;
    }
    word = length;
    memcpy(&word, byte, length);
    return keel_random_mix(hash ^ word ^ (length << 56));
}

void play_fill(void *buffer, size_t length, uint64_t seed)
{
    keel_random_t random = {seed};
    unsigned char *byte = buffer;
    uint64_t word;

    for (; length >= 8; length -= 8, byte += 8) {
        word = keel_random_next(&random);
        memcpy(byte, &word, 8);
    }
    word = keel_random_next(&random);
    memcpy(byte, &word, length);
}

static void play_mix(play_t *play, uint64_t value)
{
    play->state.hash = keel_random_mix(play->state.hash ^ value) + 0x9e3779b97f4a7c15ull;
}

static keel_status_t play_observe(play_t *play, uint64_t value, const char *what)
{
    play_mix(play, value);
    return play->access->observe(play->access->arg, (uint32_t)play->state.phase, play->point++, value, what)
               ? KEEL_ERR_CORRUPT
               : KEEL_OK;
}

void play_start(play_t *play, const plan_t *plan, uint32_t rank, const play_access_t *access, void *scratch)
{
    memset(play, 0, sizeof(*play));
    play->plan = plan;
    play->rank = rank;
    play->access = access;
    play->scratch = scratch;
    play->state.hash = keel_random_mix(rank + 1);
}

/* ---- own memory ---- */

static keel_status_t play_local(play_t *play)
{
    const plan_t *plan = play->plan;
    const uint32_t phase = (uint32_t)play->state.phase;
    const plan_slot_t *slot;
    const plan_role_t *role;
    uint64_t seen = 0;
    unsigned w, i;

    for (w = 0; w < plan->window_count; ++w) {
        for (i = 0; i < plan->window[w].slots_of[play->rank]; ++i) {
            role = plan_role(plan, phase, w, play->rank, i);
            slot = &plan->window[w].slot[i];
            if ((role->kind == PLAN_LOCAL) || (role->kind == PLAN_SHARED)) {
                seen = play_hash(seen, play->base[w] + slot->offset, slot->length);
            }
            if ((role->kind == PLAN_LOCAL) && role->is_written) {
                play_fill(play->base[w] + slot->offset, slot->length, play->state.hash ^ (w * 100 + i));
            }
        }
    }
    return play_observe(play, seen, "own memory");
}

/* ---- accesses ---- */

static unsigned char *play_buffer(play_t *play, unsigned i)
{
    return play->scratch + (size_t)i * PLAN_SLOT_BYTES;
}

static void play_done(void *user, keel_status_t status)
{
    struct play_pending *pending = user;

    pending->status = status;
    ++pending->done;
}

static keel_status_t play_issue(play_t *play, const plan_op_t *op, unsigned i)
{
    const play_access_t *access = play->access;
    struct play_pending *pending = &play->pending[i];
    keel_send_cb_t cb = (op->mode == PLAN_CALLBACK) ? play_done : NULL;
    keel_req_h *req_p = (op->mode == PLAN_REQUEST) ? &pending->req : NULL;
    unsigned char *buffer = play_buffer(play, i);
    keel_status_t status;

    play_mix(play, i + 7);
    pending->done = 1;
    pending->status = KEEL_OK;
    pending->req = NULL;
    if (op->is_conditional && (play->state.hash & 1)) {
        return KEEL_OK;
    }
    pending->done = 0;
    if (op->kind == PLAN_GET) {
        memset(buffer, 0xa5, op->length);
        status = access->get(access->arg, op, buffer, cb, pending, req_p);
    } else if (op->kind == PLAN_PUT) {
        play_fill(buffer, op->length, play->state.hash);
        status = access->put(access->arg, op, buffer, cb, pending, req_p);
    } else {
        memset(buffer, 0, 8);
        status = access->update(access->arg, op, play->state.hash, play->state.hash >> 8,
                                op->is_fetching ? buffer : NULL, cb, pending, req_p);
    }
    if (status == KEEL_OK) {
        pending->done = 1;
    }
    if ((status == KEEL_OK) && (op->kind == PLAN_PUT)) {
        memset(buffer, 0x5a, op->length); /* the buffer belongs to the program again */
    }
    return status;
}

static keel_status_t play_wait(play_t *play, const plan_op_t *op, unsigned i)
{
    const play_access_t *access = play->access;
    struct play_pending *pending = &play->pending[i];
    keel_req_h req = pending->req;

    if (req != NULL) {
        pending->req = NULL;
        TRY(access->wait(access->arg, req));
        pending->done = 1;
    }
    while ((op->mode == PLAN_CALLBACK) && !pending->done) {
        TRY(access->progress(access->arg));
        access->compute(access->arg, 200);
    }
    return pending->status;
}

static keel_status_t play_issue_all(play_t *play, const plan_epoch_t *epoch)
{
    unsigned i, k;

    for (i = 0; i < epoch->op_count; ++i) {
        if (epoch->op[i].is_fenced) {
            TRY(play->access->fence(play->access->arg));
        }
        TRY(play_issue(play, &epoch->op[i], i));
        for (k = 0; k <= i; ++k) {
            if ((epoch->op[k].mode == PLAN_REQUEST) && (epoch->op[k].wait_behind == i)) {
                TRY(play_wait(play, &epoch->op[k], k));
                if (epoch->op[k].kind == PLAN_PUT) {
                    memset(play_buffer(play, k), 0x5a, epoch->op[k].length);
                }
            }
        }
    }
    return KEEL_OK;
}

static keel_status_t play_close(play_t *play, const plan_epoch_t *epoch)
{
    const play_access_t *access = play->access;
    unsigned i, k;

    if ((epoch->close == PLAN_FENCE) ||
        (epoch->close == PLAN_LEAVE_OPEN)) { /* a fence completes nothing: wait for the values */
        for (i = 0; i < epoch->op_count; ++i) {
            if (epoch->op[i].mode != PLAN_DETACHED) {
                TRY(play_wait(play, &epoch->op[i], i));
            } else if (epoch->op[i].kind != PLAN_PUT) {
                TRY(access->flush(access->arg, epoch->op[i].target));
            }
        }
    }
    if (epoch->close == PLAN_FENCE) {
        return access->fence(access->arg);
    }
    if (epoch->close == PLAN_FLUSH_ALL) {
        return access->flush_all(access->arg);
    }
    for (i = 0; (epoch->close == PLAN_FLUSH_EACH) && (i < epoch->op_count); ++i) {
        for (k = 0; (k < i) && (epoch->op[k].target != epoch->op[i].target); ++k) {
        }
        if (k == i) {
            TRY(access->flush(access->arg, epoch->op[i].target));
        }
    }
    return KEEL_OK;
}

static keel_status_t play_settle(play_t *play, const plan_epoch_t *epoch)
{
    unsigned i;

    for (i = 0; i < epoch->op_count; ++i) { /* a request exists until the wait; a callback comes */
        TRY(play_wait(play, &epoch->op[i], i));
    }
    for (i = 0; i < epoch->op_count; ++i) {
        const plan_op_t *op = &epoch->op[i];

        if (op->kind == PLAN_GET) {
            TRY(play_observe(play, play_hash(0, play_buffer(play, i), op->length), "get"));
        } else if ((op->kind == PLAN_UPDATE) && op->is_observed) {
            TRY(play_observe(play, play_hash(0, play_buffer(play, i), op->length), "fetched value"));
        }
    }
    return KEEL_OK;
}

/* The library owns the buffer of a detached put until the gsync: no other access uses the
 * buffer. */
static int play_must_flush(const plan_epoch_t *epoch)
{
    unsigned i;

    for (i = 0; i < epoch->op_count; ++i) {
        if (epoch->op[i].mode == PLAN_DETACHED) {
            return 1;
        }
    }
    return 0;
}

keel_status_t play_phase(play_t *play)
{
    const plan_step_t *step = plan_step(play->plan, (uint32_t)play->state.phase, play->rank);
    const play_access_t *access = play->access;
    const plan_epoch_t *epoch;
    unsigned e;

    play->point = 0;
    for (e = 0; e < step->epoch_count; ++e) {
        epoch = &step->epoch[e];
        TRY(play_local(play));
        if (epoch->compute_ns > 0) {
            access->compute(access->arg, epoch->compute_ns);
        }
        TRY(play_issue_all(play, epoch));
        TRY(play_close(play, epoch));
        TRY(play_settle(play, epoch));
        if ((epoch->close == PLAN_FENCE) && play_must_flush(epoch)) {
            TRY(access->flush_all(access->arg));
        }
    }
    play->history[play->state.phase % PLAY_HISTORY] = play->state.hash;
    return play_observe(play, play->state.hash, "hash");
}

void play_release(play_t *play)
{
    unsigned i;

    for (i = 0; i < PLAN_EPOCH_OPS; ++i) {
        if (play->pending[i].req != NULL) {
            play->access->release(play->access->arg, play->pending[i].req);
            play->pending[i].req = NULL;
        }
    }
}
