/*
 * A random program that synchronises in every way there is: critical sections, readings, puts and atomics outside of them, gsyncs,
 * checkpoints and waits, of which each program draws some. It has no races: whatever order its accesses come in, memory at the
 * end is what the judge computes from the seed.
 */
#ifndef KEEL_TEST_MIXED_H_
#define KEEL_TEST_MIXED_H_

#include "other_ways.h"
#include "play.h"
#include "together.h"

#define MIXED_RANKS_NEAR 32 /* words of further ranks lie elsewhere */
#define MIXED_RANKS_MAX  64
#define MIXED_RELAYS     32 /* steps that may relay something have a word each */
#define MIXED_FURTHER    5  /* windows, in some programs */
#define MIXED_EACH       4  /* acts of a rank in a step, at most */
#define MIXED_STEPS_MAX  40 /* of programs with MIXED_TICKETS */
#define MIXED_PHASES_MAX (1 + 3 * MIXED_STEPS_MAX)
#define MIXED_QUEUE      256 /* places that tickets have, the first ones */

enum {
    MIXED_SECTIONS = 1, /* keel_lock() */
    MIXED_EPOCHS = 2,   /* keel_lock_all(), with puts inside, and across gsyncs where there are any */
    MIXED_BARE = 4,     /* accesses with nothing locked */
    MIXED_GSYNCS = 8,
    MIXED_WAITS = 16,
    MIXED_ALL = 31,
    MIXED_TESTS = 32,    /* of the waits two in three are keel_wait() and keel_test() */
    MIXED_UNLOGGED = 64, /* accesses, locks and barriers are in part those that no log has (other_ways.h) */
    MIXED_DEVICE =
        128, /* there is a window for a device's atomics, if there is one: some of what is added, and of what is told */
    MIXED_POLLS = 256,      /* some of what is awaited is polled, at its rank or another (mixed_more.h) */
    MIXED_REQUESTS = 512,   /* of what is put, some is tested */
    MIXED_WINDOWS = 1024,   /* some of it is put to further windows, too */
    MIXED_CALLBACKS = 2048, /* some of what is added is added by callbacks */
    MIXED_PIECES = 4096,    /* what puts and gets does so with pieces of any size, too (mixed_pieces.h) */
    MIXED_TICKETS = 8192,   /* what adds takes tickets, too, and uses what it is answered (mixed_raced.h) */
    MIXED_RACES = 16384,    /* and swaps, and compares and swaps: where there are tickets */
    MIXED_KEPT = 32768,     /* nothing that no log has: a death alone is recovered locally, mostly */
    MIXED_ROUNDS = 65536    /* ranks gather, and tokens wander (mixed_rounds.h) */
};

typedef struct mixed_options {
    uint64_t seed;
    uint32_t ranks, steps;
    unsigned ways;        /* MIXED_* */
    unsigned checkpoints; /* of 1024: steps that end with one */
    unsigned relays;      /* of 1024: steps in which something is relayed */
    int is_divided;       /* one rank puts and adds, the others do critical sections */
} mixed_options_t;

/* of ranks from MIXED_RANKS_NEAR on; where there are any, the window has them */
typedef struct mixed_far {
    uint64_t flag[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
    uint64_t slot[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
    uint64_t note[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
} mixed_far_t;

typedef struct mixed_memory {
    uint64_t count;                  /* moved on in sections */
    uint64_t total;                  /* by atomics */
    uint64_t locked_count;           /* moved on under the lock of the window */
    uint64_t flag[MIXED_RANKS_NEAR]; /* of each source, the last step it said */
    uint64_t slot[MIXED_RANKS_NEAR]; /* of each source, the last value it put */
    uint64_t token[MIXED_RELAYS];    /* step + 1, when what is relayed in it may be put again */
    uint64_t relay[MIXED_RELAYS];    /* put by one rank, and then, in the same phase, by another */
    uint64_t never;                  /* put by nobody */
    uint64_t note[MIXED_RANKS_NEAR]; /* of each source, the step that a signal told of */
    /* of a group: the same one in all steps */
    uint8_t group[1024 + MIXED_RANKS_NEAR * TOGETHER_PIECE] __attribute__((aligned(64)));
    other_words_t words; /* combined by those that add, in part of the ways */
    uint64_t device;     /* of the other window, at the end: mixed_device_t.total */
    mixed_far_t far __attribute__((aligned(64)));
} mixed_memory_t;

/* the window for a device's atomics */
typedef struct mixed_device {
    uint64_t total;
    uint64_t told[MIXED_RANKS_NEAR]; /* of each source, how often a signal told of a note */
} mixed_device_t;

/* the words of each source in further windows */
typedef struct mixed_further {
    uint64_t put[MIXED_FURTHER][MIXED_RANKS_MAX];
    uint64_t called[MIXED_RANKS_MAX];
} mixed_further_t;

/* words that are raced for */
typedef struct mixed_raced {
    uint64_t ticket;                  /* the next one */
    uint64_t queue[MIXED_QUEUE];      /* whose ticket that was put something there */
    uint64_t last;                    /* swapped */
    uint64_t claim[MIXED_PHASES_MAX]; /* who came first in a phase, */
    uint64_t won[MIXED_PHASES_MAX];   /* who put something, then */
} mixed_raced_t;

typedef struct mixed_journal {
    mixed_options_t options;
    /* of what is raced for, in the last execution of each step */
    uint64_t answer[MIXED_RANKS_MAX][MIXED_STEPS_MAX][MIXED_EACH];
    mixed_raced_t raced[MIXED_RANKS_MAX];
    mixed_memory_t end[MIXED_RANKS_MAX];
    mixed_further_t further[MIXED_RANKS_MAX];
} mixed_journal_t;

/* as play_program(), with host->mixed */
keel_status_t mixed_program(play_host_t *host);
/* NULL, or what is wrong: when all ranks have ended well */
const char *mixed_judge(const mixed_journal_t *journal, char *text, size_t size);

#endif
