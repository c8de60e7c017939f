/*
 * A looping program with a store of keel/store.h: shmem_stores STEPS -|PE@STEP.PLACE,... Each third
 * step submits a new version, each step loads a part of every PE's blocks, puts to the next PE and
 * sums over all PEs. The named PEs die in their first incarnation: at place 0 before the submit, 1
 * behind it, 2 amid the loads, 3 before the sum.
 */
#include "deaths.h"

#include <keel/store.h>
#include <shmemx.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, SUBMIT_EVERY = 3, WORDS = 4096, WRONG = 1, USAGE = 2 };

static struct {
    long step, version, sum;
} at; /* protected */
static const char *deaths;
static keel_store_h store;

typedef struct {
    long token, source, sum;
} memory_t;

static void must(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "shmem_stores: PE %d, step %ld: %s is wrong\n", shmem_my_pe(), at.step, what);
        shmem_global_exit(WRONG);
    }
}

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)shmem_my_pe(), (unsigned long)at.step, place);
}

static uint64_t word_of(long version, int pe, long i)
{
    return (uint64_t)version << 40 | (uint64_t)pe << 32 | (uint64_t)i;
}

static void make(void)
{
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                      KEEL_STORE_PARAM_FIELD_BLOCK_BYTES,
                                        .bytes = WORDS * sizeof(uint64_t),
                                        .copies = 2,
                                        .block_bytes = sizeof(uint64_t)};

    must(keel_store_create(shmemx_context(), &params, &store) == KEEL_OK, "the store");
}

static void submit(void)
{
    static uint64_t words[WORDS];

    for (long i = 0; i < WORDS; i++) {
        words[i] = word_of(at.version + 1, shmem_my_pe(), i);
    }
    /* a rollback jumps out of the call */
    must(keel_store_submit(store, words, WORDS) == KEEL_OK, "a submit");
    at.version++;
}

static void load(int pe)
{
    static uint64_t words[WORDS];
    const long first = (at.step * 31 + shmem_my_pe() * 7) % (WORDS / 2);
    keel_store_part_t part = {.rank = (uint32_t)pe, .first = (uint64_t)first, .count = WORDS / 2, .buffer = words};

    must(keel_store_load(store, &part, 1) == KEEL_OK, "a load");
    for (long i = 0; i < WORDS / 2; i++) {
        must(words[i] == word_of(at.version, pe, first + i), "a word");
    }
}

static void step(memory_t *memory)
{
    const int pe = shmem_my_pe(), pes = shmem_n_pes();

    die_here(0);
    if (at.step % SUBMIT_EVERY == 0) {
        submit();
    }
    die_here(1);
    shmem_long_p(&memory->token, at.step + 1, (pe + 1) % pes);
    for (int i = 0; i < pes; i++) {
        if (i == pes / 2) {
            die_here(2);
        }
        load((i + pe) % pes);
    }
    shmem_long_wait_until(&memory->token, SHMEM_CMP_GE, at.step + 1);
    memory->source = (at.step + 1) * (pe + 1);
    die_here(3);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &memory->sum, &memory->source, 1);
    must(memory->sum == (at.step + 1) * pes * (pes + 1) / 2, "a sum");
    at.sum += memory->sum;
    at.step++;
}

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;
    memory_t *memory;

    if (steps <= 0) {
        fprintf(stderr, "usage: shmem_stores STEPS -|PE@STEP.PLACE,...\n");
        return USAGE;
    }
    shmem_init();
    memory = shmem_calloc(1, sizeof(*memory));
    make();
    shmemx_protect(1, &at, sizeof(at));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    while (at.step < steps) {
        step(memory);
        if (at.step % SAVE_EVERY == 0) {
            shmemx_checkpoint();
        }
    }
    shmem_barrier_all();
    must(at.sum == steps * (steps + 1) / 2 * shmem_n_pes() * (shmem_n_pes() + 1) / 2, "the end");
    if (shmem_my_pe() == 1) {
        printf("shmem_stores: %d PEs, %ld steps: right\n", shmem_n_pes(), steps);
        fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
