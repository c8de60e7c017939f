/*
 * Calls at unusual moments, in a job of two ranks: on one node, or with the argument `served` on
 * two; with `alone` a single rank, without a launcher.
 */
#define _GNU_SOURCE /* gettid() */
#include <keel/keel.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static keel_context_h ctx;
static uint32_t rank;
static unsigned wrong;

#define CHECK(_what)                                                           \
    do {                                                                       \
        if (!(_what)) {                                                        \
            fprintf(stderr, "rank %u: line %d: %s\n", rank, __LINE__, #_what); \
            wrong++;                                                           \
        }                                                                      \
    } while (0)

static unsigned count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    unsigned count = 0;
    char line[512];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, "memfd:keel") != NULL;
    }
    CHECK(file != NULL && fclose(file) == 0 && count > 0);
    return count;
}

/* No mapping of a freed window remains, neither own memory nor another rank's. */
static void free_windows(void)
{
    enum { WINDOWS = 4, BYTES = 1 << 16 };
    unsigned before;
    keel_win_h win;

    /* afterwards all memory of the other rank is mapped */
    CHECK(keel_win_alloc(ctx, BYTES, NULL, &win) == KEEL_OK);
    before = count_mappings() - 2;
    CHECK(keel_win_free(win) == KEEL_OK);
    for (int i = 0; i < WINDOWS; i++) {
        CHECK(keel_win_alloc(ctx, BYTES, NULL, &win) == KEEL_OK);
        CHECK(keel_win_free(win) == KEEL_OK);
    }
    if (keel_incarnation(ctx) == 0) {
        CHECK(count_mappings() == before);
        CHECK(keel_gsync(ctx, 0) == KEEL_OK); /* no rank allocates another window before */
    }
}

/* Rank 1 dies after a checkpoint. Every access of its replacement before keel_restore() is
 * refused. */
static void access_before_restore(void)
{
    uint64_t word = 0;
    keel_win_h win;

    CHECK(keel_win_alloc(ctx, sizeof word, NULL, &win) == KEEL_OK);
    if (keel_restarted(ctx)) {
        CHECK(keel_put(win, 0, 0, &word, sizeof word) == KEEL_ERR_STATE);
        CHECK(keel_get(win, 0, sizeof word, &word, sizeof word) == KEEL_ERR_STATE);
        CHECK(keel_atomic(win, KEEL_ATOMIC_ADD, 0, sizeof word, sizeof word, 1, 0, NULL) == KEEL_ERR_STATE);
        CHECK(keel_wait_until(win, sizeof word, sizeof word, KEEL_COMPARE_EQ, 0) == KEEL_ERR_STATE);
        CHECK(keel_restore(ctx) == KEEL_OK);
    } else {
        CHECK(keel_checkpoint(ctx) == KEEL_OK);
        if (rank == 1) {
            raise(SIGKILL);
        }
    }
    CHECK(keel_get(win, 1 - rank, sizeof word, &word, sizeof word) == KEEL_ERR_RANGE);
}

static void *ask_for_rollback(void *arg)
{
    *(keel_status_t *)arg = keel_rollback(ctx);
    return NULL;
}

/* Another thread's call requests a rollback and returns; this thread's next call jumps to the
 * restart point. */
static void jump_in_own_thread(void)
{
    static unsigned jumps; /* not protected */
    static keel_status_t status;
    const pid_t own = gettid();
    pthread_t thread;

    KEEL_RESTART_POINT(ctx);
    CHECK(gettid() == own);
    if (keel_restarted(ctx)) {
        jumps++;
        CHECK(keel_restore(ctx) == KEEL_OK);
    } else if (keel_gsync(ctx, 0) == KEEL_OK && rank == 0) {
        /* rank 1 has set its restart point, too */
        CHECK(pthread_create(&thread, NULL, ask_for_rollback, &status) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(status == KEEL_ERR_ROLLED_BACK);
        (void)keel_progress(ctx);
        CHECK(0);
    }
    CHECK(keel_gsync(ctx, 0) == KEEL_OK);
    CHECK(jumps == 1);
    keel_restart_clear(ctx);
}

static void join_again(void)
{
    keel_context_h again = NULL;

    CHECK(keel_init(NULL, &again) == KEEL_ERR_STATE && again == NULL);
}

/* A program that tests a request repeatedly receives the rollback as its status. */
static void poll_behind_rollback(void)
{
    uint64_t word = 0;
    keel_req_h req = NULL;
    keel_status_t status;
    keel_win_h win;

    CHECK(keel_win_alloc(ctx, sizeof word, NULL, &win) == KEEL_OK);
    status = keel_gsync(ctx, 0); /* afterwards rank 1 has its window, too */
    if (rank == 0) {
        CHECK(status == KEEL_OK);
        CHECK(keel_get_nbx(win, 1, 0, &word, sizeof word, NULL, &req) == KEEL_INPROGRESS);
        CHECK(keel_rollback(ctx) == KEEL_ERR_ROLLED_BACK);
        CHECK(keel_req_test(req) == KEEL_ERR_ROLLED_BACK);
    } else {
        CHECK(status == KEEL_ERR_ROLLED_BACK || keel_gsync(ctx, 0) == KEEL_ERR_ROLLED_BACK);
    }
    CHECK(keel_restore(ctx) == KEEL_OK);
    keel_req_free(req);
}

int main(int argc, char **argv)
{
    const char *mode = (argc > 1) ? argv[1] : "";
    const int is_alone = strcmp(mode, "alone") == 0;

    if (keel_init(NULL, &ctx) != KEEL_OK) {
        return EXIT_FAILURE;
    }
    rank = keel_rank(ctx);
    if (strcmp(mode, "served") == 0) {
        poll_behind_rollback();
    } else if (is_alone) {
        join_again();
        CHECK(keel_finalize(ctx) == KEEL_OK && keel_init(NULL, &ctx) == KEEL_OK);
    } else {
        free_windows();
        access_before_restore();
        jump_in_own_thread();
    }
    join_again();
    CHECK(keel_gsync(ctx, 0) == KEEL_OK); /* the job still works */
    CHECK(keel_finalize(ctx) == KEEL_OK);
    if (!is_alone) {
        join_again();
    }
    return (wrong == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
