/* The master: the one place where a job's events get their order, and where its end is decided. */
#ifndef KEELRUN_MASTER_H_
#define KEELRUN_MASTER_H_

#include "options.h"

/* Whether the job may be started anew, and how. */
typedef struct master_end {
    char *setting; /* NAME=VALUE that the job asks to be started anew with, to be freed; NULL: none */
    bool is_unmet; /* a rank died before all had met: nothing was computed */
} master_end_t;

/* Runs the job once. Returns its status. */
int master_run(const options_t *options, master_end_t *end_p);

#endif
