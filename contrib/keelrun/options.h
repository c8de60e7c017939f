/* The command line. */
#ifndef KEELRUN_OPTIONS_H_
#define KEELRUN_OPTIONS_H_

#include <base/auth.h>

#include "kill_plan.h"

/* keelrun's own exit statuses; others are the program's */
enum {
    KEELRUN_STATUS_FAILED = 1, /* keelrun itself, or a program that left the job */
    KEELRUN_STATUS_USAGE = 2,
    KEELRUN_STATUS_AGAIN = 75,    /* KEEL_EXIT_AGAIN */
    KEELRUN_STATUS_NO_NETNS = 77, /* what automake and ctest call skipped */
    KEELRUN_STATUS_NOT_REHEARSED = 122,
    KEELRUN_STATUS_DIFFERENT = 123,
    KEELRUN_STATUS_TIMEOUT = 124, /* as timeout(1) */
    KEELRUN_STATUS_NOT_EXECUTABLE = 126,
    KEELRUN_STATUS_NOT_FOUND = 127
};

typedef struct options {
    uint32_t ranks, nodes;
    uint32_t spares; /* how many of the ranks, the last ones, wait for the death of another */
    bool cyclic;     /* ranks on nodes: round robin, else in blocks */
    bool netns, tag, verbose, no_restart, rehearse;
    bool once, has_output; /* what a rank writes again is dropped; and that was said */
    uint32_t restarts;     /* of one rank, */
    bool has_restarts;     /* as was asked for */
    uint32_t job_restarts;
    uint64_t start_ns; /* of keelrun, from which the timeout counts */
    double timeout_s;  /* 0: none */
    bool has_seed;
    uint64_t seed;
    kill_plan_t *kills;
    size_t kill_count;
    char **program;                   /* argv of the program, NULL at the end */
    char *path;                       /* what is executed */
    uint8_t secret[KEEL_AUTH_SECRET]; /* of the job: another one at each start */
} options_t;

/* -1: go on; else the status to leave with, after one line (or the help) was printed */
int options_read(int argc, char **argv, options_t *options);
uint32_t options_node_of(const options_t *options, uint32_t rank); /* where the rank starts */

#endif
