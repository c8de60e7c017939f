/*
 * Programs of several threads (SHMEM_THREAD_MULTIPLE). Keel takes calls of one thread at a time, so calls of Keel's stand between
 * keel_shmem_enter() and keel_shmem_leave(). Who waits for what a program does, another thread of this process maybe, enters for a look at
 * a time; no call in there ends only when another thread has called. Otherwise, with one thread at a time, these two do nothing.
 */
#ifndef KEEL_SHMEM_THREADS_H_
#define KEEL_SHMEM_THREADS_H_

#include <keel/keel.h>

extern int keel_shmem_are_many; /* several threads may call */

void keel_shmem_threads_enter(void);
void keel_shmem_threads_leave(void);
/* between two looks: whoever waits to enter has its turn, and other processes the core */
void keel_shmem_threads_yield(void);
/* the caller has restored: threads that called before may have the memory of before in their hands, and call no more */
void keel_shmem_threads_restored(void);

static inline void keel_shmem_enter(void)
{
    if (keel_shmem_are_many) {
        keel_shmem_threads_enter();
    }
}

static inline keel_status_t keel_shmem_leave(keel_status_t status)
{
    if (keel_shmem_are_many) {
        keel_shmem_threads_leave();
    }
    return status;
}

/* the status of a call of Keel's */
#define KEEL_SHMEM_ALONE(...) (keel_shmem_enter(), keel_shmem_leave(__VA_ARGS__))

#endif
