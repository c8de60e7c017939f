/* Global variables: their location, their second mapping, and their part in checkpoints. */
#define _GNU_SOURCE /* mremap's flags */
#include "shmem_globals.h"
#include "shmem_job.h"
#include "shmem_state.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

keel_shmem_globals_t keel_shmem_globals = {.reason = "SHMEM_KEEL_GLOBALS says so", .are_restored = -1};

size_t keel_shmem_globals_find(void)
{
    keel_shmem_globals_t *globals = &keel_shmem_globals;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    if (globals->begin != 0) { /* mapped for an earlier job: still valid */
        return globals->bytes;
    }
    globals->reason = keel_shmem_program_open(&globals->program);
    if (globals->reason != NULL) {
        globals->served_bytes = keel_shmem_program_data(&globals->served_begin);
        return 0;
    }
    globals->begin = globals->program.ranges[0].begin & ~(page - 1);
    globals->bytes =
        (globals->program.ranges[globals->program.count - 1].end - globals->begin + page - 1) & ~(page - 1);
    return globals->bytes;
}

/* ---- mapping ---- */

/* Maps pages a second time. Not by mremap(), since UCX replaces the C library's function. */
static int map_again(void *from, void *to, size_t bytes)
{
    return syscall(SYS_mremap, from, (size_t)0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (long)to;
}

/* True if other processes may also map the page, which then cannot be replaced. */
static int is_shared(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long begin, end;
    char line[512], access[8];
    int shared = 1;

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) == 3 && (uintptr_t)address >= begin &&
            (uintptr_t)address < end) {
            shared = access[3] != 'p';
            break;
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return shared;
}

/*
 * Maps both ranges to new memory. A window that no other process maps is private memory, which
 * cannot be mapped twice.
 */
static int map_both(void *window, void *to, size_t bytes)
{
    const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    const int file = is_shared(window) ? -1 : memfd_create("globals", MFD_CLOEXEC);
    int is_mapped = 0;

    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0 &&
        mmap(window, bytes, PROT_READ | PROT_WRITE, flags, file, 0) == window) {
        memcpy(window, to, bytes);
        is_mapped = mmap(to, bytes, PROT_READ | PROT_WRITE, flags, file, 0) == to;
    }
    if (file >= 0) {
        close(file);
    }
    return is_mapped;
}

/* Gives a child of fork() memory of its own: a copy as of the fork. */
static _Thread_local void *child_copy;

static void fork_begins(void)
{
    const keel_shmem_globals_t *globals = &keel_shmem_globals;
    void *copy = mmap(NULL, globals->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    child_copy = (copy != MAP_FAILED) ? memcpy(copy, (void *)globals->begin, globals->bytes) : NULL;
}

static void fork_in_parent(void)
{
    if (child_copy != NULL) {
        munmap(child_copy, keel_shmem_globals.bytes);
    }
}

static void fork_in_child(void)
{
    const keel_shmem_globals_t *globals = &keel_shmem_globals;

    if (child_copy != NULL) {
        (void)syscall(SYS_mremap, child_copy, globals->bytes, globals->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                      (void *)globals->begin);
    }
}

int keel_shmem_globals_map(void *base, uint64_t offset)
{
    static int has_handlers;
    keel_shmem_globals_t *globals = &keel_shmem_globals;
    char *window = (char *)base + offset;
    void *begin = (void *)globals->begin;
    sigset_t all, before;
    int is_mapped;

    sigfillset(&all); /* no handler stores there between the copy and the mapping */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    memcpy(window, begin, globals->bytes);
    is_mapped = map_again(window, begin, globals->bytes) || map_both(window, begin, globals->bytes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!is_mapped) {
        globals->reason = "their memory cannot be mapped a second time";
        return 0;
    }
    /* the window's own pages are absent in a child */
    (void)madvise(begin, globals->bytes, MADV_DOFORK);
    if (!has_handlers) {
        has_handlers = pthread_atfork(fork_begins, fork_in_parent, fork_in_child) == 0;
    }
    globals->offset = offset;
    return 1;
}

/* ---- messages ---- */

void keel_shmem_globals_serve(keel_context_h ctx, const char *call)
{
    keel_shmem_globals_t *globals = &keel_shmem_globals;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    if (globals->reason == NULL || globals->served_bytes == 0) {
        return;
    }
    if (keel_restarted(ctx)) {
        keel_shmem_job_restart(call, KEEL_SHMEM_GLOBALS_ARE_LOST);
    }
    /* a window of whole pages would be remapped */
    if ((globals->served_begin | globals->served_bytes) % page == 0) {
        globals->served_begin--;
        globals->served_bytes++;
    }
    keel_shmem_end(keel_win_create(ctx, (void *)globals->served_begin, globals->served_bytes, NULL, &globals->served),
                   call);
    keel_shmem_end(keel_win_extents(globals->served, NULL, 0), call);
}

int keel_shmem_globals_serves(const void *address, size_t bytes)
{
    const keel_shmem_globals_t *globals = &keel_shmem_globals;
    const uintptr_t begin = (uintptr_t)address;

    return globals->served != NULL && begin >= globals->served_begin && bytes <= globals->served_bytes &&
           begin - globals->served_begin <= globals->served_bytes - bytes;
}

/* ---- the program's variables ---- */

void keel_shmem_globals_restore(int are_restored, const char *call)
{
    keel_shmem_globals_t *globals = &keel_shmem_globals;

    if (are_restored && globals->reason == NULL && keel_shmem_program_moves(&globals->program)) {
        keel_shmem_refuse(call, "a replacement has the program at other addresses: link it by oshcc, or -no-pie",
                          globals->begin);
    }
    globals->are_restored = are_restored != 0;
}

int keel_shmem_globals_contain(const void *address, size_t bytes)
{
    keel_shmem_globals_t *globals = &keel_shmem_globals;
    const uintptr_t begin = (uintptr_t)address;
    unsigned low = 0, high = globals->program.count;

    if (globals->reason != NULL || begin < globals->begin || begin - globals->begin >= globals->bytes) {
        return 0;
    }
    while (low < high) { /* finds the first range that ends behind the address */
        const unsigned middle = (low + high) / 2;

        if (globals->program.ranges[middle].end <= begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    globals->are_used = 1;
    return low < globals->program.count && begin >= globals->program.ranges[low].begin &&
           bytes <= globals->program.ranges[low].end - begin;
}

unsigned keel_shmem_globals_extents(keel_extent_t *extents)
{
    const keel_shmem_globals_t *globals = &keel_shmem_globals;
    unsigned count = 0;

    if (globals->reason != NULL || globals->are_restored <= 0) {
        return 0;
    }
    for (unsigned i = 0; i < globals->program.count; i++) {
        const keel_shmem_range_t *range = &globals->program.ranges[i];

        if (!range->is_volatile) {
            if (extents != NULL) {
                extents[count] = (keel_extent_t){.offset = globals->offset + (range->begin - globals->begin),
                                                 .length = range->end - range->begin};
            }
            count++;
        }
    }
    return count;
}
