/*
 * Keel: puts and gets of many blocks: of one length at regular distances, or of any length
 * anywhere. Part of <keel/keel.h>; its conventions hold.
 */
#ifndef KEEL_STRIDED_H_
#define KEEL_STRIDED_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Blocks of equal length at equal distances; all in bytes. */
typedef struct keel_blocks {
    size_t length, count;
    uint64_t offset;        /**< of the first block in the window */
    uint64_t stride;        /**< between blocks in the window; a get allows less than length */
    uint64_t buffer_stride; /**< between blocks in the buffer; a put allows less than length */
} keel_blocks_t;

/** One of several blocks. */
typedef struct keel_block {
    uint64_t offset; /**< in the window, bytes */
    size_t length;   /**< bytes; 0: no effect */
    void *buffer;    /**< read-only for a put */
} keel_block_t;

/**
 * Puts blocks, each as keel_put() does. All blocks are checked before the first put. Blocks that
 * overlap in the window take effect in no order.
 *
 * Death: as for keel_put(). The log has the blocks as a record if they fit in a message of their
 * lane, otherwise as several records. A death falls before or after such a record.
 * @return as keel_put(); KEEL_ERR_RANGE for a block that leaves the window.
 */
KEEL_API keel_status_t keel_put_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, const void *buffer);
/** keel_put_strided() of @a count blocks anywhere. @a blocks and their buffers may be reused on
 *  return. */
KEEL_API keel_status_t keel_put_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count);

/**
 * Gets blocks as keel_get() does, all at once; the bytes are in @a buffer on return. The call is
 * a single get, with one log record and, where messages are needed, one message, or a few if a
 * record cannot hold all blocks. Each block is a get of its own in polls of another rank
 * (KEEL_PARAM_FLAG_POLLS), and for memory that the program gave to the window.
 *
 * Death: as for one keel_get().
 * @return as keel_get(); KEEL_ERR_RANGE for a block that leaves the window.
 */
KEEL_API keel_status_t keel_get_strided(keel_win_h win, uint32_t rank, const keel_blocks_t *blocks, void *buffer);
/**
 * keel_get_strided() of @a count blocks of any lengths, filled in no order. All blocks are
 * checked before the first get. The list must stay until the call returns.
 */
KEEL_API keel_status_t keel_get_list(keel_win_h win, uint32_t rank, const keel_block_t *blocks, size_t count);

#ifdef __cplusplus
}
#endif
#endif
