/*
 * A machine in keel_plan: levels of failure domains, with the count and failure rate of the
 * elements. The file is text with a statement per line; # begins a comment:
 *
 *     machine  NAME
 *     describe TEXT             optional
 *     window   TIME             optional: how long a group lacks a failed member; 600s
 *     level NAME COUNT fit SCALE DECAY    the finest first; x elements fail at once with
 *                                         SCALE * exp(-DECAY * x) a day
 *     level NAME COUNT table P1 P2 ...    ... with P1, P2, ... a day
 *     level NAME COUNT mtbf TIME          each element fails alone, once in TIME
 */
#ifndef KEEL_TOOLS_PLAN_MACHINE_H_
#define KEEL_TOOLS_PLAN_MACHINE_H_

#include "topo/domain.h"
#include "tools/topo/reliability.h"

#include <stddef.h>

#define KEEL_PLAN_LEVELS_MAX 16
#define KEEL_PLAN_TABLE_MAX  64
#define KEEL_PLAN_NAME_MAX   32
#define KEEL_PLAN_COUNT_MAX  ((uint64_t)1 << 24)
#define KEEL_PLAN_WINDOW_MAX 86400.0 /* seconds */

/* levels point into the struct: copy by keel_plan_machine_copy() */
typedef struct keel_plan_machine {
    char name[KEEL_PLAN_NAME_MAX];
    char text[128];
    double window_s;
    int has_window; /* given in the file */
    uint32_t level_count;
    keel_hazard_t levels[KEEL_PLAN_LEVELS_MAX];
    char level_name[KEEL_PLAN_LEVELS_MAX][KEEL_PLAN_NAME_MAX];
    double tables[KEEL_PLAN_LEVELS_MAX][KEEL_PLAN_TABLE_MAX];
    /* places of ranks, with the ranks of an element adjacent; NULL: in order */
    const keel_domains_t *domains;
} keel_plan_machine_t;

typedef struct keel_plan_error {
    unsigned line; /* 0: no line is to blame */
    char text[192];
} keel_plan_error_t;

/* Returns 0, or -1 with the error in the text. */
int keel_plan_machine_parse(const char *text, size_t len, keel_plan_machine_t *machine, keel_plan_error_t *error);
void keel_plan_machine_copy(const keel_plan_machine_t *machine, keel_plan_machine_t *copy);
/*
 * Failures a day that the job meets on all levels, each counted once however many elements fail at
 * once: the reciprocal of the MTBF.
 */
double keel_plan_machine_rate(const keel_plan_machine_t *machine);
/* Multiplies all rates by @a factor; the sets of elements that fail together stay. */
void keel_plan_machine_scale(keel_plan_machine_t *machine, double factor);
void keel_plan_machine_set_window(keel_plan_machine_t *machine, double window_s);

#endif
