/*
 * The plan of keel_perftest: options of the run, and the tests, from the command line or batch
 * files.
 */
#ifndef KEEL_PERF_PLAN_H_
#define KEEL_PERF_PLAN_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_TESTS_MAX       200 /* a job makes one window per test, and at most 248 */
#define PERF_ROUNDS_MAX      64
#define PERF_NAME_MAX        48
#define PERF_COUNT_MAX       (1ul << 40) /* iterations, bytes */
#define PERF_REPLAY_MAX      1000
#define PERF_OUTSTANDING_MAX (1ul << 20)

typedef enum {
    PERF_PUT_LAT,
    PERF_PUT_BW,
    PERF_PUT_MR,
    PERF_GET_LAT,
    PERF_GET_BW,
    PERF_ADD,
    PERF_FADD,
    PERF_CSWAP,
    PERF_FLUSH,
    PERF_GSYNC,
    PERF_CKPT,
    PERF_RESTORE,
    PERF_KINDS
} perf_kind_id_t;

typedef enum { PERF_ONE, PERF_STAR, PERF_ALL, PERF_RANDOM, PERF_NEIGHBOURS, PERF_PATTERNS } perf_pattern_t;
typedef enum { PERF_PEER_NONE, PERF_PEER_UCX, PERF_PEER_STORES, PERF_PEER_MEMCPY, PERF_PEERS } perf_peer_t;
typedef enum { PERF_LANE_AUTO, PERF_LANE_SHM, PERF_LANE_TCP, PERF_LANES } perf_lane_t;
typedef enum { PERF_TEXT, PERF_CSV } perf_format_t;

enum perf_kind_flags {
    PERF_IS_LATENCY = 1 << 0,    /* one access per flush; compared by time, not by rate */
    PERF_IS_COLLECTIVE = 1 << 1, /* called by all ranks together: no pattern */
    PERF_IS_PUT = 1 << 2,        /* moves data that the caller logs */
    PERF_IS_GET = 1 << 3,        /* moves data that is logged at the target */
    PERF_IS_ATOMIC = 1 << 4,
    PERF_IS_ALONE = 1 << 5 /* the only test of its run */
};

typedef struct perf_kind {
    perf_kind_id_t id;
    const char *name, *describe;
    unsigned flags;
    unsigned peers; /* bits of perf_peer_t: possible peers */
    size_t size;    /* default, bytes */
    unsigned long outstanding;
} perf_kind_t;

/* One test; without pointers, since a client sends it to the server. */
typedef struct perf_test {
    char name[PERF_NAME_MAX]; /* from the batch file's line, else the kind's */
    perf_kind_id_t id;
    size_t size;
    unsigned long iterations, warmup, outstanding, rounds;
    unsigned given; /* bits of the options listed in perf_plan.c */
    double percentile;
    perf_pattern_t pattern;
    perf_peer_t peer;
    uint64_t seed;
    unsigned long changed; /* ckpt: percent of the memory that changes in between */
    unsigned long replay;  /* restore: gsyncs between image and death */
} perf_test_t;

typedef struct perf_plan {
    char host[256]; /* empty: server, or under a launcher */
    unsigned port;
    char protect[8]; /* as KEEL_PROTECT; empty: from the environment */
    perf_lane_t lane;
    perf_format_t format;
    int is_final_only, is_batch;
    int has_waits; /* measures a program that waits inside phases */
    /* measures a program that mixes ways to synchronise: a death would be a rollback */
    int is_mixed;
    unsigned long log_bytes; /* of a process's logs between two checkpoints */
    char ucx_option[64];     /* NAME=VALUE for raw UCX alone */
    unsigned count;
    perf_test_t tests[PERF_TESTS_MAX];
} perf_plan_t;

extern const perf_kind_t perf_kinds[PERF_KINDS];
static inline const perf_kind_t *perf_kind(const perf_test_t *test)
{
    return &perf_kinds[test->id];
}

/* log2 of the largest memory of a rank, or of the largest message. */
static inline unsigned perf_size_shift(const perf_kind_t *kind)
{
    return (kind->flags & PERF_IS_COLLECTIVE) ? 40 : 30;
}

extern const char *const perf_pattern_names[PERF_PATTERNS];
const char *perf_pattern_name(perf_pattern_t pattern);
const char *perf_peer_name(perf_peer_t peer); /* as shown in the results */
/* The value of KEEL_PROTECT with this name; NULL: no such value. */
const char *perf_protect_find(const char *name);

/* Returns -1 to go on, else the exit status. Reports errors on stderr if @a is_speaker. */
int perf_plan_parse(int argc, char **argv, int is_speaker, perf_plan_t *plan);
/* True if a client's plan could come from perf_plan_parse(). */
int perf_plan_is_sane(const perf_plan_t *plan);

void perf_help_print(int is_version);

#endif
