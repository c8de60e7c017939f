/*
 * A ring written for UCP, and the same ring on Keel: each rank puts a sum to the right neighbour,
 * adds to a total at rank 0 by an atomic, and gets the total at the end. With -DRING_UCP the
 * program is plain UCP and forks its ranks:
 *     cc -DRING_UCP -o ring ucp_ring.c $(pkg-config --cflags --libs ucx); ./ring 3
 * Otherwise UCP's names are calls of Keel, and a killed rank changes no sum:
 *     cc -o ring ucp_ring.c $(pkg-config --cflags --libs keel)
 *     keelrun -n 3 --kill 1@0.2 ./ring
 */
#ifdef RING_UCP
#include <ucp/api/ucp.h>
#else
#define KEEL_UCP_NAMES
#include <keel/ucp.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MAX = 64, STEPS = 50, TOTAL = 2, WORDS = 4 };

static unsigned rank, size;
static uint64_t step, sum, *words; /* words: a slot for even steps, one for odd steps, the total */
static ucp_worker_h worker;
static ucp_ep_h ep[RANKS_MAX];
static ucp_rkey_h rkey[RANKS_MAX];
static uint64_t remote[RANKS_MAX]; /* address of each rank's words */

static ucs_status_t meet(void); /* completes all accesses and waits for all ranks */

/* ---- communication: the same for UCP and Keel ---- */

static ucs_status_t complete(ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (!UCS_PTR_IS_PTR(request)) {
        return status;
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return status;
}

/* @a r's word, to *value. */
static ucs_status_t get_word(unsigned r, unsigned word, uint64_t *value)
{
    ucp_request_param_t param;

    param.op_attr_mask = 0;
    return complete(ucp_get_nbx(ep[r], value, sizeof(*value), remote[r] + word * sizeof(*words), rkey[r], &param));
}

static ucs_status_t one_step(void)
{
    const unsigned right = (rank + 1) % size;
    const uint64_t share = rank + 1;
    ucp_request_param_t param;
    ucs_status_t status;

    sum += words[(step + 1) % 2]; /* put in the previous step */
    param.op_attr_mask = 0;
    status = complete(
        ucp_put_nbx(ep[right], &sum, sizeof(sum), remote[right] + step % 2 * sizeof(*words), rkey[right], &param));
    if (status != UCS_OK) {
        return status;
    }
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(sizeof(share));
    return complete(
        ucp_atomic_op_nbx(ep[0], UCP_ATOMIC_OP_ADD, &share, 1, remote[0] + TOTAL * sizeof(*words), rkey[0], &param));
}

static ucs_status_t ring(void)
{
    uint64_t all[RANKS_MAX], next[RANKS_MAX], total;
    ucs_status_t status = UCS_OK;

    while (status == UCS_OK && step < STEPS) {
        status = one_step();
        usleep(10000);
        step++; /* before the barrier: a checkpoint taken there continues from here */
        if (status == UCS_OK) {
            status = meet();
        }
        if (status == UCS_OK && step == STEPS / 4) {
            printf("rank %u: quarter\n", rank);
            fflush(stdout);
        }
    }
    if (status != UCS_OK || (status = get_word(0, TOTAL, &total)) != UCS_OK) {
        return status;
    }
    for (unsigned r = 0; r < size; r++) { /* what the sums have to be */
        all[r] = r + 1;
    }
    for (unsigned s = 0; s < STEPS; s++) {
        for (unsigned r = 0; r < size; r++) {
            next[r] = all[r] + ((s > 0) ? all[(r + size - 1) % size] : 0);
        }
        memcpy(all, next, sizeof(all));
    }
    if (sum != all[rank] || total != (uint64_t)STEPS * size * (size + 1) / 2) {
        printf("rank %u: WRONG\n", rank);
        exit(1);
    }
    printf("rank %u: right\n", rank);
    fflush(stdout);
    return meet();
}

/* ---- setup ---- */

#ifdef RING_UCP
#include "ucp_ring_setup.h"
#else
static keel_context_h ctx;

static ucs_status_t meet(void)
{
    return keel_ucs_status(keel_gsync(ctx, KEEL_GSYNC_SAFE)); /* takes checkpoints, too */
}

int main(void)
{
    ucs_status_t status = UCS_OK;
    keel_win_h win;

    if (keel_init(NULL, &ctx) != KEEL_OK || keel_size(ctx) > RANKS_MAX ||
        keel_win_alloc(ctx, WORDS * sizeof(*words), NULL, &win) != KEEL_OK) {
        return 1;
    }
    worker = ctx;
    rank = keel_rank(ctx);
    size = keel_size(ctx);
    sum = rank + 1;
    words = (uint64_t *)keel_win_base(win);
    keel_protect(ctx, 0, &step, sizeof(step));
    keel_protect(ctx, 1, &sum, sizeof(sum));
    for (unsigned r = 0; r < size; r++) {
        remote[r] = (uintptr_t)words; /* any number will do, if the key has the same */
        if (keel_ucp_ep_create(ctx, r, &ep[r]) != UCS_OK ||
            keel_ucp_rkey_create(win, r, remote[r], &rkey[r]) != UCS_OK) {
            return 1;
        }
    }
    do {
        if (keel_restarted(ctx)) {
            status = keel_ucs_status(keel_restore(ctx));
        }
        if (status == UCS_OK) {
            status = ring();
        }
        if (status == UCS_OK) {
            status = keel_ucs_status(keel_finalize(ctx));
        }
    } while (status == UCS_ERR_CANCELED);
    for (unsigned r = 0; r < size; r++) {
        ucp_rkey_destroy(rkey[r]);
        ucp_ep_destroy(ep[r]);
    }
    return status != UCS_OK;
}
#endif
