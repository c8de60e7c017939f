/*
 * --rehearse: the library kills and compares (src/rehearsal/rehearse); this file reports the
 * results.
 */
#ifndef KEELRUN_REHEARSAL_H_
#define KEELRUN_REHEARSAL_H_

#include <stdbool.h>

#include "options.h"

/*
 * Makes the directory of the rehearsal in the job's directory and announces it to the ranks.
 * Returns false after a message.
 */
bool rehearsal_prepare(const char *session);
/* Reports at the end of the job, with its @a status. Returns the final exit status. */
int rehearsal_report(const options_t *options, const char *session, int status);

#endif
