/* The life of a random program with a gsync or checkpoint after each step: from keel_init() to
 * finalize, and again after each rollback. */
#ifndef KEEL_TEST_LIFE_H_
#define KEEL_TEST_LIFE_H_

#include "play.h"
#include "try.h"

typedef struct life {
    play_host_t *host;
    keel_context_h ctx;
    uint32_t steps;
    const uint64_t *step;             /* the next step */
    keel_status_t (*open)(void *arg); /* allocates windows and protects memory, once a process */
    keel_status_t (*run)(void *arg);  /* runs the remaining steps and checks their results */
    void *arg;
} life_t;

/* Reports a status as a flaw if no program may end with that status. */
keel_status_t life_run(life_t *life);

#endif
