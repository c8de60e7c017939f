/* Command lines: options common to all kernels, and a table of a kernel's own options. */
#ifndef KEEL_KERNEL_OPTIONS_H_
#define KEEL_KERNEL_OPTIONS_H_

#include "kernel.h"

/* --ckpt-every K, -v, --json, --csv, --die RANK@STEP.PHASE, --help */
typedef struct {
    unsigned long ckpt_every; /* 0: no explicit checkpoints */
    int is_verbose;
    kernel_format_t format;
    kernel_death_t death;
} kernel_common_t;

/* 0 on success */
typedef int (*kernel_option_cb_t)(const char *text, void *value);

/* One of *flag_p, *number_p and parse is set. */
typedef struct {
    const char *name;
    char letter; /* '\0': none */
    int *flag_p;
    unsigned long *number_p; /* at least min */
    unsigned long min;
    kernel_option_cb_t parse;
    void *value;
} kernel_option_t;

enum { KERNEL_OPTIONS_MAX = 16 };

/* Returns -1 to go on, else the exit status. @a help is what --help prints. */
int kernel_options_parse(const char *program, const char *help, int argc, char **argv, const kernel_option_t *own,
                         size_t count, kernel_common_t *common);

#endif
