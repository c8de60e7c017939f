/*
 * Children of fork() in a job: the job is not affected by any of their acts. Each step puts a word
 * to the right neighbour. In between, every rank has children that leave by exit(), run a program,
 * write to a window's address, or call Keel.
 */
#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 8, BYTES = 4096, WRONG = 9 };

static keel_context_h ctx;
static keel_win_h win;
static uint32_t rank, size, right;

static void child_exits(void)
{
    exit(0); /* runs all exit handlers and destructors of all libraries */
}

static void child_runs_a_program(void)
{
    exit(system("true"));
}

/* Shared memory is absent in the child; a copy of private memory is present. */
static void child_writes(void)
{
    signal(SIGSEGV, SIG_DFL);
    memset(keel_win_base(win), 0x55, BYTES);
    exit(0);
}

static void child_calls(void)
{
    const uint64_t word = 77;
    uint64_t got = 0;
    keel_win_h other;
    keel_req_h req;
    void *ptr;
    const keel_status_t results[] = {keel_put(win, right, 0, &word, sizeof word),
                                     keel_get(win, right, 0, &got, sizeof got),
                                     keel_put_nbx(win, right, 0, &word, sizeof word, NULL, &req),
                                     keel_get_nbx(win, right, 0, &got, sizeof got, NULL, &req),
                                     keel_atomic(win, KEEL_ATOMIC_ADD, right, 0, 8, 1, 0, &got),
                                     keel_atomic_nbx(win, KEEL_ATOMIC_ADD, right, 0, 8, 1, 0, NULL, NULL, &req),
                                     keel_flush(ctx, right),
                                     keel_flush_all(ctx),
                                     keel_fence(ctx),
                                     keel_gsync(ctx, 0),
                                     keel_checkpoint(ctx),
                                     keel_progress(ctx),
                                     keel_rollback(ctx),
                                     keel_restore(ctx),
                                     keel_lock(ctx, right),
                                     keel_lock_all(ctx),
                                     keel_wait_until(win, 0, 8, KEEL_COMPARE_EQ, 12345),
                                     keel_wait(ctx, KEEL_WAIT_ALL, NULL, 0, NULL),
                                     keel_test(ctx, KEEL_WAIT_ANY, NULL, 0, NULL),
                                     keel_win_ptr(win, right, &ptr),
                                     keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_INT64, right, 0, &word, 1, &got),
                                     keel_atomic(win, KEEL_ATOMIC_MAX, right, 0, 8, 1, 0, NULL),
                                     keel_win_lock(win, right, KEEL_LOCK_SHARED),
                                     keel_win_trylock(win, right, KEEL_LOCK_EXCLUSIVE),
                                     keel_win_alloc(ctx, BYTES, NULL, &other),
                                     keel_win_free(win),
                                     keel_finalize(ctx),
                                     keel_init(NULL, &ctx)};

    for (unsigned i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i] != KEEL_ERR_STATE) {
            printf("forks: call %u of a child returned %d\n", i, results[i]);
            exit(WRONG);
        }
    }
    exit(keel_rank(ctx) == rank ? 0 : WRONG);
}

static void have_child(void (*what)(void), int may_fault)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        what();
        _exit(WRONG);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid ||
        (status != 0 && !(may_fault && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV))) {
        printf("forks: rank %u: a child ended with 0x%x\n", rank, status);
        exit(WRONG);
    }
}

static int step(uint64_t number)
{
    const uint64_t said = number * 1000 + rank, *own = keel_win_base(win);
    int wrong;

    if (keel_put(win, right, number % 2 * sizeof said, &said, sizeof said) != KEEL_OK) {
        return 1;
    }
    have_child(child_exits, 0);
    have_child(child_runs_a_program, 0);
    have_child(child_writes, 1);
    have_child(child_calls, 0);
    if (keel_gsync(ctx, KEEL_GSYNC_SAFE) != KEEL_OK) {
        return 1;
    }
    wrong = own[number % 2] != number * 1000 + (rank + size - 1) % size;
    have_child(child_writes, 1);
    for (unsigned i = 2; i < BYTES / sizeof *own; i++) {
        wrong |= own[i] != 0;
    }
    return wrong;
}

int main(void)
{
    uint64_t number;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (keel_init(NULL, &ctx) != KEEL_OK || keel_win_alloc(ctx, BYTES, NULL, &win) != KEEL_OK) {
        return 1;
    }
    rank = keel_rank(ctx);
    size = keel_size(ctx);
    right = (rank + 1) % size;
    for (number = 0; number < STEPS; number++) {
        if (step(number) != 0) {
            printf("forks: rank %u: wrong in step %lu\n", rank, (unsigned long)number);
            return 1;
        }
    }
    return keel_finalize(ctx) != KEEL_OK;
}
