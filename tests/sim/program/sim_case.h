/* One run under the simulator. The seed determines the whole run, deaths included. */
#ifndef KEEL_SIM_CASE_H_
#define KEEL_SIM_CASE_H_

#include "play.h"
#include "sim/random.h"
#include "sim/sim.h"

#define CASE_RANKS_DRAWN     32
#define CASE_PROCESSES_DRAWN 48 /* including processes that hold parity */
#define CASE_RANKS_MIXED     64 /* maximum for programs that mix, if requested, or with `more` */
/* maximum for programs that gsync, if requested; reports and decisions need several segments */
#define CASE_RANKS_MAX     100
#define CASE_PROCESSES_MAX 148
#define CASE_DEATHS_MAX    8

typedef enum { CASE_GSYNC, CASE_LOCKS, CASE_WAITS, CASE_RACES, CASE_MIXED, CASE_STYLES } case_style_t;
#define CASE_EVEN CASE_STYLES /* one of the first three, by the seed */

/* deaths aimed at one moment (sim_hunt.c) instead of drawn deaths */
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

/* visibility of stores to other ranks */
typedef enum {
    CASE_STORES_NONE, /* visible at once; no switch between stores */
    CASE_STORES_ONCE = 1 + KEEL_SIM_AT_ONCE,
    CASE_STORES_X86 = 1 + KEEL_SIM_X86,
    CASE_STORES_ARM = 1 + KEEL_SIM_ARM
} case_stores_t;

/* values that a caller may fix; negative: drawn */
typedef struct case_limits {
    int ranks, phases, deaths, atomics, late_windows, parities, dedicated;
    int style;  /* case_style_t */
    int gsyncs; /* programs that lock: steps of 1024 with gsyncs at the end; never drawn */
    /* programs that lock: steps of 1024 with a safe point; never drawn */
    int points;
    int posted;  /* programs that wait: kind of their atomics (scene_draw_gathers()) */
    int polled;  /* gets are polls, as the program declares */
    int extents; /* images contain parts of windows */
    int looks;   /* replacements ask for their future memory; never drawn, default 0 */
    int given;   /* windows over the program's own memory */
    int shares;  /* shared locks of windows around phases; never drawn */
    int strides; /* puts and gets of blocks; never drawn */
    int leader;  /* 1: the seed draws the leader; else rank 0 leads */
    int device;  /* programs that mix: a window for a device's atomics */
    /* programs that mix: 1: draw additional operations; 2: all operations; default 0 */
    int more;
    int undeclared;    /* programs that mix ways to synchronise do not declare it */
    const char *lanes; /* NULL: drawn */
    int splits;        /* the network splits, without an arbiter */
    int hangs;         /* heartbeat and hanging ranks */
    int direct;        /* keel_sim_direct_t */
    int soft;          /* KEEL_OPLOG_SOFT in percent, for demand checkpoints */
    int tight;         /* logs with almost no room */
    int moves;         /* replacements on other nodes */
    /*
     * 1: counters begin just below their wrap-around; 2: the counters of a phase also reach their
     * end within the phase
     */
    int late_counters;
    int wide;    /* programs have pieces of drawn sizes, and fences during reads */
    int notice;  /* calls that complete at once are notified of deaths and messages */
    int message; /* maximum bytes of a message; 0: default */
    int harsh;   /* cases that other runs draw too rarely (sim_harsh.c) */
    /* cases that other runs do not draw: settings by rank, large windows, many phases */
    int varied;
    /* also switches and kills ranks between stores to memory that others see (sim_planted) */
    case_stores_t stores;
    int each_step; /* check the invariants after each step */
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
    unsigned moved;           /* replacements on a node that runs another process of the program */
    unsigned group, parities; /* number of members of a group, and maximum number of lost members */
    int is_rolled_back, is_catastrophic, has_overflowed;
    int has_kept_atomics; /* a program with atomics recovered locally */
    int has_kept_waits;   /* a program that waits recovered locally */
    /* had deaths, and no obstacle to local recovery except an atomic under way */
    int is_free;
    int has_checksums; /* has ranks that hold parity and no image */
    unsigned asked;    /* number of rollbacks that a program requested */
    /* members of a group killed at once or before the first was back, within parity; 0: below 2 */
    unsigned together;
    /* bit n: a group of n members lost a member while an image of the member existed */
    unsigned groups_hit;
    unsigned splits, isolated;
    unsigned hangs, fenced, false_suspicions;
    unsigned recoveries, demand_images, demand_recoveries, checkpoints, aborted_checkpoints;
    uint64_t spared;  /* bytes that the computation of parity did not read */
    uint64_t decoded; /* images decoded by checks */
    uint64_t replayed_sections;
    uint64_t steps;
} case_result_t;

/* Returns limits with which every value is drawn. */
case_limits_t case_limits_none(void);
void case_run(uint64_t seed, const case_limits_t *limits, case_result_t *result);

#endif
