/* Puts of several blocks as a record, with checked arguments. */
#ifndef KEEL_RMA_PUT_BLOCKS_H_
#define KEEL_RMA_PUT_BLOCKS_H_

#include "window/window.h"

#include <keel/keel.h>

/* several blocks, none of them empty */
keel_status_t keel_put_blocks_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer);
keel_status_t keel_put_blocks_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count);
/* Puts @a length > 0 bytes, then sets the signal's word. Neither window goes by message to that
 * rank. */
keel_status_t keel_put_blocks_signal(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                     const keel_signal_t *signal);

#endif
