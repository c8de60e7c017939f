/* The master: the one place where a job's events get their order, and where its end is decided. */
#ifndef KEELRUN_MASTER_H_
#define KEELRUN_MASTER_H_

#include "options.h"

int master_run(const options_t *options); /* the status of the job */

#endif
