/*
 * The address of a peer's memory for loads and stores by the program. No log and no rank knows of
 * these accesses, so a program that asks for an address mixes (order/mix). The program may touch
 * the memory at any time, also between a death and the call that reports the rollback. So the
 * memory of a dead process stays mapped until the memory of its successor takes its place
 * (peer/region).
 */
#include "engine/refuse.h"
#include "access/target.h"
#include "engine/threads.h"
#include "access/unlogged.h"
#include "peer/region.h"

keel_status_t keel_win_ptr(keel_win_h win, uint32_t rank, void **ptr_p)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;

    if (win == NULL || ptr_p == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_win_ptr: where the address is to go");
    }
    if (rank == win->ctx->lane.rank) {
        *ptr_p = keel_win_base(win);
        return (win->freed_call > 0) ? keel_win_refuse_freed(win) : KEEL_OK;
    }
    status = keel_unlogged_begin(win, rank, 0, 0, win, "keel_win_ptr");
    if (status == KEEL_OK) {
        *ptr_p = (keel_win_size(win, rank) > 0) ? keel_lane_region_lend(&win->ctx->lane, rank, win->region) : NULL;
    }
    return keel_win_end(win, status);
}
