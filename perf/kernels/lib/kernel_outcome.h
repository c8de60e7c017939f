/* Results of a run, in lines for people or for scripts. */
#ifndef KEEL_KERNEL_OUTCOME_H_
#define KEEL_KERNEL_OUTCOME_H_

#include "kernel.h"

#include <stddef.h>

/* A kernel's own field in the last line, in order: a text, or a number if text is NULL. */
typedef struct {
    const char *name;
    const char *text;
    double number;
} kernel_field_t;

typedef struct {
    const char *kernel;
    uint32_t ranks;
    double seconds;
    int is_verified, is_right; /* is_right is also set if nothing was verified */
    /* of memory that must be equal in every run, with or without deaths */
    uint64_t hash;
    keel_stats_t stats;  /* of rank 0 */
    kernel_field_t last; /* after all others, if named */
} kernel_outcome_t;

void kernel_print_outcome(const kernel_outcome_t *outcome, kernel_format_t format, const kernel_field_t *fields,
                          size_t count);

#endif
