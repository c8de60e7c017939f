/*
 * The cost of a death by the contents of a phase: the table of contrib/doc/deaths.md, one row by
 * one program.
 *
 *   cells KIND FOLDER none|source|target|both
 *       In the first step after an image, between the two parts of the accesses, rank 1 kills
 *       itself, or its target rank 2, or both. Ranks leave their process ids in FOLDER.
 */
#include "cells.h"
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 9, SAVE_EVERY = 3, DEATH_STEP = 4, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, PATH_BYTES = 4096 };

typedef struct {
    const cells_kind_t *kind;
    const char *folder, *role;
    cells_job_t job;
} cells_t;

static const char *pid_path(const cells_t *cells, uint32_t rank, char *path)
{
    snprintf(path, PATH_BYTES, "%s/cells.%u", cells->folder, rank);
    return path;
}

static void leave_pid(const cells_t *cells)
{
    char path[PATH_BYTES];
    FILE *file = fopen(pid_path(cells, cells->job.rank, path), "w");

    if (file == NULL || fprintf(file, "%ld\n", (long)getpid()) < 0 || fclose(file) != 0) {
        perror(path);
        exit(EXIT_USAGE);
    }
}

static void kill_target(const cells_t *cells)
{
    char path[PATH_BYTES];
    FILE *file = fopen(pid_path(cells, CELLS_TARGET, path), "r");
    long pid;

    if (file == NULL || fscanf(file, "%ld", &pid) != 1 || pid <= 1 || kill((pid_t)pid, SIGKILL) != 0) {
        perror(path);
        exit(EXIT_USAGE);
    }
    fclose(file);
}

/* Kills once in a job: not in a replacement, nor after the death of the target is known. */
static void kill_here(void *arg, cells_job_t *job, uint64_t part)
{
    const cells_t *cells = arg;

    if (part != 0 || job->rank != CELLS_SOURCE || job->step != DEATH_STEP || keel_incarnation(job->ctx) != 0 ||
        keel_rank_incarnation(job->ctx, CELLS_TARGET) != 0 || strcmp(cells->role, "none") == 0) {
        return;
    }
    if (strcmp(cells->role, "source") != 0) {
        kill_target(cells);
    }
    if (strcmp(cells->role, "target") != 0) {
        raise(SIGKILL);
    }
}

static keel_status_t run(cells_t *cells)
{
    cells_job_t *job = &cells->job;
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < STEPS) {
            status = cells_step(job, cells->kind, (job->step + 1) % SAVE_EVERY == 0, kill_here, cells);
            if (status == KEEL_OK && (!cells->kind->has_no_gsync || job->step == STEPS) &&
                !cells_is_right(job, cells->kind)) {
                fprintf(stderr, "cells: %s: rank %u is wrong after step %lu\n", cells->kind->name, job->rank,
                        (unsigned long)job->step);
                exit(EXIT_WRONG);
            }
        }
        if (status == KEEL_OK) {
            status = keel_gsync(job->ctx, 0);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static keel_status_t open_job(cells_t *cells)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = cells->kind->flags};
    static const uint32_t targets[CELLS_RANKS] = {CELLS_TARGET, CELLS_TARGET, CELLS_RANKS, 0};
    cells_job_t *job = &cells->job;

    TRY(keel_init(&params, &job->ctx));
    job->rank = keel_rank(job->ctx);
    job->targets = targets;
    if (keel_size(job->ctx) != CELLS_RANKS) {
        return KEEL_ERR_RANK;
    }
    if (keel_incarnation(job->ctx) == 0) {
        leave_pid(cells);
    }
    return cells_open(job);
}

int main(int argc, char **argv)
{
    cells_t cells = {.kind = (argc == 4) ? cells_kind(argv[1]) : NULL};
    keel_stats_t stats;

    if (cells.kind == NULL) {
        fprintf(stderr, "usage: cells KIND FOLDER none|source|target|both\n");
        return EXIT_USAGE;
    }
    cells.folder = argv[2];
    cells.role = argv[3];
    if (open_job(&cells) != KEEL_OK || run(&cells) != KEEL_OK ||
        keel_stats(cells.job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (cells.job.rank == 3) {
        printf("cells: %s, %s: %lu deaths, %lu rollbacks: right\n", cells.kind->name, cells.role,
               (unsigned long)stats.deaths, (unsigned long)stats.rollbacks);
    }
    return (keel_finalize(cells.job.ctx) == KEEL_OK) ? 0 : EXIT_KEEL;
}
