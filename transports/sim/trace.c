/* The first flaw, the last events, and the state of every rank. */
#include "sim/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SIM_TRACE_LINE 160

void keel_sim_flaw(keel_sim_t *sim, const char *format, ...)
{
    sim_process_t *process = sim->current;
    va_list args;

    if (!sim->has_ended) {
        va_start(args, format);
        vsnprintf(sim->flaw, sizeof(sim->flaw), format, args);
        va_end(args);
        keel_sim_trace(sim, "FLAW %s", sim->flaw);
        sim->has_ended = 1;
    }
    while ((process != NULL) && !sim->in_handler) {
        sim_give_way(process, SIM_READY, 0); /* forever */
    }
}

const char *keel_sim_flaw_text(const keel_sim_t *sim)
{
    return sim->flaw;
}

int keel_sim_is_traced(const keel_sim_t *sim)
{
    return sim->trace != NULL;
}

void keel_sim_trace_print(keel_sim_t *sim, const char *format, ...)
{
    char *line = sim->trace + (size_t)sim->trace_next * SIM_TRACE_LINE;
    va_list args;
    int used;

    used = snprintf(line, SIM_TRACE_LINE, "%8llu %10.3f us  ", (unsigned long long)sim->step,
                    (double)(sim->now_ns - 1000000000ull) / 1000.0);
    va_start(args, format);
    vsnprintf(line + used, SIM_TRACE_LINE - (size_t)used, format, args);
    va_end(args);
    sim->trace_next = (sim->trace_next + 1) % sim->options.trace_lines;
    ++sim->trace_count;
}

void sim_trace_line(void *arg, keel_message_level_t level, const char *line)
{
    (void)level;
    keel_sim_trace((keel_sim_t *)arg, "%s", line);
}

static void sim_report_trace(keel_sim_t *sim, FILE *stream)
{
    const unsigned lines = sim->options.trace_lines;
    const unsigned count = (sim->trace_count < lines) ? sim->trace_count : lines;
    unsigned i;

    for (i = 0; i < count; ++i) {
        fprintf(stream, "%s\n", sim->trace + (size_t)((sim->trace_next + lines - count + i) % lines) * SIM_TRACE_LINE);
    }
}

static void sim_report_process(const sim_process_t *process, FILE *stream)
{
    static const char *const state[] = {"new",        "ready", "waiting",  "sleeping",
                                        "announcing", "hung",  "returned", "dead"};
    unsigned requests = 0, ops = 0;
    uint32_t r;

    for (r = 0; r < process->sim->options.ranks; ++r) {
        requests += process->links[r].requests.count;
        ops += process->links[r].ops_count;
    }
    fprintf(stream,
            "  rank %u.%u %s in %s; requests out %u, operations out %u, replies in from %u, events %u, mutexes %u\n",
            process->rank, process->incarnation, state[process->state], process->where, requests, ops,
            process->reply_in.count, process->events_count, process->held);
}

void keel_sim_report(keel_sim_t *sim, FILE *stream)
{
    sim_process_t *process;
    uint32_t r;

    if (sim->trace != NULL) {
        sim_report_trace(sim, stream);
    }
    fprintf(stream, "%s\nafter %llu steps, %.3f ms:\n", sim->flaw, (unsigned long long)sim->step,
            (double)(sim->now_ns - 1000000000ull) / 1e6);
    for (r = 0; r < sim->options.ranks; ++r) {
        process = sim->rank[r];
        sim_report_process(process, stream);
        if ((sim->trace != NULL) && (process->fiber != NULL) && process->is_started) {
            fflush(stream);
            process->is_dumping = 1;
            sim_fiber_resume(process->fiber);
        }
    }
}
