/* How a run ended, in lines for people or for scripts. */
#ifndef KEEL_KERNEL_OUTCOME_H_
#define KEEL_KERNEL_OUTCOME_H_

#include "kernel.h"

#include <stddef.h>

/* What a kernel adds to the last line, in its order; a text, or a number when that is NULL. */
typedef struct {
    const char *name;
    const char *text;
    double number;
} kernel_field_t;

typedef struct {
    const char *kernel;
    uint32_t ranks;
    double seconds;
    int is_verified, is_right; /* right is what was not verified, too */
    uint64_t hash;             /* of what must be the same in every run, whoever died */
    keel_stats_t stats;        /* of rank 0 */
    kernel_field_t last;       /* after all others, where it has a name */
} kernel_outcome_t;

void kernel_print_outcome(const kernel_outcome_t *outcome, kernel_format_t format, const kernel_field_t *fields,
                          size_t count);

#endif
