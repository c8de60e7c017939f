/*
 * UCX's own functions behind the functions of this library, and the origin of a call. Older
 * generations of calls use newer generations: ucp_put() calls ucp_put_nb(), and ucp_put_nb() calls
 * ucp_put_nbx(). The program's call counts once.
 */
#ifndef KEEL_PRELOAD_NEXT_H_
#define KEEL_PRELOAD_NEXT_H_

#include "preload/preload_report.h"

/* Finds UCX's function of this name. If there is none, the process ends with a message. */
void *preload_next(const char *name);
/* the same; NULL if the loaded UCX lacks the function */
void *preload_next_if_any(const char *name);

/* calls of each kind in progress in the thread */
extern __thread unsigned preload_inside[PRELOAD_KINDS] __attribute__((tls_model("initial-exec")));

/* True for an address inside of UCX or of the library. */
int preload_is_from_ucx(const void *return_address);

/*
 * True if UCX made the call inside another call of the kind. A callback of the program may run
 * inside a call, too; calls of the callback return to the program and count. Followed by
 * preload_leave().
 */
static inline int preload_enter(preload_kind_t kind, const void *return_address)
{
    return __builtin_expect(preload_inside[kind]++ > 0, 0) && preload_is_from_ucx(return_address);
}

static inline void preload_leave(preload_kind_t kind)
{
    preload_inside[kind]--;
}

#endif
