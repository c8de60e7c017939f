/*
 * Atomics that a device carries out at the target, where its owner asked for that (KEEL_WIN_ATOMICS_DEVICE). What a device does with a word no
 * CPU excludes, and the other way round: so all ranks do all of them so, the owner too, or nobody does.
 */
#ifndef KEEL_RMA_DEVICE_H_
#define KEEL_RMA_DEVICE_H_

#include "engine/context.h"
#include "peer/access.h"

/* @a rank's part of the window is for such atomics and no others, where there is a device for it */
static inline int keel_win_is_for_device(const keel_win_h win, uint32_t rank)
{
    return rank < win->ctx->lane.programs && keel_access_is_device_wanted(&win->ctx->lane, rank, win->region);
}

/* KEEL_ERR_UNSUPPORTED, said */
keel_status_t keel_device_refuse(keel_win_h win, const char *call);
/* an atomic there: 1, and *status_p is what the call ends with; 0: no device does it, and it goes the way of any other */
int keel_device_atomic(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic, void *result,
                       const keel_rma_params_t *params, keel_req_h *req_p, keel_status_t *status_p);

#endif
