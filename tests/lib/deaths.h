/* Points at which a test program kills itself: "RANK@STEP.PLACE,...", from the command line. */
#ifndef KEEL_TEST_DEATHS_H_
#define KEEL_TEST_DEATHS_H_

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kills the process if the list names this point; then the call does not return. NULL: an empty
 * list. */
static inline void die_when_said(const char *deaths, unsigned long rank, unsigned long step, unsigned long place)
{
    unsigned long of, at, where;

    for (; deaths != NULL; deaths = strchr(deaths, ',')) {
        deaths += (*deaths == ',');
        if (sscanf(deaths, "%lu@%lu.%lu", &of, &at, &where) == 3 && of == rank && at == step && where == place) {
            raise(SIGKILL);
        }
    }
}

/* The deaths, if the process is the rank's first incarnation in a job without a restart; otherwise
 * NULL. */
static inline const char *deaths_of_first_life(const char *deaths, unsigned incarnation)
{
    const char *job = getenv("KEELRUN_JOB");

    return (incarnation == 0 && job != NULL && strcmp(job, "0") == 0) ? deaths : NULL;
}

#endif
