/* A window's handle: the object behind keel_win_h, and the map of its targets. */
#ifndef KEEL_ENGINE_WIN_HANDLE_H_
#define KEEL_ENGINE_WIN_HANDLE_H_

#include "peer/peer.h"

#include <keel/keel.h>

#define KEEL_WINDOWS_MAX (KEEL_REGION_LAST - KEEL_REGION_WINDOW0)
_Static_assert(KEEL_WINDOWS_MAX == 4084, "keel.h says how many");

/* freed_call of a window removed by a rollback to a time before its allocation */
#define KEEL_WIN_GONE UINT32_MAX

typedef struct keel_target {
    /* the peer's window here if stores may go there now (live peer, direct lane); else NULL */
    char *ptr;
    /* bytes of the peer's window; without a pointer, 0 unless puts are only logged and sent
     * from the log */
    size_t size;
} keel_target_t;

struct keel_win {
    keel_context_h ctx;
    keel_target_t *targets;
    uint64_t changes; /* lane->changes when targets was derived */
    unsigned region;
    void *base;
    size_t size;
    /* the program's own memory; NULL: Keel's. With is_mapped it belongs to Keel until it is
     * returned to the program. */
    void *given;
    int is_mapped;
    void *initial;       /* contents in generation 0; NULL: zeros */
    uintptr_t address;   /* address of the window, the same in every life */
    uintptr_t place;     /* address by the order of windows alone */
    uint32_t made_call;  /* number of the window call that made the window, from 1 */
    uint32_t freed_call; /* number of the window call that freed it; 0: none; KEEL_WIN_GONE */
    char name[32];
    /* with has_extents: the parts that belong to an image; otherwise the whole window does */
    keel_extent_t *extents;
    unsigned extent_count;
    int has_extents;
    int are_extents_fixed; /* no rollback resets them */
    /* list of windows that rollbacks removed: calls refuse their handles */
    struct keel_win *gone;
    /* by rank: keel_lock_how_t; 0: not locked; NULL: no lock was ever taken */
    uint8_t *locked;
    /* KEEL_LOCK_SHARED: locked by keel_win_lock_all(); by bias at the ranks without an entry in
     * .locked */
    uint8_t all;
    int is_device_wanted; /* a device is to do the atomics on the own part */
    /* NULL: the window takes no attachments (window/win_attached) */
    struct keel_attach *attach;
};

#endif
