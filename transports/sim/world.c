/*
 * The scheduler: draws the next of the possible events from the seed. The weights of the kinds of
 * events ("weather") change during a run, so that ranks, messages and operations at times run far
 * ahead of one another.
 */
#define _GNU_SOURCE
#include "sim/world.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIM_STEP_LIMIT    1000000u
#define SIM_WEATHER_STEPS 2048
#define SIM_PICK_TRIES    4
#define SIM_DUMP_FRAMES   32

keel_sim_t *sim_running;

void *sim_new(size_t bytes)
{
    void *memory = calloc(1, (bytes > 0) ? bytes : 1);

    if (memory == NULL) {
        fprintf(stderr, "simulator: out of memory (%zu bytes)\n", bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

int sim_list_add(sim_list_t *list, void *item)
{
    void **grown;

    if (list->count == list->capacity) {
        list->capacity = (list->capacity == 0) ? 16 : 2 * list->capacity;
        grown = sim_new(list->capacity * sizeof(*grown));
        if (list->count > 0) {
            memcpy(grown, list->item, list->count * sizeof(*grown));
        }
        free(list->item);
        list->item = grown;
    }
    list->item[list->count] = item;
    return (int)list->count++;
}

void *sim_list_remove(sim_list_t *list, unsigned idx)
{
    --list->count;
    if (idx == list->count) {
        return NULL;
    }
    list->item[idx] = list->item[list->count];
    return list->item[idx];
}

uint64_t sim_sum(const void *data, size_t length)
{
    const unsigned char *byte = data;
    uint64_t sum = 0x9e3779b97f4a7c15ull ^ length;
    uint64_t word;

    for (; length >= 8; length -= 8, byte += 8) {
        memcpy(&word, byte, 8);
        sum = (sum ^ word) * 0x2545f4914f6cdd1dull;
        sum ^= sum >> 29;
    }
    word = 0;
    if (length > 0) {
        memcpy(&word, byte, length);
    }
    return (sum ^ word) * 0x2545f4914f6cdd1dull;
}

/* ---- states ---- */

void sim_make_ready(sim_process_t *process)
{
    process->state = SIM_READY;
    process->ready_idx = (unsigned)sim_list_add(&process->sim->ready, process);
}

void sim_unready(sim_process_t *process)
{
    sim_process_t *moved;

    if (process->state == SIM_READY) {
        moved = sim_list_remove(&process->sim->ready, process->ready_idx);
        if (moved != NULL) {
            moved->ready_idx = process->ready_idx;
        }
    }
}

void sim_wake(sim_process_t *process)
{
    if (process->state == SIM_WAITING) {
        sim_make_ready(process);
    }
}

/* innermost frame first, one line: function names if addr2line is installed, else addresses */
static void sim_dump_stack(const sim_process_t *process)
{
    char command[64 + SIM_DUMP_FRAMES * 20], name[128], place[256];
    void *frame[SIM_DUMP_FRAMES];
    const int count = backtrace(frame, SIM_DUMP_FRAMES);
    Dl_info info;
    size_t used;
    FILE *names;
    int i;

    used = (size_t)snprintf(command, sizeof(command), "addr2line -sfe /proc/%d/exe", (int)getpid());
    for (i = 2; i < count; ++i) {
        if (dladdr(frame[i], &info) != 0) {
            used += (size_t)snprintf(command + used, sizeof(command) - used, " %#lx",
                                     (unsigned long)((char *)frame[i] - (char *)info.dli_fbase - 1));
        }
    }
    names = popen(command, "r");
    fprintf(stderr, "   ");
    while ((names != NULL) && (fscanf(names, "%127s %255[^\n]", name, place) == 2)) {
        fprintf(stderr, " %s(%s)", name, place);
    }
    fprintf(stderr, "\n");
    if (names != NULL) {
        pclose(names);
    }
}

/* from the process's own stack: back to the scheduler */
static void sim_leave(sim_process_t *process)
{
    sim_fiber_suspend(process->fiber);
    while (process->is_dumping) {
        process->is_dumping = 0;
        sim_dump_stack(process);
        sim_fiber_suspend(process->fiber);
    }
}

void sim_give_way(sim_process_t *process, sim_state_t state, uint64_t wake_ns)
{
    if (state != SIM_READY) {
        sim_unready(process);
        process->state = state;
        process->wake_ns = wake_ns;
        sim_due(process, wake_ns);
    }
    sim_leave(process);
}

void sim_point(keel_sim_t *sim, const char *where)
{
    sim_process_t *process = sim->current;

    sim->now_ns += 10;
    if ((process == NULL) || sim->in_handler) {
        return;
    }
    process->where = where;
    if (!sim_chance(sim, sim->weather.yield)) {
        return;
    }
    if (sim_chance(sim, 2)) { /* occasionally the process loses the core for a long time */
        keel_sim_store_fence(sim);
        sim_give_way(process, SIM_SLEEPING, sim->now_ns + keel_random_scaled(&sim->random, 4000000));
    } else {
        sim_give_way(process, SIM_READY, 0);
    }
}

/* ---- stepping ---- */

static void sim_weather_change(keel_sim_t *sim)
{
    uint32_t r;

    sim->weather.until_step = sim->step + 64 + sim_below(sim, SIM_WEATHER_STEPS);
    sim->weather.run = 1 + sim_below(sim, 16);
    sim->weather.message = 1 + (sim_below(sim, 16) >> sim_below(sim, 5));
    sim->weather.op = 1 + (sim_below(sim, 16) >> sim_below(sim, 5));
    sim->weather.idle = 1 + (sim_below(sim, 16) >> sim_below(sim, 5));
    sim->weather.store = 1 + (keel_random_below(&sim->stores_random, 16) >> keel_random_below(&sim->stores_random, 5));
    sim->weather.yield = 16u << sim_below(sim, 6);
    for (r = 0; r < sim->options.ranks; ++r) {
        sim->rank[r]->speed = sim_chance(sim, 200) ? 1024u >> sim_below(sim, 11) : 1024;
    }
}

/* notifications that other threads of the process would have given to the running one */
static void sim_notice(sim_process_t *process)
{
    const keel_sim_t *sim = process->sim;
    const uint64_t tick_ns = process->params.tick_us * 1000ull;

    if (!sim->options.is_noticing) {
        return;
    }
    if (process->news != NULL && sim_event_next_due(process) <= sim->now_ns) {
        *process->news = 1;
    }
    if (process->is_open && tick_ns > 0 && sim->now_ns - process->tick_ns >= tick_ns) {
        process->tick_ns = sim->now_ns;
        process->params.on_notify(process->params.arg);
    }
}

static void sim_run_process(keel_sim_t *sim, sim_process_t *process)
{
    sim_notice(process);
    sim->current = process;
    process->is_started = 1;
    sim_stores_show(process);
    sim_fiber_resume(process->fiber);
    sim->current = NULL;
    sim_stores_hide(process);
    if (process->state == SIM_RETURNED) {
        keel_sim_trace(sim, "rank %u.%u returned", process->rank, process->incarnation);
        --sim->alive;
        sim_stores_make_visible(process);
        sim_process_stop(process);
        if (process->is_left && !process->is_open && (process->allocations != NULL)) {
            keel_sim_flaw(sim, "rank %u.%u left %zu bytes allocated (%s)", process->rank, process->incarnation,
                          process->allocations->bytes, process->allocations->name);
        }
        sim_exit(process);
        sim_allocations_free(process);
    }
}

static sim_process_t *sim_pick_ready(keel_sim_t *sim)
{
    sim_process_t *process = NULL;
    unsigned tries;

    for (tries = 0; tries < SIM_PICK_TRIES; ++tries) {
        process = sim->ready.item[sim_below(sim, sim->ready.count)];
        if ((process->speed == 1024) || sim_chance(sim, process->speed)) {
            break;
        }
    }
    return process;
}

/* returns 0 if no event is possible now */
static int sim_happen(keel_sim_t *sim)
{
    const unsigned run = sim->ready.count ? sim->weather.run : 0;
    const unsigned message = sim->channels.count ? sim->weather.message : 0;
    const unsigned op = sim->oplinks.count ? sim->weather.op : 0;
    const unsigned idle = sim->idles.count ? sim->weather.idle : 0;
    const unsigned store = sim->storing.count ? sim->weather.store : 0;
    const unsigned total = run + message + op + idle + store;
    unsigned draw;

    if (total == 0) {
        return 0;
    }
    draw = sim_below(sim, total);
    if (draw < run) {
        sim_run_process(sim, sim_pick_ready(sim));
    } else if (draw < run + message) {
        sim_channel_deliver(sim, sim->channels.item[sim_below(sim, sim->channels.count)]);
    } else if (draw < run + message + op) {
        sim_op_step(sim, sim->oplinks.item[sim_below(sim, sim->oplinks.count)]);
    } else if (draw < run + message + op + idle) {
        sim_idle_call(sim, sim->idles.item[sim_below(sim, sim->idles.count)]);
    } else {
        sim_stores_step(sim, sim->storing.item[sim_below(sim, sim->storing.count)]);
    }
    return 1;
}

static void sim_step_once(keel_sim_t *sim)
{
    ++sim->step;
    sim->now_ns += 20 + sim_below(sim, 128);
    if (sim->step >= sim->weather.until_step) {
        sim_weather_change(sim);
    }
    if (sim->step >= sim->hook_step) {
        sim->hook_step = SIM_NEVER;
        sim->options.hook(sim->options.arg, sim);
    }
    if (sim->now_ns >= sim->next_due_ns) {
        sim_timers(sim);
    }
    if (!sim->has_ended && !sim_happen(sim)) {
        if (sim->next_due_ns == SIM_NEVER) {
            keel_sim_flaw(sim, "deadlock: nothing can happen any more");
            return;
        }
        sim->now_ns = (sim->now_ns > sim->next_due_ns) ? sim->now_ns : sim->next_due_ns;
    }
}

keel_sim_end_t keel_sim_run(keel_sim_t *sim)
{
    const uint64_t limit = (sim->options.step_limit > 0) ? sim->options.step_limit : SIM_STEP_LIMIT;
    uint32_t r;

    sim_running = sim;
    sim_memory_hooks_set(sim);
    sim_weather_change(sim);
    for (r = 0; r < sim->options.ranks; ++r) {
        sim->rank[r]->wake_ns = keel_random_scaled(&sim->random, 100000);
        sim_due(sim->rank[r], sim->rank[r]->wake_ns);
    }
    while ((sim->alive > 0) && !sim->has_ended) {
        sim_step_once(sim);
        if (sim->step >= limit) {
            keel_sim_flaw(sim, "no end after %llu steps", (unsigned long long)sim->step);
        }
    }
    sim_memory_hooks_set(NULL);
    sim_running = NULL;
    if (sim->is_aborted) {
        return KEEL_SIM_ABORTED;
    }
    return (sim->flaw[0] != '\0') ? KEEL_SIM_FLAW : KEEL_SIM_DONE;
}

/* ---- the world ---- */

keel_status_t keel_sim_create(const keel_sim_options_t *options, keel_sim_t **sim_p)
{
    keel_sim_t *sim = sim_new(sizeof(*sim));
    uint32_t r;

    sim->options = *options;
    sim->random.state = keel_random_mix(options->seed + 1);
    sim->stores_random.state = keel_random_mix(options->seed ^ 0x73746f7265);
    sim->transport_ops = sim_transport_ops;
    if (options->max_data > 0 && options->max_data < sim->transport_ops.max_data) {
        sim->transport_ops.max_data = options->max_data;
    }
    sim->drivers.transport = &sim->transport_ops;
    sim->runtime_ops = sim_runtime_ops;
    sim->runtime_ops.is_threadless = !options->has_writer;
    sim->drivers.runtime = &sim->runtime_ops;
    sim->drivers.runtime_arg = sim;
    sim->drivers.transport_arg = sim;
    sim->drivers.say_arg = sim;
    sim->drivers.say = sim->options.is_verbose ? NULL : sim_trace_line;
    sim->hook_step = SIM_NEVER;
    sim->next_due_ns = SIM_NEVER;
    sim->now_ns = 1000000000ull;
    sim->rank = sim_new(options->ranks * sizeof(*sim->rank));
    sim->node = sim_new(options->ranks * sizeof(*sim->node));
    sim->first = sim_new(options->ranks * sizeof(*sim->first));
    if (options->trace_lines > 0) {
        sim->trace = sim_new((size_t)options->trace_lines * 160);
    }
    if (sim_pool_open(sim) != 0) {
        keel_sim_destroy(sim);
        return KEEL_ERR_NO_MEMORY;
    }
    for (r = 0; r < options->ranks; ++r) {
        sim->node[r] = sim->first[r] = (options->node != NULL) ? options->node[r] : r;
        sim_process_create(sim, r, 0);
    }
    sim->options.node = sim->node;
    sim->alive = options->ranks;
    *sim_p = sim;
    return KEEL_OK;
}

void keel_sim_destroy(keel_sim_t *sim)
{
    sim_process_t *process;

    for (process = sim->all; process != NULL; process = process->all_next) {
        sim_links_clear(process);
    }
    sim_pool_close(sim); /* the pool inspects the memory of the processes */
    while ((process = sim->all) != NULL) {
        sim->all = process->all_next;
        sim_process_free(process);
    }
    free(sim->ready.item);
    free(sim->timers.item);
    free(sim->due.item);
    free(sim->channels.item);
    free(sim->oplinks.item);
    free(sim->idles.item);
    free(sim->storing.item);
    free(sim->trace);
    free(sim->node);
    free(sim->first);
    free(sim->rank);
    free(sim);
}

const struct keel_drivers *keel_sim_drivers(keel_sim_t *sim)
{
    return &sim->drivers;
}

void keel_sim_hook_at(keel_sim_t *sim, uint64_t step)
{
    if (sim->options.hook != NULL) {
        sim->hook_step = (step < sim->hook_step) ? step : sim->hook_step;
    }
}

uint64_t keel_sim_step(const keel_sim_t *sim)
{
    return sim->step;
}

uint64_t keel_sim_now_ns(const keel_sim_t *sim)
{
    return sim->now_ns;
}

void keel_sim_point(keel_sim_t *sim)
{
    sim_point(sim, "the program");
}

void keel_sim_compute(keel_sim_t *sim, uint64_t ns)
{
    if (sim->current != NULL) {
        sim->current->where = "computing";
        sim_give_way(sim->current, SIM_SLEEPING, sim->now_ns + ns);
    }
}
