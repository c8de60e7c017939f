/* Plans of --kill, --stop, --cut-node and similar options: action, victim and time. */
#ifndef KEELRUN_KILL_PLAN_H_
#define KEELRUN_KILL_PLAN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    KILL_PLAN_KILL, /* SIGKILL */
    KILL_PLAN_STOP, /* SIGSTOP */
    KILL_PLAN_CUT   /* a node loses its network */
} kill_plan_action_t;

typedef struct kill_plan {
    kill_plan_action_t action;
    bool is_node;       /* victim is a node, else a rank */
    bool random_victim; /* until drawn */
    bool random_time;   /* until drawn; seconds is the upper end */
    uint32_t victim;
    double seconds;     /* after all ranks have met */
    const char *marker; /* acts when the rank's output contains this text; NULL: at seconds */
    /* the marker may appear in any rank's output: one line triggers all plans that wait for it */
    bool is_anyones;
    bool is_due; /* its marker was seen */
    bool is_done;
} kill_plan_t;

const char *kill_plan_verb(const kill_plan_t *plan); /* "killed", ... */
/*
 * Parses "VICTIM@SECONDS", "VICTIM@random[:MAX]", "VICTIM@marker:TEXT" or "VICTIM@anyone:TEXT",
 * with VICTIM a number or "random". @a text must stay valid. Returns NULL, or the error.
 */
const char *kill_plan_parse(const char *text, bool is_node, kill_plan_t *plan);
bool kill_plan_is_random(const kill_plan_t *plan);
/* True if a line that triggers one plan triggers the other. */
bool kill_plan_is_by_same_line(const kill_plan_t *one, const kill_plan_t *other);
/* Draws random victims and times, and sorts by time. The same seed gives the same plans. */
void kill_plan_draw(kill_plan_t *plans, size_t count, uint32_t ranks, uint32_t nodes, uint64_t seed);

#endif
