/*
 * Times a replacement: from the death of a killed rank until the replacement has caught up. Each
 * death has a cycle of gsyncs; all ranks but rank 0 die in turn, the last rank first. The dying
 * rank writes the time into a file of rank 0 and kills itself: a put would differ in the next life,
 * and a replacement has to repeat its predecessor's actions.
 */
#define _GNU_SOURCE /* memfd_create */
#include "perf_access.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STRIP        (1u << 20) /* bytes that each rank puts to its neighbour per step, at most */
#define REPORT_WORDS 7u         /* words reported by a replacement */
#define NOBODY       ULONG_MAX

typedef struct restore {
    perf_run_t *run;
    keel_win_h data, reports;
    size_t reports_at; /* in the window, behind the names of hosts */
    uint64_t step;     /* protected */
    char deaths[64];   /* protected: the file with one word per death, its time */
    int deaths_fd;     /* of rank 0 */
    char *source;
    unsigned long cycle;    /* steps of a cycle */
    unsigned long replaced; /* the death before this process, or NOBODY */
} restore_t;

static keel_status_t step_put(restore_t *restore, uint64_t step)
{
    const perf_run_t *run = restore->run;
    const size_t size = run->test->size, strip = size < STRIP ? size : STRIP;

    return keel_put(restore->data, (run->rank + 1) % run->size, step % (size / strip) * strip, restore->source, strip);
}

static unsigned long deaths_of(const perf_test_t *test)
{
    return test->warmup + test->iterations;
}

static size_t report_offset(const restore_t *restore, unsigned long death)
{
    return restore->reports_at + death * REPORT_WORDS * sizeof(uint64_t);
}

/*
 * Creates the file at rank 0, which outlives all ranks, so that no file is left behind. The other
 * ranks learn the name after the next gsync.
 */
static keel_status_t deaths_open(restore_t *restore)
{
    const perf_run_t *run = restore->run;

    if (run->rank != 0) {
        return KEEL_OK;
    }
    restore->deaths_fd = memfd_create("deaths", MFD_CLOEXEC);
    if (restore->deaths_fd < 0) {
        perror("keel_perftest: memfd_create");
        return KEEL_ERR_NO_MEMORY;
    }
    snprintf(restore->deaths, sizeof restore->deaths, "/proc/%ld/fd/%d", (long)getpid(), restore->deaths_fd);
    for (uint32_t r = 1; r < run->size; r++) {
        PERF_TRY(keel_put(restore->reports, r, 0, restore->deaths, sizeof restore->deaths));
    }
    return KEEL_OK;
}

static keel_status_t die(const restore_t *restore, unsigned long death)
{
    const int fd = open(restore->deaths, O_WRONLY | O_CLOEXEC);
    const uint64_t now = perf_now_ns();

    if (fd < 0 || pwrite(fd, &now, sizeof now, (off_t)(death * sizeof now)) != (ssize_t)sizeof now) {
        fprintf(stderr, "keel_perftest: %s: ", restore->deaths);
        perror("");
        return KEEL_ERR_STATE;
    }
    raise(SIGKILL);
    return KEEL_ERR_STATE;
}

/* Reports that the replacement has caught up, to rank 0, which prints. */
static keel_status_t report_caught_up(restore_t *restore, unsigned long death)
{
    uint64_t reports[REPORT_WORDS] = {perf_now_ns(), restore->run->main_ns};
    keel_stats_t stats;

    PERF_TRY(keel_stats(restore->run->ctx, &stats, sizeof(stats)));
    memcpy(&reports[2], stats.recovery_ns, sizeof stats.recovery_ns);
    return keel_put(restore->reports, 0, report_offset(restore, death), reports, sizeof reports);
}

/*
 * Runs step @a at of the cycle of one death: image, puts, death of the rank in turn, report of the
 * replacement.
 */
static keel_status_t step_run(restore_t *restore, unsigned long death, unsigned long at)
{
    perf_run_t *run = restore->run;
    const uint32_t others = run->size - 1;
    const int is_turn = (run->rank == others - death % others);
    const unsigned long front = 1 + run->test->replay;

    PERF_TRY(step_put(restore, restore->step - 1));
    if (at == 0) {
        return keel_checkpoint(run->ctx);
    }
    if (is_turn && at == front && restore->replaced != death) {
        PERF_TRY(die(restore, death));
    }
    if (is_turn && at == front + 1) {
        PERF_TRY(report_caught_up(restore, death));
    }
    return keel_gsync(run->ctx, 0);
}

/* The first two words are points in time; a spare was launched before the death. */
static double part_ns(const uint64_t *reports, uint64_t died, unsigned part)
{
    if (part >= 2) {
        return (double)reports[part];
    }
    return (reports[part] > died) ? (double)(reports[part] - died) : 0;
}

static keel_status_t report(restore_t *restore, perf_result_t *result)
{
    static const char *const names[REPORT_WORDS] = {"whole",   "launch",  "start", "agreement",
                                                    "rebuild", "restore", "replay"};
    const perf_test_t *test = restore->run->test;
    const uint64_t *reports =
        (const void *)((char *)keel_win_base(restore->reports) + report_offset(restore, test->warmup));
    const unsigned count = (unsigned)test->iterations;
    perf_side_t *side = &result->keel;
    double values[PERF_ROUNDS_MAX];
    uint64_t died[PERF_ROUNDS_MAX];
    const size_t length = count * sizeof *died;

    if (pread(restore->deaths_fd, died, length, (off_t)(test->warmup * sizeof *died)) != (ssize_t)length) {
        fprintf(stderr, "keel_perftest: fewer deaths than there should be\n");
        return KEEL_ERR_STATE;
    }
    for (unsigned p = 0; p < REPORT_WORDS; p++) {
        for (unsigned d = 0; d < count; d++) {
            values[d] = part_ns(&reports[d * REPORT_WORDS], died[d], p);
        }
        if (p == 0) {
            memcpy(side->rounds, values, count * sizeof *values);
            side->average = values[count - 1];
            for (unsigned d = 0; d < count; d++) {
                side->overall += values[d] / count;
            }
        }
        perf_part_fill(&result->parts[p], names[p], values, count);
        if (p == 0) {
            side->percentile = perf_percentile(values, count, test->percentile);
        }
    }
    result->iterations = count;
    return KEEL_OK;
}

keel_status_t perf_restore_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result)
{
    restore_t restore = {
        .run = run, .cycle = test->replay + 4, .replaced = NOBODY, .reports_at = (size_t)run->size * PERF_HOST_NAME};

    run->test = test;
    run->initiators = 1;
    run->is_initiator = (run->rank == 0);
    if (run->size < 2) {
        fprintf(stderr, "keel_perftest: %s needs two ranks\n", test->name);
        return KEEL_ERR_INVALID_PARAM;
    }
    restore.source = malloc(STRIP);
    if (restore.source == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(restore.source, 1 + (int)run->rank, STRIP);
    PERF_TRY(keel_win_alloc(run->ctx, test->size, NULL, &restore.data));
    PERF_TRY(keel_win_alloc(run->ctx, run->rank == 0 ? report_offset(&restore, deaths_of(test)) : restore.reports_at,
                            NULL, &restore.reports));
    PERF_TRY(keel_protect(run->ctx, 0, &restore.step, sizeof restore.step));
    PERF_TRY(keel_protect(run->ctx, 1, restore.deaths, sizeof restore.deaths));
    if (keel_restarted(run->ctx)) {
        PERF_TRY(keel_restore(run->ctx)); /* to the image of the cycle */
        restore.replaced = (unsigned long)(restore.step / restore.cycle);
    } else {
        memset(keel_win_base(restore.data), 1 + (int)run->rank, test->size);
        /* includes gsyncs: no rank writes into that memory earlier */
        PERF_TRY(perf_run_hosts_compare(run, restore.reports, 0));
        PERF_TRY(deaths_open(&restore));
        PERF_TRY(keel_gsync(run->ctx, 0));
        if (run->rank != 0) {
            memcpy(restore.deaths, keel_win_base(restore.reports), sizeof restore.deaths);
        }
    }
    while (restore.step < deaths_of(test) * restore.cycle) {
        /* before the gsync: an image taken there goes on from here */
        const uint64_t step = restore.step++;

        PERF_TRY(step_run(&restore, (unsigned long)(step / restore.cycle), (unsigned long)(step % restore.cycle)));
    }
    if (run->rank == 0) {
        PERF_TRY(report(&restore, result));
        close(restore.deaths_fd);
    }
    free(restore.source);
    return KEEL_OK;
}
