/* Starting one rank's process in two steps, so that no process ever runs the program unknown to the master. */
#ifndef KEELRUN_SPAWN_H_
#define KEELRUN_SPAWN_H_

#include <sys/types.h>

/* A process, leader of its own group, that dies with this one and waits at a gate. Returns its pid or -1 (errno). */
pid_t spawn_prepare(const char *path, char *const *argv, char *const *env, int out, int err, int *gate_p);
/* opens the gate; 0 when the program runs, else the error of exec; closes the gate */
int spawn_release(int gate);

#endif
