/*
 * Programs with several threads (SHMEM_THREAD_MULTIPLE). Keel allows one calling thread at a time,
 * so each call of Keel stands between keel_shmem_enter() and keel_shmem_leave(). A thread that
 * waits for the program, perhaps for another thread of this process, enters for one look at a time;
 * no call inside depends on a later call of another thread. In other programs both functions do
 * nothing.
 */
#ifndef KEEL_SHMEM_THREADS_H_
#define KEEL_SHMEM_THREADS_H_

#include <keel/keel.h>

extern int keel_shmem_is_threaded; /* several threads may call */

void keel_shmem_threads_enter(void);
void keel_shmem_threads_leave(void);
/* Between two looks: lets waiting threads enter, and gives the core to other processes. */
void keel_shmem_threads_yield(void);
/*
 * The caller has restored: threads with earlier calls may hold data of the old memory and must not
 * call again.
 */
void keel_shmem_threads_restored(void);

static inline void keel_shmem_enter(void)
{
    if (keel_shmem_is_threaded) {
        keel_shmem_threads_enter();
    }
}

static inline keel_status_t keel_shmem_leave(keel_status_t status)
{
    if (keel_shmem_is_threaded) {
        keel_shmem_threads_leave();
    }
    return status;
}

/* status of a call of Keel */
#define KEEL_SHMEM_ALONE(...) (keel_shmem_enter(), keel_shmem_leave(__VA_ARGS__))

#endif
