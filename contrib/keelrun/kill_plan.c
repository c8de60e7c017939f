/* Parser and random choice of kills. */
#include "kill_plan.h"

#include <stdlib.h>
#include <string.h>

#define KILL_PLAN_RANDOM_SECONDS 2.0 /* default upper end */

static const char *kill_plan_parse_time(const char *text, kill_plan_t *plan)
{
    char *end;

    if (strncmp(text, "marker:", 7) == 0 || strncmp(text, "anyone:", 7) == 0) {
        plan->marker = text + 7;
        plan->is_anyones = *text == 'a';
        return plan->is_node && !plan->is_anyones ? "a node has no output to wait for"
                                                  : (*plan->marker == '\0' ? "the text to wait for is empty" : NULL);
    }
    if (strcmp(text, "random") == 0) {
        plan->random_time = true;
        plan->seconds = KILL_PLAN_RANDOM_SECONDS;
        return NULL;
    }
    if (strncmp(text, "random:", 7) == 0) {
        plan->random_time = true;
        text += 7;
    }
    plan->seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(plan->seconds >= 0.0 && plan->seconds < 1e6)) {
        return "after @ stands SECONDS, random, random:MAX_SECONDS, marker:TEXT or anyone:TEXT";
    }
    return NULL;
}

const char *kill_plan_parse(const char *text, bool is_node, kill_plan_t *plan)
{
    const char *at = strchr(text, '@');
    char *end;

    memset(plan, 0, sizeof *plan);
    plan->is_node = is_node;
    if (at == NULL) {
        return "needs VICTIM@TIME";
    }
    if (strncmp(text, "random@", 7) == 0) {
        plan->random_victim = true;
    } else {
        unsigned long victim = strtoul(text, &end, 10);

        if (text[0] < '0' || text[0] > '9' || end != at || victim > UINT32_MAX) {
            return "before @ stands a number or random";
        }
        plan->victim = (uint32_t)victim;
    }
    return kill_plan_parse_time(at + 1, plan);
}

const char *kill_plan_verb(const kill_plan_t *plan)
{
    return plan->action == KILL_PLAN_KILL ? "killed" : (plan->action == KILL_PLAN_STOP ? "stopped" : "cut off");
}

bool kill_plan_is_random(const kill_plan_t *plan)
{
    return plan->random_victim || plan->random_time;
}

bool kill_plan_is_by_same_line(const kill_plan_t *one, const kill_plan_t *other)
{
    return one == other || (one->is_anyones && other->is_anyones && strcmp(one->marker, other->marker) == 0);
}

static uint64_t kill_plan_next(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* Sorts by time, stably: kills due at the same time keep the given order. */
static void kill_plan_sort(kill_plan_t *plans, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        kill_plan_t plan = plans[i];
        size_t place = i;

        for (; place > 0 && plans[place - 1].seconds > plan.seconds; place--) {
            plans[place] = plans[place - 1];
        }
        plans[place] = plan;
    }
}

void kill_plan_draw(kill_plan_t *plans, size_t count, uint32_t ranks, uint32_t nodes, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        kill_plan_t *plan = &plans[i];

        if (plan->random_victim) {
            plan->victim = (uint32_t)(kill_plan_next(&seed) % (plan->is_node ? nodes : ranks));
            plan->random_victim = false;
        }
        if (plan->random_time) {
            plan->seconds *= (double)(kill_plan_next(&seed) >> 11) * 0x1p-53;
            plan->random_time = false;
        }
    }
    kill_plan_sort(plans, count);
}
