/*
 * Tickets that all ranks race for: in each step every rank draws some from the counter of one rank,
 * by fetch and add. The order is undefined, but every ticket is drawn once, and rank 0 checks all
 * tickets at the end.
 *
 *   tickets STEPS [RANK@STEP.DRAW,...]
 *       the named ranks die there in their first incarnation, before that draw
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 4, CKPT_EVERY = 6, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3 };

typedef struct {
    const char *deaths;
    unsigned long steps;
    keel_context_h ctx;
    keel_win_h win;  /* the counter; at rank 0, the tickets of all ranks follow */
    uint64_t step;   /* protected */
    uint64_t *drawn; /* protected: tickets by step and draw */
} job_t;

static size_t drawn_bytes(const job_t *job)
{
    return job->steps * DRAWS * sizeof(uint64_t);
}

static void die_here(const job_t *job, unsigned draw)
{
    const char *at = (keel_incarnation(job->ctx) == 0) ? job->deaths : NULL;
    unsigned long rank, step, when;

    for (; at != NULL; at = strchr(at, ',')) {
        at += (*at == ',');
        if (sscanf(at, "%lu@%lu.%lu", &rank, &step, &when) == 3 && rank == keel_rank(job->ctx) && step == job->step &&
            when == draw) {
            raise(SIGKILL);
        }
    }
}

static keel_status_t draw_all(job_t *job)
{
    const uint32_t target = (uint32_t)(job->step % keel_size(job->ctx));

    for (unsigned draw = 0; draw < DRAWS; draw++) {
        die_here(job, draw);
        TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, target, 0, sizeof(uint64_t), 1, 0,
                        &job->drawn[job->step * DRAWS + draw]));
    }
    job->step++;
    return (job->step % CKPT_EVERY == 0) ? keel_checkpoint(job->ctx) : keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

/* At rank 0: the tickets drawn from a counter must be the numbers below their count, each once. */
static int is_wrong(const job_t *job)
{
    const uint64_t *all = (const uint64_t *)keel_win_base(job->win) + 1;
    const uint32_t size = keel_size(job->ctx);
    const size_t count = job->steps * DRAWS;
    int wrong = 0;

    for (uint32_t target = 0; target < size; target++) {
        uint8_t *seen = calloc(count * size, 1);
        size_t drawn = 0;

        for (size_t i = 0; i < count * size; i++) {
            if (i % count / DRAWS % size == target) {
                drawn++;
                wrong |= (all[i] >= count * size) || seen[all[i]]++ != 0;
            }
        }
        for (size_t i = 0; i < drawn; i++) {
            wrong |= !seen[i];
        }
        free(seen);
    }
    return wrong;
}

static keel_status_t run(job_t *job, int *wrong)
{
    if (keel_restarted(job->ctx)) {
        TRY(keel_restore(job->ctx));
    }
    while (job->step < job->steps) {
        TRY(draw_all(job));
    }
    TRY(keel_put(job->win, 0, sizeof(uint64_t) + keel_rank(job->ctx) * drawn_bytes(job), job->drawn, drawn_bytes(job)));
    TRY(keel_gsync(job->ctx, 0));
    if (keel_rank(job->ctx) == 0) {
        *wrong = is_wrong(job);
        printf("tickets: %s\n", *wrong ? "wrong" : "each was drawn once");
    }
    return keel_finalize(job->ctx);
}

static keel_status_t open_memory(job_t *job)
{
    TRY(keel_win_alloc(job->ctx, sizeof(uint64_t) + keel_size(job->ctx) * drawn_bytes(job), NULL, &job->win));
    TRY(keel_protect(job->ctx, 0, &job->step, sizeof job->step));
    return keel_protect(job->ctx, 1, job->drawn, drawn_bytes(job));
}

int main(int argc, char **argv)
{
    job_t job = {.steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, .deaths = argc > 2 ? argv[2] : NULL};
    keel_status_t status;
    int wrong = 0;

    if (job.steps == 0) {
        fprintf(stderr, "usage: tickets STEPS [RANK@STEP.DRAW,...]\n");
        return EXIT_USAGE;
    }
    job.drawn = calloc(job.steps * DRAWS, sizeof *job.drawn);
    status = (job.drawn != NULL) ? keel_init(NULL, &job.ctx) : KEEL_ERR_NO_MEMORY;
    if (status == KEEL_OK) {
        status = open_memory(&job);
    }
    if (status == KEEL_OK) {
        do {
            status = run(&job, &wrong);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    free(job.drawn);
    if (status != KEEL_OK) {
        fprintf(stderr, "tickets: %s\n", keel_status_string(status));
        return EXIT_KEEL;
    }
    return wrong ? EXIT_WRONG : 0;
}
