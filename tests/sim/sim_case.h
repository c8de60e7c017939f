/* One run under the simulator: everything about it is drawn from its seed, deaths included. */
#ifndef KEEL_SIM_CASE_H_
#define KEEL_SIM_CASE_H_

#include "play.h"
#include "sim/random.h"
#include "sim/sim.h"

#define CASE_RANKS_DRAWN     32
#define CASE_PROCESSES_DRAWN 48  /* with those that hold parity */
#define CASE_RANKS_MIXED     64  /* of programs that mix, when asked for, or with `more` */
#define CASE_RANKS_MAX       100 /* of programs that gsync, when asked for: reports and decisions go in pieces */
#define CASE_PROCESSES_MAX   148
#define CASE_DEATHS_MAX      8

typedef enum { CASE_GSYNC, CASE_LOCKS, CASE_WAITS, CASE_RACES, CASE_MIXED, CASE_STYLES } case_style_t;
#define CASE_EVEN CASE_STYLES /* of the first three in turn, by the seed */

/* deaths that are aimed at one moment (sim_hunt.c) instead of drawn */
typedef enum {
    HUNT_NONE,
    HUNT_ROLLBACK,
    HUNT_RECORDS,
    HUNT_DRAINED,
    HUNT_REBUILD,
    HUNT_UNEVEN,
    HUNT_CHANGES,
    HUNT_AWAITED
} hunt_kind_t;

/* when others see them */
typedef enum {
    CASE_STORES_NONE, /* at once, and nothing comes between */
    CASE_STORES_ONCE = 1 + KEEL_SIM_AT_ONCE,
    CASE_STORES_X86 = 1 + KEEL_SIM_X86,
    CASE_STORES_ARM = 1 + KEEL_SIM_ARM
} case_stores_t;

/* what a caller may fix; negative: drawn */
typedef struct case_limits {
    int ranks, phases, deaths, atomics, late_windows, parities, dedicated;
    int style;         /* case_style_t */
    int gsyncs;        /* programs that lock: of 1024, steps that end with gsyncs; never drawn */
    int points;        /* likewise, with safe points */
    int posted;        /* programs that wait: what their atomics are (scene_draw_gathers()) */
    int polled;        /* gets are polls, as the program says */
    int extents;       /* images have parts of windows */
    int looks;         /* replacements ask what their memory will be: not drawn, 0 unless asked for */
    int given;         /* windows over memory of the program's own */
    int shares;        /* shared locks of windows around phases: never drawn */
    int strides;       /* puts and gets of blocks: likewise */
    int device;        /* a window for a device's atomics, in programs that mix */
    int more;          /* 1: these draw what else they do not contain; 2: all of it; not unless asked for */
    int undeclared;    /* programs that mix ways to synchronise, and do not say so */
    const char *lanes; /* NULL: drawn */
    int splits;        /* the network falls apart, and nobody arbitrates */
    int hangs;         /* heartbeat and hanging ranks */
    int direct;        /* keel_sim_direct_t */
    int soft;          /* KEEL_OPLOG_SOFT, percent; demand checkpoints */
    int tight;         /* logs that hold almost nothing */
    int moves;         /* replacements on other nodes */
    int late_counters; /* 1: counters begin just below where they come round; 2: those of a phase end within it, too */
    int wide;          /* programs with pieces of drawn sizes, and fences while something is being read */
    int notice;        /* calls that complete at once hear of deaths and messages */
    int message;       /* bytes, of the longest of the transport; 0: the usual ones */
    int harsh;         /* what other cases draw too rarely (sim_harsh.c) */
    int varied;        /* what other cases do not draw: settings by rank, large windows, many phases */
    case_stores_t stores; /* also switches, and dies, between stores to memory that others see (sim_planted) */
    int each_step;        /* the invariants are looked at after each */
    hunt_kind_t hunt;
    unsigned trace_lines;
    int verbose; /* Keel's own messages */
} case_limits_t;

typedef enum { CASE_PASSED, CASE_FLAWED } case_verdict_t;

typedef struct case_result {
    case_verdict_t verdict;
    char flaw[1024];
    case_style_t style;
    unsigned ranks, deaths;
    unsigned moved;           /* replacements to a node where another process of the program runs */
    unsigned group, parities; /* members of a group, how many of them may be lost */
    int is_rolled_back, is_catastrophic, has_overflowed;
    int has_kept_atomics; /* recovered locally, with atomics */
    int has_kept_waits;   /* recovered locally, a program that waits */
    int is_free;       /* had deaths, and nothing stood in the way of local recovery but an atomic that was under way */
    int has_checksums; /* ranks that hold parity and no image */
    unsigned asked;    /* times that a program asked for a rollback */
    unsigned
        together; /* so many members of a group were killed at once or before the first was back, within parity; 0: fewer than 2 */
    unsigned groups_hit; /* 1 << members of a group that somebody was killed of when there was an image of it */
    unsigned splits, isolated;
    unsigned hangs, fenced, false_suspicions;
    unsigned recoveries, demand_images, demand_recoveries, checkpoints, aborted_checkpoints;
    uint64_t spared;  /* bytes that were not read for parity */
    uint64_t decoded; /* images, to see that they can be */
    uint64_t replayed_sections;
    uint64_t steps;
} case_result_t;

/* everything is drawn */
case_limits_t case_limits_none(void);
void case_run(uint64_t seed, const case_limits_t *limits, case_result_t *result);

#endif
