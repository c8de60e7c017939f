/* Counting and logging the accesses of a thread. */
#include "preload/preload_thread.h"

#include "preload/preload_process.h"
#include "base/memory.h"

#include <pthread.h>
#include <string.h>

#define TABLE_LEAST 64u
/* Of short accesses every so many is timed: reading the clock twice takes longer than a record. */
#define SAMPLE_EVERY 64u
#define SAMPLE_ALL   65536u /* bytes from which each access is timed */
/* Slower than this many ns and 10 ns a byte: the thread was interrupted, and the sample is none. */
#define SAMPLE_MOST UINT64_C(20000)

__thread preload_thread_t *preload_self __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static preload_thread_t *threads;
static pthread_key_t end_key;
static int has_end_key;
static uint64_t clock_cost; /* ns between two readings of the clock */

static void thread_end(void *arg)
{
    preload_thread_t *thread = arg;

    pthread_mutex_lock(&lock);
    thread->is_free = 1;
    pthread_mutex_unlock(&lock);
    preload_self = NULL;
}

static uint64_t clock_calibrate(void)
{
    uint64_t cost = UINT64_MAX;

    for (int i = 0; i < 64; i++) {
        const uint64_t first = preload_process_clock(), taken = preload_process_clock() - first;

        cost = taken < cost ? taken : cost;
    }
    return cost;
}

/* the lock is held */
static preload_thread_t *thread_take(void)
{
    preload_thread_t *thread = threads;

    if (preload_process_is_over()) {
        return NULL;
    }
    if (!has_end_key) {
        has_end_key = pthread_key_create(&end_key, thread_end) == 0;
        clock_cost = clock_calibrate();
    }
    while (thread != NULL && !thread->is_free) {
        thread = thread->next;
    }
    if (thread == NULL && (thread = keel_alloc(sizeof(*thread), "thread")) != NULL) {
        thread->next = threads;
        threads = thread;
    }
    if (thread != NULL) {
        thread->is_free = 0;
    }
    return thread;
}

preload_thread_t *preload_thread_begin(void)
{
    preload_thread_t *thread;

    pthread_mutex_lock(&lock);
    thread = thread_take();
    pthread_mutex_unlock(&lock);
    if (thread != NULL && has_end_key) {
        (void)pthread_setspecific(end_key, thread);
    }
    preload_self = thread;
    return thread;
}

/* an array with room for the index; NULL without memory */
static preload_entries_t *entries_grow(preload_thread_t *thread, uint32_t index)
{
    const uint32_t count = 2 * index + 16;
    preload_entries_t *older = thread->entries,
                      *entries = keel_alloc(sizeof(*entries) + count * sizeof(preload_entry_t *), "entries");

    if (entries == NULL) {
        return NULL;
    }
    entries->older = older;
    entries->count = count;
    if (older != NULL) {
        memcpy(entries->at, older->at, older->count * sizeof(preload_entry_t *));
    }
    __atomic_store_n(&thread->entries, entries, __ATOMIC_RELEASE);
    return entries;
}

/* the entry of a target, made at the first access; NULL without memory */
static preload_entry_t *entry_of_target(preload_thread_t *thread, preload_target_t *target)
{
    preload_entries_t *entries = thread->entries;
    preload_entry_t *entry;

    if (entries == NULL || target->index >= entries->count) {
        entries = entries_grow(thread, target->index);
        if (entries == NULL) {
            return NULL;
        }
    }
    entry = entries->at[target->index];
    if (entry == NULL && (entry = keel_alloc(sizeof(*entry), "entry")) != NULL) {
        preload_process_begin();
        if (thread->first_ns == 0) {
            __atomic_store_n(&thread->first_ns, preload_process_clock(), __ATOMIC_RELAXED);
        }
        entry->target = target;
        entry->flushes = preload_target_flushes(target);
        __atomic_store_n(&entries->at[target->index], entry, __ATOMIC_RELEASE);
    }
    return entry;
}

static uint32_t table_place(const preload_thread_t *thread, const void *ep)
{
    uint32_t place = (uint32_t)(((uintptr_t)ep >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % thread->table_size;

    while (thread->handles[place] != NULL && thread->handles[place] != ep) {
        place = (place + 1) % thread->table_size;
    }
    return place;
}

static void table_clear(preload_thread_t *thread)
{
    keel_free(thread->handles);
    keel_free(thread->found);
    thread->handles = NULL;
    thread->found = NULL;
    thread->table_size = thread->table_used = 0;
}

/* an empty table that is twice as large: endpoints come in again as they are used */
static int table_make(preload_thread_t *thread)
{
    const uint32_t size = thread->table_size > 0 ? 2 * thread->table_size : TABLE_LEAST;

    table_clear(thread);
    thread->handles = keel_alloc(size * sizeof(*thread->handles), "endpoints");
    thread->found = keel_alloc(size * sizeof(*thread->found), "endpoints");
    if (thread->handles == NULL || thread->found == NULL) {
        table_clear(thread);
        return 0;
    }
    thread->table_size = size;
    return 1;
}

/* not the newest endpoint */
static preload_entry_t *entry_search(preload_thread_t *thread, const void *ep)
{
    const uint64_t version = __atomic_load_n(&preload_targets_version, __ATOMIC_ACQUIRE);
    preload_target_t *target;
    preload_entry_t *entry;
    uint32_t place;

    if (thread->version != version) {
        thread->version = version;
        table_clear(thread);
    }
    if (thread->table_used * 2 >= thread->table_size && !table_make(thread)) {
        return NULL;
    }
    place = table_place(thread, ep);
    if (thread->handles[place] == NULL) {
        target = preload_targets_find(ep);
        entry = target != NULL ? entry_of_target(thread, target) : NULL;
        if (entry == NULL) {
            return NULL;
        }
        thread->handles[place] = ep;
        thread->found[place] = entry;
        thread->table_used++;
    }
    thread->newest_handle = ep;
    thread->newest = thread->found[place];
    return thread->newest;
}

static preload_entry_t *entry_find(preload_thread_t *thread, const void *ep)
{
    if (__builtin_expect(thread->newest_handle == ep &&
                             thread->version == __atomic_load_n(&preload_targets_version, __ATOMIC_RELAXED),
                         1)) {
        return thread->newest;
    }
    return entry_search(thread, ep);
}

/* takes a segment from the longest list of the thread; 0: all are empty */
static int list_steal(preload_thread_t *thread, const preload_list_t *list)
{
    preload_list_t *longest = NULL;

    for (uint32_t i = 0; i < thread->entries->count; i++) {
        preload_entry_t *entry = thread->entries->at[i];

        if (entry != NULL && (longest == NULL || entry->puts.segment_count > longest->segment_count)) {
            longest = &entry->puts;
        }
        if (entry != NULL && entry->gets.segment_count > longest->segment_count) {
            longest = &entry->gets;
        }
    }
    if (longest == NULL || longest == list || longest->segment_count == 0) {
        return 0;
    }
    preload_ring_shrink(longest);
    return 1;
}

static int list_has_room(preload_list_t *list, size_t need)
{
    return list->tail != NULL && need <= (size_t)(list->limit - list->tail);
}

/* gives the list room for a record; 0: none */
static int list_make_room(preload_thread_t *thread, preload_list_t *list)
{
    if (preload_ring_grow(list) || (list_steal(thread, list) && preload_ring_grow(list))) {
        return 1;
    }
    preload_add(&thread->full, 1);
    return 0;
}

/* A record of up to PRELOAD_RECORD_MAX bytes. 0: no room. */
static inline __attribute__((always_inline)) int record_write(preload_thread_t *thread, preload_list_t *list,
                                                              const void *head, size_t head_length, const void *from,
                                                              size_t length)
{
    if (__builtin_expect(!list_has_room(list, head_length + keel_pad8(length)), 0) && !list_make_room(thread, list)) {
        return 0;
    }
    preload_ring_write(list, head, head_length, from, length);
    preload_add(&thread->copied, head_length + length);
    return 1;
}

static void put_write(preload_thread_t *thread, preload_entry_t *entry, const preload_access_t *access)
{
    size_t at = 0;

    do {
        const size_t left = access->length - at, part = left < PRELOAD_RECORD_MAX ? left : PRELOAD_RECORD_MAX;
        const keel_record_t head = {.where = access->address + at, .length = (uint32_t)part};

        if (!record_write(thread, &entry->puts, &head, sizeof(head), (const uint8_t *)access->data + at, part)) {
            return;
        }
        at += part;
    } while (at < access->length);
}

static void get_write(preload_thread_t *thread, preload_entry_t *entry, const preload_access_t *access)
{
    size_t at = 0;

    do {
        const size_t left = access->length - at, part = left < PRELOAD_RECORD_MAX ? left : PRELOAD_RECORD_MAX;
        const keel_get_record_t head = {.where = access->address + at, .length = (uint32_t)part};

        if (!record_write(thread, &entry->gets, &head, sizeof(head), (const uint8_t *)access->data + at, part)) {
            return;
        }
        at += part;
    } while (at < access->length);
}

static void atomic_write(preload_thread_t *thread, preload_entry_t *entry, const preload_access_t *access)
{
    struct {
        keel_record_t record;
        keel_record_atomic_t atomic;
    } head = {.record = {.where = access->address, .length = sizeof(head.atomic)},
              .atomic = {.size = (uint8_t)access->length}};

    memcpy(&head.atomic.operand, access->data, access->length < sizeof(uint64_t) ? access->length : sizeof(uint64_t));
    (void)record_write(thread, &entry->puts, &head, sizeof(head), NULL, 0);
}

static void records_write(preload_thread_t *thread, preload_entry_t *entry, const preload_access_t *access)
{
    if (access->kind == PRELOAD_PUT) {
        put_write(thread, entry, access);
    } else if (access->kind == PRELOAD_GET) {
        get_write(thread, entry, access);
    } else {
        atomic_write(thread, entry, access);
    }
}

static void entry_count(preload_entry_t *entry, const preload_access_t *access)
{
    const uint64_t flushes = preload_target_flushes(entry->target);
    uint64_t need;

    preload_add(&entry->calls[access->kind], 1);
    preload_add(&entry->bytes[access->kind], access->length);
    if (access->kind == PRELOAD_GET) {
        preload_add(&entry->get_log, preload_ring_bytes(access->length, sizeof(keel_get_record_t)));
        return;
    }
    need = access->kind == PRELOAD_ATOMIC ? sizeof(keel_record_t) + sizeof(keel_record_atomic_t)
                                          : preload_ring_bytes(access->length, sizeof(keel_record_t));
    preload_add(&entry->put_log, need);
    if (entry->flushes != flushes) {
        entry->flushes = flushes;
        entry->since = 0;
    }
    entry->since += need;
    if (entry->since > entry->peak) {
        __atomic_store_n(&entry->peak, entry->since, __ATOMIC_RELAXED);
    }
}

static preload_times_t *times_of(preload_thread_t *thread, size_t length)
{
    const unsigned bits = length > 0 ? 64 - (unsigned)__builtin_clzl(length) : 0;

    return &thread->times[bits < PRELOAD_SIZES ? bits : PRELOAD_SIZES - 1];
}

void preload_thread_access(preload_thread_t *thread, const preload_access_t *access)
{
    preload_times_t *times = times_of(thread, access->length);
    const int is_sampled = access->length >= SAMPLE_ALL || times->calls % SAMPLE_EVERY == 0;
    const uint64_t begin = is_sampled ? preload_process_clock() : 0;
    preload_entry_t *entry;
    uint64_t end, taken;

    preload_add(&times->calls, 1);
    entry = entry_find(thread, access->ep);
    if (__builtin_expect(entry == NULL, 0)) {
        preload_add(&thread->calls[access->kind], 1);
    } else {
        entry_count(entry, access);
        if (preload_process_copies && access->data != NULL) {
            records_write(thread, entry, access);
        }
    }
    if (is_sampled) {
        end = preload_process_clock();
        taken = end - begin > clock_cost ? end - begin - clock_cost : 0;
        __atomic_store_n(&thread->last_ns, end, __ATOMIC_RELAXED);
        if (taken <= SAMPLE_MOST + 10 * (uint64_t)access->length) {
            preload_add(&times->samples, 1);
            preload_add(&times->sampled, taken);
        }
    }
}

void preload_thread_copy(preload_thread_t *thread, const preload_access_t *access)
{
    preload_entry_t *entry = entry_find(thread, access->ep);

    if (preload_process_copies && entry != NULL) {
        records_write(thread, entry, access);
    }
}

void preload_thread_call(preload_thread_t *thread, preload_kind_t kind)
{
    preload_add(&thread->calls[kind], 1);
    if (kind == PRELOAD_FLUSH) {
        __atomic_store_n(&thread->last_ns, preload_process_clock(), __ATOMIC_RELAXED);
    }
}

void preload_thread_lock(void)
{
    pthread_mutex_lock(&lock);
}

void preload_thread_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void preload_thread_forget(void)
{
    /* the memory of the parent's threads stays: it may be in the midst of a change */
    threads = NULL;
    preload_self = NULL;
}

static uint64_t seen(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void report_entry(preload_report_t *report, const preload_entry_t *entry)
{
    preload_target_sum_t target = {.uid = entry->target->uid, .rank = PRELOAD_NO_RANK};

    for (int i = 0; i < PRELOAD_ACCESSES; i++) {
        target.calls[i] = seen(&entry->calls[i]);
        target.bytes[i] = seen(&entry->bytes[i]);
        report->calls[i] += target.calls[i];
        report->bytes[i] += target.bytes[i];
    }
    target.put_log = seen(&entry->put_log);
    target.get_log = seen(&entry->get_log);
    target.peak = seen(&entry->peak);
    report->put_log += target.put_log;
    report->get_log += target.get_log;
    report->peak += target.peak;
    (void)preload_report_add_target(report, &target);
}

static void report_times(preload_report_t *report, const preload_thread_t *thread)
{
    for (int i = 0; i < PRELOAD_SIZES; i++) {
        const preload_times_t *times = &thread->times[i];
        const uint64_t samples = seen(&times->samples);

        report->samples += samples;
        if (samples > 0) {
            report->logging += 1e-9 * (double)seen(&times->sampled) / (double)samples * (double)seen(&times->calls);
        }
    }
}

static void report_thread(preload_report_t *report, const preload_thread_t *thread)
{
    const preload_entries_t *entries = __atomic_load_n(&thread->entries, __ATOMIC_ACQUIRE);

    for (int i = 0; i < PRELOAD_KINDS; i++) {
        report->calls[i] += seen(&thread->calls[i]);
        report->failed[i] += seen(&thread->failed[i]);
        report->nested[i] += seen(&thread->nested[i]);
    }
    report->fetches += seen(&thread->fetches);
    report->copied += seen(&thread->copied);
    report->late_gets += seen(&thread->late_gets);
    report->device += seen(&thread->device);
    report->unpacked += seen(&thread->unpacked);
    report->full += seen(&thread->full);
    report_times(report, thread);
    for (uint32_t i = 0; entries != NULL && i < entries->count; i++) {
        const preload_entry_t *entry = __atomic_load_n(&entries->at[i], __ATOMIC_ACQUIRE);

        if (entry != NULL) {
            report_entry(report, entry);
        }
    }
}

void preload_thread_report(preload_report_t *report)
{
    uint64_t first = UINT64_MAX, last = 0;

    pthread_mutex_lock(&lock);
    for (preload_thread_t *thread = threads; thread != NULL; thread = thread->next) {
        const uint64_t thread_first = seen(&thread->first_ns), thread_last = seen(&thread->last_ns);

        first = thread_first != 0 && thread_first < first ? thread_first : first;
        last = thread_last > last ? thread_last : last;
        report_thread(report, thread);
    }
    pthread_mutex_unlock(&lock);
    report->seconds = last > first ? 1e-9 * (double)(last - first) : 0;
}
