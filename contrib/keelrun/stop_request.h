/*
 * A stop on request: a signal asks for a checkpoint in files (KEEL_FILE_DIR), and the job ends when
 * it is complete.
 */
#ifndef KEELRUN_STOP_REQUEST_H_
#define KEELRUN_STOP_REQUEST_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct stop {
    int signal; /* that asked for the stop; 0: none */
    uint64_t until_ns;
} stop_t;

/* The first SIGTERM or SIGUSR1: asks the job for a checkpoint. Returns false if there is no folder
 * for one, after a message if the folder is named and cannot be used. */
bool stop_request(stop_t *stop, int signal, double within_s);
/* True while a checkpoint is awaited. */
bool stop_is_awaited(const stop_t *stop);
/* True if the checkpoint asked for is complete. */
bool stop_is_complete(const stop_t *stop);

#endif
