/* The master: orders the events of a job and decides its end. */
#ifndef KEELRUN_MASTER_H_
#define KEELRUN_MASTER_H_

#include "options.h"
#include "stop_request.h"

/* Whether and how the job may be restarted. */
typedef struct master_end {
    char *setting; /* NAME=VALUE requested for the restart, to be freed; NULL: none */
    bool is_unmet; /* a rank died before all had met: nothing was computed */
} master_end_t;

/* Runs the job once. Returns its status. @a stop outlives the run: a job that is started again
 * while a stop is awaited stops, too. */
int master_run(const options_t *options, stop_t *stop, master_end_t *end_p);

#endif
