/*
 * Reads the areas of a folder. Each clock has one offset, taken from the first life with the clock,
 * so times of one clock keep the order. Times of different clocks are ordered by the time of day.
 */
#include "trace/trace_job.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_lives(const void *first, const void *second)
{
    const keel_trace_head_t *a = &((const keel_trace_life_t *)first)->head,
                            *b = &((const keel_trace_life_t *)second)->head;

    return (a->job != b->job)                   ? (a->job < b->job ? -1 : 1)
           : (a->rank != b->rank)               ? (a->rank < b->rank ? -1 : 1)
           : (a->incarnation != b->incarnation) ? (a->incarnation < b->incarnation ? -1 : 1)
           : (a->begun_ns < b->begun_ns)        ? -1
                                                : (a->begun_ns > b->begun_ns);
}

static int job_add(keel_trace_job_t *job, const keel_trace_life_t *life)
{
    keel_trace_life_t *more = keel_realloc(job->lives, (job->count + 1) * sizeof(*more), "lives of a job");

    if (more == NULL) {
        return ENOMEM;
    }
    job->lives = more;
    job->lives[job->count++] = *life;
    job->size = (life->head.size > job->size) ? life->head.size : job->size;
    return 0;
}

/* Time of day when the clock of @a life was 0: the same for all lives with the clock. */
static uint64_t offset_of(const keel_trace_job_t *job, const keel_trace_life_t *life)
{
    for (size_t i = 0; life->head.clock[0] != '\0' && i < job->count; i++) {
        if (strcmp(job->lives[i].head.clock, life->head.clock) == 0) {
            return job->lives[i].head.day_ns;
        }
    }
    return life->head.day_ns;
}

static uint64_t moved(uint64_t ns, uint64_t offset, uint64_t zero)
{
    return (ns + offset > zero) ? ns + offset - zero : 0;
}

static void life_move(keel_trace_life_t *life, uint64_t offset, uint64_t zero)
{
    for (size_t i = 0; i < life->count; i++) {
        keel_trace_event_t *event = &life->events[i];

        event->ns = moved(event->ns, offset, zero);
        if (keel_trace_kind_info(event->kind)->shape == KEEL_TRACE_SPAN) {
            event->value[0] = moved(event->value[0], offset, zero);
        }
    }
    life->head.begun_ns = moved(life->head.begun_ns, offset, zero);
    life->head.snapshot_ns = moved(life->head.snapshot_ns, offset, zero);
    life->end_ns = moved(life->end_ns, offset, zero);
}

/* Moves all times to one clock that begins with the job. */
static int job_align(keel_trace_job_t *job)
{
    uint64_t *offsets = keel_alloc((job->count + 1) * sizeof(*offsets), "clocks of lives"), zero = UINT64_MAX;

    if (offsets == NULL) {
        return ENOMEM;
    }
    for (size_t i = 0; i < job->count; i++) {
        offsets[i] = offset_of(job, &job->lives[i]);
        if (job->lives[i].head.begun_ns + offsets[i] < zero) {
            zero = job->lives[i].head.begun_ns + offsets[i];
        }
    }
    for (size_t i = 0; i < job->count; i++) {
        life_move(&job->lives[i], offsets[i], zero);
    }
    keel_free(offsets);
    return 0;
}

int keel_trace_job_read(const char *folder, keel_trace_job_t *job_p)
{
    keel_trace_job_t job = {.lives = NULL};
    DIR *entries = opendir(folder);
    struct dirent *entry;
    int error = (entries == NULL) ? errno : 0;

    while (error == 0 && (entry = readdir(entries)) != NULL) {
        keel_trace_life_t life;

        if (!keel_trace_is_area_name(entry->d_name)) {
            continue;
        }
        error = keel_trace_life_read(dirfd(entries), entry->d_name, &life);
        if (error == 0) {
            error = job_add(&job, &life);
            if (error != 0) {
                keel_trace_life_release(&life);
            }
        } else if (error != ENOMEM) {
            job.unreadable += error != ENOENT; /* an area may be removed meanwhile */
            error = 0;
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    if (job.count > 0) {
        qsort(job.lives, job.count, sizeof(*job.lives), compare_lives);
    }
    error = (error == 0) ? job_align(&job) : error;
    if (error != 0) {
        keel_trace_job_release(&job);
        return error;
    }
    *job_p = job;
    return 0;
}

void keel_trace_job_release(keel_trace_job_t *job)
{
    for (size_t i = 0; i < job->count; i++) {
        keel_trace_life_release(&job->lives[i]);
    }
    keel_free(job->lives);
    *job = (keel_trace_job_t){.lives = NULL};
}
