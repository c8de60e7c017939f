/*
 * Stores of a job that goes on with fewer ranks (KEEL_SHRINK=now): stored_gone COPIES STEPS DEATHS,
 * with DEATHS as in deaths.h (RANK@STEP.PLACE): 0 amid the loads of a step, 1 before a submit, 2
 * after it, 3 before keel_restore(). A static store has the input of all ranks. Each third step
 * submits results to another store. Each step loads a part of the blocks of every rank, also of
 * gone ranks, and compares. The last line names the gone.
 */
#include "deaths.h"

#include <keel/store.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, BLOCKS = 4000, EVERY = 3 };

typedef struct job {
    keel_context_h ctx;
    keel_store_h input, results;
    keel_world_t world;
    uint64_t step, steps, submits;
    uint64_t given_input, given_results; /* bits: ranks with blocks in the newest version */
    uint32_t rank;
    const char *deaths;
    uint8_t own[BLOCKS * BLOCK], loaded[BLOCKS * BLOCK];
} job_t;

static void must(int is_right, const char *what)
{
    if (!is_right) {
        printf("%s is wrong\n", what);
        fflush(stdout);
        exit(1);
    }
}

static uint64_t word_of(uint64_t version, uint32_t rank, uint64_t block)
{
    uint64_t x = (version << 48 ^ (uint64_t)rank << 32 ^ block) + 0x9e3779b97f4a7c15ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static uint64_t count_of(uint32_t rank)
{
    return BLOCKS - 100 * rank;
}

static keel_status_t submit(job_t *job, keel_store_h store, uint64_t version, uint64_t *given)
{
    keel_status_t status;

    for (uint64_t i = 0; i < count_of(job->rank); i++) {
        const uint64_t word = word_of(version, job->rank, i);

        for (unsigned k = 0; k < BLOCK; k += sizeof(word)) {
            memcpy(job->own + i * BLOCK + k, &word, sizeof(word));
        }
    }
    status = keel_store_submit(store, job->own, count_of(job->rank));
    *given = (status == KEEL_OK) ? 0 : *given;
    for (uint32_t i = 0; i < job->world.size && status == KEEL_OK; i++) {
        *given |= UINT64_C(1) << job->world.ranks[i];
    }
    return status;
}

static keel_status_t load(job_t *job, keel_store_h store, uint64_t version, uint64_t given, uint32_t of)
{
    const uint64_t count = (given & (UINT64_C(1) << of)) ? count_of(of) : 0;
    const uint64_t first = (count > 0) ? word_of(job->step, of, job->rank) % count : 0;
    keel_store_part_t part = {.rank = of, .first = first, .count = count - first, .buffer = job->loaded};
    uint64_t known = 0, word;
    keel_status_t status = keel_store_count(store, of, &known);

    status = (status == KEEL_OK) ? keel_store_load(store, &part, 1) : status;
    must(status != KEEL_OK || known == count, "the number of blocks");
    for (uint64_t i = 0; i < part.count && status == KEEL_OK; i++) {
        memcpy(&word, job->loaded + i * BLOCK + sizeof(word), sizeof(word));
        must(word == word_of(version, of, first + i), "a block");
    }
    return status;
}

static keel_status_t step(job_t *job)
{
    const uint32_t ranks = keel_size(job->ctx);
    keel_status_t status = KEEL_OK;

    if (job->given_input == 0) {
        status = submit(job, job->input, 0, &job->given_input);
    }
    if (status == KEEL_OK && job->step % EVERY == 0) {
        die_when_said(job->deaths, job->rank, job->step, 1);
        status = submit(job, job->results, job->submits + 1, &job->given_results);
        job->submits += status == KEEL_OK;
        die_when_said(job->deaths, job->rank, job->step, 2);
    }
    for (uint32_t i = 0; i < ranks && status == KEEL_OK; i++) {
        if (i == ranks / 2) {
            die_when_said(job->deaths, job->rank, job->step, 0);
        }
        status = load(job, job->input, 0, job->given_input, (i + job->rank) % ranks);
        status = (status == KEEL_OK)
                     ? load(job, job->results, job->submits, job->given_results, (i + job->rank) % ranks)
                     : status;
    }
    status = (status == KEEL_OK) ? keel_gsync(job->ctx, 0) : status;
    job->step += status == KEEL_OK;
    return status;
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = keel_world(job->ctx, &job->world, sizeof(job->world));

    while (status == KEEL_OK && job->step < job->steps) {
        status = step(job);
        if (status == KEEL_ERR_ROLLED_BACK) {
            die_when_said(job->deaths, job->rank, job->step, 3);
            status = keel_restore(job->ctx);
            status = (status == KEEL_OK) ? keel_world(job->ctx, &job->world, sizeof(job->world)) : status;
        }
    }
    return status;
}

static keel_status_t report(const job_t *job)
{
    keel_stats_t stats;
    const keel_status_t status = keel_stats(job->ctx, &stats, sizeof(stats));

    if (status == KEEL_OK && job->rank == job->world.ranks[0]) {
        printf("gone:");
        for (uint32_t i = 0; i < job->world.gone_size; i++) {
            printf(" %u", job->world.gone[i]);
        }
        printf("; %s copies came back; all is right\n", stats.store_refills > 0 ? "some" : "no");
    }
    return status;
}

int main(int argc, char **argv)
{
    static job_t job;
    keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_FLAGS,
                                  .bytes = BLOCKS * BLOCK,
                                  .block_bytes = BLOCK};
    keel_status_t status;

    if (argc != 4) {
        fprintf(stderr, "usage: stored_gone COPIES STEPS -|RANK@STEP.PLACE,...\n");
        return 2;
    }
    params.copies = (uint32_t)strtoul(argv[1], NULL, 10);
    job.steps = strtoull(argv[2], NULL, 10);
    job.deaths = argv[3];
    status = keel_init(NULL, &job.ctx);
    job.rank = (status == KEEL_OK) ? keel_rank(job.ctx) : 0;
    status = (status == KEEL_OK) ? keel_store_create(job.ctx, &params, &job.results) : status;
    params.flags = KEEL_STORE_FLAG_STATIC;
    status = (status == KEEL_OK) ? keel_store_create(job.ctx, &params, &job.input) : status;
    status = (status == KEEL_OK) ? run(&job) : status;
    status = (status == KEEL_OK) ? report(&job) : status;
    must(status == KEEL_OK && keel_finalize(job.ctx) == KEEL_OK, "a status");
    return 0;
}
