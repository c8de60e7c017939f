/* For keelrun's --kill: KILLED, "RANK@STEP", names the victim. The victim waits at that step,
 * because keelrun may kill it long after all other work is done. */
#ifndef KEEL_TEST_AWAIT_KILL_H_
#define KEEL_TEST_AWAIT_KILL_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline int await_is(const char *variable, const char *value)
{
    const char *is = getenv(variable);

    return is != NULL && strcmp(is, value) == 0;
}

/* Waits only in the first incarnation of the first job. */
static inline void await_kill(long rank, long step)
{
    char here[48];

    snprintf(here, sizeof(here), "%ld@%ld", rank, step);
    while (await_is("KILLED", here) && await_is("KEEL_INCARNATION", "0") && await_is("KEELRUN_JOB", "0")) {
        pause();
    }
}

#endif
