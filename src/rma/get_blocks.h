/* Gets of several blocks that are one access, with one record. */
#ifndef KEEL_RMA_GET_BLOCKS_H_
#define KEEL_RMA_GET_BLOCKS_H_

#include "engine/context.h"

/* blocks that were checked, of a rank that may be any; they are there when it returns KEEL_OK */
keel_status_t keel_get_blocks(keel_win_h win, uint32_t rank, const keel_gather_t *gather, const char *call);

#endif
