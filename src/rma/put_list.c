/* Puts of a list of blocks. */
#include "engine/threads.h"
#include "rma/put_blocks.h"
#include "engine/refuse.h"
#include "access/target.h"

keel_status_t keel_put_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;

    if (win == NULL || (blocks == NULL && count > 0)) {
        return keel_refuse_null(win == NULL ? "the window" : "the blocks of an access");
    }
    status = keel_win_check(win, rank, 0, 0, NULL, NULL);
    for (size_t i = 0; i < count && status == KEEL_OK; i++) {
        status = keel_win_check(win, rank, blocks[i].offset, blocks[i].length, blocks[i].buffer, NULL);
    }
    return keel_win_end(win, (status == KEEL_OK) ? keel_put_blocks_list(win, rank, blocks, count) : status);
}
