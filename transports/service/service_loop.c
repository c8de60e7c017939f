/* The service thread. */
#include "service_loop.h"

#include "base/limit_hint.h"
#include "base/message.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    REQUESTS_TILL_IDLE = 256, /* maximum number of requests between two calls of on_idle() */
    POLLS_A_YIELD = 8,        /* polls between two yields while spinning */
    /* maximum time that on_idle() may hold back work */
    HELD_NS = 1000000
};

void keel_service_loop_request(keel_service_loop_t *loop, const void *header, size_t header_len, const void *data,
                               size_t data_len)
{
    loop->unreported++;
    loop->concerns |= loop->params->on_request(loop->params->arg, header, header_len, data, data_len);
}

static void notify_other_thread(keel_service_loop_t *loop)
{
    if ((loop->concerns & KEEL_SERVED_NOTIFY) && (loop->params->on_notify != NULL)) {
        loop->params->on_notify(loop->params->arg);
    }
    keel_shm_wait_end(loop->other);
}

/* ---- ticks for the other thread ---- */

static int has_ticks(const keel_service_loop_t *loop)
{
    return (loop->params->on_notify != NULL) && (loop->params->tick_us > 0);
}

/* timeout for poll() */
static int ms_to_tick(const keel_service_loop_t *loop)
{
    const uint64_t tick_ns = loop->params->tick_us * 1000ull, passed_ns = keel_shm_now_ns() - loop->tick_ns;

    if (!has_ticks(loop)) {
        return -1;
    }
    return (passed_ns >= tick_ns) ? 0 : (int)((tick_ns - passed_ns) / 1000000) + 1;
}

static void tick(keel_service_loop_t *loop, uint64_t now_ns)
{
    if (has_ticks(loop) && (now_ns - loop->tick_ns >= loop->params->tick_us * 1000ull)) {
        loop->tick_ns = now_ns;
        loop->params->on_notify(loop->params->arg);
    }
}

/* ---- progress ---- */

static void report(keel_service_loop_t *loop, int is_late)
{
    loop->unreported = 0;
    tick(loop, keel_shm_now_ns());
    if (!loop->params->on_idle(loop->params->arg, is_late)) {
        loop->held_since_ns = 0;
    } else if (loop->held_since_ns == 0) {
        loop->held_since_ns = keel_shm_now_ns();
    }
}

static unsigned loop_progress(keel_service_loop_t *loop)
{
    const unsigned events = loop->ops->progress(loop->arg);

    if (loop->concerns) {
        notify_other_thread(loop);
        loop->concerns = 0;
    }
    if ((loop->unreported > 0) && ((events == 0) || (loop->unreported >= REQUESTS_TILL_IDLE))) {
        report(loop, 0);
    }
    if (loop->held_since_ns != 0 && keel_shm_now_ns() - loop->held_since_ns >= HELD_NS) {
        report(loop, 1);
    }
    return events;
}

static void *loop_main(void *arg)
{
    keel_service_loop_t *loop = arg;
    const uint64_t spin = loop->params->spin_us * 1000ull;
    uint64_t idle_since = 0, now;
    unsigned polls = 0;

    (void)prctl(PR_SET_NAME, KEEL_SERVICE_THREAD);
    while (!atomic_load_explicit(&loop->must_stop, memory_order_acquire)) {
        if (loop_progress(loop) > 0) {
            idle_since = 0;
            continue;
        }
        now = keel_shm_now_ns();
        tick(loop, now);
        if (idle_since == 0) {
            idle_since = now;
        }
        if (now - idle_since >= spin) {
            if (loop->held_since_ns != 0) {
                report(loop, 1);
                continue; /* messages just sent may need progress */
            }
            loop->ops->sleep(loop->arg, loop->bell, ms_to_tick(loop));
        } else if (++polls % POLLS_A_YIELD == 0) {
            /* the scheduler may give the core to another thread for a whole time slice, however
             * short the polls were */
            sched_yield();
        }
    }
    if (loop->unreported > 0 || loop->held_since_ns != 0) {
        report(loop, 1);
    }
    loop->ops->drain(loop->arg);
    return NULL;
}

static void report_failure(const keel_transport_params_t *params, const char *call, int error)
{
    char hint[KEEL_LIMIT_HINT_MAX];

    if (params->message != NULL) {
        keel_error(params->message, "the service thread cannot be made: %s: %s%s", call, strerror(error),
                   keel_limit_hint(error, hint));
    }
}

keel_status_t keel_service_loop_open(keel_service_loop_t *loop, const keel_service_loop_ops_t *ops, void *arg,
                                     const keel_transport_params_t *params, keel_shm_wait_t *other)
{
    *loop = (keel_service_loop_t){
        .ops = ops, .arg = arg, .params = params, .other = other, .bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    if (loop->bell >= 0) {
        return KEEL_OK;
    }
    report_failure(params, "eventfd", errno);
    return KEEL_ERR_IO;
}

/* Signals belong to the program: the service thread handles none, except the signal by which a
 * runtime may hold it. */
keel_status_t keel_service_loop_start(keel_service_loop_t *loop)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    if (loop->params->signal != 0) {
        sigdelset(&all, loop->params->signal);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&loop->thread, NULL, loop_main, loop);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    loop->is_running = (error == 0);
    if (error != 0) {
        report_failure(loop->params, "pthread_create", error);
    }
    return loop->is_running ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_service_loop_stop(keel_service_loop_t *loop)
{
    if (!loop->is_running) {
        return;
    }
    atomic_store(&loop->must_stop, 1);
    keel_shm_bell_ring(loop->bell);
    pthread_join(loop->thread, NULL);
    loop->is_running = 0;
}

void keel_service_loop_close(keel_service_loop_t *loop)
{
    close(loop->bell);
}
