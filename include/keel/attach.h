/*
 * Keel: memory of the program's own at which some of a window is, too. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_ATTACH_H_
#define KEEL_ATTACH_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * From here on the @a bytes of the caller's part of the window from @a offset on are also at @a memory: what the program stores there
 * others get, and what others put it finds there. What the memory holds the window holds then. For a window that was made with
 * KEEL_WIN_PARAM_FIELD_ATTACH, of as many bytes as are ever to be attached at a time, as its capacity: all of these are taken when it is
 * made, and what is attached gives its own back. Not collective; local, costs no communication, and may be called in any phase. Others are
 * told where something is attached by the program, as anything else; what is not attached they reach as well.
 *
 * Offset, address and length are multiples of the page size, and the memory is private, readable and writable: of the heap, the stack,
 * globals or mmap(). It is replaced by a second mapping of the window's pages; no other thread may write there meanwhile. Until it is
 * detached the program must not free, unmap or move it; a child of fork() does not have it; it must not be registered with a device,
 * locked, or mapped by others. Memory that is no whole pages is for keel_win_create().
 *
 * To others it is a store of the caller's to all of these bytes, ordered with what they put there by what orders any store. A put to
 * the own rank, or a get from it, whose buffer is such memory and whose bytes overlap that, moves them as memcpy() would.
 *
 * Images: what is attached belongs to them from here on, and not when it is detached; of such a window nothing else does unless
 * keel_win_extents() says so.
 *
 * Death: a replacement calls it again, with memory at whatever address. Which contents count is known from the image. What was attached
 * when the image was taken is to be attached again, before keel_restore() or behind it, before it is used or detached: the memory then holds what the window does, so what
 * the image had and what others have put since. What is attached by a call behind the image is attached as it was: what the memory holds counts.
 * The same in a rollback, for survivors: behind keel_restore() attached is what was attached when the image was taken, at that address, and still is, or is
 * again; all else that was attached came back to the program before memory was restored, with what it held, and what was detached since is not attached again by
 * itself, for that memory may be gone. So a program attaches behind keel_restore() what its protected state says was attached; of what
 * is attached there already that is nothing, and at another address it moves there. Once for each: after that it is refused as anywhere.
 * To the program's start belongs what was attached in it and not detached in it, with what the memory held then, of which Keel keeps a copy to the end. A
 * replacement's start attaches it, too: what it leaves out there and attaches behind keel_restore() is attached as if for the first time.
 * @return KEEL_ERR_INVALID_PARAM: no bytes; some of them are attached, or were in the image and are to be attached again; some of the memory is a window's, attached, protected, or not private;
 *         KEEL_ERR_RANGE, KEEL_ERR_ALIGNMENT; KEEL_ERR_UNSUPPORTED: the window was not made for it; KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_win_attach(keel_win_h win, uint64_t offset, void *memory, size_t bytes);

/**
 * @a memory, as it was attached, is the program's alone again, and keeps what it holds, as does the window. To others it is as a load of
 * all these bytes. Not collective, local. keel_win_free() and keel_finalize() do so with all that is attached.
 *
 * Death: as for keel_win_attach().
 * @return KEEL_ERR_INVALID_PARAM: it is not attached, or not again yet; KEEL_ERR_NO_MEMORY: it stays attached.
 */
KEEL_API keel_status_t keel_win_detach(keel_win_h win, void *memory);

#ifdef __cplusplus
}
#endif
#endif
