/*
 * The thread that serves others while the program computes, as every transport with a network has it: it spins for a while after
 * each message, then sleeps until one comes; it tells the thread inside Keel of news and that time passes, and has what is
 * owed acknowledged when it runs dry.
 */
#ifndef KEEL_SERVICE_LOOP_H_
#define KEEL_SERVICE_LOOP_H_

#include "shm/shm_wait.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct keel_service_loop_ops {
    /* takes what has come and sends what is queued; how many events there were */
    unsigned (*progress)(void *arg);
    /* until a message comes or the bell is rung; -1: for as long as that takes */
    void (*sleep)(void *arg, int bell, int timeout_ms);
    /* at the end: sends what is queued still */
    void (*drain)(void *arg);
} keel_service_loop_ops_t;

typedef struct keel_service_loop {
    const keel_service_loop_ops_t *ops;
    void *arg;
    const keel_transport_params_t *params;
    keel_shm_wait_t *other; /* the thread inside Keel */
    pthread_t thread;
    int bell; /* ends its sleep */
    int is_running;
    atomic_int must_stop;
    int concerns;           /* keel_served: of the requests of this progress, for the other thread */
    uint64_t tick_ns;       /* when it was told last that time passes */
    unsigned unreported;    /* requests handled since on_idle() */
    uint64_t held_since_ns; /* on_idle() keeps something back; 0: not */
} keel_service_loop_t;

/* @a params are kept */
keel_status_t keel_service_loop_open(keel_service_loop_t *loop, const keel_service_loop_ops_t *ops, void *arg,
                                     const keel_transport_params_t *params, keel_shm_wait_t *other);
keel_status_t keel_service_loop_start(keel_service_loop_t *loop);
void keel_service_loop_stop(keel_service_loop_t *loop); /* drains, and waits for its end; nothing if it does not run */
void keel_service_loop_close(keel_service_loop_t *loop);
/* from progress(): a request has come */
void keel_service_loop_request(keel_service_loop_t *loop, const void *header, size_t header_len, const void *data,
                               size_t data_len);

#endif
