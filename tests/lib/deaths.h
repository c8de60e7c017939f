/* Where a test program is to kill itself: "RANK@STEP.PLACE,...", as its command line has it. */
#ifndef KEEL_TEST_DEATHS_H_
#define KEEL_TEST_DEATHS_H_

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* does not return when it is said here; NULL: nowhere */
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

/* they are for a rank's first life, in a job that was not started anew; NULL in others */
static inline const char *deaths_of_first_life(const char *deaths, unsigned incarnation)
{
    const char *job = getenv("KEELRUN_JOB");

    return (incarnation == 0 && job != NULL && strcmp(job, "0") == 0) ? deaths : NULL;
}

#endif
