/*
 * Callbacks that run inside other calls. Puts of a callback are complete when the calling flush or
 * gsync returns; collective calls are refused in callbacks. Rank 0 gets from the last rank, which
 * every call handles last, and puts to rank 1 when the value has arrived. No two ranks share a
 * node. With "threads" the program declares that it may have several threads.
 *
 * callback_calls one|threads FILE
 */
#include <keel/keel.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static keel_context_h ctx;
static keel_win_h win; /* words: read by rank 0, put by its callback, put by the program */
static uint64_t got, said;
static unsigned called, wrong;

#define CHECK(_what)                                                                     \
    do {                                                                                 \
        if (!(_what)) {                                                                  \
            fprintf(stderr, "rank %u: line %d: %s\n", keel_rank(ctx), __LINE__, #_what); \
            wrong++;                                                                     \
        }                                                                                \
    } while (0)

static void on_got_put(void *user, keel_status_t status)
{
    (void)user;
    called++;
    CHECK(status == KEEL_OK);
    CHECK(keel_put(win, 1, sizeof said, &said, sizeof said) == KEEL_OK);
}

static void on_got_more(void *user, keel_status_t status)
{
    (void)user;
    called++;
    CHECK(status == KEEL_OK);
    CHECK(keel_put(win, keel_size(ctx) - 1, sizeof said, &said, sizeof said) == KEEL_OK);
}

static void on_got_refuse(void *user, keel_status_t status)
{
    keel_win_h made;

    (void)user;
    called++;
    CHECK(status == KEEL_OK);
    CHECK(keel_gsync(ctx, 0) == KEEL_ERR_STATE);
    CHECK(keel_checkpoint(ctx) == KEEL_ERR_STATE);
    CHECK(keel_win_alloc(ctx, sizeof said, NULL, &made) == KEEL_ERR_STATE);
    CHECK(keel_win_free(win) == KEEL_ERR_STATE);
    CHECK(keel_finalize(ctx) == KEEL_ERR_STATE);
    CHECK(keel_progress(ctx) == KEEL_OK);
    CHECK(keel_flush_all(ctx) == KEEL_OK);
}

static void get_then(keel_send_cb_t cb)
{
    const keel_rma_params_t params = {.field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = cb};

    CHECK(keel_get_nbx(win, keel_size(ctx) - 1, 0, &got, sizeof got, &params, NULL) == KEEL_INPROGRESS);
}

/* Rank 1 waits for the put of the callback, and rank 0 waits for rank 1: the put must be complete
 * after the flush. */
static void check_flush(uint32_t rank)
{
    const uint64_t done = 1;
    uint64_t seen;

    said = 1;
    if (rank == 0) {
        CHECK(keel_get(win, 1, 0, &seen, sizeof seen) == KEEL_OK); /* rank 1 is flushed first */
        get_then(on_got_put);
        CHECK(keel_flush_all(ctx) == KEEL_OK && called == 1);
        CHECK(keel_flush_all(ctx) == KEEL_OK);
        CHECK(keel_wait_until(win, 2 * sizeof done, sizeof done, KEEL_COMPARE_EQ, done) == KEEL_OK);
    } else if (rank == 1) {
        CHECK(keel_wait_until(win, sizeof said, sizeof said, KEEL_COMPARE_EQ, said) == KEEL_OK);
        CHECK(keel_put(win, 0, 2 * sizeof done, &done, sizeof done) == KEEL_OK);
    }
    CHECK(keel_gsync(ctx, 0) == KEEL_OK);
}

/* After a flush of one rank, or of all, the put of the callback is complete, although rank 0 makes
 * no call before rank 1 has seen the value. Rank 1 announces this by a file. */
static void check_flush_alone(uint32_t rank, const char *file)
{
    const struct timespec while_ = {.tv_nsec = 1000000};
    uint64_t seen = 0;

    for (said = 11; said < 15; said++) {
        if (rank == 0) {
            called = 0;
            get_then(on_got_more);
            CHECK(((said % 2 == 0) ? keel_flush_all(ctx) : keel_flush(ctx, keel_size(ctx) - 1)) == KEEL_OK);
            CHECK(called == 1);
            while (access(file, F_OK) != 0) {
                nanosleep(&while_, NULL);
            }
            CHECK(unlink(file) == 0);
        }
        while (rank == 1 && seen != said) {
            CHECK(keel_get(win, keel_size(ctx) - 1, sizeof seen, &seen, sizeof seen) == KEEL_OK);
        }
        if (rank == 1) {
            CHECK(close(open(file, O_CREAT | O_WRONLY, S_IRWXU)) == 0);
        }
        CHECK(keel_gsync(ctx, 0) == KEEL_OK);
    }
    called = 0;
}

int main(int argc, char **argv)
{
    const uint64_t threads = (argc == 3 && strcmp(argv[1], "threads") == 0) ? KEEL_PARAM_FLAG_THREADS : 0;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC | KEEL_PARAM_FLAG_WAITS | threads};
    const uint64_t *own;
    uint32_t rank;

    if (argc != 3 || keel_init(&params, &ctx) != KEEL_OK ||
        keel_win_alloc(ctx, 3 * sizeof said, NULL, &win) != KEEL_OK) {
        return EXIT_FAILURE;
    }
    rank = keel_rank(ctx);
    own = keel_win_base(win);
    check_flush_alone(rank, argv[2]);
    check_flush(rank);
    said = 2;
    if (rank == 0) {
        get_then(on_got_put);
    }
    CHECK(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
    CHECK(rank != 0 || called == 2);
    CHECK(rank != 1 || own[1] == 2);
    if (rank == 0) {
        get_then(on_got_refuse);
    }
    CHECK(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
    CHECK(rank != 0 || called == 3);
    CHECK(keel_finalize(ctx) == KEEL_OK);
    return (wrong == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
