/* Adding reports. */
#include "preload/preload_report.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void preload_report_init(preload_report_t *report)
{
    memset(report, 0, sizeof(*report));
    report->rank = PRELOAD_NO_RANK;
}

void preload_report_release(preload_report_t *report)
{
    keel_free(report->workers);
    keel_free(report->targets);
    preload_report_init(report);
}

int preload_report_add_worker(preload_report_t *report, uint64_t uid)
{
    uint64_t *workers =
        keel_realloc(report->workers, (report->worker_count + 1) * sizeof(*workers), "workers of a report");

    if (workers == NULL) {
        return 0;
    }
    workers[report->worker_count++] = uid;
    report->workers = workers;
    return 1;
}

static void target_add(preload_target_sum_t *sum, const preload_target_sum_t *target)
{
    for (int i = 0; i < PRELOAD_ACCESSES; i++) {
        sum->calls[i] += target->calls[i];
        sum->bytes[i] += target->bytes[i];
    }
    sum->put_log += target->put_log;
    sum->get_log += target->get_log;
    sum->peak += target->peak;
}

/* appends a copy; NULL without memory */
static preload_target_sum_t *target_append(preload_report_t *report, const preload_target_sum_t *target)
{
    preload_target_sum_t *targets =
        keel_realloc(report->targets, (report->target_count + 1) * sizeof(*targets), "targets of a report");

    if (targets == NULL) {
        return NULL;
    }
    report->targets = targets;
    targets[report->target_count] = *target;
    return &targets[report->target_count++];
}

int preload_report_add_target(preload_report_t *report, const preload_target_sum_t *target)
{
    for (size_t i = 0; target->uid != 0 && i < report->target_count; i++) {
        if (report->targets[i].uid == target->uid) {
            target_add(&report->targets[i], target);
            return 1;
        }
    }
    return target_append(report, target) != NULL;
}

static int target_order(const void *left, const void *right)
{
    const preload_target_sum_t *a = left, *b = right;
    const uint64_t in_a = a->put_log + a->get_log, in_b = b->put_log + b->get_log;

    if (a->rank != b->rank) {
        return (uint64_t)a->rank < (uint64_t)b->rank ? -1 : 1;
    }
    return (in_a < in_b) - (in_a > in_b);
}

void preload_report_sort(preload_report_t *report)
{
    if (report->target_count > 1) {
        qsort(report->targets, report->target_count, sizeof(*report->targets), target_order);
    }
}

/* a worker and the index of the report of its process */
typedef struct owner {
    uint64_t uid;
    size_t index;
} owner_t;

static int owner_order(const void *left, const void *right)
{
    const owner_t *a = left, *b = right;

    return (a->uid > b->uid) - (a->uid < b->uid);
}

/* the workers of all reports, sorted; NULL without memory */
static owner_t *owners_sorted(const preload_report_t *reports, size_t count, size_t *owner_count_p)
{
    size_t workers = 0, next = 0;
    owner_t *owners;

    for (size_t i = 0; i < count; i++) {
        workers += reports[i].worker_count;
    }
    owners = keel_alloc(workers * sizeof(*owners), "workers of all reports");
    for (size_t i = 0; owners != NULL && i < count; i++) {
        for (size_t w = 0; w < reports[i].worker_count; w++) {
            owners[next++] = (owner_t){.uid = reports[i].workers[w], .index = i};
        }
    }
    if (next > 1) {
        qsort(owners, next, sizeof(*owners), owner_order);
    }
    *owner_count_p = next;
    return owners;
}

static void sum_counts(preload_report_t *sum, const preload_report_t *report)
{
    for (int i = 0; i < PRELOAD_KINDS; i++) {
        sum->calls[i] += report->calls[i];
        sum->failed[i] += report->failed[i];
        sum->nested[i] += report->nested[i];
    }
    for (int i = 0; i < PRELOAD_ACCESSES; i++) {
        sum->bytes[i] += report->bytes[i];
    }
    sum->fetches += report->fetches;
    sum->put_log += report->put_log;
    sum->get_log += report->get_log;
    sum->peak += report->peak;
    sum->copied += report->copied;
    sum->late_gets += report->late_gets;
    sum->device += report->device;
    sum->unpacked += report->unpacked;
    sum->full += report->full;
    sum->samples += report->samples;
    sum->logging += report->logging;
    sum->setup += report->setup;
    sum->seconds = report->seconds > sum->seconds ? report->seconds : sum->seconds;
}

static void sum_maxima(preload_report_t *sum, const preload_report_t *report)
{
    const double rate = report->seconds > 0 ? (double)report->put_log / report->seconds : 0;

    sum->put_rate_most = rate > sum->put_rate_most ? rate : sum->put_rate_most;
    sum->put_log_most = report->put_log > sum->put_log_most ? report->put_log : sum->put_log_most;
    sum->peak_most = report->peak > sum->peak_most ? report->peak : sum->peak_most;
}

/* The sum of one report has the rank, pid and host of the process. */
static void sum_name(preload_report_t *sum, const preload_report_t *report)
{
    memcpy(sum->host, report->host, sizeof(sum->host));
    sum->rank = report->rank;
    sum->pid = report->pid;
}

/* Adds the targets of a report: measured processes at their index, others behind. */
static int sum_targets(preload_report_t *report, preload_report_t *reports, const owner_t *owners, size_t owner_count,
                       preload_report_t *sum)
{
    for (size_t t = 0; t < report->target_count; t++) {
        preload_target_sum_t *target = &report->targets[t];
        const owner_t key = {.uid = target->uid, .index = 0}, *owner = NULL;

        if (target->uid != 0 && owner_count > 0) {
            owner = bsearch(&key, owners, owner_count, sizeof(*owners), owner_order);
        }
        if (owner != NULL) {
            target->rank = reports[owner->index].rank;
            target_add(&sum->targets[owner->index], target);
        } else if (!preload_report_add_target(sum, target)) {
            return 0;
        }
    }
    return 1;
}

/* removes the targets that nobody accessed */
static void sum_pack(preload_report_t *sum)
{
    size_t kept = 0;

    for (size_t t = 0; t < sum->target_count; t++) {
        const preload_target_sum_t *target = &sum->targets[t];

        if (target->calls[PRELOAD_PUT] + target->calls[PRELOAD_GET] + target->calls[PRELOAD_ATOMIC] > 0) {
            sum->targets[kept++] = *target;
        }
    }
    sum->target_count = kept;
}

static void maxima_of_targets(preload_report_t *report)
{
    for (size_t t = 0; t < report->target_count; t++) {
        const uint64_t get_log = report->targets[t].get_log;

        report->get_log_most = get_log > report->get_log_most ? get_log : report->get_log_most;
    }
    report->get_rate_most = report->seconds > 0 ? (double)report->get_log_most / report->seconds : 0;
}

void preload_report_finish(preload_report_t *report)
{
    sum_maxima(report, report);
    maxima_of_targets(report);
    preload_report_sort(report);
}

int preload_report_sum(preload_report_t *reports, size_t count, preload_report_t *sum)
{
    size_t owner_count;
    owner_t *owners = owners_sorted(reports, count, &owner_count);
    int is_whole = owners != NULL;

    preload_report_init(sum);
    for (size_t i = 0; is_whole && i < count; i++) {
        const preload_target_sum_t process = {.uid = reports[i].worker_count > 0 ? reports[i].workers[0] : 0,
                                              .rank = reports[i].rank};

        is_whole = target_append(sum, &process) != NULL;
    }
    for (size_t i = 0; is_whole && i < count; i++) {
        memcpy(sum->program, reports[i].program, sizeof(sum->program));
        memcpy(sum->state, reports[i].state, sizeof(sum->state));
        sum_counts(sum, &reports[i]);
        sum_maxima(sum, &reports[i]);
        sum->processes++;
        is_whole = sum_targets(&reports[i], reports, owners, owner_count, sum);
    }
    keel_free(owners);
    if (count == 1) {
        sum_name(sum, &reports[0]);
    }
    if (is_whole) {
        sum_pack(sum);
        maxima_of_targets(sum);
        preload_report_sort(sum);
    } else {
        preload_report_release(sum);
    }
    return is_whole;
}
