/*
 * Keel: puts and gets of many blocks, of one length and at regular distances, or of any. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_STRIDED_H_
#define KEEL_STRIDED_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where blocks lie; all in bytes. */
typedef struct keel_blocks {
    size_t length, count;
    uint64_t offset;        /**< of the first one, in the window */
    uint64_t stride;        /**< from one to the next, in the window: 0 and less than the length, too, for a get */
    uint64_t buffer_stride; /**< and in the buffer; likewise for a put */
} keel_blocks_t;

/** One of several blocks. */
typedef struct keel_block {
    uint64_t offset; /**< in the window, bytes */
    size_t length;   /**< bytes; 0: nothing is done */
    void *buffer;    /**< only read by a put */
} keel_block_t;

/**
 * Puts @a blocks: what keel_put() says of each, and of what a death does to it, holds. All are checked before the first is put. A log has
 * them as one record as long as they fit in a message of its lane, and what is longer as several: a death is before such a record or after
 * it. Blocks that overlap in the window are in no order, as puts.
 * @return as keel_put(); KEEL_ERR_RANGE for a block that leaves the window.
 */
KEEL_API keel_status_t keel_put_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer);
/** The same of @a count blocks that lie anyhow; @a blocks may be overwritten when it returns, as their buffers may. */
KEEL_API keel_status_t keel_put_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count);

/**
 * Gets blocks as keel_get() does, all at a time; they are there when it returns. It is one get, with one record in the logs and one
 * message where messages are needed, or a few where a record cannot hold them all; what a death does to it is as of one keel_get(). Where that is a poll
 * (KEEL_PARAM_FLAG_POLLS), of another rank, and where the program gave the memory, each block is a get.
 * @return as keel_get(); KEEL_ERR_RANGE for a block that leaves the window.
 */
KEEL_API keel_status_t keel_get_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, void *buffer);
/**
 * The same of @a count blocks of any lengths, which are filled in no order. All are checked before the first is got; the list has to
 * stay until the call returns.
 */
KEEL_API keel_status_t keel_get_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count);

#ifdef __cplusplus
}
#endif
#endif
