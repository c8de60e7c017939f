/*
 * A stop on request: a signal asks for a checkpoint in files (KEEL_FILE_DIR), and the job ends when
 * it is complete.
 */
#ifndef KEELRUN_STOP_REQUEST_H_
#define KEELRUN_STOP_REQUEST_H_

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct stop {
    int signal; /* that asked for the stop; 0: none */
    uint64_t until_ns;
    pid_t child; /* uses the folder */
    int news;    /* pipe from the child */
} stop_t;

typedef enum { STOP_AWAITED, STOP_COMPLETE, STOP_FAILED } stop_state_t;

/* The first SIGTERM or SIGUSR1: begins to ask the job for a checkpoint. Returns false if there is
 * no folder for one. Does not wait for the file system. */
bool stop_request(stop_t *stop, int signal, double within_s);
/* True while a checkpoint is awaited. */
bool stop_is_awaited(const stop_t *stop);
/* Returns whether the checkpoint asked for is complete. STOP_FAILED, after a message: the folder
 * cannot be used; call this function no more. */
stop_state_t stop_look(const stop_t *stop);
void stop_release(stop_t *stop);

#endif
