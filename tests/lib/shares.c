/* Shared locks around phases. */
#include "shares.h"

#include "sim/random.h"
#include "try.h"

enum { TRIES_MAX = 1000 };

/* The draw for one window and phase. Both phases of a lock held across a gsync use the draw of the
 * first. */
typedef struct draw {
    uint64_t bits;
    /* the lock is held across the gsyncs at the phase's start and end */
    int is_held_before, is_held_after;
} draw_t;

static uint64_t bits_of(const shares_t *shares, unsigned number, uint64_t phase)
{
    return keel_random_mix(shares->host->shares ^ (phase << 24) ^ ((uint64_t)number << 16) ^ shares->host->rank);
}

/* True if the lock is held from @a phase into the next phase. No lock is held for more than two. */
static int is_held(const shares_t *shares, unsigned number, uint64_t phase)
{
    return shares->may_hold && phase % 2 == (shares->host->shares >> 8) % 2 && bits_of(shares, number, phase) % 3 == 0;
}

static draw_t draw_of(const shares_t *shares, unsigned number)
{
    const uint64_t phase = shares->phase;
    draw_t draw = {.is_held_before = phase > 0 && is_held(shares, number, phase - 1),
                   .is_held_after = !shares->is_last && is_held(shares, number, phase)};

    draw.bits = bits_of(shares, number, draw.is_held_before ? phase - 1 : phase) >> 8;
    return draw;
}

static int has_all(const draw_t *draw)
{
    return draw->bits % 4 > 1;
}

/* True if the lock of that rank is taken. A draw locks no rank, one or several. */
static int has_rank(const draw_t *draw, uint32_t rank)
{
    return draw->bits % 4 == 1 && (draw->bits >> (8 + rank % 32) & 1);
}

static void shares_point(const shares_t *shares, const char *what)
{
    if (shares->host->point != NULL) {
        shares->host->point(shares->host);
    }
    if (shares->host->note != NULL) {
        shares->host->note(shares->host, what);
    }
}

static keel_status_t take_one(const draw_t *draw, keel_win_h win, uint32_t rank)
{
    keel_status_t status = KEEL_INPROGRESS;

    for (unsigned i = 0; i < TRIES_MAX && status == KEEL_INPROGRESS && (draw->bits >> 4 & 1); i++) {
        status = keel_win_trylock(win, rank, KEEL_LOCK_SHARED);
    }
    return (status == KEEL_INPROGRESS) ? keel_win_lock(win, rank, KEEL_LOCK_SHARED) : status;
}

keel_status_t shares_take(const shares_t *shares, keel_win_h win, unsigned number)
{
    const draw_t draw = draw_of(shares, number);
    const uint32_t ranks = keel_size(shares->host->ctx);

    if (shares->host->shares == 0 || draw.is_held_before) {
        return KEEL_OK;
    }
    if (has_all(&draw)) {
        shares_point(shares, "locks a window, shared, of all");
        return keel_win_lock_all(win);
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (has_rank(&draw, rank)) {
            shares_point(shares, "locks a window, shared");
            TRY(take_one(&draw, win, rank));
        }
    }
    return KEEL_OK;
}

keel_status_t shares_give(const shares_t *shares, keel_win_h win, unsigned number)
{
    const draw_t draw = draw_of(shares, number);
    const uint32_t ranks = keel_size(shares->host->ctx);

    if (shares->host->shares == 0 || draw.is_held_after) {
        return KEEL_OK;
    }
    if (has_all(&draw)) {
        shares_point(shares, "unlocks a window of all");
        return play_did(shares->host, PLAY_DID_FLUSH, PLAY_ALL, keel_win_unlock_all(win));
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (has_rank(&draw, rank)) {
            shares_point(shares, "unlocks a window");
            TRY(play_did(shares->host, PLAY_DID_FLUSH, rank, keel_win_unlock(win, rank)));
        }
    }
    return KEEL_OK;
}
