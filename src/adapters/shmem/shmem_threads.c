/*
 * Mutual exclusion of threads. A waiting thread releases the lock between two looks; any other
 * holder is in a call of Keel that ends by actions of other processes: so every thread enters
 * eventually. A jump to the restart point leaves a call with the lock held; the same thread then
 * enters again.
 */
#include "shmem_threads.h"
#include "shmem_job.h"

#include <pthread.h>
#include <sched.h>

int keel_shmem_is_threaded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned waiting, turns; /* threads that want to enter; count of entries */
static unsigned restores;       /* of this process */
static _Thread_local int is_inside;
static _Thread_local unsigned seen; /* 1 + restores at the thread's first call */

void keel_shmem_threads_enter(void)
{
    if (!is_inside) {
        __atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
        pthread_mutex_lock(&lock);
        __atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&turns, turns + 1, __ATOMIC_RELAXED);
        is_inside = 1;
    }
    if (seen == 0) {
        seen = restores + 1;
    } else if (seen != restores + 1) {
        keel_shmem_job_restart("a thread", "it is none of those that began after the restore");
    }
}

void keel_shmem_threads_leave(void)
{
    is_inside = 0;
    pthread_mutex_unlock(&lock);
}

void keel_shmem_threads_yield(void)
{
    const unsigned turn = __atomic_load_n(&turns, __ATOMIC_RELAXED);

    if (keel_shmem_is_threaded) {
        do {
            sched_yield();
        } while (__atomic_load_n(&waiting, __ATOMIC_RELAXED) > 0 && __atomic_load_n(&turns, __ATOMIC_RELAXED) == turn);
    }
}

void keel_shmem_threads_restored(void)
{
    seen = ++restores + 1;
}
