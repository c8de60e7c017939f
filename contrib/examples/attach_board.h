/* The memory file shared by the launcher and all ranks of attach.c. */
#ifndef ATTACH_BOARD_H_
#define ATTACH_BOARD_H_

#include <stdint.h>

enum { RANKS_MAX = 8, LIVES_MAX = 16, EVENTS_MAX = 512, GATHERS_MAX = 4, GATHER_MAX = 8200, WORKER_MAX = 4096 };

/* Types of include/keel/runtime.h plus one; 0: an unfinished entry. */
enum { BOARD_DEATH = 1, BOARD_JOIN, BOARD_EXIT };

typedef struct {
    uint32_t type; /* written last */
    uint32_t rank, incarnation;
} board_event_t;

typedef struct {
    uint32_t length; /* written last */
    unsigned char bytes[GATHER_MAX];
} board_address_t;

typedef struct {
    uint32_t size, nodes;
    unsigned char secret[32]; /* authenticates Keel's messages; the file is this job's alone */
    uint32_t events;          /* count of used entries of event[] */
    board_event_t event[EVENTS_MAX];
    uint32_t arrived[GATHERS_MAX]; /* ranks that wrote a part of an exchange */
    unsigned char gather[GATHERS_MAX][RANKS_MAX][GATHER_MAX];
    board_address_t join[RANKS_MAX][LIVES_MAX];   /* Keel's addresses of replacements */
    board_address_t worker[RANKS_MAX][LIVES_MAX]; /* addresses of the runtime's own UCP workers */
    uint32_t steps[RANKS_MAX];                    /* progress, for the launcher's kills */
} board_t;

/* Appends an event for all processes. */
static inline void board_report(board_t *board, uint32_t type, uint32_t rank, uint32_t incarnation)
{
    const uint32_t entry = __atomic_fetch_add(&board->events, 1, __ATOMIC_SEQ_CST);

    if (entry < EVENTS_MAX) {
        board->event[entry].rank = rank;
        board->event[entry].incarnation = incarnation;
        __atomic_store_n(&board->event[entry].type, type, __ATOMIC_RELEASE);
    }
}

#endif
