/*
 * Each rank puts to the next rank and gets from the rank after that. Rank 1 dies at the front, and
 * its replacement stops below the front. Rank 4 has no records of rank 1, and puts to it for the
 * first time after the decision.
 *
 *   one death      The replacement waits for record holders alone. Rank 4 must not arrive before
 *                  the put is in place, because rank 2 gets the word in the next phase.
 *   three deaths   Rank 5 dies before the put, and again after it. The second decision informs rank
 *                  4 of the replacement's position. The third decision names rank 4 as a record
 *                  holder, and the replacement has moved on meanwhile.
 *
 * The replacement announces positions below the front only to the record holders: ranks 0 (puts to
 * rank 1), 2 (puts of rank 1), 3 (gets of rank 1) and 6 (gets from rank 1). All recover locally.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define RANKS   7
#define SEEDS   6
#define SLOW_NS 4000000 /* longer than the other ranks take to pass the gsync */

enum { REPLACED = 1, READER = 2, LATE = 4, SECOND = 5 };
enum { HELD_PHASE = 1, FRONT_PHASE = 4, PHASES = 6 };
/* words of a window: two slots by parity of the phase, the late put, the phase */
enum { LATE_SLOT = 2, PHASE_SLOT = 3 };
#define LATE_WORD 77u

typedef struct job {
    few_t few;
    int is_late; /* rank 4 has put to the dead rank 1 */
    int is_slow; /* rank 4 hangs after its arrival */
} job_t;

static uint64_t word_of(uint32_t rank, uint64_t phase)
{
    return 1000 * (phase + 1) + rank;
}

/* The ranks stop at the front until the first death, and the replacement until the second, then
 * until the late put and the third. */
static keel_status_t phase_hold(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase)
{
    few_t *few = &job->few;
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = LATE_WORD;
    keel_status_t status = KEEL_OK;

    if (rank == REPLACED && keel_incarnation(ctx) > 0 && phase == HELD_PHASE) {
        return (few->play->deaths > 1) ? few_await_deaths(few, rank, 2) : KEEL_OK;
    }
    if (rank == REPLACED && keel_incarnation(ctx) > 0 && phase == HELD_PHASE + 1) {
        while (status == KEEL_OK && !job->is_late) {
            status = few_progress(few, rank);
        }
        return (status == KEEL_OK) ? few_await_deaths(few, rank, few->play->deaths) : status;
    }
    if (phase != FRONT_PHASE) {
        return KEEL_OK;
    }
    status = few_await_deaths(few, rank, 1);
    while (status == KEEL_OK && rank == LATE && ctx->rec.decisions < few->play->deaths / 2 + 1) {
        status = few_progress(few, rank);
    }
    if (status == KEEL_OK && rank == LATE) {
        status = keel_put(win, REPLACED, LATE_SLOT * sizeof(word), &word, sizeof(word));
        job->is_late = 1;
    }
    return status;
}

static keel_status_t phase_access(uint32_t rank, keel_win_h win, uint64_t phase)
{
    const uint64_t word = word_of(rank, phase);
    uint64_t value = 0, late = LATE_WORD;
    keel_status_t status = KEEL_OK;

    if (phase > 0) {
        status = keel_get(win, (rank + 2) % RANKS, ((phase - 1) & 1) * sizeof(word), &value, sizeof(value));
    }
    if (status == KEEL_OK && phase > FRONT_PHASE && rank == READER) {
        status = keel_get(win, REPLACED, LATE_SLOT * sizeof(late), &late, sizeof(late));
    }
    if (status == KEEL_OK && phase > 0 && (value != word_of((rank + 1) % RANKS, phase - 1) || late != LATE_WORD)) {
        return KEEL_ERR_CORRUPT;
    }
    return (status == KEEL_OK) ? keel_put(win, (rank + 1) % RANKS, (phase & 1) * sizeof(word), &word, sizeof(word))
                               : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    uint64_t *own = keel_win_base(win);
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && own[PHASE_SLOT] < PHASES) {
        const uint64_t phase = own[PHASE_SLOT];

        status = phase_hold((job_t *)few, rank, win, phase);
        status = (status == KEEL_OK) ? phase_access(rank, win, phase) : status;
        own[PHASE_SLOT] = phase + 1;
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    }
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && ctx->rec.rollbacks > 0)) {
        keel_sim_flaw(few->sim, "rank %u.%u rolls back", rank, keel_incarnation(ctx));
    }
    return (status == KEEL_OK && rank == REPLACED && own[LATE_SLOT] != LATE_WORD) ? KEEL_ERR_CORRUPT : status;
}

/* True if all ranks are in the front phase of their first life. */
static int are_at_front(const few_t *few)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (few->ctx[r] == NULL || few->ctx[r]->rec.phase != FRONT_PHASE + 1) {
            return 0;
        }
    }
    return 1;
}

/* The replacement is below the front: only its record holders were informed. */
static void check_uninformed(const few_t *few)
{
    static const uint32_t others[] = {LATE, SECOND};

    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (few->ctx[others[i]]->rec.peer_states[REPLACED].state != KEEL_RANK_FRESH) {
            keel_sim_flaw(few->sim, "rank %u was informed of a position below the front", others[i]);
        }
    }
}

/* True if each rank but the replacement has the arrival of rank 4 behind the front. */
static int has_arrived_late(const few_t *few)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        const keel_context_h ctx = few->ctx[r];

        if (r != LATE && r != REPLACED &&
            (ctx == NULL || keel_lane_arrived(&ctx->lane, LATE, &ctx->lane.board[LATE].arrive) < FRONT_PHASE + 2)) {
            return 0;
        }
    }
    return 1;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[REPLACED];

    if (few->deaths == 0 && are_at_front(few)) {
        few_kill(few, REPLACED);
    } else if (few->deaths > 0 && few->deaths < few->play->deaths && few->ctx[SECOND] != NULL && ctx != NULL &&
               ctx->rec.life == KEEL_LIFE_RECOVERING && ctx->rec.phase == HELD_PHASE + few->deaths &&
               job->is_late == (few->deaths > 1)) {
        if (few->deaths == 1) {
            check_uninformed(few);
        }
        few_kill(few, SECOND);
    }
    if (!job->is_slow && few->play->deaths == 1 && ctx != NULL && ctx->rec.life == KEEL_LIFE_RECOVERING &&
        ctx->rec.phase == FRONT_PHASE && has_arrived_late(few)) {
        job->is_slow = keel_sim_hang(few->sim, LATE, SLOW_NS);
    }
}

int main(void)
{
    few_play_t play = {.ranks = RANKS, .windows = 1, .phases = phases, .strike = strike};
    int status = EXIT_SUCCESS;

    for (play.deaths = 1; play.deaths <= 3; play.deaths += 2) {
        status |= few_main_both(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
