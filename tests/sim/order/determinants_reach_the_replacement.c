/*
 * Results of local reads are recorded at another rank, the holder. The replacement of the reader
 * must get the same results, at the same points.
 *
 *   same     Two waits or tests in sequence end with the same value. Each result must come after
 *            the data that precedes its own put.
 *   refill   A get of rank 0 from the holder is pending when the holder dies. The holder's
 *            replacement must also have the record that rank 0 sent after the get.
 *   ahead    Rank 0 alone has left a gsync, tests a word and dies. The word changes. The
 *            replacement tests it again; it gets a word, or dies as well.
 *   holder   Another rank becomes the holder while a record is on its way to the previous holder.
 *   alone    One rank runs the program and another holds parity, so no rank can hold a record.
 *
 *   sim_order_determinants_reach_the_replacement [CASE]
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS   40
#define LIVES   4
#define SLOW_NS 20000000 /* longer than a death and its news take */

/* offsets in each rank's window */
enum { A = 0, B = 8, DATA = 16, REPORT = 24, GO = 32, OWN = 40 };

typedef struct job {
    few_t few;
    /* progress of the program over all ranks, which orders the steps of a case */
    unsigned at;
    /* result of rank 0's first test, by life: 1 + whether the word had the value */
    uint64_t said[LIVES];
    int is_reported[LIVES]; /* other ranks know the result */
    int is_met;             /* the moment that the case needs has come */
} job_t;

typedef struct answer_case {
    const char *name;
    few_play_t play;
} answer_case_t;

/* ---- helpers of a rank's program ---- */

static void reach(job_t *job, unsigned at)
{
    job->at = (job->at < at) ? at : job->at;
}

static keel_status_t until(job_t *job, uint32_t rank, unsigned at)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && job->at < at) {
        status = few_progress(&job->few, rank);
    }
    return status;
}

static keel_status_t put(job_t *job, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(job->few.ctx[rank], target) : status;
}

static keel_word_t word_at(keel_win_h win, uint64_t offset, uint64_t value)
{
    return (keel_word_t){
        .win = win, .offset = offset, .size = sizeof(value), .compare = KEEL_COMPARE_EQ, .value = value};
}

static keel_status_t await(job_t *job, uint32_t rank, keel_win_h win, uint64_t offset, uint64_t value)
{
    keel_word_t word = word_at(win, offset, value);

    return keel_wait(job->few.ctx[rank], KEEL_WAIT_ANY, &word, 1, NULL);
}

/* @a said_p: 2: the word has the value, 1: it does not */
static keel_status_t ask(job_t *job, uint32_t rank, keel_win_h win, uint64_t offset, uint64_t value, uint64_t *said_p)
{
    keel_word_t word = word_at(win, offset, value);
    const keel_status_t status = keel_test(job->few.ctx[rank], KEEL_WAIT_ANY, &word, 1, NULL);

    *said_p = 1 + (status == KEEL_OK);
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

/* Rank 0's first test. Rank 0 reports the result to others next. */
static keel_status_t ask_first(job_t *job, keel_win_h win, uint64_t offset, uint64_t value)
{
    return ask(job, 0, win, offset, value, &job->said[keel_incarnation(job->few.ctx[0])]);
}

static keel_status_t report(job_t *job, keel_win_h win, uint32_t target)
{
    const uint32_t life = keel_incarnation(job->few.ctx[0]);
    const keel_status_t status = put(job, 0, win, target, REPORT, job->said[life]);

    job->is_reported[life] = status == KEEL_OK;
    for (uint32_t before = 0; before < life; before++) {
        if (job->is_reported[before] && job->said[before] != job->said[life]) {
            keel_sim_flaw(job->few.sim, "rank 0.%u reports %s as the result of a test, 0.%u reported otherwise", life,
                          (job->said[life] == 2) ? "yes" : "no", before);
        }
    }
    return status;
}

/* The last gsync, which all ranks must reach without a rollback. */
static keel_status_t last_gsync(job_t *job, uint32_t rank, keel_status_t status)
{
    const keel_context_h ctx = job->few.ctx[rank];

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK || (status == KEEL_OK && ctx->rec.rollbacks > 0)) {
        keel_sim_flaw(job->few.sim, "rank %u.%u rolls back", rank, keel_incarnation(ctx));
    }
    return status;
}

static uint64_t *own_word(keel_win_h win, uint64_t offset)
{
    return (uint64_t *)(void *)((char *)keel_win_base(win) + offset);
}

/* ---- same ---- */

/*
 * Rank 1 puts the word that rank 0 waits for first. After rank 0 has gone on, rank 1 signals rank
 * 2. Rank 2 then puts some data, and the word that rank 0 waits for next.
 */
static keel_status_t same_others(job_t *job, uint32_t rank, keel_win_h win)
{
    keel_status_t status;

    if (rank == 1) {
        status = put(job, 1, win, 0, A, 1);
        reach(job, 1);
        status = (status == KEEL_OK) ? until(job, 1, 2) : status;
        return (status == KEEL_OK) ? put(job, 1, win, 2, GO, 1) : status;
    }
    status = await(job, 2, win, GO, 1);
    status = (status == KEEL_OK) ? put(job, 2, win, 0, DATA, 42) : status;
    status = (status == KEEL_OK) ? put(job, 2, win, 0, B, 1) : status;
    reach(job, 3);
    return status;
}

/* Runs after the second wait. */
static keel_status_t same_report(job_t *job, keel_win_h win)
{
    keel_status_t status;

    if (*own_word(win, DATA) != 42) {
        keel_sim_flaw(job->few.sim, "behind its second word rank 0.%u lacks what was put before that",
                      keel_incarnation(job->few.ctx[0]));
    }
    status = put(job, 0, win, 1, REPORT, 1);
    reach(job, 4);
    return (status == KEEL_OK) ? few_await_deaths(&job->few, 0, 1) : status;
}

static keel_status_t same_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status;

    if (rank > 0) {
        status = same_others(job, rank, win);
    } else {
        status = await(job, 0, win, A, 1);
        reach(job, 2);
        status = (status == KEEL_OK) ? await(job, 0, win, B, 1) : status;
        status = (status == KEEL_OK) ? same_report(job, win) : status;
    }
    return last_gsync(job, rank, status);
}

/* By tests, each issued once its word is there. */
static keel_status_t same_tests_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status;
    uint64_t said = 0;

    if (rank > 0) {
        status = same_others(job, rank, win);
    } else {
        status = until(job, 0, 1);
        status = (status == KEEL_OK) ? ask(job, 0, win, A, 1, &said) : status;
        reach(job, 2);
        status = (status == KEEL_OK) ? until(job, 0, 3) : status;
        status = (status == KEEL_OK) ? ask(job, 0, win, B, 1, &said) : status;
        status = (status == KEEL_OK) ? same_report(job, win) : status;
    }
    return last_gsync(job, rank, status);
}

static void same_strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 0 && job->at == 4) {
        job->is_met = 1;
        few_kill(few, 0);
    }
}

/* ---- refill ---- */

static keel_status_t refill_first(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    const int is_first = keel_incarnation(ctx) == 0;
    keel_req_h req = NULL;
    uint64_t word;
    keel_status_t status;

    reach(job, 1);
    status = until(job, 0, 2); /* the holder does not reply */
    if (status == KEEL_OK) {
        status = keel_get_nbx(win, 1, DATA, &word, sizeof(word), NULL, &req);
        job->is_met |= is_first && status == KEEL_INPROGRESS;
    }
    status = (status >= KEEL_OK) ? ask_first(job, win, A, 1) : status;
    status = (status == KEEL_OK) ? report(job, win, 2) : status;
    status = (status == KEEL_OK && req != NULL) ? keel_req_wait(req) : status;
    status = (status == KEEL_OK) ? until(job, 0, 4) : status; /* rank 2 has put the awaited value */
    reach(job, 5);
    return (status == KEEL_OK) ? few_await_deaths(&job->few, 0, 2) : status;
}

static keel_status_t refill_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = refill_first(job, win);
    } else if (rank == 2) {
        status = keel_wait_until(win, REPORT, sizeof(uint64_t), KEEL_COMPARE_NE, 0);
        status = (status == KEEL_OK) ? put(job, 2, win, 0, A, 1) : status;
        reach(job, 4);
    }
    return last_gsync(job, rank, status);
}

static void refill_strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[0];

    if (job->at == 1 && keel_sim_hang(few->sim, 1, UINT64_MAX)) {
        reach(job, 2);
    }
    if (few->deaths == 0 && job->at == 2 && ctx != NULL && ctx->sync.results.number == 1 &&
        /* the record is on its way to the holder, after the get */
        ctx->sync.results.open == NULL) {
        few_kill(few, 1);
        reach(job, 3);
    }
    if (few->deaths == 1 && job->at == 5 && few_is_back(few, 1)) {
        few_kill(few, 0);
    }
}

/* ---- ahead ---- */

#define LEFT 2u /* number of the gsync */

static keel_status_t ahead_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[rank];
    const uint32_t life = keel_incarnation(ctx);
    const int is_getting = few->play->deaths == 1;
    keel_status_t status;
    uint64_t word;

    *own_word(win, OWN) = 7;
    status = keel_gsync(ctx, 0);
    if (rank == 0) {
        /* the asked word is there */
        status = (status == KEEL_OK && life > 0) ? until(job, 0, 2) : status;
        status = (status == KEEL_OK) ? ask_first(job, win, A, 1) : status;
        status =
            /* completes the record of the first test */
            (status == KEEL_OK) ? ask(job, 0, win, OWN, 9, &word) : status;
        reach(job, 1);
        status = (status == KEEL_OK && life == 0) ? few_await_deaths(&job->few, 0, 1) : status;
        status = (status == KEEL_OK && is_getting) ? keel_get(win, 1, OWN, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? report(job, win, 1) : status;
        reach(job, 3);
        status = (status == KEEL_OK) ? few_await_deaths(&job->few, 0, few->play->deaths) : status;
    } else {
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, 1) : status;
        reach(job, 2);
    }
    return last_gsync(job, rank, status);
}

/* Only the holder of rank 0's records knows that rank 0 went on. */
static void ahead_strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];

    if (ctx == NULL || other == NULL) {
        return;
    }
    if (few->deaths == 0 && ctx->rec.phase == LEFT) {
        if (other->rec.phase < LEFT && !job->is_met) {
            job->is_met = keel_sim_hang(few->sim, 1, SLOW_NS);
        }
        if (job->at > 0) {
            few_kill(few, 0);
        }
    } else if (few->deaths == 1 && few->play->deaths == 2 && job->at == 3 && few_is_back(few, 0)) {
        few_kill(few, 0);
    }
}

/* ---- holder ---- */

/* Rank 1 shares memory with rank 0 and holds its records while alive; otherwise rank 2 does. */
static keel_status_t holder_first(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    const uint32_t life = keel_incarnation(ctx);
    keel_status_t status = KEEL_OK;
    uint64_t word;

    reach(job, 1);
    while (status == KEEL_OK && life == 0 && ctx->lane.peers[1].mode == KEEL_PEER_LIVE) {
        status = few_progress(&job->few, 0);
    }
    /* the asked word is there */
    status = (status == KEEL_OK && life > 0) ? until(job, 0, 6) : status;
    status = (status == KEEL_OK) ? ask_first(job, win, A, 1) : status;
    job->is_met |= life == 0 && ctx->sync.results.holder == 2;
    while (status == KEEL_OK && life == 0 && !few_is_back(&job->few, 1)) {
        status = few_progress(&job->few, 0);
    }
    reach(job, 3);
    /* rank 2 receives no message */
    status = (status == KEEL_OK) ? until(job, 0, 4) : status;
    /* sends the record of the first test to rank 2 */
    status = (status == KEEL_OK) ? ask(job, 0, win, OWN, 9, &word) : status;
    status = (status == KEEL_OK) ? report(job, win, 1) : status;
    reach(job, 5);
    return (status == KEEL_OK) ? few_await_deaths(&job->few, 0, 2) : status;
}

static keel_status_t holder_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    *own_word(win, OWN) = 7;
    if (rank == 0) {
        status = holder_first(job, win);
    } else if (rank == 1) {
        status = few_await_deaths(&job->few, 1, 1);
        status = (status == KEEL_OK) ? keel_wait_until(win, REPORT, sizeof(uint64_t), KEEL_COMPARE_NE, 0) : status;
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, 1) : status;
        reach(job, 6);
    }
    return last_gsync(job, rank, status);
}

static void holder_strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 0 && job->at == 1) {
        few_kill(few, 1);
    } else if (job->at == 3 && keel_sim_hang(few->sim, 2, SLOW_NS)) {
        reach(job, 4);
    } else if (few->deaths == 1 && job->at >= 5) {
        few_kill(few, 0);
    }
}

/* ---- alone ---- */

#define ALONE_SAVED 3u /* number of the gsync */
#define ALONE_DIES  6u
#define ALONE_LAST  8u

static keel_status_t alone_phases(job_t *job, uint32_t rank, keel_win_h win, int is_fetching)
{
    const keel_context_h ctx = job->few.ctx[rank];
    keel_status_t status = KEEL_OK;
    uint64_t word = 0;

    while (status == KEEL_OK && ctx->rec.phase < ALONE_LAST) {
        if (is_fetching) {
            status = keel_atomic(win, KEEL_ATOMIC_ADD, rank, A, sizeof(word), 1, 0, &word);
        } else {
            status = ask(job, rank, win, A, 1, &word);
        }
        if (status == KEEL_OK && ctx->rec.phase == ALONE_DIES) {
            reach(job, 1);
            status = few_await_deaths(&job->few, rank, 1);
        }
        if (status == KEEL_OK) {
            status = (ctx->rec.phase == ALONE_SAVED) ? keel_checkpoint(ctx) : keel_gsync(ctx, 0);
        }
    }
    return last_gsync(job, rank, status);
}

static keel_status_t alone_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    return alone_phases((job_t *)few, rank, win, 0);
}

static keel_status_t alone_fetching_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    return alone_phases((job_t *)few, rank, win, 1);
}

static void alone_strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (few->deaths == 0 && job->at == 1) {
        job->is_met = few->ctx[0]->ckpt.set.used.number > 0;
        few_kill(few, 0);
    }
}

/* ---- all ---- */

#define CASE(_name, _strike, ...)           \
    {                                       \
        .name = #_name, .play = {           \
            .flags = KEEL_PARAM_FLAG_WAITS, \
            .windows = 1,                   \
            .phases = _name##_phase,        \
            .strike = _strike,              \
            __VA_ARGS__                     \
        }                                   \
    }

static int run_case(const answer_case_t *test)
{
    int is_right = 1, met = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= few_run(&job.few, &test->play, seed);
        met += job.is_met;
    }
    if (met == 0) {
        fprintf(stderr, "the moment did not come\n");
    }
    if (!is_right || met == 0) {
        fprintf(stderr, "  case %s, %s\n", test->name, (test->play.lanes != NULL) ? test->play.lanes : "any lane");
    }
    return is_right && met > 0;
}

int main(int argc, char **argv)
{
    static const uint32_t apart[] = {0, 0, 1};
    static const answer_case_t cases[] = {
        CASE(same, same_strike, .ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=direct"),
        CASE(same, same_strike, .ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=served"),
        CASE(same_tests, same_strike, .ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=direct"),
        CASE(same_tests, same_strike, .ranks = 3, .deaths = 1, .lanes = "KEEL_LANES=served"),
        CASE(ahead, ahead_strike, .ranks = 2, .deaths = 1, .lanes = "KEEL_LANES=direct"),
        CASE(ahead, ahead_strike, .ranks = 2, .deaths = 2, .lanes = "KEEL_LANES=direct"),
        CASE(refill, refill_strike, .ranks = 3, .deaths = 2, .lanes = "KEEL_LANES=served"),
        CASE(holder, holder_strike, .ranks = 3, .deaths = 2, .node = apart),
        CASE(alone, alone_strike, .ranks = 2, .deaths = 1, .lanes = "KEEL_PARITY=dedicated"),
        CASE(alone_fetching, alone_strike, .ranks = 2, .deaths = 1, .lanes = "KEEL_PARITY=dedicated"),
    };
    int is_right = 1;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            is_right &= run_case(&cases[i]);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
