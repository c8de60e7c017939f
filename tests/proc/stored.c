/*
 * Stores under deaths: stored COPIES FLAGS DEATHS. FLAGS: permuted, consecutive, static or threads,
 * in which two threads load at the same time. Each third step submits, each second time only the
 * first half of the blocks. Every step loads a drawn part of the blocks of each rank and compares.
 * A rank of DEATHS (as in deaths.h, RANK@STEP.PLACE) dies at PLACE 0 before the loads, 1 before a
 * submit, 2 after it. LOST: as in lost.h, at the begin of a step. A job that begins from files
 * finds no blocks, and submits the version of its step again.
 */
#include "deaths.h"
#include "lost.h"
#include "try.h"

#include <keel/store.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 24,
    EVERY = 3,
    SAVE_EVERY = 5,
    EXIT_WRONG = 1,
    EXIT_USAGE = 2,
    EXIT_KEEL = 3,
    BLOCK = 64,
    BLOCKS = 20000
};

typedef struct {
    const char *deaths;
    int is_static, has_threads;
    uint64_t step; /* protected */
    keel_context_h ctx;
    keel_store_h store;
    uint8_t own[BLOCKS * BLOCK], loaded[2][BLOCKS * BLOCK];
} job_t;

/* The loads of a thread: of every second rank. */
typedef struct {
    job_t *job;
    unsigned number;
    keel_status_t status;
} loader_t;

static uint64_t draw(uint64_t x)
{
    x = (x + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static int submits(const job_t *job, uint64_t step)
{
    return step == 0 || (step % EVERY == 0 && !job->is_static);
}

static uint64_t word_of(uint64_t version, uint32_t rank, uint64_t block)
{
    return draw(version << 48 ^ (uint64_t)rank << 32 ^ block);
}

static uint64_t count_of(uint64_t version, uint32_t rank)
{
    return BLOCKS - draw(version * 131 + rank) % (BLOCKS / 4);
}

/* The submit of all blocks that the version began with. */
static uint64_t base_of(uint64_t version)
{
    return version - version % (2 * EVERY);
}

/* Blocks that the version gave, of those of its base. */
static uint64_t given_in(uint64_t version, uint32_t rank)
{
    const uint64_t count = count_of(base_of(version), rank);

    return (base_of(version) == version) ? count : count / 2;
}

static keel_status_t submit(job_t *job, uint64_t version)
{
    const uint32_t rank = keel_rank(job->ctx);
    const uint64_t count = given_in(version, rank);
    const keel_store_part_t part = {.rank = rank, .count = count, .buffer = job->own};

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t word = word_of(version, rank, i);

        for (unsigned k = 0; k < BLOCK; k += sizeof(word)) {
            memcpy(job->own + i * BLOCK + k, &word, sizeof(word));
        }
    }
    return (base_of(version) == version) ? keel_store_submit(job->store, job->own, count)
                                         : keel_store_update(job->store, &part, 1);
}

static keel_status_t load_beside(const job_t *job, keel_store_part_t *part)
{
    keel_req_h req;
    const keel_status_t status = keel_store_load_nbx(job->store, part, 1, NULL, &req);

    return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
}

static uint64_t version_of(const job_t *job)
{
    return job->is_static ? 0 : job->step - job->step % EVERY;
}

static keel_status_t load(const job_t *job, uint32_t of, uint8_t *loaded)
{
    const uint64_t version = version_of(job), count = count_of(base_of(version), of), given = given_in(version, of);
    const uint64_t first = draw(job->step * 977 + of * 31 + keel_rank(job->ctx)) % count;
    keel_store_part_t part = {.rank = of, .first = first, .count = count - first, .buffer = loaded};
    uint64_t known, word;

    TRY(keel_store_count(job->store, of, &known));
    TRY((of % 2 == 0) ? keel_store_load(job->store, &part, 1) : load_beside(job, &part));
    for (uint64_t i = 0; i < part.count; i++) {
        memcpy(&word, loaded + i * BLOCK + 8, sizeof(word));
        if (known != count || word != word_of((first + i < given) ? version : base_of(version), of, first + i)) {
            fprintf(stderr, "stored: step %lu: block %lu of rank %u is wrong\n", (unsigned long)job->step,
                    (unsigned long)(first + i), of);
            exit(EXIT_WRONG);
        }
    }
    return KEEL_OK;
}

static keel_context_h progressing;

static void progress(void)
{
    (void)keel_progress(progressing);
}

static keel_status_t submit_again(job_t *job)
{
    const uint64_t version = version_of(job);
    keel_store_part_t part = {.rank = 0, .first = 0, .count = 1, .buffer = job->loaded[0]};
    const keel_status_t status = keel_store_load(job->store, &part, 1);

    if (status != KEEL_ERR_LOST) {
        fprintf(stderr, "stored: a load after the restart is wrong: %s\n", keel_status_string(status));
        exit(EXIT_WRONG);
    }
    TRY(submit(job, base_of(version)));
    return (base_of(version) == version) ? KEEL_OK : submit(job, version);
}

static void *load_some(void *arg)
{
    loader_t *loader = arg;
    const job_t *job = loader->job;
    const uint32_t ranks = keel_size(job->ctx), rank = keel_rank(job->ctx);
    const unsigned loaders = job->has_threads ? 2 : 1;

    for (uint32_t of = loader->number; of < ranks && loader->status == KEEL_OK; of += loaders) {
        if (of == ranks / 2) {
            die_when_said(deaths_of_first_life(job->deaths, keel_incarnation(job->ctx)), rank, job->step, 0);
        }
        loader->status = load(job, (of + rank) % ranks, loader->job->loaded[loader->number]);
    }
    return NULL;
}

static keel_status_t load_all(job_t *job)
{
    loader_t first = {.job = job}, second = {.job = job, .number = 1};
    pthread_t thread;

    if (!job->has_threads) {
        load_some(&first);
        return first.status;
    }
    if (pthread_create(&thread, NULL, load_some, &second) != 0) {
        exit(EXIT_KEEL);
    }
    load_some(&first);
    pthread_join(thread, NULL);
    return (first.status == KEEL_OK) ? second.status : first.status;
}

static keel_status_t step(job_t *job)
{
    const uint32_t rank = keel_rank(job->ctx);
    const char *deaths = deaths_of_first_life(job->deaths, keel_incarnation(job->ctx));

    lose_when_said(rank, (long)job->step, 0, progress);
    if (submits(job, job->step)) {
        die_when_said(deaths, rank, job->step, 1);
        TRY(submit(job, job->step));
        die_when_said(deaths, rank, job->step, 2);
    }
    TRY(load_all(job));
    job->step++;
    return (job->step % SAVE_EVERY == 0) ? keel_checkpoint(job->ctx) : keel_gsync(job->ctx, 0);
}

static keel_status_t run(job_t *job)
{
    int is_first = keel_restarted(job->ctx) && keel_incarnation(job->ctx) == 0;
    keel_status_t status = KEEL_OK;

    progressing = job->ctx;
    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        if (status == KEEL_OK && is_first) {
            status = submit_again(job);
        }
        is_first = 0;
        while (status == KEEL_OK && job->step < STEPS) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    static job_t job;
    keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_FLAGS,
                                  .bytes = BLOCKS * BLOCK,
                                  .block_bytes = BLOCK};
    keel_params_t flags = {.field_mask = KEEL_PARAM_FIELD_FLAGS};
    keel_stats_t stats;

    if (argc != 4) {
        fprintf(stderr, "usage: stored COPIES permuted|consecutive|static|threads -|RANK@STEP.PLACE,...\n");
        return EXIT_USAGE;
    }
    params.copies = (uint32_t)strtoul(argv[1], NULL, 10);
    job.is_static = strcmp(argv[2], "static") == 0;
    params.flags = job.is_static                           ? KEEL_STORE_FLAG_STATIC
                   : (strcmp(argv[2], "consecutive") == 0) ? KEEL_STORE_FLAG_CONSECUTIVE
                                                           : 0;
    job.deaths = argv[3];
    job.has_threads = strcmp(argv[2], "threads") == 0;
    flags.flags = job.has_threads ? KEEL_PARAM_FLAG_THREADS : 0;
    if (keel_init(&flags, &job.ctx) != KEEL_OK || keel_store_create(job.ctx, &params, &job.store) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK ||
        keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (keel_rank(job.ctx) == keel_size(job.ctx) - 1) {
        printf("stored: %lu deaths, %lu rollbacks: right\n", (unsigned long)stats.deaths,
               (unsigned long)stats.rollbacks);
    }
    return (keel_store_free(job.store) == KEEL_OK && keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
