/*
 * Accesses allocate nothing: after a first round, every allocation of this process fails during
 * rounds of puts, gets, atomics, flushes and gsyncs with each rank, over each lane. Every call must
 * still return KEEL_OK.
 */
#include "base/memory.h"

#include <keel/keel.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20
#define LARGE  150000u /* bytes: several records, several messages */
#define GETS   64      /* outstanding at once */
#define SLOT   (LARGE + 1024u)

static atomic_int is_forbidden;
static atomic_int refused;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    if (!atomic_load(&is_forbidden)) {
        return 1;
    }
    if (atomic_fetch_add(&refused, 1) == 0) {
        fprintf(stderr, "no_allocation: %zu bytes wanted for %s\n", bytes, name);
    }
    return 0;
}

static void must(keel_status_t status, const char *call)
{
    if (status != KEEL_OK) {
        fprintf(stderr, "no_allocation: %s: %s\n", call, keel_status_string(status));
        exit(1);
    }
}

static void puts_to(keel_win_h win, uint32_t rank, uint32_t own, const char *buffer)
{
    static const size_t lengths[] = {1, 8, 16, 100, 300, 5000, LARGE};

    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        must(keel_put_nbx(win, rank, (uint64_t)own * SLOT, buffer, lengths[i], NULL, NULL), "put");
    }
    for (unsigned i = 0; i < 5000; i++) {
        must(keel_put(win, rank, (uint64_t)own * SLOT + 8 * (i % 100), buffer, 8), "put");
    }
}

static void gets_from(keel_win_h win, uint32_t rank, uint32_t own, char *buffer)
{
    keel_req_h reqs[GETS];
    keel_status_t status;
    unsigned open = 0;

    for (unsigned i = 0; i < GETS; i++) {
        status = keel_get_nbx(win, rank, (uint64_t)own * SLOT + 8 * i, buffer + 8 * i, 8, NULL, &reqs[open]);
        if (status == KEEL_INPROGRESS) {
            open++;
        } else {
            must(status, "get");
        }
    }
    while (open > 0) {
        must(keel_req_wait(reqs[--open]), "wait");
    }
    must(keel_get(win, rank, (uint64_t)own * SLOT, buffer, LARGE), "large get");
}

static void atomics_at(keel_win_h win, uint32_t rank, uint32_t own)
{
    const uint64_t word = (uint64_t)own * SLOT + LARGE + 8;
    uint64_t old;

    for (unsigned i = 0; i < 40; i++) {
        must(keel_atomic(win, KEEL_ATOMIC_ADD, rank, word, 8, 1, 0, NULL), "posted atomic");
        must(keel_atomic(win, KEEL_ATOMIC_ADD, rank, word, 8, 1, 0, &old), "fetching atomic");
    }
}

static void round_run(keel_context_h ctx, keel_win_h win, char *buffer)
{
    const uint32_t own = keel_rank(ctx);

    for (uint32_t r = 0; r < keel_size(ctx); r++) {
        puts_to(win, r, own, buffer);
        must(keel_flush(ctx, r), "flush");
        gets_from(win, r, own, buffer);
        must(keel_fence(ctx), "fence");
        atomics_at(win, r, own);
    }
    must(keel_flush_all(ctx), "flush of all");
    must(keel_gsync(ctx, 0), "gsync");
}

int main(void)
{
    const keel_memory_hook_t hook = {.may_allocate = may_allocate};
    keel_context_h ctx;
    keel_win_h win;
    char *buffer;

    keel_memory_set_hook(&hook);
    buffer = calloc(1, LARGE);
    must(buffer != NULL ? keel_init(NULL, &ctx) : KEEL_ERR_NO_MEMORY, "init");
    must(keel_win_alloc(ctx, (size_t)SLOT * keel_size(ctx), NULL, &win), "window");
    for (unsigned i = 0; i < ROUNDS; i++) {
        round_run(ctx, win, buffer);
        atomic_store(&is_forbidden, 1);
    }
    atomic_store(&is_forbidden, 0);
    must(keel_finalize(ctx), "finalize");
    free(buffer);
    if (atomic_load(&refused) > 0) {
        fprintf(stderr, "no_allocation: %d allocations were wanted\n", atomic_load(&refused));
        return 1;
    }
    return 0;
}
