/*
 * Counters and logs of one thread. A thread writes its own counters only, without locks or atomic
 * read-modify-writes; the report reads the counters of all threads, also of running threads. A new
 * thread takes the block of an ended one, and the counts stay.
 *
 * Budget of an access of 8 bytes: a lookup of the newest endpoint, 5 counters and a record of 24
 * bytes.
 */
#ifndef KEEL_PRELOAD_THREAD_H_
#define KEEL_PRELOAD_THREAD_H_

#include "preload/preload_report.h"
#include "preload/preload_ring.h"
#include "preload/preload_targets.h"

#define PRELOAD_SIZES 33 /* classes of sizes for the time in logging: by powers of two */

/* accesses of one thread at one target */
typedef struct preload_entry {
    preload_target_t *target;
    uint64_t calls[PRELOAD_ACCESSES], bytes[PRELOAD_ACCESSES];
    uint64_t put_log, get_log;
    uint64_t flushes; /* preload_target_flushes() at the newest access */
    uint64_t since;   /* bytes of put_log since then */
    uint64_t peak;
    preload_list_t puts, gets;
} preload_entry_t;

/* times of the accesses of a class of sizes, ns */
typedef struct preload_times {
    uint64_t calls, samples, sampled;
} preload_times_t;

/* Entries by index of the target. A longer array takes the place of a full array. The older
 * array stays: the report may read it. */
typedef struct preload_entries {
    struct preload_entries *older;
    uint32_t count;
    preload_entry_t *at[];
} preload_entries_t;

typedef struct preload_thread {
    struct preload_thread *next;
    int is_free; /* the thread has ended; protected by the lock */
    /* accesses are counted in the entries, and here only those without memory for an entry */
    uint64_t calls[PRELOAD_KINDS], failed[PRELOAD_KINDS], nested[PRELOAD_KINDS];
    uint64_t fetches, copied, late_gets, device, unpacked, full;
    uint64_t first_ns, last_ns; /* clock at the first and at one of the last accesses */
    preload_times_t times[PRELOAD_SIZES];
    preload_entries_t *entries;
    /* cache of endpoints: a table of open addresses */
    const void **handles;
    preload_entry_t **found;
    uint32_t table_size, table_used;
    uint64_t version; /* of the targets, at the last look */
    const void *newest_handle;
    preload_entry_t *newest;
} preload_thread_t;

/* an access, as the wrapper of a call sees it */
typedef struct preload_access {
    preload_kind_t kind;
    const void *ep;
    uint64_t address; /* at the target */
    const void *data; /* NULL: the bytes cannot be read, and are not copied */
    size_t length;
} preload_access_t;

extern __thread preload_thread_t *preload_self __attribute__((tls_model("initial-exec")));

/* Gives this thread a block, new or of an ended thread. NULL: calls are not counted. */
preload_thread_t *preload_thread_begin(void);
static inline preload_thread_t *preload_thread(void)
{
    return __builtin_expect(preload_self != NULL, 1) ? preload_self : preload_thread_begin();
}

/* Adds to a counter that the report may read at the same time. */
static inline void preload_add(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

/* Counts an access and writes its records. */
void preload_thread_access(preload_thread_t *thread, const preload_access_t *access);
/* Writes the records of an access that was counted without its data. */
void preload_thread_copy(preload_thread_t *thread, const preload_access_t *access);
/* A flush, fence or other call without bytes. */
void preload_thread_call(preload_thread_t *thread, preload_kind_t kind);

/* Sums up all threads. */
void preload_thread_report(preload_report_t *report);
/* In the child of fork(), by the only thread: forgets all counts. */
void preload_thread_forget(void);
void preload_thread_lock(void);
void preload_thread_unlock(void);

#endif
