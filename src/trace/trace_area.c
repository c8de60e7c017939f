/* Writes the area of a life. */
#include "trace/trace_area.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RARE_PART 4 /* part of the events for rare events */

keel_trace_layout_t keel_trace_layout(const keel_trace_head_t *head)
{
    keel_trace_layout_t layout = {.snapshots = {sizeof(*head)}};

    layout.snapshots[1] = layout.snapshots[0] + head->words * sizeof(uint64_t);
    layout.peaks = layout.snapshots[1] + head->words * sizeof(uint64_t);
    layout.ring[0] = layout.peaks + head->size * sizeof(uint64_t);
    layout.ring[1] = layout.ring[0] + head->capacity[0] * sizeof(keel_trace_event_t);
    layout.end = layout.ring[1] + head->capacity[1] * sizeof(keel_trace_event_t);
    return layout;
}

void keel_trace_divide(uint32_t events, uint32_t capacity[KEEL_TRACE_RINGS])
{
    capacity[KEEL_TRACE_RARE] = events / RARE_PART;
    capacity[KEEL_TRACE_OFTEN] = events - capacity[KEEL_TRACE_RARE];
}

int keel_trace_is_area_name(const char *name)
{
    return strncmp(name, KEEL_TRACE_AREA_PREFIX, strlen(KEEL_TRACE_AREA_PREFIX)) == 0;
}

void keel_trace_area_name(char name[KEEL_TRACE_NAME_MAX], uint32_t job, uint32_t rank, uint32_t incarnation)
{
    snprintf(name, KEEL_TRACE_NAME_MAX, KEEL_TRACE_AREA_PREFIX "%u.%u.%u", job, rank, incarnation);
}

/* Names the clock of the machine since the last boot. */
static void area_name_clock(char name[40])
{
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = (file >= 0) ? read(file, name, 36) : -1;

    if (file >= 0) {
        close(file);
    }
    name[(got > 0) ? got : 0] = '\0';
}

static void area_place(keel_trace_t *trace, const keel_trace_layout_t *layout)
{
    char *base = (char *)trace->head;

    for (unsigned i = 0; i < 2; i++) {
        trace->snapshots[i] = (uint64_t *)(base + layout->snapshots[i]);
    }
    for (unsigned i = 0; i < KEEL_TRACE_RINGS; i++) {
        trace->ring[i] = (keel_trace_event_t *)(base + layout->ring[i]);
    }
    trace->peaks = (uint64_t *)(base + layout->peaks);
}

int keel_trace_open(const keel_trace_params_t *params, keel_trace_t *trace_p)
{
    const keel_trace_layout_t layout = keel_trace_layout(&params->head);
    const int file = open(params->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    keel_trace_t trace = {.bytes = layout.end, .now = params->now, .arg = params->arg};
    int error;

    if (file < 0) {
        return errno;
    }
    error = posix_fallocate(file, 0, (off_t)layout.end);
    if (error == 0) {
        trace.head = mmap(NULL, layout.end, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        error = (trace.head == MAP_FAILED) ? errno : 0;
    }
    close(file);
    if (error != 0) {
        unlink(params->path);
        return error;
    }
    *trace.head = params->head;
    area_name_clock(trace.head->clock);
    trace.head->version = KEEL_TRACE_VERSION;
    trace.head->bytes = sizeof(*trace.head);
    area_place(&trace, &layout);
    /* readers refuse an area without a complete head */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(trace.head->magic, KEEL_TRACE_MAGIC, sizeof(trace.head->magic));
    *trace_p = trace;
    return 0;
}

void keel_trace_close(keel_trace_t *trace)
{
    trace->head->left_ns = trace->now(trace->arg);
    munmap(trace->head, trace->bytes);
    trace->head = NULL;
}

void keel_trace_write(keel_trace_t *trace, keel_trace_kind_t kind, uint16_t flags, uint32_t number, uint64_t first,
                      uint64_t second)
{
    const keel_trace_ring_t ring = keel_trace_kind_info(kind)->ring;
    const uint32_t capacity = trace->head->capacity[ring];
    keel_trace_event_t *event;
    uint64_t index;

    if (capacity == 0) {
        return;
    }
    /* other threads of the process may write, too */
    index = __atomic_fetch_add(&trace->head->claimed[ring], 1, __ATOMIC_RELAXED);
    event = &trace->ring[ring][index % capacity];
    __atomic_store_n(&event->mark, 0, __ATOMIC_RELAXED);
    /* the old mark is gone before the old contents: a killed life leaves no mixture */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    event->ns = trace->now(trace->arg);
    event->value[0] = first;
    event->value[1] = second;
    event->number = number;
    event->kind = (uint16_t)kind;
    event->flags = flags;
    __atomic_store_n(&event->mark, index + 1, __ATOMIC_RELEASE);
}

void keel_trace_write_snapshot(keel_trace_t *trace, const uint64_t *words)
{
    const uint64_t turn = trace->head->turn + 1;

    memcpy(trace->snapshots[turn % 2], words, trace->head->words * sizeof(*words));
    trace->head->snapshot_ns = trace->now(trace->arg);
    __atomic_store_n(&trace->head->turn, turn, __ATOMIC_RELEASE);
}

void keel_trace_write_peak(keel_trace_t *trace, uint32_t target, uint64_t bytes)
{
    assert(target < trace->head->size);
    if (bytes > trace->peaks[target]) {
        trace->peaks[target] = bytes;
    }
}
