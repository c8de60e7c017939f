/* --rehearse: the library kills and compares (src/rehearsal/rehearse); what came of it is said here. */
#ifndef KEELRUN_REHEARSAL_H_
#define KEELRUN_REHEARSAL_H_

#include <stdbool.h>

#include "options.h"

/* makes the directory of the rehearsal in that of the job, and has the ranks know it; false after a line */
bool rehearsal_prepare(const char *session);
/* at the end of the job, which ended with @a status; returns the status to leave with */
int rehearsal_report(const options_t *options, const char *session, int status);

#endif
