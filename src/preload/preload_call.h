/*
 * Shared parts of the functions in front of UCX's functions. Each looks up UCX's function at the
 * first call, counts unless UCX made the call, and passes the call on unchanged.
 */
#ifndef KEEL_PRELOAD_CALL_H_
#define KEEL_PRELOAD_CALL_H_

#include "preload/preload_next.h"
#include "preload/preload_thread.h"

#include <ucp/api/ucp.h>

#define PRELOAD_API __attribute__((visibility("default")))

/* declares next, UCX's function */
#define PRELOAD_NEXT(_name)                                               \
    static __typeof__(&(_name)) kept;                                     \
    __typeof__(&(_name)) next = __atomic_load_n(&kept, __ATOMIC_RELAXED); \
    if (__builtin_expect(next == NULL, 0)) {                              \
        next = (__typeof__(&(_name)))preload_next(#_name);                \
        __atomic_store_n(&kept, next, __ATOMIC_RELAXED);                  \
    }

/* Begins a call. Returns the thread if the call counts. */
static inline preload_thread_t *preload_begin(preload_kind_t kind, const void *return_address)
{
    const int is_nested = preload_enter(kind, return_address);
    preload_thread_t *thread = preload_thread();

    if (thread != NULL && is_nested) {
        preload_add(&thread->nested[kind], 1);
        return NULL;
    }
    return thread;
}

/* Ends a call: counts an error. */
static inline void preload_end(preload_thread_t *thread, preload_kind_t kind, ucs_status_t status)
{
    preload_leave(kind);
    if (__builtin_expect(status < 0, 0) && thread != NULL) {
        preload_add(&thread->failed[kind], 1);
    }
}

static inline preload_access_t preload_access_of(preload_kind_t kind, const void *ep, uint64_t address,
                                                 const void *data, size_t length)
{
    preload_access_t access;

    access.kind = kind;
    access.ep = ep;
    access.address = address;
    access.data = data;
    access.length = length;
    return access;
}

/* an access of contiguous bytes; no thread: a call that does not count */
static inline void preload_access(preload_thread_t *thread, preload_kind_t kind, const void *ep, uint64_t address,
                                  const void *data, size_t length)
{
    const preload_access_t access = preload_access_of(kind, ep, address, data, length);

    if (thread != NULL) {
        preload_thread_access(thread, &access);
    }
}

/*
 * An access by a call with parameters. @a param tells if @a buffer is contiguous bytes, a list of
 * buffers or a generic datatype, and if it is in host or device memory. If access->data is NULL,
 * values are not copied.
 */
void preload_access_nbx(preload_thread_t *thread, preload_access_t *access, const void *buffer, size_t count,
                        const ucp_request_param_t *param);

/* status of a call that returns a request, or an error, or NULL if it is complete */
static inline ucs_status_t preload_status(ucs_status_ptr_t request)
{
    return request != NULL && !UCS_PTR_IS_ERR(request) ? UCS_INPROGRESS : UCS_PTR_STATUS(request);
}

#endif
