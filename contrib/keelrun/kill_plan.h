/* What --kill, --stop, --cut-node and the like ask for: what happens to whom and when. */
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
    const char *marker; /* kill when the rank's output contains this; NULL: at seconds */
    bool is_anyones;    /* the marker may be in any rank's output: one line is for all plans that wait for it */
    bool is_due;        /* its marker was seen */
    bool is_done;
} kill_plan_t;

const char *kill_plan_verb(const kill_plan_t *plan); /* "killed", ... */
/* "VICTIM@SECONDS", "VICTIM@random[:MAX]", "VICTIM@marker:TEXT", "VICTIM@anyone:TEXT", VICTIM a number or "random";
 * text must stay. Returns NULL, or what is wrong. */
const char *kill_plan_parse(const char *text, bool is_node, kill_plan_t *plan);
bool kill_plan_is_random(const kill_plan_t *plan);
/* the line that makes the one due makes the other due */
bool kill_plan_is_by_same_line(const kill_plan_t *one, const kill_plan_t *other);
/* settles what is random, and sorts by time; the same seed gives the same plans */
void kill_plan_draw(kill_plan_t *plans, size_t count, uint32_t ranks, uint32_t nodes, uint64_t seed);

#endif
