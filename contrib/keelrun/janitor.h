/*
 * The janitor: the process between the master and everything it runs. It makes the job's directories and starts the
 * nodes, and when the master is done, or gone in whatever way, it kills what is left and removes the directories.
 *
 *   keelrun (master) -- janitor -- node 0 -- ranks ...
 *                               \- node 1 -- ranks ...
 *
 * Why nothing is left behind: every process of the job is a descendant of the janitor and cannot leave it, since it
 * is a child subreaper; nodes die with the janitor and ranks with their node (parent death signal); the master is a
 * subreaper too and does the janitor's work if that one is killed. If both are killed at once the directories stay, and the next
 * keelrun of the user removes them (leftover.h).
 */
#ifndef KEELRUN_JANITOR_H_
#define KEELRUN_JANITOR_H_

#include <sys/types.h>

#include "options.h"

#define JANITOR_PATH_MAX 256

typedef struct janitor {
    pid_t pid;
    int control; /* its end of file tells the janitor that the master is done */
    char session[JANITOR_PATH_MAX], shm[JANITOR_PATH_MAX]; /* directories of the job */
} janitor_t;

/* Makes the process, which makes the directories and starts the nodes on @a node_fds; the caller has signals blocked.
 * Returns 0, or -1 after a line. */
int janitor_start(janitor_t *janitor, const options_t *options, const int *node_fds, const int *master_fds);
/* waits until all is gone; also does the janitor's work itself if it died */
void janitor_finish(janitor_t *janitor);

#endif
