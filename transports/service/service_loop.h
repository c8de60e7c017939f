/*
 * Thread that serves other ranks while the program computes, for every transport with a network.
 * After each message the thread spins for a while, then sleeps until the next. It notifies the
 * thread inside Keel of news and of the passage of time, and calls for pending acknowledgements
 * when no request is left.
 */
#ifndef KEEL_SERVICE_LOOP_H_
#define KEEL_SERVICE_LOOP_H_

#include "shm/shm_wait.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct keel_service_loop_ops {
    /* receives incoming messages and sends queued ones; returns the number of events */
    unsigned (*progress)(void *arg);
    /* sleeps until a message arrives or the bell rings; timeout -1: no limit */
    void (*sleep)(void *arg, int bell, int timeout_ms);
    /* at the end: sends all queued messages */
    void (*drain)(void *arg);
} keel_service_loop_ops_t;

typedef struct keel_service_loop {
    const keel_service_loop_ops_t *ops;
    void *arg;
    const keel_transport_params_t *params;
    keel_shm_wait_t *other; /* the thread inside Keel */
    pthread_t thread;
    int bell; /* ends the sleep of the thread */
    int is_running;
    atomic_int must_stop;
    /* keel_served flags of the requests in this progress, for the other thread */
    int concerns;
    uint64_t tick_ns;       /* time of the last tick */
    unsigned unreported;    /* requests handled since on_idle() */
    uint64_t held_since_ns; /* time since on_idle() holds back work; 0: nothing is held back */
} keel_service_loop_t;

/* @a params are kept */
keel_status_t keel_service_loop_open(keel_service_loop_t *loop, const keel_service_loop_ops_t *ops, void *arg,
                                     const keel_transport_params_t *params, keel_shm_wait_t *other);
keel_status_t keel_service_loop_start(keel_service_loop_t *loop);
/* drains and joins the thread; no effect if it does not run */
void keel_service_loop_stop(keel_service_loop_t *loop);
void keel_service_loop_close(keel_service_loop_t *loop);
/* from progress(): passes on a request */
void keel_service_loop_request(keel_service_loop_t *loop, const void *header, size_t header_len, const void *data,
                               size_t data_len);

#endif
