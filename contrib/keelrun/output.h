/*
 * What the ranks of a node write: a thread of its own passes it on by whole lines, so that a reader who does not read
 * holds up the ranks but not the node. It also looks for the texts that kills @marker:TEXT and @anyone:TEXT wait for.
 */
#ifndef KEELRUN_OUTPUT_H_
#define KEELRUN_OUTPUT_H_

#include "options.h"

typedef struct output output_t;
/* both are called by the thread */
typedef struct output_callbacks {
    void (*on_marker)(void *arg, uint32_t rank, size_t kill); /* once a kill */
    void (*on_unwritten)(void *arg, int error); /* once: some output is lost, though its reader is not gone */
    void *arg;
} output_callbacks_t;

/* NULL and errno: no thread can be made */
output_t *output_start(const options_t *options, const output_callbacks_t *callbacks);
/* lines that arrive on @a fd go to @a target; the output closes fd at its end */
void output_add(output_t *output, uint32_t rank, int fd, int target);
/* nobody writes any more: passes on what is there, and ends the thread */
void output_drain(output_t *output);

#endif
