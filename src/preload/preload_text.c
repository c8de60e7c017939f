/* Reports as text. */
#include "preload/preload_text.h"

#include "preload/preload_advice.h"
#include "base/units.h"

#include <inttypes.h>
#include <string.h>

#define UNITS_MAX   32 /* longest number with a unit */
#define TARGETS_MAX 32 /* lines of the table of targets */

typedef struct shown {
    char text[UNITS_MAX];
} shown_t;

static shown_t shown_bytes(double bytes)
{
    shown_t shown;

    keel_units_write_bytes(bytes, shown.text, sizeof(shown.text));
    return shown;
}

static shown_t shown_time(double seconds)
{
    shown_t shown;

    keel_units_write_time(seconds, shown.text, sizeof(shown.text));
    return shown;
}

static void title_write(const preload_report_t *report, FILE *stream)
{
    if (report->processes > 1) {
        fprintf(stream, "%" PRIu64 " processes with one-sided calls (%s)", report->processes, report->program);
    } else if (report->rank != PRELOAD_NO_RANK) {
        fprintf(stream, "rank %" PRId64 " (%s, pid %" PRId64 " on %s)", report->rank, report->program, report->pid,
                report->host);
    } else {
        fprintf(stream, "pid %" PRId64 " (%s on %s)", report->pid, report->program, report->host);
    }
    fprintf(stream, ": %s from the first to the last access\n", shown_time(report->seconds).text);
}

static void kinds_write(const preload_report_t *report, FILE *stream)
{
    static const char *const names[PRELOAD_KINDS] = {
        [PRELOAD_PUT] = "put",         [PRELOAD_GET] = "get",     [PRELOAD_ATOMIC] = "atomic",
        [PRELOAD_FLUSH] = "flush",     [PRELOAD_FENCE] = "fence", [PRELOAD_POINTER] = "rkey_ptr",
        [PRELOAD_MESSAGE] = "message",
    };

    fprintf(stream, "  %-8s %12s %12s %8s %8s\n", "call", "calls", "bytes", "failed", "nested");
    for (int i = 0; i <= PRELOAD_FENCE; i++) {
        fprintf(stream, "  %-8s %12" PRIu64 " %12s %8" PRIu64 " %8" PRIu64, names[i], report->calls[i],
                i < PRELOAD_ACCESSES ? shown_bytes((double)report->bytes[i]).text : "", report->failed[i],
                report->nested[i]);
        fprintf(stream, i == PRELOAD_ATOMIC ? "  %" PRIu64 " return the old value\n" : "\n", report->fetches);
    }
}

static const char *reason_of(const char *state)
{
    if (strcmp(state, "devices") == 0) {
        return "a device's library is loaded, and buffers may be in the device's memory";
    }
    return strcmp(state, "count") == 0 ? "KEEL_PRELOAD_MODE=count" : "no memory for the log";
}

static void logs_write(const preload_report_t *report, FILE *stream)
{
    fprintf(stream, "  put log %s (puts and atomics, at the source), get log %s (at the targets)\n",
            shown_bytes((double)report->put_log).text, shown_bytes((double)report->get_log).text);
    fprintf(stream, "  peak of the put log between two flushes of a target: %s%s\n",
            shown_bytes((double)report->peak_most).text, report->processes > 1 ? " in one process" : "");
    if (strcmp(report->state, "log") == 0) {
        fprintf(stream, "  time in logging %s, ", shown_time(report->logging).text);
        if (report->seconds > 0) {
            fprintf(stream, "%.2f %% of that time, ",
                    100 * report->logging / report->seconds / (double)report->processes);
        }
        fprintf(stream, "from %" PRIu64 " samples; %s copied\n", report->samples,
                shown_bytes((double)report->copied).text);
    } else {
        fprintf(stream, "  nothing was copied: %s\n", reason_of(report->state));
    }
}

static void target_name(const preload_target_sum_t *target, char *name, size_t max)
{
    if (target->rank != PRELOAD_NO_RANK) {
        snprintf(name, max, "rank %" PRId64, target->rank);
    } else if (target->uid != 0) {
        snprintf(name, max, "worker %" PRIx64, target->uid);
    } else {
        snprintf(name, max, "unknown");
    }
}

static void targets_write(const preload_report_t *report, FILE *stream)
{
    char name[UNITS_MAX];

    fprintf(stream, "  %-24s %10s %10s %10s %10s %10s %10s\n", "target", "puts", "gets", "atomics", "put log", "peak",
            "get log");
    for (size_t i = 0; i < report->target_count && i < TARGETS_MAX; i++) {
        const preload_target_sum_t *target = &report->targets[i];

        target_name(target, name, sizeof(name));
        fprintf(stream, "  %-24s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10s %10s %10s\n", name,
                target->calls[PRELOAD_PUT], target->calls[PRELOAD_GET], target->calls[PRELOAD_ATOMIC],
                shown_bytes((double)target->put_log).text, shown_bytes((double)target->peak).text,
                shown_bytes((double)target->get_log).text);
    }
    if (report->target_count > TARGETS_MAX) {
        fprintf(stream, "  and %zu more targets\n", report->target_count - TARGETS_MAX);
    }
}

/* a line for each kind of access that the measurement lacks */
static void unseen_write(const preload_report_t *report, FILE *stream)
{
    if (report->calls[PRELOAD_POINTER] > 0) {
        fprintf(stream,
                "  not seen: loads and stores through pointers of ucp_rkey_ptr() (%" PRIu64
                " calls). Keel does not log them either: a death is then a rollback\n",
                report->calls[PRELOAD_POINTER]);
    }
    if (report->calls[PRELOAD_MESSAGE] > 0) {
        fprintf(stream,
                "  not seen: accesses inside of active messages (%" PRIu64
                " were sent), such as MPICH's atomics and accumulates\n",
                report->calls[PRELOAD_MESSAGE]);
    }
    if (report->late_gets > 0) {
        fprintf(stream, "  not copied: the values of %" PRIu64 " gets that completed later; the sizes include them\n",
                report->late_gets);
    }
    if (report->device > 0) {
        fprintf(stream, "  not copied: %" PRIu64 " accesses of device memory; the sizes include them\n",
                report->device);
    }
    if (report->unpacked > 0) {
        fprintf(stream, "  not measured: the bytes of %" PRIu64 " accesses with generic datatypes\n", report->unpacked);
    }
    if (report->full > 0) {
        fprintf(stream, "  not copied: %" PRIu64 " records, KEEL_PRELOAD_SIZE is too small for so many targets\n",
                report->full);
    }
}

static void log_advice_write(const preload_log_advice_t *log, const char *setting, FILE *stream)
{
    if (log->rate <= 0) {
        return;
    }
    fprintf(stream, "  %s: the log grows by %s/s; the default of %s is half full after %s\n", setting,
            shown_bytes(log->rate).text, shown_bytes(log->usual).text, shown_time(log->lasts).text);
    fprintf(stream, "    for checkpoints every 10 s: %s, every minute: %s, every 10 minutes: %s\n",
            shown_bytes(preload_advice_size(log, preload_intervals[0])).text,
            shown_bytes(preload_advice_size(log, preload_intervals[1])).text,
            shown_bytes(preload_advice_size(log, preload_intervals[2])).text);
}

static void advice_write(const preload_report_t *report, FILE *stream)
{
    const preload_advice_t advice = preload_advice(report);

    fprintf(stream, report->processes > 1 ? "under Keel, in the rank with most:\n" : "under Keel:\n");
    log_advice_write(&advice.oplog, "KEEL_OPLOG_SIZE", stream);
    log_advice_write(&advice.getlog, "KEEL_GETLOG_SIZE", stream);
    if (advice.oplog.peak > advice.oplog.usual * PRELOAD_SOFT) {
        fprintf(stream, "  the program puts %s between two flushes: KEEL_OPLOG_SIZE of %s or more\n",
                shown_bytes(advice.oplog.peak).text, shown_bytes(preload_advice_size(&advice.oplog, 0)).text);
    }
    if (advice.oplog.rate <= 0 && advice.getlog.rate <= 0) {
        fprintf(stream, "  too few accesses for a rate\n");
    }
}

void preload_text_write(const preload_report_t *report, FILE *stream)
{
    fprintf(stream, "%s\n", PRELOAD_NOTE);
    title_write(report, stream);
    kinds_write(report, stream);
    logs_write(report, stream);
    targets_write(report, stream);
    unseen_write(report, stream);
    advice_write(report, stream);
}

void preload_text_ranks(const preload_report_t *reports, size_t count, FILE *stream)
{
    fprintf(stream, "  %-16s %10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "process", "puts", "gets", "atomics",
            "flushes", "put log", "peak", "get log", "seconds", "logging");
    for (size_t i = 0; i < count; i++) {
        const preload_report_t *report = &reports[i];
        const int has_rank = report->rank != PRELOAD_NO_RANK;

        fprintf(stream, "  %-4s %-11" PRId64, has_rank ? "rank" : "pid", has_rank ? report->rank : report->pid);
        for (int k = PRELOAD_PUT; k <= PRELOAD_FLUSH; k++) {
            fprintf(stream, " %10" PRIu64, report->calls[k]);
        }
        fprintf(stream, " %10s %10s %10s %10.3f %10.6f\n", shown_bytes((double)report->put_log).text,
                shown_bytes((double)report->peak).text, shown_bytes((double)report->get_log).text, report->seconds,
                report->logging);
    }
}
