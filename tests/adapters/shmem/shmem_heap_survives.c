/*
 * A heap that changes all the time: blocks are allocated, freed, enlarged and shrunk as drawn from
 * a seed, the same in all PEs. Each block is filled with a pattern of its PE, and checked by
 * another PE. A death restores the heap.
 *
 *   shmem_heap_survives STEPS BLOCKS -|PE@STEP.PLACE,...
 *       BLOCKS at most; the named PEs die there in their first incarnation: 0 during a step,
 *       1 at its end
 */
#include "deaths.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, CHANGES = 200, WRONG = 1, USAGE = 2 };

typedef struct block {
    unsigned char *at;
    size_t bytes;
    uint64_t mark; /* the same in all PEs */
} block_t;

static struct {
    long step, count;
    uint64_t random;
} now; /* protected, as the blocks are */
static block_t *blocks;
static long most;

static void wrong(const char *what, long is)
{
    fprintf(stderr, "shmem_heap_survives: PE %d, step %ld: %s of %ld\n", shmem_my_pe(), now.step, what, is);
    shmem_global_exit(WRONG);
}

/* splitmix64 */
static uint64_t draw(void)
{
    uint64_t bits = (now.random += 0x9e3779b97f4a7c15);

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

static unsigned char byte_of(const block_t *block, int pe)
{
    return (unsigned char)(block->mark + (uint64_t)pe * 37);
}

static void fill(block_t *block, size_t from)
{
    memset(block->at + from, byte_of(block, shmem_my_pe()), block->bytes - from);
}

static void check(const block_t *block)
{
    const unsigned char is = byte_of(block, shmem_my_pe());

    if (block->at[0] != is || block->at[block->bytes - 1] != is ||
        memcmp(block->at, block->at + 1, block->bytes - 1) != 0) {
        wrong("another content", block - blocks);
    }
}

static void make(void)
{
    const uint64_t drawn = draw();
    block_t *block = &blocks[now.count];

    block->bytes = 1 + (drawn >> 8) % (drawn % 64 == 0 ? 20000 : 100);
    block->mark = drawn >> 32;
    block->at = (drawn % 8 == 1) ? shmem_align(256, block->bytes) : shmem_malloc(block->bytes);
    if (block->at != NULL) {
        fill(block, 0);
        now.count++;
    }
}

static void change(void)
{
    const uint64_t drawn = draw();
    block_t *block = (now.count > 0) ? &blocks[drawn % (uint64_t)now.count] : NULL;
    size_t bytes = 1 + (drawn >> 40) % 200;
    unsigned char *at;

    if (block == NULL || (now.count < most && (drawn >> 32) % 4 < 2)) {
        make();
        return;
    }
    check(block);
    if ((drawn >> 32) % 4 == 3) {
        shmem_free(block->at);
        *block = blocks[--now.count];
    } else {
        at = shmem_realloc(block->at, bytes);
        if (at != NULL) {
            const size_t had = block->bytes < bytes ? block->bytes : bytes;

            block->at = at;
            block->bytes = had;
            check(block);
            block->bytes = bytes;
            fill(block, had);
        }
    }
}

/* Checks own blocks, and those of another PE at the same addresses. */
static void check_all(void)
{
    const int right = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_barrier_all();
    for (long i = 0; i < now.count; i++) {
        check(&blocks[i]);
        if ((i + now.step) % 16 == 0 &&
            shmem_uchar_g(&blocks[i].at[blocks[i].bytes - 1], right) != byte_of(&blocks[i], right)) {
            wrong("another content at the right", i);
        }
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const long steps = (argc == 4) ? strtol(argv[1], NULL, 10) : 0;
    const char *deaths;

    most = (argc == 4) ? strtol(argv[2], NULL, 10) : 0;
    if (steps <= 0 || most <= 0) {
        fprintf(stderr, "usage: shmem_heap_survives STEPS BLOCKS -|PE@STEP.PLACE,...\n");
        return USAGE;
    }
    shmem_init();
    blocks = calloc((size_t)most, sizeof(*blocks));
    now.random = 1;
    shmemx_protect(1, &now, sizeof(now));
    shmemx_protect(2, blocks, (size_t)most * sizeof(*blocks));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    deaths = (shmemx_incarnation() == 0) ? argv[3] : NULL;
    while (now.step == 0 && now.count < most) { /* BLOCKS at once */
        make();
    }
    while (now.step < steps) {
        for (int i = 0; i < CHANGES; i++) {
            if (i == CHANGES / 2) {
                die_when_said(deaths, (unsigned long)shmem_my_pe(), (unsigned long)now.step, 0);
            }
            change();
        }
        check_all();
        now.step++;
        die_when_said(deaths, (unsigned long)shmem_my_pe(), (unsigned long)now.step, 1);
        if (now.step % SAVE_EVERY == 0) {
            shmemx_checkpoint();
        }
    }
    while (now.count > 0) {
        check(&blocks[--now.count]);
        shmem_free(blocks[now.count].at);
    }
    blocks[0].at = shmem_malloc(((size_t)63 << 20)); /* all of the heap is free again */
    if (blocks[0].at == NULL) {
        wrong("no room", 0);
    }
    printf("shmem_heap_survives: PE %d: right\n", shmem_my_pe());
    fflush(stdout);
    shmem_finalize();
    return 0;
}
