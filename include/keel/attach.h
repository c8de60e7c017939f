/*
 * Keel: the program's own memory as a part of a window. Part of <keel/keel.h>; its conventions
 * hold.
 */
#ifndef KEEL_ATTACH_H_
#define KEEL_ATTACH_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Attaches @a bytes of the program's memory at @a offset of the caller's part of a window. From
 * then on the program's stores there are visible to gets of others, and puts of others appear
 * there. The window takes over the contents of the memory. Local, without communication, in any
 * phase. The program itself informs other ranks of the offset. Other ranks reach unattached parts
 * as well.
 *
 * The window: made with KEEL_WIN_PARAM_FIELD_ATTACH, with room for all memory attached at one
 * time. The window allocates its whole size when made; attached memory gives its
 * own pages back.
 * The memory: private, readable and writable (heap, stack, globals, mmap()). Offset, address and
 * length are multiples of the page size. A second mapping of the window's pages replaces the
 * memory; no other thread may write there during the call. Until keel_win_detach() the program
 * must not free, unmap or move the memory, register it with a device, lock it, or let others map
 * it. A child of fork() does not have the memory. Memory that is not whole pages:
 * keel_win_create().
 *
 * Order: to other ranks the call is a store of the caller to all of these bytes, ordered with
 * their puts like any store. A put or get of the own rank with such a buffer that overlaps the
 * bytes in the window moves them as memcpy() would.
 * Images: attached memory belongs to the images until detached. Other memory of such a window
 * does only if keel_win_extents() says so.
 *
 * Death: a replacement repeats the call, with memory at any address. The rules:
 * contrib/doc/reexecution.md, "Attached memory".
 * @return KEEL_ERR_INVALID_PARAM: @a bytes is 0; a part of the range is attached, or was attached
 *         in the image and must be attached again first; a part of the memory is a window's,
 *         attached, protected, or not private. KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT.
 *         KEEL_ERR_UNSUPPORTED: the window was not made for attached memory. KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_win_attach(keel_win_h win, uint64_t offset, void *memory, size_t bytes);

/**
 * Detaches memory from a window. The memory and the window both keep the contents. To other ranks
 * the call is a load of all these bytes. Local. keel_win_free() and keel_finalize() detach all
 * memory.
 *
 * Death: as for keel_win_attach().
 * @param [in] memory  address given to keel_win_attach().
 * @return KEEL_ERR_INVALID_PARAM: not attached, or not attached again yet; KEEL_ERR_NO_MEMORY:
 *         the memory stays attached.
 */
KEEL_API keel_status_t keel_win_detach(keel_win_h win, void *memory);

#ifdef __cplusplus
}
#endif
#endif
