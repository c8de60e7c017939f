/*
 * Mutexes of the code above. One thread plays all threads, so real mutexes would never be
 * contended. But a rank switched away inside a critical section must keep out its own service side,
 * as in reality.
 */
#include "sim/world.h"

#include <errno.h>
#include <pthread.h>

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static sim_process_t *sim_locker(void)
{
    return (sim_running != NULL) ? sim_running->current : NULL;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sim_process_t *process = sim_locker();
    int rc;

    if (process == NULL) {
        return __real_pthread_mutex_lock(mutex);
    }
    while ((rc = __real_pthread_mutex_trylock(mutex)) == EBUSY) {
        if (process->sim->in_handler) {
            keel_sim_flaw(process->sim, "rank %u.%u: the service side needs a mutex that is taken", process->rank,
                          process->incarnation);
            return EDEADLK;
        }
        process->where = "mutex";
        sim_give_way(process, SIM_READY, 0);
    }
    process->held += (rc == 0);
    keel_sim_store_fence(process->sim);
    return rc;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    sim_process_t *process = sim_locker();
    const int rc = __real_pthread_mutex_trylock(mutex);

    if ((process != NULL) && (rc == 0)) {
        ++process->held;
        keel_sim_store_fence(process->sim);
    }
    return rc;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    sim_process_t *process = sim_locker();

    if ((process != NULL) && (process->held > 0)) {
        --process->held;
        keel_sim_store_fence(process->sim);
    }
    return __real_pthread_mutex_unlock(mutex);
}
