/*
 * The janitor: the process between the master and all other processes. The janitor makes the job's
 * directories and starts the nodes. When the master is done, or dies in any way, the janitor kills
 * all remaining processes and removes the directories.
 *
 *     keelrun (master) -- janitor -- node 0 -- ranks ...
 *                                \- node 1 -- ranks ...
 *
 * Why nothing is left behind: every process of the job is a descendant of the janitor and cannot
 * escape, since the janitor is a child subreaper; nodes die with the janitor and ranks with their
 * node (parent death signal); the master is a subreaper, too, and does the janitor's work if the
 * janitor is killed. If both are killed at once, the directories stay until the user's next keelrun
 * removes them (leftover.h).
 */
#ifndef KEELRUN_JANITOR_H_
#define KEELRUN_JANITOR_H_

#include <sys/types.h>

#include "options.h"

#define JANITOR_PATH_MAX 256

typedef struct janitor {
    pid_t pid;
    /* end of file tells the janitor that the master is done */
    int control;
    char session[JANITOR_PATH_MAX], shm[JANITOR_PATH_MAX]; /* directories of the job */
} janitor_t;

/*
 * Forks the janitor, which makes the directories and starts the nodes on @a node_fds. The caller
 * has blocked signals. Returns 0, or -1 after a message.
 */
int janitor_start(janitor_t *janitor, const options_t *options, const int *node_fds, const int *master_fds);
/* Waits until all processes are gone. Does the janitor's work if the janitor died. */
void janitor_finish(janitor_t *janitor);

#endif
