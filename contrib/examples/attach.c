/*
 * A miniature runtime that attaches Keel, without PMIx and keelrun. attach_launch starts the ranks,
 * kills some and starts replacements. The runtime has its own UCP worker and sends to the right
 * neighbour all the time; Keel keeps the memory. Compile with -lkeel -lucp -lucs, as C or C++. Run:
 * attach_launch -n 4 -k 3 ./attach
 */
#include "attach_board.h"
#include "attach_worker.h"

#include <keel/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEPS = 100 };

static board_t *board;
static uint32_t rank, incarnation, exchanges, events;

/* ---- the runtime's callbacks for Keel ---- */

static keel_status_t runtime_exchange(void *arg, const void *mine, void *all, size_t length)
{
    (void)arg;
    if (length > GATHER_MAX || (all != NULL && exchanges == GATHERS_MAX)) {
        return KEEL_ERR_RUNTIME;
    }
    if (all == NULL) { /* a replacement: its address goes out with its join */
        board_address_t *join = &board->join[rank][incarnation];

        memcpy(join->bytes, mine, length);
        __atomic_store_n(&join->length, (uint32_t)length, __ATOMIC_RELEASE);
        board_report(board, BOARD_JOIN, rank, incarnation);
        return KEEL_OK;
    }
    memcpy(board->gather[exchanges][rank], mine, length);
    __atomic_fetch_add(&board->arrived[exchanges], 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&board->arrived[exchanges], __ATOMIC_ACQUIRE) < board->size) {
        usleep(100); /* the launcher ends the job if a rank dies here */
    }
    for (uint32_t r = 0; r < board->size; r++) {
        memcpy((char *)all + r * length, board->gather[exchanges][r], length);
    }
    exchanges++;
    return KEEL_OK;
}

static int runtime_poll(void *arg, keel_attach_event_t *event_p)
{
    const board_event_t *event = &board->event[events];
    const board_address_t *join;
    const uint32_t type = (events < EVENTS_MAX) ? __atomic_load_n(&event->type, __ATOMIC_ACQUIRE) : 0;

    (void)arg;
    if (type == 0) {
        return 0;
    }
    events++;
    join = &board->join[event->rank][event->incarnation];
    event_p->type = (type == BOARD_DEATH)  ? KEEL_ATTACH_DEATH
                    : (type == BOARD_JOIN) ? KEEL_ATTACH_JOIN
                                           : KEEL_ATTACH_EXIT;
    event_p->rank = event->rank;
    event_p->incarnation = event->incarnation;
    event_p->address = (type == BOARD_JOIN) ? join->bytes : NULL;
    event_p->address_length = (type == BOARD_JOIN) ? join->length : 0;
    return 1;
}

/* ---- the program: the ring of hello_keel.c ---- */

/* This rank's sum after all steps, computed without communication. */
static uint64_t expected(void)
{
    uint64_t sum[RANKS_MAX], next[RANKS_MAX];

    for (uint32_t r = 0; r < board->size; r++) {
        sum[r] = r + 1;
    }
    for (unsigned step = 0; step < STEPS; step++) {
        for (uint32_t r = 0; r < board->size; r++) {
            next[r] = sum[r] + ((step > 0) ? sum[(r + board->size - 1) % board->size] : 0);
        }
        memcpy(sum, next, sizeof(sum));
    }
    return sum[rank];
}

static keel_status_t ring(keel_context_h ctx)
{
    const uint32_t right = (rank + 1) % board->size;
    uint64_t step = 0, sum = rank + 1;
    keel_win_h win;
    keel_status_t status = KEEL_OK;

    if (keel_win_alloc(ctx, 2 * sizeof(sum), NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof(step)) != KEEL_OK || keel_protect(ctx, 1, &sum, sizeof(sum)) != KEEL_OK) {
        return KEEL_ERR_STATE;
    }
    do {
        if (keel_restarted(ctx)) {
            status = keel_restore(ctx);
        }
        while (status == KEEL_OK && step < STEPS) {
            own_connect(board, right, keel_rank_incarnation(ctx, right));
            own_send();
            own_progress(NULL);
            sum += ((uint64_t *)keel_win_base(win))[(step + 1) % 2];
            status = keel_put(win, right, step % 2 * sizeof(sum), &sum, sizeof(sum));
            usleep(2000);
            __atomic_store_n(&board->steps[rank], (uint32_t)++step, __ATOMIC_RELAXED);
            if (status == KEEL_OK) {
                status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
            }
        }
        if (status == KEEL_OK) {
            printf("rank %u, life %u: %s, own messages: %lu sent, %lu received\n", rank, incarnation,
                   (sum == expected()) ? "right" : "WRONG", own_sent, own_received);
            status = (sum == expected()) ? keel_finalize(ctx) : KEEL_ERR_STATE;
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(int argc, char **argv)
{
    static uint32_t node[RANKS_MAX];
    keel_context_h ctx;
    keel_params_t params;
    keel_attach_t table;
    keel_status_t status;

    if (argc != 4) {
        fprintf(stderr, "usage: attach_launch ... attach\n");
        return 2;
    }
    rank = (uint32_t)atoi(argv[2]);
    incarnation = (uint32_t)atoi(argv[3]);
    board = (board_t *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[1]), 0);
    if (board == MAP_FAILED || !own_open(board, rank, incarnation)) {
        return 1;
    }
    for (uint32_t r = 0; r < board->size; r++) {
        node[r] = r % board->nodes;
    }
    memset(&table, 0, sizeof(table));
    table.struct_size = sizeof(table);
    table.rank = rank;
    table.size = board->size;
    table.incarnation = incarnation;
    table.node = node;
    table.secret = board->secret;
    table.secret_length = sizeof(board->secret);
    table.exchange = runtime_exchange;
    table.poll = runtime_poll;
    memset(&params, 0, sizeof(params));
    params.field_mask = KEEL_PARAM_FIELD_PROGRESS;
    params.progress = own_progress;
    status = keel_init_attached(&table, &params, &ctx);
    if (status == KEEL_OK) {
        status = ring(ctx);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "attach: rank %u: %s\n", rank, keel_status_string(status));
    }
    own_close();
    return status != KEEL_OK;
}
