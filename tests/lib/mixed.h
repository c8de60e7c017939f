/*
 * A random program with every way to synchronise: critical sections, readings, puts and atomics
 * outside of them, gsyncs, checkpoints and waits; each program draws some of these. The program has
 * no races: for every order of the accesses, memory at the end is what the judge computes from the
 * seed.
 */
#ifndef KEEL_TEST_MIXED_H_
#define KEEL_TEST_MIXED_H_

#include "other_ways.h"
#include "play.h"
#include "together.h"

#define MIXED_RANKS_NEAR 32 /* further ranks have words in mixed_far_t */
#define MIXED_RANKS_MAX  64
#define MIXED_RELAYS     32 /* each step that may relay has a word */
#define MIXED_FURTHER    5  /* further windows, in some programs */
#define MIXED_EACH       4  /* acts of a rank in a step, at most */
#define MIXED_STEPS_MAX  40 /* steps of programs with MIXED_TICKETS */
#define MIXED_PHASES_MAX (1 + 3 * MIXED_STEPS_MAX)
#define MIXED_QUEUE      256 /* places in the queue for the first tickets */

enum {
    MIXED_SECTIONS = 1, /* keel_lock() */
    /* keel_lock_all(), with puts inside, and across gsyncs if the program has any */
    MIXED_EPOCHS = 2,
    MIXED_BARE = 4, /* accesses without locks */
    MIXED_GSYNCS = 8,
    MIXED_WAITS = 16,
    MIXED_ALL = 31,
    MIXED_TESTS = 32,    /* two of three waits are keel_wait() or keel_test() */
    MIXED_UNLOGGED = 64, /* some accesses, locks and barriers have no log records (other_ways.h) */
    /* a window for a device's atomics, if there is a device: for some additions and some signals */
    MIXED_DEVICE = 128,
    /* some awaited words are polled, at their rank or another (mixed_more.h) */
    MIXED_POLLS = 256,
    MIXED_REQUESTS = 512,   /* some puts are tested for completion */
    MIXED_WINDOWS = 1024,   /* some puts go to further windows, too */
    MIXED_CALLBACKS = 2048, /* some additions are made by callbacks */
    MIXED_PIECES = 4096,    /* puts and gets also access pieces of any size (mixed_pieces.h) */
    MIXED_TICKETS = 8192,   /* additions also take tickets, and use the results (mixed_raced.h) */
    MIXED_RACES = 16384,    /* swaps, and compares and swaps, in programs with tickets */
    /* every access has a log record: a single death mostly leads to a local recovery */
    MIXED_KEPT = 32768,
    MIXED_ROUNDS = 65536 /* ranks gather, and tokens wander (mixed_rounds.h) */
};

typedef struct mixed_options {
    uint64_t seed;
    uint32_t ranks, steps;
    unsigned ways;        /* MIXED_* */
    unsigned checkpoints; /* steps of 1024 with a checkpoint at the end */
    unsigned relays;      /* steps of 1024 with a relay */
    int is_divided;       /* a single rank puts and adds, the others run critical sections */
} mixed_options_t;

/* Words of ranks from MIXED_RANKS_NEAR on. The window contains them only if there are such
 * ranks. */
typedef struct mixed_far {
    uint64_t flag[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
    uint64_t slot[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
    uint64_t note[MIXED_RANKS_MAX - MIXED_RANKS_NEAR];
} mixed_far_t;

typedef struct mixed_memory {
    uint64_t count;                  /* incremented in critical sections */
    uint64_t total;                  /* sum of atomics */
    uint64_t locked_count;           /* incremented under the lock of the window */
    uint64_t flag[MIXED_RANKS_NEAR]; /* of each source, the last step announced */
    uint64_t slot[MIXED_RANKS_NEAR]; /* of each source, the last value put */
    /* step + 1, once the relayed word of the step may be put again */
    uint64_t token[MIXED_RELAYS];
    /* put by a first rank, and then, in the same phase, by a second */
    uint64_t relay[MIXED_RELAYS];
    uint64_t never;                  /* put by no rank */
    uint64_t note[MIXED_RANKS_NEAR]; /* of each source, the step that a signal announced */
    /* memory of a group, the same in all steps */
    uint8_t group[1024 + MIXED_RANKS_NEAR * TOGETHER_PIECE] __attribute__((aligned(64)));
    other_words_t words; /* combined by the ranks that add, in some of the ways */
    uint64_t device;     /* mixed_device_t.total of the other window, at the end */
    mixed_far_t far __attribute__((aligned(64)));
} mixed_memory_t;

/* The window for a device's atomics. */
typedef struct mixed_device {
    uint64_t total;
    /* of each source, the number of notes that signals announced */
    uint64_t signals[MIXED_RANKS_NEAR];
} mixed_device_t;

/* The words of each source in further windows. */
typedef struct mixed_further {
    uint64_t put[MIXED_FURTHER][MIXED_RANKS_MAX];
    uint64_t called[MIXED_RANKS_MAX];
} mixed_further_t;

/* Words that ranks race for. */
typedef struct mixed_raced {
    uint64_t ticket;                  /* next ticket */
    uint64_t queue[MIXED_QUEUE];      /* value put by the holder of each ticket */
    uint64_t last;                    /* last swapped value */
    uint64_t claim[MIXED_PHASES_MAX]; /* operand of the first compare and swap of each phase */
    uint64_t won[MIXED_PHASES_MAX];   /* value put by the first rank of each phase */
} mixed_raced_t;

typedef struct mixed_journal {
    mixed_options_t options;
    /* results of the raced atomics, in the last execution of each step */
    uint64_t answer[MIXED_RANKS_MAX][MIXED_STEPS_MAX][MIXED_EACH];
    mixed_raced_t raced[MIXED_RANKS_MAX];
    mixed_memory_t end[MIXED_RANKS_MAX];
    mixed_further_t further[MIXED_RANKS_MAX];
} mixed_journal_t;

/* Runs the program of host->mixed like play_program(). */
keel_status_t mixed_program(play_host_t *host);
/* Call after all ranks have ended well. Returns NULL, or a text about the first error. */
const char *mixed_judge(const mixed_journal_t *journal, char *text, size_t size);

#endif
