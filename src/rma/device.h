/*
 * Atomics that a device carries out at the target, at the owner's request
 * (KEEL_WIN_ATOMICS_DEVICE). A device and a CPU do not exclude each other on a word, so all ranks
 * use the device for all atomics there, including the owner, or none does.
 */
#ifndef KEEL_RMA_DEVICE_H_
#define KEEL_RMA_DEVICE_H_

#include "engine/context.h"
#include "peer/access.h"

/* whether @a rank's part of the window takes such atomics only, if it has a device */
static inline int keel_win_is_for_device(const keel_win_h win, uint32_t rank)
{
    return rank < win->ctx->lane.programs && keel_access_is_device_wanted(&win->ctx->lane, rank, win->region);
}

/* returns KEEL_ERR_UNSUPPORTED with a message */
keel_status_t keel_device_refuse(keel_win_h win, const char *call);
/* Issues an atomic. Returns 1 if the call is over with *status_p, 0 if no device carries it out
 * and it takes the ordinary path. */
int keel_device_atomic(keel_win_h win, uint32_t rank, uint64_t offset, const keel_record_atomic_t *atomic, void *result,
                       const keel_rma_params_t *params, keel_req_h *req_p, keel_status_t *status_p);

#endif
