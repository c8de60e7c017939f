/*
 * A program with polls: ranks take words in the order of arrival, serve requests, and test for the
 * reply.
 *
 *   first_come STEPS -|RANK@STEP.PLACE,... [declared]
 *       the named ranks die there in their first incarnation: 0 after the puts, 1 between the
 *       words taken, 2 as the server after one reply, else before the request, 3 between tests
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 5, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, RANKS_MAX = 16 };

typedef struct {
    uint64_t number[RANKS_MAX]; /* put before the flag */
    uint32_t flag[RANKS_MAX];
    uint64_t asked[RANKS_MAX]; /* requests, at the server */
    uint64_t answer;
} memory_t;

typedef struct {
    const char *deaths;
    uint64_t steps;
    struct {
        uint64_t step, served, answers;
    } at; /* protected */
    keel_context_h ctx;
    keel_win_h win;
    uint32_t rank, size;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->at.step, place);
}

static void wrong(const job_t *job, const char *what, uint64_t is)
{
    fprintf(stderr, "first_come: rank %u, step %lu: %s is %lu\n", job->rank, (unsigned long)job->at.step, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

/* Takes each word when it arrives; arrived words are left out of the next wait. */
static keel_status_t take_all(job_t *job, keel_wait_for_t how)
{
    const memory_t *own = keel_win_base(job->win);
    const uint32_t said = (uint32_t)job->at.step + 1;
    keel_word_t words[RANKS_MAX] = {0};
    unsigned left = job->size - 1, met;

    for (uint32_t r = 0; r < job->size; r++) {
        words[r] = (keel_word_t){.win = (r != job->rank) ? job->win : NULL,
                                 .offset = offsetof(memory_t, flag) + r * sizeof(said),
                                 .size = sizeof(said),
                                 .compare = KEEL_COMPARE_GE_SIGNED,
                                 .value = said};
    }
    while (left > 0) {
        TRY(keel_wait(job->ctx, how, words, job->size, &met));
        for (uint32_t r = 0; r < job->size; r++) {
            if (words[r].win != NULL && words[r].is_met) {
                words[r].win = NULL;
                left--;
                if (words[r].seen != said || own->number[r] != said * (r + 1ul)) {
                    wrong(job, "a number", own->number[r]);
                }
                die_here(job, 1);
            }
        }
        if (met == 0 || (how == KEEL_WAIT_ALL && left > 0)) {
            wrong(job, "the number met", met);
        }
    }
    return KEEL_OK;
}

/* Replies to every other rank once. */
static keel_status_t serve(job_t *job)
{
    const uint64_t said = job->at.step + 1;
    keel_word_t words[RANKS_MAX] = {0};
    uint64_t answer;

    for (unsigned served = 0; served < job->size - 1;) {
        for (uint32_t r = 0; r < job->size; r++) {
            if (served == 0) {
                words[r] = (keel_word_t){.win = (r != job->rank) ? job->win : NULL,
                                         .offset = offsetof(memory_t, asked) + r * sizeof(said),
                                         .size = sizeof(said),
                                         .value = said};
            }
        }
        TRY(keel_wait(job->ctx, KEEL_WAIT_ANY, words, job->size, NULL));
        for (uint32_t r = 0; r < job->size; r++) {
            if (words[r].win != NULL && words[r].is_met) {
                words[r].win = NULL;
                answer = said << 8 | r;
                TRY(keel_put(job->win, r, offsetof(memory_t, answer), &answer, sizeof(answer)));
                served++;
                die_here(job, 2);
            }
        }
    }
    job->at.served += job->size - 1;
    return KEEL_OK;
}

static keel_status_t ask(job_t *job, uint32_t server)
{
    const uint64_t said = job->at.step + 1;
    keel_word_t word = {.win = job->win,
                        .offset = offsetof(memory_t, answer),
                        .size = sizeof(uint64_t),
                        .value = said << 8 | job->rank};
    keel_status_t status;

    die_here(job, 2);
    TRY(keel_put(job->win, server, offsetof(memory_t, asked) + job->rank * sizeof(said), &said, sizeof(said)));
    do {
        status = keel_test(job->ctx, KEEL_WAIT_ALL, &word, 1, NULL);
        die_here(job, 3);
    } while (status == KEEL_INPROGRESS);
    job->at.answers++;
    return status;
}

static keel_status_t step(job_t *job)
{
    const uint32_t server = (uint32_t)(job->at.step % job->size), said = (uint32_t)job->at.step + 1;
    const uint64_t number = said * (job->rank + 1ul);

    for (uint32_t r = 0; r < job->size; r++) {
        if (r != job->rank) {
            TRY(keel_put(job->win, r, offsetof(memory_t, number) + job->rank * sizeof(number), &number,
                         sizeof(number)));
            TRY(keel_fence(job->ctx));
            TRY(keel_put(job->win, r, offsetof(memory_t, flag) + job->rank * sizeof(said), &said, sizeof(said)));
        }
    }
    die_here(job, 0);
    TRY(take_all(job, (said % 3 == 0) ? KEEL_WAIT_ALL : KEEL_WAIT_ANY));
    TRY((job->rank == server) ? serve(job) : ask(job, server));
    job->at.step++;
    return keel_gsync(job->ctx, (job->at.step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->at.step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static int is_right(const job_t *job)
{
    uint64_t served = 0;

    for (uint64_t s = 0; s < job->steps; s++) {
        served += s % job->size == job->rank;
    }
    return job->at.served == served * (job->size - 1) && job->at.answers == job->steps - served;
}

int main(int argc, char **argv)
{
    const int is_declared = argc == 4;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = is_declared ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    job_t job = {.steps = (argc > 2) ? strtoul(argv[1], NULL, 10) : 0, .deaths = (argc > 2) ? argv[2] : NULL};
    keel_stats_t stats;
    int right;

    if (argc > 4 || job.steps == 0 || (is_declared && strcmp(argv[3], "declared") != 0)) {
        fprintf(stderr, "usage: first_come STEPS -|RANK@STEP.PLACE,... [declared]\n");
        return EXIT_USAGE;
    }
    if (keel_init(&params, &job.ctx) != KEEL_OK || (job.size = keel_size(job.ctx)) > RANKS_MAX) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    if (keel_win_alloc(job.ctx, sizeof(memory_t), NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.at, sizeof(job.at)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    right = is_right(&job);
    if (!right || job.rank == 1) {
        printf("first_come: %u ranks, %lu steps, %lu rollbacks: %s\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks, right ? "right" : "WRONG");
    }
    return (keel_finalize(job.ctx) == KEEL_OK && right) ? 0 : EXIT_WRONG;
}
