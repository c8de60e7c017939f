/* Processes, deaths, replacements and the order of all steps, drawn from a seed. */
#include "barrier.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_kept(const world_t *world, int rule)
{
    return world->options->without != rule;
}

void trace(const world_t *world, const char *format, ...)
{
    va_list arguments;

    if (world->options->is_shown) {
        printf("%7ld ", world->step);
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        putchar('\n');
    }
}

void flaw(world_t *world, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(world->flaw, sizeof(world->flaw), format, arguments);
    va_end(arguments);
    longjmp(world->on_flaw, 1);
}

void *world_alloc(world_t *world, size_t size)
{
    void **block = calloc(1, sizeof(void *) * 2 + size);

    if (block == NULL) {
        abort();
    }
    *block = world->allocated;
    world->allocated = block;
    return block + 2;
}

process_t *process_create(world_t *world, int rank, int incarnation, int node)
{
    process_t *process = world_alloc(world, sizeof(*process));
    int q;

    process->rank = rank;
    process->incarnation = incarnation;
    process->node = node;
    process->is_alive = 1;
    for (q = 0; q < world->ranks; ++q) {
        process->peer[q].is_up = 1;
        process->peer[q].told = -1;
    }
    world->process[rank][incarnation] = process;
    world->current[rank] = process;
    return process;
}

/* the process of rank in the view of from; NULL: not started yet */
process_t *process_reached(world_t *world, const process_t *from, int rank)
{
    return world->process[rank][from->peer[rank].incarnation];
}

static void world_draw_deaths(world_t *world)
{
    const uint32_t span = 200 + keel_random_below(&world->random, (uint32_t)(40 * world->ranks * PHASES));
    int k, is_burst, i;
    long other;

    world->kills = (world->options->deaths >= 0) ? world->options->deaths : (int)keel_random_below(&world->random, 5);
    is_burst = (world->kills > 1) && keel_random_chance(&world->random, 400);
    for (k = 0; k < world->kills; ++k) {
        if (is_burst && (k > 0)) {
            world->kill_at[k] = world->kill_at[0] +
                                keel_random_below(&world->random, keel_random_chance(&world->random, 500) ? 8 : 200);
        } else {
            world->kill_at[k] = 20 + keel_random_below(&world->random, span);
        }
    }
    for (k = 1; k < world->kills; ++k) {
        for (i = k; (i > 0) && (world->kill_at[i - 1] > world->kill_at[i]); --i) {
            other = world->kill_at[i];
            world->kill_at[i] = world->kill_at[i - 1];
            world->kill_at[i - 1] = other;
        }
    }
}

/* A death of rank within some steps, unless enough ranks were aimed at. */
void world_aim(world_t *world, int rank, uint32_t steps)
{
    if ((world->aims < 3) && (world->aimed_rank < 0) && keel_random_chance(&world->random, 300)) {
        ++world->aims;
        world->aimed_rank = rank;
        world->aimed_step = world->step + keel_random_below(&world->random, steps);
    }
}

/* for some hundred steps some ranks are slow, and messages or news are */
static void world_draw_weather(world_t *world)
{
    keel_random_t *random = &world->random;
    int r;

    world->weather_until = world->step + 50 + keel_random_below(random, 600);
    world->run_weight = 1 + (int)keel_random_below(random, 12);
    world->message_weight = 1 + (int)(keel_random_below(random, 16) >> keel_random_below(random, 5));
    world->news_weight = 1 + (int)(keel_random_below(random, 8) >> keel_random_below(random, 4));
    for (r = 0; r < world->ranks; ++r) {
        world->speed[r] = keel_random_chance(random, 220) ? 1024 >> keel_random_below(random, 9) : 1024;
    }
}

world_t *world_create(const barrier_options_t *options, uint64_t seed)
{
    world_t *world = calloc(1, sizeof(*world));
    int r, q;

    if (world == NULL) {
        abort();
    }
    world->options = options;
    world->random.state = seed * 77777 + 5;
    world->aimed_rank = -1;
    world->ranks = (options->ranks > 0) ? options->ranks : 3 + (int)keel_random_below(&world->random, 9);
    world->nodes = 1 + (int)keel_random_below(&world->random, (uint32_t)world->ranks);
    plan_draw(&world->plan, &world->random, world->ranks);
    for (r = 0; r < world->ranks; ++r) {
        process_create(world, r, 0, (int)keel_random_below(&world->random, (uint32_t)world->nodes));
    }
    for (r = 0; r < world->ranks; ++r) {
        for (q = 0; q < world->ranks; ++q) {
            world->current[r]->peer[q].standing = LIVE;
        }
        topology_build(world, world->current[r]);
        process_load(world, world->current[r], 0);
    }
    world_draw_deaths(world);
    world->rollback_chance = keel_random_chance(&world->random, 300) ? 320 : 8;
    world_draw_weather(world);
    return world;
}

void world_destroy(world_t *world)
{
    void **block, **next;
    int r, life, q;

    for (r = 0; r < world->ranks; ++r) {
        for (life = 0; life < LIVES_MAX; ++life) {
            for (q = 0; (world->process[r][life] != NULL) && (q < world->ranks); ++q) {
                queue_drop(&world->process[r][life]->peer[q].queue);
            }
        }
    }
    for (block = world->allocated; block != NULL; block = next) {
        next = *block;
        free(block);
    }
    free(world->agreed);
    free(world->left);
    free(world);
}

/* Kills rank, unless then no process with a state were left, or a rank is at the end already. */
static int world_kill(world_t *world, int rank)
{
    process_t *process = world->current[rank];
    int q, old = 0;

    for (q = 0; q < world->ranks; ++q) {
        if (world->current[q]->is_alive) {
            old += world->current[q]->state != FRESH;
            if (world->current[q]->is_done) {
                return 0;
            }
        }
    }
    if (!process->is_alive || ((process->state != FRESH) && (old <= 1)) || (process->incarnation + 2 >= LIVES_MAX)) {
        return 0;
    }
    process->is_alive = 0;
    ++world->counts.deaths;
    trace(world, "DEATH %d.%d at %d%s, state %d", rank, process->incarnation, process->phase,
          process->in_gsync ? " in its gsync" : "", process->state);
    for (q = 0; q < world->ranks; ++q) {
        if (!keel_random_chance(&world->random, 500)) {
            queue_cut(&process->peer[q].queue, &world->random);
        }
    }
    world->event[world->events++] = (event_t){0, rank, process->incarnation};
    world->lost[world->losts++] = rank;
    return 1;
}

static void world_kill_any(world_t *world)
{
    int candidate[RANKS_MAX], candidates = 0, r;

    for (r = 0; r < world->ranks; ++r) {
        if (world->current[r]->is_alive) {
            candidate[candidates++] = r;
        }
    }
    if (candidates > 0) {
        world_kill(world, candidate[keel_random_below(&world->random, (uint32_t)candidates)]);
    }
}

/* A replacement starts on any node, with a snapshot of the true view. */
static void world_replace(world_t *world, int rank)
{
    process_t *before = world->current[rank], *process;
    int node = before->node, q;

    if (keel_random_chance(&world->random, 300)) {
        node = (int)keel_random_below(&world->random, (uint32_t)world->nodes);
        world->counts.moved += node != before->node;
    }
    process = process_create(world, rank, before->incarnation + 1, node);
    process->state = FRESH;
    process->is_frozen = 1;
    for (q = 0; q < world->ranks; ++q) {
        if (q != rank) {
            process->peer[q].incarnation = world->current[q]->incarnation + !world->current[q]->is_alive;
            process->peer[q].is_up = world->current[q]->is_alive;
            process->peer[q].standing = BEHIND;
        }
    }
    process->peer[rank].incarnation = process->incarnation;
    world->event[world->events++] = (event_t){1, rank, process->incarnation};
    process->news = world->events;
    trace(world, "%d.%d starts on node %d", rank, process->incarnation, node);
}

static void world_replace_any(world_t *world)
{
    int i, rank;

    if ((world->losts > 0) && keel_random_chance(&world->random, 60)) {
        i = (int)keel_random_below(&world->random, (uint32_t)world->losts);
        rank = world->lost[i];
        world->lost[i] = world->lost[--world->losts];
        world_replace(world, rank);
    }
}

/* The coordinator goes on for a moment, but hardly any message of the decision arrives; then
 * the coordinator dies. */
static void world_hunt(world_t *world)
{
    process_t *process = world->hunted;
    message_t **link, *message;
    int q, i;

    world->hunted = NULL;
    for (q = 0; q < world->ranks; ++q) {
        queue_t *queue = &process->peer[q].queue;

        queue->last = NULL;
        for (link = &queue->first; (message = *link) != NULL;) {
            if ((message->type == MESSAGE_DECISION) && !keel_random_chance(&world->random, 200)) {
                *link = message->next;
                free(message);
            } else {
                queue->last = message;
                link = &message->next;
            }
        }
    }
    for (i = 0; i < 4; ++i) {
        process_step(world, process);
    }
    world->is_missed = !world_kill(world, process->rank); /* the messages are gone */
}

static void world_deliver_any(world_t *world)
{
    const uint32_t places = RANKS_MAX * LIVES_MAX * RANKS_MAX;
    uint32_t place = keel_random_below(&world->random, places), i;
    process_t *from;
    int rank, life;

    for (i = 0; i < places; ++i, place = (place + 1) % places) {
        rank = (int)(place / RANKS_MAX / LIVES_MAX);
        life = (int)(place / RANKS_MAX % LIVES_MAX);
        if ((rank >= world->ranks) || ((from = world->process[rank][life]) == NULL)) {
            i += RANKS_MAX - 1 - place % RANKS_MAX; /* no such process */
            place += RANKS_MAX - 1 - place % RANKS_MAX;
            continue;
        }
        if (((int)(place % RANKS_MAX) < world->ranks) &&
            message_is_deliverable(world, from, (int)(place % RANKS_MAX))) {
            message_deliver(world, from, (int)(place % RANKS_MAX));
            return;
        }
    }
}

static int world_is_over(const world_t *world)
{
    const process_t *process;
    int r;

    for (r = 0; r < world->ranks; ++r) {
        process = world->current[r];
        if (!process->is_alive || !process->is_done || process->is_frozen || process->is_rolling) {
            return 0;
        }
    }
    return 1;
}

static void world_step(world_t *world)
{
    const uint32_t weights = (uint32_t)(world->run_weight + world->message_weight + world->news_weight + 1);
    const int drawn = (int)keel_random_below(&world->random, weights);
    process_t *process = world->current[keel_random_below(&world->random, (uint32_t)world->ranks)];

    if (drawn < world->run_weight) {
        if (process->is_alive && ((int)keel_random_below(&world->random, 1024) < world->speed[process->rank])) {
            process_step(world, process);
        }
    } else if (drawn < world->run_weight + world->message_weight) {
        world_deliver_any(world);
    } else if (drawn < world->run_weight + world->message_weight + world->news_weight) {
        if (process->is_alive && (process->news < world->events)) {
            view_learn(world, process);
        }
        world_replace_any(world);
    } else if (process->is_alive) {
        process_encode(world, process);
    }
}

static void world_judge(world_t *world)
{
    process_t *process;
    int r, life, q;

    for (r = 0; r < world->ranks; ++r) {
        for (life = 0; life < LIVES_MAX; ++life) {
            for (q = 0; (process = world->process[r][life]) != NULL && process->is_alive && (q < world->ranks); ++q) {
                while (message_is_deliverable(world, process, q)) {
                    message_deliver(world, process, q);
                }
            }
        }
    }
    for (r = 0; r < world->ranks; ++r) {
        if (memcmp(world->current[r]->memory, world->plan.memory[r], sizeof(world->plan.memory[r])) != 0) {
            flaw(world, "memory of rank %d differs at the end", r);
        }
    }
}

void world_run(world_t *world)
{
    int rank;

    while (!world_is_over(world) && !world->is_missed) {
        if (++world->step >= world->weather_until) {
            world_draw_weather(world);
        }
        if (world->step > STEPS_MAX) {
            flaw(world, "no end: ranks wait for each other");
        }
        if ((world->next_kill < world->kills) && (world->step >= world->kill_at[world->next_kill])) {
            ++world->next_kill;
            world_kill_any(world);
        } else if (world->hunted != NULL) {
            world_hunt(world);
        } else if ((world->aimed_rank >= 0) && (world->step >= world->aimed_step)) {
            rank = world->aimed_rank;
            world->aimed_rank = -1;
            world_kill(world, rank);
        } else {
            world_step(world);
        }
    }
    if (!world->is_missed) {
        world_judge(world);
    }
    world->counts.steps = world->step;
}
