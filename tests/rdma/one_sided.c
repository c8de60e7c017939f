/*
 * Puts and gets between all ranks, for a guest with an RDMA device. Each word read is compared with
 * the expected value, and overwritten in the same step by the reader, so a replacement finds the
 * value in the records only. With --stopped the last rank's process is stopped while rank 0 puts to
 * it and gets from it; with --image, the process is stopped while its image is read, or killed
 * meanwhile (--killed). With --rounds the counted operations are repeated.
 */
#include "kernel_options.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "one_sided"

enum { RANKS = 16, WORDS = 24, BLOCK = 512, PUTS = 64, GRANTED = 80, LATER = 400, LONGEST = 4096, PATIENCE_S = 150 };

/* For each rank that reads here: words that the reader overwrites, and a block of this rank. */
typedef struct {
    uint64_t words[RANKS][WORDS];
    uint64_t block[2][BLOCK];
    uint64_t pid, sum, more[LATER];
} area_t;

typedef struct {
    keel_context_h ctx;
    keel_win_h win, sums; /* sums: for a device's atomics */
    area_t *area;
    uint32_t rank, size;
    kernel_common_t common;
    unsigned long steps, rounds, bytes, gsyncs, ckpts, adds, image;
    int is_stopped, is_killed, gets, by_device;
    uint64_t step, saved; /* protected */
    uint64_t wrong;
} job_t;

static const char help[] =
    "usage: one_sided [options]   under a launcher\n"
    "  -n, --steps N             phases after the first (20)\n"
    "      --ckpt-every K        explicit checkpoint every K steps\n"
    "      --stopped             the last rank is stopped while rank 0 puts and gets\n"
    "      --image MIB           the last rank is stopped while rank 0 reads its image, of so much more\n"
    "      --killed              it is killed then\n"
    "      --rounds N            N times 64 puts from rank 0 to the last one, and a flush\n"
    "      --bytes N             of so many bytes (8)\n"
    "      --gets                gets instead\n"
    "      --gsyncs N            N gsyncs more\n"
    "      --ckpts N             N checkpoints more\n"
    "      --adds N              all ranks add N times to a word of each, and look what it holds\n"
    "      --device              by the device, in a window for that\n"
    "      --die RANK@STEP.PHASE before (0), amid (1) and after (2) what it does in the step\n"
    "  -h, --help                this text\n";

static uint64_t value(uint64_t owner, uint64_t reader, uint64_t step, uint64_t i)
{
    return ((owner * 131 + reader) * 1009 + step) * 65537 + i;
}

static uint64_t word_at(uint32_t reader, unsigned i)
{
    return offsetof(area_t, words) + (reader * (uint64_t)WORDS + i) * sizeof(uint64_t);
}

static size_t window_bytes(const job_t *job)
{
    return sizeof(area_t) + (job->image << 20) + ((job->bytes > sizeof(uint64_t)) ? PUTS * job->bytes : 0);
}

static void compare(job_t *job, const char *what, uint32_t rank, uint64_t found, uint64_t wanted)
{
    if (found != wanted && job->wrong++ < 3) {
        fprintf(stderr, PROGRAM ": rank %u step %llu: %s of rank %u is %llx, not %llx\n", job->rank,
                (unsigned long long)job->step, what, rank, (unsigned long long)found, (unsigned long long)wanted);
    }
}

/* Reads the current words, then overwrites them for the next step. */
static keel_status_t exchange_with(job_t *job, uint32_t rank)
{
    uint64_t words[WORDS], block[BLOCK], next;

    for (unsigned i = 0; i < WORDS; i++) {
        KERNEL_TRY(keel_get_nbx(job->win, rank, word_at(job->rank, i), &words[i], sizeof words[i], NULL, NULL));
    }
    KERNEL_TRY(keel_get_nbx(job->win, rank, offsetof(area_t, block) + job->step % 2 * sizeof block, block, sizeof block,
                            NULL, NULL));
    KERNEL_TRY(keel_fence(job->ctx));
    kernel_die_here(&job->common.death, job->ctx, job->step, 1);
    for (unsigned i = 0; i < WORDS; i++) {
        compare(job, "a word", rank, words[i], value(rank, job->rank, job->step, i));
        next = value(rank, job->rank, job->step + 1, i);
        KERNEL_TRY(keel_put(job->win, rank, word_at(job->rank, i), &next, sizeof next));
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        compare(job, "the block", rank, block[i], value(rank, RANKS, job->step, i));
    }
    return KEEL_OK;
}

static void fill_block(job_t *job, uint64_t step)
{
    for (unsigned i = 0; i < BLOCK; i++) {
        job->area->block[step % 2][i] = value(job->rank, RANKS, step, i);
    }
}

/* The contents that other ranks find in their first reading step. */
static void fill_words(job_t *job)
{
    for (uint32_t r = 0; r < job->size; r++) {
        for (unsigned i = 0; i < WORDS; i++) {
            job->area->words[r][i] = value(job->rank, r, 1, i);
        }
    }
    job->area->pid = (uint64_t)getpid();
    for (unsigned i = 0; i < LATER; i++) {
        job->area->more[i] = (job->rounds > 0 && i < PUTS) ? i : value(job->rank, RANKS, 1, i);
    }
}

static keel_status_t do_step(job_t *job)
{
    kernel_die_here(&job->common.death, job->ctx, job->step, 0);
    fill_block(job, job->step + 1);
    if (job->step == 0) {
        fill_words(job);
    } else {
        for (uint32_t r = 1; r < job->size; r++) {
            KERNEL_TRY(exchange_with(job, (job->rank + r) % job->size));
        }
    }
    kernel_die_here(&job->common.death, job->ctx, job->step, 2);
    job->step++;
    if (job->common.ckpt_every != 0 && job->step % job->common.ckpt_every == 0) {
        return keel_checkpoint(job->ctx);
    }
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

/* ---- a stopped target ---- */

static keel_status_t put_many(job_t *job, uint32_t rank)
{
    for (uint64_t i = 0; i < PUTS; i++) {
        KERNEL_TRY(keel_put(job->win, rank, offsetof(area_t, more) + i * sizeof i, &i, sizeof i));
    }
    return keel_flush(job->ctx, rank);
}

static keel_status_t get_many(job_t *job, uint32_t rank, unsigned from, unsigned to)
{
    uint64_t words[LATER];

    for (unsigned i = from; i < to; i++) {
        KERNEL_TRY(keel_get_nbx(job->win, rank, offsetof(area_t, more) + i * sizeof words[0], &words[i],
                                sizeof words[i], NULL, NULL));
    }
    KERNEL_TRY(keel_flush(job->ctx, rank));
    for (unsigned i = from; i < to; i++) {
        compare(job, "a later word", rank, words[i], (i < PUTS) ? i : value(rank, RANKS, 1, i));
    }
    return KEEL_OK;
}

/* The first get's reply grants log space. After that only rank 0 is active until the space is used
 * up. */
static keel_status_t use_stopped(job_t *job, uint32_t rank)
{
    uint64_t pid;
    pid_t child;

    KERNEL_TRY(keel_get(job->win, rank, offsetof(area_t, pid), &pid, sizeof pid));
    KERNEL_TRY(keel_flush(job->ctx, rank));
    (void)kill((pid_t)pid, SIGSTOP);
    KERNEL_TRY(put_many(job, rank));
    printf("rank %u: %d puts and a flush to a process that is stopped\n", job->rank, PUTS);
    KERNEL_TRY(get_many(job, rank, 0, GRANTED));
    printf("rank %u: %d gets from it\n", job->rank, GRANTED);
    fflush(stdout);
    /* more gets than granted: a child must wake the process, or the job would never end */
    child = fork();
    if (child == 0) {
        sleep(4);
        (void)kill((pid_t)pid, SIGCONT);
        _exit(0);
    }
    KERNEL_TRY(get_many(job, rank, GRANTED, LATER));
    printf("rank %u: %d more when it goes on\n", job->rank, LATER - GRANTED);
    return KEEL_OK;
}

/* ---- an image of a stopped process ---- */

/* The bytes that the last rank's device has sent. */
static uint64_t sent_bytes(void)
{
    FILE *file = fopen("/sys/class/net/veth1/statistics/tx_bytes", "re");
    unsigned long long bytes = 0;

    if (file == NULL || fscanf(file, "%llu", &bytes) != 1) {
        _exit(KERNEL_EXIT_WRONG);
    }
    fclose(file);
    return bytes;
}

static int is_stopped(pid_t pid)
{
    char path[64], state = '?';
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file != NULL) {
        (void)!fscanf(file, "%*d %*s %c", &state);
        fclose(file);
    }
    return state == 'T';
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Waits until the device has sent this number of bytes. Returns 0 if it has not by @a end. */
static int await_sent(uint64_t begin, uint64_t bytes, double end)
{
    while (sent_bytes() - begin < bytes) {
        if (now() > end) {
            return 0;
        }
    }
    return 1;
}

/* Kills the process after an eighth of the image was read. */
static void kill_amid_image(pid_t pid, uint64_t image, uint64_t begin, double end)
{
    const int is_begun = await_sent(begin, image / 8, end);
    uint64_t before;

    (void)kill(pid, SIGKILL);
    before = sent_bytes() - begin;
    printf("rank 0: of an image of %llu bytes %llu were on their way when its process was killed\n",
           (unsigned long long)image, (unsigned long long)before);
    fflush(stdout);
    _exit((is_begun && before < image - image / 4) ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG);
}

/* Runs in a child of rank 0. Stops the image's process after an eighth was read, until all has been
 * read. */
static void stop_amid_image(const job_t *job, pid_t pid, uint64_t image, int ready)
{
    const uint64_t begin = sent_bytes();
    const double end = now() + PATIENCE_S;
    uint64_t before;
    int is_read;

    (void)!write(ready, "", 1);
    if (job->is_killed) {
        kill_amid_image(pid, image, begin, end);
    }
    is_read = await_sent(begin, image / 8, end);
    (void)kill(pid, SIGSTOP);
    while (!is_stopped(pid)) {
    }
    before = sent_bytes() - begin;
    is_read = is_read && await_sent(begin, image, end);
    (void)kill(pid, SIGCONT);
    printf(
        "rank 0: of an image of %llu bytes %llu were on their way before its process was stopped, and %s meanwhile\n",
        (unsigned long long)image, (unsigned long long)before, is_read ? "all" : "not all");
    fflush(stdout);
    _exit((is_read && before < image - image / 4) ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG);
}

/* Changes all bytes: unchanged bytes would not be read for the next image. */
static void change_all(job_t *job, unsigned round)
{
    memset(job->area + 1, (int)(round * RANKS + job->rank) & 0xff, window_bytes(job) - sizeof *job->area);
}

static keel_status_t save_stopped(job_t *job)
{
    static int is_done; /* rank 0 survives, and does not repeat this after a rollback */
    keel_status_t status;
    pid_t child = 0;
    int ready[2], end = 0;
    uint64_t pid;

    if (job->saved == 0) {
        job->saved = 1;
        KERNEL_TRY(keel_checkpoint(job->ctx)); /* afterwards no image is being read */
    }
    if (job->rank == 0 && !is_done) {
        is_done = 1;
        KERNEL_TRY(keel_get(job->win, job->size - 1, offsetof(area_t, pid), &pid, sizeof pid));
        child = (pipe(ready) == 0) ? fork() : -1;
        if (child == 0) {
            stop_amid_image(job, (pid_t)pid, window_bytes(job), ready[1]);
        }
        job->wrong += (child < 0) || read(ready[0], &end, 1) != 1;
    }
    /* the child counts bytes before the image is read */
    KERNEL_TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    change_all(job, 1);
    job->saved = 2;
    status = keel_checkpoint(job->ctx);
    job->wrong += (child != 0) && (waitpid(child, &end, 0) != child || end != 0);
    return status;
}

/* ---- counted operations ---- */

/* Longer operations have a place of their own after the others. */
static keel_status_t do_long(job_t *job, uint32_t rank)
{
    static char bytes[PUTS][LONGEST];

    for (uint64_t i = 0; i < PUTS; i++) {
        const uint64_t at = sizeof(area_t) + i * job->bytes;

        KERNEL_TRY(job->gets ? keel_get_nbx(job->win, rank, at, bytes[i], job->bytes, NULL, NULL)
                             : keel_put(job->win, rank, at, bytes[i], job->bytes));
    }
    return keel_flush(job->ctx, rank);
}

static keel_status_t do_rounds(job_t *job)
{
    const uint32_t last = job->size - 1;
    uint64_t pid;
    double begin;

    /* the first get's reply grants space for records: earlier gets are messages */
    if (job->gets && job->rank == 0) {
        KERNEL_TRY(keel_get(job->win, last, offsetof(area_t, pid), &pid, sizeof pid));
        KERNEL_TRY(keel_flush(job->ctx, last));
    }
    begin = now();
    for (unsigned long i = 0; i < job->rounds && job->rank == 0; i++) {
        KERNEL_TRY((job->bytes > sizeof(uint64_t)) ? do_long(job, last)
                   : job->gets                     ? get_many(job, last, 0, PUTS)
                                                   : put_many(job, last));
    }
    for (unsigned long i = 0; i < job->gsyncs; i++) {
        KERNEL_TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    }
    for (unsigned long i = 0; i < job->ckpts; i++) {
        change_all(job, 2 + (unsigned)i);
        KERNEL_TRY(keel_checkpoint(job->ctx));
    }
    if (job->rank == 0) {
        printf("rank 0: counted for %.6f s, with a window of %zu bytes\n", now() - begin, window_bytes(job));
    }
    return KEEL_OK;
}

/* Some additions use compare and swap, and some are still outstanding when the next is issued. */
static keel_status_t add_by_device(job_t *job, uint32_t rank, unsigned long i)
{
    uint64_t seen = 0, found;
    keel_status_t status;

    if (i % 4 != 0) {
        status = keel_atomic_nbx(job->sums, KEEL_ATOMIC_ADD, rank, 0, sizeof seen, 1, 0, NULL, NULL, NULL);
        return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
    }
    KERNEL_TRY(keel_atomic(job->sums, KEEL_ATOMIC_FETCH, rank, 0, sizeof seen, 0, 0, &found));
    do {
        seen = found;
        KERNEL_TRY(keel_atomic(job->sums, KEEL_ATOMIC_CSWAP, rank, 0, sizeof seen, seen + 1, seen, &found));
    } while (found != seen);
    return KEEL_OK;
}

/* Additions to the same word, each counted once: ranks of this node use their own processors, ranks
 * of other nodes the target's service thread. Or all ranks use the device. */
static keel_status_t do_adds(job_t *job)
{
    const keel_win_h win = job->by_device ? job->sums : job->win;
    const uint64_t at = job->by_device ? 0 : offsetof(area_t, sum);
    uint64_t before;

    for (unsigned long i = 0; i < job->adds; i++) {
        if (i == job->adds / 2) {
            kernel_die_here(&job->common.death, job->ctx, job->step, 1);
        }
        for (uint32_t r = 0; r < job->size; r++) {
            KERNEL_TRY(job->by_device ? add_by_device(job, r, i)
                                      : keel_atomic(win, KEEL_ATOMIC_ADD, r, at, sizeof before, 1, 0,
                                                    (i % 16 == 0) ? &before : NULL));
        }
    }
    KERNEL_TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    for (uint32_t r = 0; r < job->size && job->adds > 0; r++) {
        KERNEL_TRY(keel_get(win, r, at, &before, sizeof before));
        compare(job, "the sum", r, before, job->adds * job->size);
    }
    return KEEL_OK;
}

static keel_status_t run(job_t *job)
{
    const uint32_t last = job->size - 1;

    if (keel_restarted(job->ctx)) {
        KERNEL_TRY(keel_restore(job->ctx));
    }
    while (job->step <= job->steps) {
        KERNEL_TRY(do_step(job));
    }
    if (job->is_stopped && job->rank == 0) {
        KERNEL_TRY(use_stopped(job, last));
    }
    if (job->image > 0 && job->saved < 2) {
        KERNEL_TRY(save_stopped(job));
    }
    KERNEL_TRY(do_rounds(job));
    KERNEL_TRY(do_adds(job));
    KERNEL_TRY(keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    return keel_finalize(job->ctx);
}

static keel_status_t open_memory(job_t *job)
{
    const keel_win_params_t sums = {.field_mask = KEEL_WIN_PARAM_FIELD_ATOMICS, .atomics = KEEL_WIN_ATOMICS_DEVICE};

    KERNEL_TRY(keel_win_alloc(job->ctx, window_bytes(job), NULL, &job->win));
    KERNEL_TRY(job->by_device ? keel_win_alloc(job->ctx, sizeof(uint64_t), &sums, &job->sums) : KEEL_OK);
    KERNEL_TRY(keel_protect(job->ctx, 0, &job->step, sizeof job->step));
    KERNEL_TRY(keel_protect(job->ctx, 1, &job->saved, sizeof job->saved));
    job->area = keel_win_base(job->win);
    return KEEL_OK;
}

int main(int argc, char **argv)
{
    static job_t job = {.steps = 20};
    const kernel_option_t own[] = {{.name = "steps", .letter = 'n', .number_p = &job.steps},
                                   {.name = "stopped", .flag_p = &job.is_stopped},
                                   {.name = "killed", .flag_p = &job.is_killed},
                                   {.name = "gets", .flag_p = &job.gets},
                                   {.name = "adds", .number_p = &job.adds},
                                   {.name = "device", .flag_p = &job.by_device},
                                   {.name = "rounds", .number_p = &job.rounds},
                                   {.name = "bytes", .number_p = &job.bytes},
                                   {.name = "gsyncs", .number_p = &job.gsyncs},
                                   {.name = "ckpts", .number_p = &job.ckpts},
                                   {.name = "image", .number_p = &job.image}};
    int exit_status = kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof own[0], &job.common);
    keel_status_t status;

    if (exit_status >= 0) {
        return exit_status;
    }
    if (job.bytes > LONGEST) {
        return kernel_usage_error(PROGRAM, "%d bytes at most", LONGEST);
    }
    status = keel_init(NULL, &job.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (job.size > RANKS || job.size < 2) {
        return kernel_usage_error(PROGRAM, "2 to %d ranks", RANKS);
    }
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run(&job);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    printf("rank %u: %s\n", job.rank, (job.wrong == 0) ? "all right" : "wrong");
    return (job.wrong == 0) ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
