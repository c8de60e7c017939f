/*
 * The interface of the paper in a loop: faults STEPS PE@STEP.PLACE,...|-
 * checkpoint|dead|grown|alone. The named PEs die there in their first incarnation. All other PEs
 * must learn of the death and have the state that the way of restoring promises. grown: the kept
 * state does not fit, since the heap has grown since the checkpoint. alone: the PE is recovered
 * locally, and no other PE is notified. Compiled by oshcc.
 */
#include "deaths.h"

#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long step, marks; /* marks is incremented within a step */
static long token = -1, newest, own;
static shmemx_volatile int is_old; /* this process has been in the loop */
static int reports;

static void expect(int is_right, const char *what)
{
    if (!is_right) {
        fprintf(stderr, "faults: PE %d, step %ld: not %s\n", shmem_my_pe(), step, what);
        shmem_global_exit(1);
    }
}

/* A survivor is notified of exactly one other PE. A replacement is notified of itself, without
 * knowing of queries of the others. */
static void ask(void)
{
    const int me = shmem_my_pe();
    int *pes, *states, is_named = 0, wrong = shmem_n_pes();
    size_t count;

    expect(shmem_query_fault(&pes, &states, &count) == 0 && count > 0, "a list of the dead");
    for (size_t i = 0; i < count; i++) {
        expect(states[i] == SHMEMX_PE_RESTARTED && pes[i] >= 0 && pes[i] < shmem_n_pes(), "a PE that is restarted");
        is_named |= pes[i] == me;
    }
    expect(is_old ? count == 1 && !is_named : is_named, "those that died");
    expect(shmem_restart_pes(pes, count) == 0 && shmem_restart_pes(&wrong, 1) == -1, "restarted");
    expect(shmem_query_fault(&pes, &states, &count) == 0 && count == 0, "reported once");
}

static void come_back(const char *how)
{
    const long step_then = step, marks_then = marks;

    ask();
    if (strcmp(how, "checkpoint") == 0 || strcmp(how, "alone") == 0) {
        expect(shmem_restore_all() == 0 && marks == step, "the checkpoint");
        expect(strcmp(how, "alone") != 0 || !is_old, "reported alone");
    } else if (strcmp(how, "grown") == 0) {
        expect(shmemx_restore_all(SHMEMX_RESTORE_DEAD) == SHMEMX_RESTORED_CHECKPOINT && marks == step, "all of it");
    } else {
        expect(shmemx_restore_all(SHMEMX_RESTORE_DEAD) == 0, "restored");
        expect(is_old ? step == step_then && marks == marks_then : marks == step, "what it had");
        own = step;
        shmem_long_max_reduce(SHMEM_TEAM_WORLD, &newest, &own, 1);
        expect(newest >= step && newest <= step + 1, "near each other");
        step = marks = newest;
    }
    expect(shmem_restore_all() == 0, "nothing to restore");
    reports++;
}

static void begin(int is_promised)
{
    const shmemx_init_attr_t unknown_field = {.field_mask = 2}, unknown_flag = {.field_mask = 1, .flags = 4};
    const shmemx_init_attr_t promise = {.field_mask = SHMEMX_INIT_FIELD_FLAGS, .flags = SHMEMX_INIT_DETERMINISTIC};

    if (shmemx_init_attr(&unknown_field) != -1 || shmemx_init_attr(&unknown_flag) != -1) {
        fprintf(stderr, "faults: what is not known is not refused\n");
        exit(1);
    }
    if (shmemx_init_attr(is_promised ? &promise : NULL) != 0) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *deaths, *how = (argc > 3) ? argv[3] : "";
    const long steps = (argc > 3) ? strtol(argv[1], NULL, 10) : 0;
    int me, npes;

    begin(strcmp(how, "alone") == 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    do {
        if (shmem_checkpoint_all()) {
            come_back(how);
        }
        is_old = 1;
        marks++;
        if (strcmp(how, "grown") == 0 && step % 2 == 1) {
            expect(shmem_malloc(100) != NULL, "memory");
        }
        die_when_said(deaths, (unsigned long)me, (unsigned long)step, 0);
        shmem_long_p(&token, step, (me + 1) % npes);
        shmem_barrier_all();
        expect(token == step, "the token of this step");
        die_when_said(deaths, (unsigned long)me, (unsigned long)step, 1);
        shmem_barrier_all();
        step++;
    } while (step < steps);
    expect(step == steps && marks == steps, "the last step");
    printf("faults: PE %d: right\n", me);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
