/*
 * Other ranks come between two stores of a rank (check/plant.h), and act on the values that they
 * see.
 *
 *   shown    Rank 1 has put a word to rank 0 and has not announced the put yet. Rank 0 sees the
 *            word in a test of several words and signals rank 2, which puts over the word. Rank 1
 *            dies, and its replacement puts its word again. The word of rank 2 must come last.
 *   unmet    The same, but the test reports the word's value although the condition on the word is
 *            not met.
 *   found    Rank 0 fetches from its own word. Rank 1 finds the result and puts over it before
 *            rank 0 has announced the value that it fetched. Rank 0 dies later, and its
 *            replacement must come to the same order.
 *   open     Rank 1 has put a word to rank 0 and has not announced the put yet. Rank 2 fetches the
 *            word and puts over it. Rank 1 dies. Its replacement would put the word again, because
 *            no rank announced the put as done: the job must roll back.
 *   stream   Rank 1 puts to rank 0 again and again, each put as slow. Rank 0 waits for the first
 *            put alone: the wait must end during the stream.
 *
 *   sim_order_value_is_seen_before_its_announcement [CASE]
 */
#include "few_ranks.h"

#include "check/plant.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS   20
#define SLOW_NS 2000000 /* longer than the acts of the other ranks meanwhile */
#define LOOK_NS 200000  /* longer than one look at an awaited word */
#define PUTS    40u     /* maximum number of puts of a stream */
#define EACH    0u      /* value of amid: each put is held, not only the put of a given word */
#define OLD     7777u
#define NEW     5555u

/* offsets in each rank's window */
enum { A = 0, B = 8, SIGNAL = 16, GO = 24, DONE = 32 };

typedef struct job {
    few_t few;
    uint32_t victim;     /* rank that is held between two stores in its first life */
    uint64_t amid;       /* the victim is held when rank 0's first word has this value */
    const uint64_t *own; /* rank 0's first word */
    uint64_t since_ns;   /* start of the hold; 0: the victim has not been held */
    unsigned at;         /* progress of the program */
    uint64_t asked;      /* value that the test asks for */
    uint64_t rollbacks;  /* required number of rollbacks */
} job_t;

static job_t *playing;

static keel_status_t put(job_t *job, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(job->few.ctx[rank], target) : status;
}

static keel_status_t until(job_t *job, uint32_t rank, unsigned at)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && job->at < at) {
        status = few_progress(&job->few, rank);
    }
    return status;
}

static keel_status_t last_gsync(job_t *job, uint32_t rank, keel_win_h win, keel_status_t status)
{
    const keel_context_h ctx = job->few.ctx[rank];
    const uint64_t *own = keel_win_base(win);

    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_ERR_ROLLED_BACK && job->rollbacks == 0) {
        keel_sim_flaw(job->few.sim, "rank %u.%u rolls back", rank, keel_incarnation(ctx));
    }
    if (status == KEEL_OK && rank == 0 && own[0] != NEW) {
        keel_sim_flaw(job->few.sim, "what was put last is %u, and there is %lu", NEW, (unsigned long)own[0]);
    }
    if (status == KEEL_OK && (rank == 0 || job->rollbacks == 0) && ctx->rec.rollbacks != job->rollbacks) {
        keel_sim_flaw(job->few.sim, "rank %u.%u rolled back %lu times", rank, keel_incarnation(ctx),
                      (unsigned long)ctx->rec.rollbacks);
    }
    return status;
}

static void at_moment(void)
{
    job_t *job = playing;

    if (job->amid == EACH && keel_sim_current(sim_running) == job->victim) {
        job->since_ns = keel_sim_now_ns(sim_running);
        keel_sim_compute(sim_running, LOOK_NS);
        return;
    }
    if (job->own == NULL || *job->own != job->amid || job->since_ns != 0 ||
        keel_sim_current(sim_running) != job->victim || keel_sim_incarnation(sim_running, job->victim) > 0) {
        return;
    }
    job->since_ns = keel_sim_now_ns(sim_running);
    job->at = (job->at < 1) ? 1 : job->at;
    keel_sim_compute(sim_running, 2 * SLOW_NS);
}

/* ---- shown ---- */

/* Rank 0 signals rank 2 when a test shows its first word. */
static keel_status_t shown_first(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;
    int is_signalled = 0, is_over = 0;

    while (status == KEEL_OK && !is_over) {
        keel_word_t words[2] = {{.win = win, .offset = A, .size = 8, .compare = KEEL_COMPARE_EQ, .value = job->asked},
                                {.win = win, .offset = B, .size = 8, .compare = KEEL_COMPARE_NE}};

        keel_sim_compute(job->few.sim, 1000);
        status = keel_test(job->few.ctx[0], KEEL_WAIT_ALL, words, 2, NULL);
        status = (status == KEEL_INPROGRESS) ? KEEL_OK : status;
        is_over = words[1].is_met;
        if (status == KEEL_OK && words[0].seen != 0 && !is_signalled) {
            is_signalled = 1;
            status = put(job, 0, win, 2, SIGNAL, 1);
        }
    }
    return status;
}

static keel_status_t shown(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        job->own = keel_win_base(win);
        status = shown_first(job, win);
    } else if (rank == 1) {
        while (status == KEEL_OK && job->own == NULL) {
            status = few_progress(few, 1);
        }
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, OLD) : status;
        status = (status == KEEL_OK) ? keel_wait_until(win, GO, 8, KEEL_COMPARE_EQ, 1) : status;
        status = (status == KEEL_OK) ? put(job, 1, win, 0, B, 1) : status;
    } else {
        status = keel_wait_until(win, SIGNAL, 8, KEEL_COMPARE_EQ, 1);
        status = (status == KEEL_OK) ? put(job, 2, win, 0, A, NEW) : status;
        status = (status == KEEL_OK) ? put(job, 2, win, 1, GO, 1) : status;
    }
    return last_gsync(job, rank, win, status);
}

static void shown_strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->since_ns != 0 && keel_sim_now_ns(few->sim) >= job->since_ns + SLOW_NS) {
        few_kill(few, 1);
    }
}

/* ---- found ---- */

static keel_status_t found(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t old = 0;

    if (rank == 0) {
        job->own = keel_win_base(win);
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, A, sizeof(old), OLD, 0, &old);
        status = (status == KEEL_OK) ? keel_wait_until(win, DONE, 8, KEEL_COMPARE_EQ, 1) : status;
        status = (status == KEEL_OK) ? put(job, 0, win, 2, SIGNAL, 1) : status;
        job->at = (status == KEEL_OK) ? 2 : job->at;
        while (status == KEEL_OK && few->deaths == 0) {
            status = few_progress(few, 0);
        }
    } else if (rank == 1) {
        status = until(job, 1, 1);
        status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, 0, A, sizeof(old), 1, 0, &old) : status;
        if (status == KEEL_OK && old != OLD) {
            keel_sim_flaw(few->sim, "rank 1 comes too late or too early: it finds %lu", (unsigned long)old);
        }
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, NEW) : status;
        status = (status == KEEL_OK) ? put(job, 1, win, 0, DONE, 1) : status;
    }
    return last_gsync(job, rank, win, status);
}

static void found_strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->at == 2) {
        few_kill(few, 0);
    }
}

/* ---- open ---- */

static keel_status_t open_put(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t old = 0;

    if (rank == 0) {
        job->own = keel_win_base(win);
    } else if (rank == 1) {
        while (status == KEEL_OK && job->own == NULL) {
            status = few_progress(few, 1);
        }
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, OLD) : status;
    } else {
        status = until(job, 2, 1);
        while (status == KEEL_OK && old != OLD) {
            keel_sim_compute(few->sim, 1000);
            status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, A, sizeof(old), 0, 0, &old);
        }
        status = (status == KEEL_OK) ? put(job, 2, win, 0, A, NEW) : status;
        job->at = (status == KEEL_OK) ? 2 : job->at;
    }
    return last_gsync(job, rank, win, status);
}

static void open_strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->at == 2) {
        few_kill(few, 1);
    }
}

/* ---- stream ---- */

static keel_status_t stream(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;
    unsigned puts;

    if (rank == 0) {
        status = keel_wait_until(win, A, 8, KEEL_COMPARE_EQ, OLD);
        job->at = 2;
    } else if (rank == 1) {
        status = put(job, 1, win, 0, A, OLD);
        for (puts = 0; status == KEEL_OK && job->at < 2 && puts < PUTS; puts++) {
            const uint64_t word = puts;

            status = keel_put(win, 0, B, &word, sizeof(word));
        }
        if (job->at < 2) {
            keel_sim_flaw(few->sim, "%u puts of others later a wait has not ended", puts);
        }
        status = (status == KEEL_OK) ? put(job, 1, win, 0, A, NEW) : status;
    }
    return last_gsync(job, rank, win, status);
}

static void stream_strike(few_t *few)
{
    (void)few;
}

/* ---- all ---- */

typedef struct amid_case {
    const char *name;
    keel_status_t (*phases)(few_t *few, uint32_t rank, keel_win_h last);
    void (*strike)(few_t *few);
    uint32_t victim;
    uint64_t asked;
    uint64_t rollbacks;
    uint64_t amid;
    unsigned deaths;
} amid_case_t;

static int run_case(const amid_case_t *test)
{
    const few_play_t play = {.ranks = 3,
                             .deaths = test->deaths,
                             .windows = 1,
                             .flags = KEEL_PARAM_FLAG_WAITS,
                             .lanes = "KEEL_LANES=direct",
                             .phases = test->phases,
                             .strike = test->strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {.victim = test->victim, .amid = test->amid, .asked = test->asked, .rollbacks = test->rollbacks};

        playing = &job;
        is_right &= few_run(&job.few, &play, seed) && job.since_ns != 0;
    }
    if (!is_right) {
        fprintf(stderr, "  case %s\n", test->name);
    }
    return is_right;
}

int main(int argc, char **argv)
{
    static const amid_case_t cases[] = {{"shown", shown, shown_strike, 1, OLD, 0, OLD, 1},
                                        {"unmet", shown, shown_strike, 1, NEW, 0, OLD, 1},
                                        {"found", found, found_strike, 0, 0, 0, OLD, 1},
                                        {"open", open_put, open_strike, 1, 0, 1, OLD, 1},
                                        {"stream", stream, stream_strike, 1, 0, 0, EACH, 0}};
    int is_right = 1;

    keel_planted_moment = at_moment;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            is_right &= run_case(&cases[i]);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
