/*
 * Starts a rank in two steps, so that the master knows each process before the process runs the
 * program.
 */
#ifndef KEELRUN_SPAWN_H_
#define KEELRUN_SPAWN_H_

#include <sys/types.h>

/*
 * Creates a process that leads a process group, dies with this process, and waits at a gate.
 * Returns the pid, or -1 (errno).
 */
pid_t spawn_prepare(const char *path, char *const *argv, char *const *env, int out, int err, int *gate_p);
/* Opens and closes the gate. Returns 0 if the program runs, else the error of exec. */
int spawn_release(int gate);

#endif
