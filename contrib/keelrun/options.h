/* The command line. */
#ifndef KEELRUN_OPTIONS_H_
#define KEELRUN_OPTIONS_H_

#include <base/auth.h>

#include "kill_plan.h"

/* keelrun's own exit statuses; all others are the program's */
enum {
    KEELRUN_STATUS_FAILED = 1, /* keelrun failed, or a program left the job */
    KEELRUN_STATUS_USAGE = 2,
    KEELRUN_STATUS_AGAIN = 75,    /* KEEL_EXIT_AGAIN */
    KEELRUN_STATUS_NO_NETNS = 77, /* skipped, for automake and ctest */
    KEELRUN_STATUS_STOPPED = 121, /* on request, with a checkpoint in files */
    KEELRUN_STATUS_NOT_REHEARSED = 122,
    KEELRUN_STATUS_DIFFERENT = 123,
    KEELRUN_STATUS_TIMEOUT = 124, /* as timeout(1) */
    KEELRUN_STATUS_NOT_EXECUTABLE = 126,
    KEELRUN_STATUS_NOT_FOUND = 127
};

/* KEEL_SHRINK: the other ranks go on without dead ranks that nothing replaces. */
typedef enum {
    SHRINK_NO,
    SHRINK_NOW, /* no dead rank is started again */
    SHRINK_LAST /* dead ranks are started again as often as allowed; then no rank is */
} shrink_t;

typedef struct options {
    uint32_t ranks, nodes;
    uint32_t spares; /* the last ranks, which wait for the death of another rank */
    bool cyclic;     /* places ranks round robin, otherwise in blocks */
    bool netns, tag, verbose, no_restart, rehearse;
    shrink_t shrink;
    bool once, has_output; /* once: drops repeated output; has_output: the option was given */
    uint32_t restarts;     /* per rank */
    bool has_restarts;     /* the option was given */
    uint32_t job_restarts;
    uint64_t start_ns;    /* start of keelrun, the zero of the timeout */
    double timeout_s;     /* 0: none */
    double stop_within_s; /* for the checkpoint of a stop on request */
    const char *timeline; /* file for a figure of the recovery; NULL: none */
    bool has_seed;
    uint64_t seed;
    kill_plan_t *kills;
    size_t kill_count;
    char **program;                   /* argv of the program, NULL at the end */
    char *path;                       /* file to execute */
    uint8_t secret[KEEL_AUTH_SECRET]; /* of the job: new at each start */
} options_t;

/* Returns -1 to go on, else the exit status, after a message or the help. */
int options_read(int argc, char **argv, options_t *options);
uint32_t options_node_of(const options_t *options, uint32_t rank); /* node at the rank's start */

#endif
