/*
 * A looping program: halves of a ring by put and wait_until, a ticket by an atomic, a sum over all
 * PEs, a lock. All results are checked.
 *
 *   shmem_survives STEPS -|PE@STEP.PLACE,... [plain]
 *       the named PEs die there in their first incarnation: 0 before the put, 1 after the put,
 *       2 before the sum, 3 with the lock; plain: without a restart point and checkpoints
 */
#include "deaths.h"
#include "lost.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 4, WRONG = 1, USAGE = 2 };

static struct {
    long step, sum;
} at; /* protected */
static const char *deaths;
static long *token; /* in the heap */

/* Lets the writing of files advance. */
static void look(void)
{
    (void)shmem_long_test(token, SHMEM_CMP_LT, -9);
}

static void die_here(unsigned place)
{
    const char *job = getenv("KEELRUN_JOB");

    die_when_said(job != NULL && strcmp(job, "0") == 0 ? deaths : NULL, (unsigned long)shmem_my_pe(),
                  (unsigned long)at.step, place);
    lose_when_said(shmem_my_pe(), at.step, place, look);
}

static void wrong(const char *what, long is)
{
    fprintf(stderr, "shmem_survives: PE %d, step %ld: %s is %ld\n", shmem_my_pe(), at.step, what, is);
    shmem_global_exit(WRONG);
}

typedef struct {
    long token, ticket, counted, lock, source, sum;
} memory_t;

static void step(memory_t *memory)
{
    const int pe = shmem_my_pe(), pes = shmem_n_pes(), right = (pe + 1) % pes;
    const long said = at.step + 1;
    long counted;

    die_here(0);
    shmem_long_p(&memory->token, said, right);
    shmem_quiet();
    die_here(1);
    shmem_long_wait_until(&memory->token, SHMEM_CMP_GE, said);
    shmem_long_atomic_inc(&memory->ticket, (int)(at.step % pes));
    shmem_set_lock(&memory->lock);
    counted = shmem_long_g(&memory->counted, right);
    die_here(3);
    shmem_long_p(&memory->counted, counted + 1, right);
    shmem_clear_lock(&memory->lock);
    memory->source = said * (pe + 1);
    die_here(2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &memory->sum, &memory->source, 1);
    if (memory->sum != said * pes * (pes + 1) / 2) {
        wrong("a sum", memory->sum);
    }
    at.sum += memory->sum;
    at.step++;
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[1], NULL, 10) : 0;
    const int is_plain = argc == 4 && strcmp(argv[3], "plain") == 0;
    memory_t *memory, *unused;

    if (steps <= 0 || (argc == 4 && !is_plain)) {
        fprintf(stderr, "usage: shmem_survives STEPS -|PE@STEP.PLACE,... [plain]\n");
        return USAGE;
    }
    shmem_init();
    unused = shmem_malloc(1 << 20);
    memory = shmem_calloc(1, sizeof(*memory));
    token = &memory->token;
    shmem_free(unused);
    if (!is_plain) {
        shmemx_protect(1, &at, sizeof(at));
        SHMEMX_RESTART_POINT();
        if (shmemx_restarted()) {
            shmemx_restore();
        }
    }
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    while (at.step < steps) {
        step(memory);
        if (!is_plain && at.step % SAVE_EVERY == 0) {
            shmemx_checkpoint();
        }
    }
    shmem_barrier_all();
    if (memory->counted != steps || at.sum != steps * (steps + 1) / 2 * shmem_n_pes() * (shmem_n_pes() + 1) / 2) {
        wrong("the end", memory->counted);
    }
    if (memory->ticket != (steps - shmem_my_pe() + shmem_n_pes() - 1) / shmem_n_pes() * shmem_n_pes()) {
        wrong("the tickets", memory->ticket);
    }
    if (shmem_my_pe() == 1) {
        printf("shmem_survives: %d PEs, %ld steps: right\n", shmem_n_pes(), steps);
        fflush(stdout);
    }
    shmem_finalize();
    return 0;
}
