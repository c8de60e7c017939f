/* The master: the one place where a job's events get their order, and where its end is decided. */
#ifndef KEELRUN_MASTER_H_
#define KEELRUN_MASTER_H_

#include "options.h"

/* the status of the job; *setting_p: with what it asks to be started anew (NAME=VALUE, to be freed), or NULL */
int master_run(const options_t *options, char **setting_p);

#endif
