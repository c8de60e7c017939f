/* What random programs share whose steps end with gsyncs or checkpoints: from keel_init() to finalize, again after each rollback. */
#ifndef KEEL_TEST_LIFE_H_
#define KEEL_TEST_LIFE_H_

#include "play.h"
#include "try.h"

typedef struct life {
    play_host_t *host;
    keel_context_h ctx;
    uint32_t steps;
    const uint64_t *step;             /* the next one */
    keel_status_t (*open)(void *arg); /* windows and protected memory, once a process */
    keel_status_t (*run)(void *arg);  /* the steps that are left, and what has to be found after them */
    void *arg;
} life_t;

/* a status that no program may end with is told as a flaw */
keel_status_t life_run(life_t *life);

#endif
