/* The stencil's command line. */
#ifndef KEEL_KERNEL_STENCIL_OPTIONS_H_
#define KEEL_KERNEL_STENCIL_OPTIONS_H_

#include "../lib/kernel.h"

#define STENCIL_PROGRAM "stencil"

typedef struct {
    unsigned long rows, columns, sweeps, ckpt_every;
    int has_atomics, is_verifying, is_verbose;
    kernel_format_t format;
    kernel_death_t death;
} stencil_options_t;

/* Returns -1 to go on, else the exit status. */
int stencil_parse(int argc, char **argv, stencil_options_t *options);

#endif
