/*
 * A rank of attach_launch without Keel: the launcher kills no rank while a replacement has not
 * reached the steps of the others. Rank 0 is slow, the others are ahead of rank 0 by all steps, and
 * each replacement begins late.
 */
#include "attach_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEPS = 400, STEP_US = 1000, LATE_MS = 100 };

/* Ends of ranks that are done are events, too. */
static uint32_t deaths_told(const board_t *board)
{
    uint32_t deaths = 0;

    for (uint32_t i = 0; i < EVENTS_MAX; i++) {
        deaths += __atomic_load_n(&board->event[i].type, __ATOMIC_ACQUIRE) == BOARD_DEATH;
    }
    return deaths;
}

int main(int argc, char **argv)
{
    board_t *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
    const uint32_t rank = (uint32_t)atoi(argv[2]), life = (uint32_t)atoi(argv[3]);
    uint32_t deaths;

    if (board == MAP_FAILED) {
        return 1;
    }
    if (life == 0) {
        __atomic_fetch_add(&board->arrived[1], 1, __ATOMIC_SEQ_CST);
    } else {
        deaths = deaths_told(board);
        for (unsigned i = 0; i < LATE_MS; i++) {
            usleep(1000);
        }
        if (deaths_told(board) != deaths) {
            fprintf(stderr, "attach_steps: a rank died while rank %u was not recovered\n", rank);
            return 1;
        }
    }
    for (uint32_t step = (rank == 0) ? 1 : STEPS; step <= STEPS; step++) {
        __atomic_store_n(&board->steps[rank], step, __ATOMIC_RELAXED);
        usleep(STEP_US);
    }
    /* the launcher has killed all that it was to kill */
    while (__atomic_load_n(&board->steps[0], __ATOMIC_RELAXED) < STEPS) {
        usleep(STEP_US);
    }
    printf("rank %u, life %u: right\n", rank, life);
    return 0;
}
