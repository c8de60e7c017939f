/*
 * A logger's side: takes what its ranks wrote out of their rings into a log in private memory, over and over: as after a
 * checkpoint, the oldest makes place. What a marker calls for is done when every one of its ranks has sent it.
 */
#include "ml.h"

#include "../lib/kernel.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { SPINS = 2000 };

typedef struct {
    uint32_t rank;
    uint64_t taken, announced;
    uint64_t left;     /* bytes of the record that is being taken */
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
    unsigned char *log;
    uint64_t logged;
    uint64_t spoilt; /* which byte of all is recorded wrong, so that a test can see this found; UINT64_MAX: none */
    int is_checked;
} logger_t;

/* What was just recorded, read again from the log. */
static void check(logger_t *logger, source_t *source, uint64_t at, size_t length)
{
    if ((logger->spoilt >= logger->logged) && (logger->spoilt < logger->logged + length)) {
        logger->log[at + logger->spoilt - logger->logged] ^= 1;
    }
    source->sum = ml_sum(source->sum, logger->log + at, length);
}

/* Bytes of @a source's ring into the log, or into @a copy too. */
static void take(logger_t *logger, source_t *source, const ml_ring_t *ring, size_t length, unsigned char *copy)
{
    size_t part;

    for (; length > 0; length -= part) {
        const uint64_t from = source->taken % ML_RING_BYTES, to = logger->logged % ML_LOG_BYTES;

        part = (length < ML_RING_BYTES - from) ? length : ML_RING_BYTES - from;
        part = (part < ML_LOG_BYTES - to) ? part : ML_LOG_BYTES - to;
        memcpy(logger->log + to, ring->data + from, part);
        if (logger->is_checked) {
            check(logger, source, to, part);
        }
        if (copy != NULL) {
            memcpy(copy, ring->data + from, part);
            copy += part;
        }
        source->taken += part;
        logger->logged += part;
    }
}

/* What is there from one rank, up to a marker. */
static keel_status_t serve(logger_t *logger, source_t *source)
{
    const ml_ring_t *ring =
        (const ml_ring_t *)((const char *)keel_win_base(logger->rings) + ml_ring_offset(source->rank, logger->loggers));
    const uint64_t written = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);
    ml_record_t head;
    uint64_t part, sum;

    while (!source->is_marked && (source->taken < written)) {
        if (source->left > 0) {
            part = (source->left < written - source->taken) ? source->left : written - source->taken;
            take(logger, source, ring, part, NULL);
            source->left -= part;
            continue;
        }
        if (written - source->taken < sizeof head) {
            break;
        }
        sum = source->sum;
        take(logger, source, ring, sizeof head, (unsigned char *)&head);
        if ((head.sequence != source->sequence++) || (head.kind > ML_END)) {
            return KEEL_ERR_CORRUPT;
        }
        if (logger->is_checked && (head.kind == ML_END) && (head.offset != sum)) {
            fprintf(stderr, "ml: what was recorded of rank %u is not what it sent\n", source->rank);
            return KEEL_ERR_CORRUPT;
        }
        source->left = head.length;
        source->marker = (ml_kind_t)head.kind;
        source->is_marked = (head.kind >= ML_GSYNC);
    }
    if (source->taken - source->announced < ML_RING_BYTES / 8) { /* who waits for room has filled all of it */
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

/* Where ranks have all cores, a logger that only yields still takes a part of them. */
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
        logged = logger->logged;
        for (i = 0, marked = 0; i < logger->count; i++) {
            KERNEL_TRY(serve(logger, &logger->sources[i]));
            marked += (uint32_t)logger->sources[i].is_marked;
        }
        if (marked == logger->count) {
            KERNEL_TRY(take_part(logger, &is_over));
            continue;
        }
        KERNEL_TRY(keel_progress(logger->ctx));
        if (logger->logged != logged) {
            rounds = 0;
        }
        rest(&rounds);
    }
    return KEEL_OK;
}

/* On stderr, for whoever asks by ML_VERBOSE: what the kernel prints is for scripts. */
static void say_what_was_logged(const logger_t *logger)
{
    uint64_t records = 0;
    uint32_t i;

    for (i = 0; i < logger->count; i++) {
        records += logger->sources[i].sequence;
    }
    if (getenv("ML_VERBOSE") != NULL) {
        fprintf(stderr, "ml: %" PRIu64 " records, %" PRIu64 " bytes of %u ranks%s\n", records, logger->logged,
                logger->count, logger->is_checked ? ", checked" : "");
    }
}

/* Like Keel's logs: of huge pages where the system has them, and faulted in before anything is timed. */
static unsigned char *log_alloc(void)
{
    unsigned char *log = aligned_alloc(ML_HUGE_PAGE, ML_LOG_BYTES);

    if (log != NULL) {
        (void)madvise(log, ML_LOG_BYTES, MADV_HUGEPAGE); /* a wish */
        kernel_touch(log, ML_LOG_BYTES);
    }
    return log;
}

static uint64_t byte_to_spoil(void)
{
    const char *text = getenv("ML_SPOIL");
    unsigned long number;

    return ((text != NULL) && (kernel_parse_number(text, 0, &number) == 0)) ? number : UINT64_MAX;
}

keel_status_t ml_logger_run(keel_context_h ctx, keel_win_h rings, uint32_t loggers)
{
    const uint32_t ranks = __real_keel_size(ctx) - loggers, own = keel_rank(ctx) - ranks;
    logger_t logger = {.ctx = ctx, .rings = rings, .loggers = loggers, .spoilt = byte_to_spoil()};
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    uint32_t rank;

    logger.is_checked = (getenv("ML_CHECK") != NULL);
    logger.log = log_alloc();
    logger.sources = calloc(ranks, sizeof *logger.sources);
    if ((logger.log != NULL) && (logger.sources != NULL)) {
        for (rank = 0; rank < ranks; rank++) {
            if (rank % loggers == own) {
                logger.sources[logger.count++].rank = rank;
            }
        }
        status = run(&logger);
        say_what_was_logged(&logger);
    }
    free(logger.log);
    free(logger.sources);
    return status;
}
