/*
 * Output of a node's ranks: a separate thread forwards whole lines, so a slow reader holds up the
 * ranks but not the node. The thread also looks for the texts of kills @marker:TEXT and
 * @anyone:TEXT.
 */
#ifndef KEELRUN_OUTPUT_H_
#define KEELRUN_OUTPUT_H_

#include "options.h"

typedef struct output output_t;
/* Both are called by the thread. */
typedef struct output_callbacks {
    void (*on_marker)(void *arg, uint32_t rank, size_t kill); /* once per kill */
    /* once: output is lost although its reader is not gone */
    void (*on_unwritten)(void *arg, int error);
    void *arg;
} output_callbacks_t;

/* NULL and errno: no thread can be made. */
output_t *output_start(const options_t *options, const output_callbacks_t *callbacks);
/* Forwards lines from @a fd to @a target; closes fd at its end. */
void output_add(output_t *output, uint32_t rank, int fd, int target);
/* After the last writer has ended: forwards the remaining output and ends the thread. */
void output_drain(output_t *output);

#endif
