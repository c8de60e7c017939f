/*
 * What the ranks of a node write: a thread of its own passes it on by whole lines, so that a reader who does not read
 * holds up the ranks but not the node. It also looks for the texts that kills @marker:TEXT and @anyone:TEXT wait for.
 */
#ifndef KEELRUN_OUTPUT_H_
#define KEELRUN_OUTPUT_H_

#include "options.h"

typedef struct output output_t;
typedef void (*output_marker_cb_t)(void *arg, uint32_t rank, size_t kill); /* called by the thread, once a kill */

output_t *output_start(const options_t *options, output_marker_cb_t on_marker, void *arg);
/* lines that arrive on @a fd go to @a target; the output closes fd at its end */
void output_add(output_t *output, uint32_t rank, int fd, int target);
/* nobody writes any more: passes on what is there, and ends the thread */
void output_drain(output_t *output);

#endif
