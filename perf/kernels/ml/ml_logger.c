/*
 * The side of a logger: moves the ranks' records from their rings into a log in private memory,
 * cyclically: as after a checkpoint, the oldest entries make room. The logger obeys a marker once
 * all of its ranks have sent it.
 */
#include "ml.h"
#include "ml_log.h"

#include "../lib/kernel.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SPINS = 2000 };

typedef struct {
    uint32_t rank;
    uint64_t taken, announced;
    uint64_t sequence; /* of the next record */
    uint64_t sum;      /* of what was recorded */
    ml_kind_t marker;
    int is_marked;
} source_t;

typedef struct {
    keel_context_h ctx;
    keel_win_h rings;
    source_t *sources;
    uint32_t count, loggers;
    ml_log_t log;
} logger_t;

/* Takes a rank's records, up to a marker. */
static keel_status_t serve(logger_t *logger, source_t *source)
{
    const ml_ring_t *ring =
        (const ml_ring_t *)((const char *)keel_win_base(logger->rings) + ml_ring_offset(source->rank, logger->loggers));
    const uint64_t written = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);
    ml_record_t head;
    uint64_t sum;

    while (!source->is_marked && (source->taken < written)) {
        memcpy(&head, ring->data + source->taken % ML_RING_BYTES, sizeof head);
        sum = source->sum;
        ml_log_append(&logger->log, &head, sizeof head, &source->sum);
        source->taken += sizeof head;
        if ((head.sequence != source->sequence++) || (head.kind > ML_END)) {
            return KEEL_ERR_CORRUPT;
        }
        if (logger->log.is_checked && (head.kind == ML_END) && (head.offset != sum)) {
            fprintf(stderr, "ml: what was recorded of rank %u is not what it sent\n", source->rank);
            return KEEL_ERR_CORRUPT;
        }
        source->marker = (ml_kind_t)head.kind;
        source->is_marked = (head.kind >= ML_GSYNC);
    }
    /* a rank that waits for room has filled the whole ring */
    if (source->taken - source->announced < ML_RING_BYTES / 8) {
        return KEEL_OK;
    }
    source->announced = source->taken;
    KERNEL_TRY(__real_keel_put(logger->rings, source->rank, 0, &source->taken, sizeof source->taken));
    return __real_keel_flush(logger->ctx, source->rank);
}

/* All sources stand at the same marker. */
static keel_status_t take_part(logger_t *logger, int *is_over)
{
    const ml_kind_t marker = logger->sources[0].marker;
    keel_win_h win;
    uint32_t i;

    for (i = 0; i < logger->count; i++) {
        logger->sources[i].is_marked = 0;
    }
    switch (marker) {
    case ML_ALLOC:
        return __real_keel_win_alloc(logger->ctx, 0, NULL, &win);
    case ML_START:
        kernel_cpu_begin();
        return KEEL_OK;
    case ML_STOP:
        kernel_cpu_end();
        return KEEL_OK;
    case ML_END:
        *is_over = 1;
        return __real_keel_finalize(logger->ctx);
    default:
        return __real_keel_gsync(logger->ctx, KEEL_GSYNC_SAFE);
    }
}

/* Rests: a logger that only yielded would take part of the cores from the ranks. */
static void rest(unsigned *rounds)
{
    const struct timespec nap = {.tv_nsec = 20000};

    if (++*rounds <= SPINS) {
        sched_yield();
    } else {
        nanosleep(&nap, NULL);
    }
}

static keel_status_t run(logger_t *logger)
{
    uint64_t logged;
    uint32_t i, marked;
    unsigned rounds = 0;
    int is_over = 0;

    while (!is_over) {
        logged = logger->log.logged;
        for (i = 0, marked = 0; i < logger->count; i++) {
            KERNEL_TRY(serve(logger, &logger->sources[i]));
            marked += (uint32_t)logger->sources[i].is_marked;
        }
        if (marked == logger->count) {
            KERNEL_TRY(take_part(logger, &is_over));
            continue;
        }
        KERNEL_TRY(keel_progress(logger->ctx));
        if (logger->log.logged != logged) {
            rounds = 0;
        }
        rest(&rounds);
    }
    return KEEL_OK;
}

/* Reports on stderr if ML_VERBOSE is set: the kernel's own output is for scripts. */
static void report_logged(const logger_t *logger)
{
    uint64_t records = 0;
    uint32_t i;

    for (i = 0; i < logger->count; i++) {
        records += logger->sources[i].sequence;
    }
    if (getenv("ML_VERBOSE") != NULL) {
        fprintf(stderr, "ml: %" PRIu64 " records, %" PRIu64 " bytes of %u ranks%s\n", records, logger->log.logged,
                logger->count, logger->log.is_checked ? ", checked" : "");
    }
}

keel_status_t ml_logger_run(keel_context_h ctx, keel_win_h rings, uint32_t loggers)
{
    const uint32_t ranks = __real_keel_size(ctx) - loggers, own = keel_rank(ctx) - ranks;
    logger_t logger = {.ctx = ctx, .rings = rings, .loggers = loggers};
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    uint32_t rank;

    logger.log = ml_log_make("ML_SPOIL");
    logger.sources = calloc(ranks, sizeof *logger.sources);
    if ((logger.log.data != NULL) && (logger.sources != NULL)) {
        for (rank = 0; rank < ranks; rank++) {
            if (rank % loggers == own) {
                logger.sources[logger.count++].rank = rank;
            }
        }
        status = run(&logger);
        report_logged(&logger);
    }
    ml_log_free(&logger.log);
    free(logger.sources);
    return status;
}
