/* Gets of several blocks as one access with one record. */
#ifndef KEEL_RMA_GET_BLOCKS_H_
#define KEEL_RMA_GET_BLOCKS_H_

#include "engine/context.h"

/* Gets blocks that were checked from any rank, the own one included; complete on KEEL_OK. */
keel_status_t keel_get_blocks(keel_win_h win, uint32_t rank, const keel_gather_t *gather, const char *call);

#endif
