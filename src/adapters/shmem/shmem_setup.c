/* Init and finalize, PE numbers, and the outcome of calls interrupted by a death. */
#include "shmem_globals.h"
#include "shmem_job.h"
#include "shmem_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

keel_shmem_t keel_shmem;

/* ---- ends ---- */

static void report_error(const char *call, const char *what)
{
    fprintf(stderr, "shmem %u error: %s: %s\n", keel_shmem.pe, call, what);
}

void keel_shmem_refuse(const char *call, const char *what, uint64_t is)
{
    fprintf(stderr, "shmem %u error: %s: %s: 0x%lx\n", keel_shmem.pe, call, what, (unsigned long)is);
    if (keel_shmem.ctx != NULL) {
        keel_abort(keel_shmem.ctx, EXIT_FAILURE);
    }
    _Exit(EXIT_FAILURE);
}

int keel_shmem_begin(const char *call)
{
    if (keel_shmem.ctx == NULL) {
        report_error(call, "not between shmem_init and shmem_finalize");
        _Exit(EXIT_FAILURE);
    }
    return keel_shmem.is_before_restart_point;
}

void keel_shmem_begin_reading(const char *call)
{
    const int unsent = __atomic_load_n(&keel_shmem.unsent, __ATOMIC_RELAXED);

    if (keel_shmem_begin(call)) {
        keel_shmem_job_restart(call,
                               "its replacement came to a call that cannot be left out before a SHMEMX_RESTART_POINT");
    }
    if (unsent == 0) {
        return;
    }
    if (unsent > 1 && __atomic_add_fetch(&keel_shmem.looks, 1, __ATOMIC_RELAXED) < 2) {
        __atomic_store_n(&keel_shmem.unsent, unsent - 1, __ATOMIC_RELAXED);
        return;
    }
    /* before the progress: see keel_shmem_note_put() */
    __atomic_store_n(&keel_shmem.unsent, 0, __ATOMIC_SEQ_CST);
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_progress(keel_shmem.ctx)), call);
}

void keel_shmem_end(keel_status_t status, const char *call)
{
    if (status == KEEL_OK) {
        return;
    }
    if (status == KEEL_ERR_ROLLED_BACK) {
        keel_shmem_job_restart(call, (keel_shmem_globals.served != NULL)
                                         ? KEEL_SHMEM_GLOBALS_ARE_LOST
                                         : "there is no checkpoint to go back to (shmemx_safepoint takes some), or "
                                           "no SHMEMX_RESTART_POINT of the "
                                           "thread that was told");
    }
    report_error(call, keel_status_string(status));
    keel_abort(keel_shmem.ctx, EXIT_FAILURE);
}

/* ---- beginning ---- */

static void join(int level, const char *call)
{
    keel_shmem_job_join(&(keel_shmem_joining_t){.is_threaded = level >= SHMEM_THREAD_MULTIPLE}, call);
}

static int provides(void)
{
    return keel_shmem_is_threaded ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED;
}

KEEL_SHMEM_DEFINE(void, init, (void))
{
    join(0, "shmem_init");
}

KEEL_SHMEM_DEFINE(int, init_thread, (int requested, int *provided))
{
    join(requested, "shmem_init_thread");
    *provided = provides();
    return 0;
}

KEEL_SHMEM_DEFINE(void, query_thread, (int *provided))
{
    (void)keel_shmem_begin("shmem_query_thread");
    *provided = provides();
}

KEEL_SHMEM_DEFINE(void, finalize, (void))
{
    if (keel_shmem.ctx != NULL || !keel_shmem_job_has_left()) { /* a program may call it twice */
        keel_shmem_job_leave("shmem_finalize");
    }
}

KEEL_SHMEM_DEFINE(void, global_exit, (int status))
{
    keel_shmem_job_end(status);
}

/* ---- queries ---- */

KEEL_SHMEM_DEFINE(int, my_pe, (void))
{
    (void)keel_shmem_begin("shmem_my_pe");
    return (int)keel_shmem.pe;
}

KEEL_SHMEM_DEFINE(int, n_pes, (void))
{
    (void)keel_shmem_begin("shmem_n_pes");
    return (int)keel_shmem.pes;
}

KEEL_SHMEM_DEFINE(int, pe_accessible, (int pe))
{
    (void)keel_shmem_begin("shmem_pe_accessible");
    return pe >= 0 && (uint32_t)pe < keel_shmem.pes;
}

int keel_shmem_is_in_heap(const void *address, size_t bytes)
{
    const uintptr_t heap = (uintptr_t)(keel_shmem.hidden + 1);
    const size_t size = keel_shmem.bytes - sizeof(keel_shmem_hidden_t);
    const uintptr_t at = (uintptr_t)address;

    return at >= heap && bytes <= size && at - heap <= size - bytes;
}

static void refuse_address(const void *address, const char *call)
{
    char what[160];

    if (keel_shmem_globals.reason == NULL) {
        keel_shmem_refuse(call, "neither in the symmetric heap nor a global variable of the program",
                          (uintptr_t)address);
    }
    snprintf(what, sizeof(what), "not in the symmetric heap; global variables are not symmetric here, %s",
             keel_shmem_globals.reason);
    keel_shmem_refuse(call, what, (uintptr_t)address);
}

keel_shmem_place_t keel_shmem_place(const void *address, size_t bytes, int pe, const char *call)
{
    const char *hidden = (const char *)keel_shmem.hidden;
    keel_shmem_place_t place;

    if (pe < 0 || (uint32_t)pe >= keel_shmem.pes) {
        keel_shmem_refuse(call, "there is no PE of this number", (uint64_t)(int64_t)pe);
    }
    if (keel_shmem_is_in_heap(address, bytes)) {
        return (keel_shmem_place_t){keel_shmem.win, (uint64_t)((const char *)address - hidden)};
    }
    if (keel_shmem_globals_contain(address, bytes)) {
        return (keel_shmem_place_t){keel_shmem.win,
                                    keel_shmem_globals.offset + ((uintptr_t)address - keel_shmem_globals.begin)};
    }
    if (keel_shmem_globals_serves(address, bytes)) {
        return (keel_shmem_place_t){keel_shmem_globals.served, (uintptr_t)address - keel_shmem_globals.served_begin};
    }
    if (keel_shmem_teams_place(address, bytes, &place)) {
        return place;
    }
    if ((const char *)address < hidden || (const char *)address >= hidden + sizeof(keel_shmem_hidden_t)) {
        refuse_address(address, call);
    }
    return (keel_shmem_place_t){keel_shmem.win, (uint64_t)((const char *)address - hidden)};
}

KEEL_SHMEM_DEFINE(int, addr_accessible, (const void *addr, int pe))
{
    return pshmem_pe_accessible(pe) && (keel_shmem_is_in_heap(addr, 1) || keel_shmem_globals_contain(addr, 1) ||
                                        keel_shmem_globals_serves(addr, 1));
}

void *keel_shmem_pointer(const void *address, int pe, const char *call)
{
    const keel_shmem_place_t place = keel_shmem_place(address, 1, pe, call);
    void *base = NULL;

    if ((uint32_t)pe == keel_shmem.pe) {
        return (void *)address;
    }
    if (keel_shmem.lends && !keel_shmem.is_before_restart_point) {
        keel_shmem_end(KEEL_SHMEM_ALONE(keel_win_ptr(place.win, (uint32_t)pe, &base)), call);
    }
    return (base != NULL) ? (char *)base + place.offset : NULL;
}

KEEL_SHMEM_DEFINE(void *, ptr, (const void *dest, int pe))
{
    return pshmem_addr_accessible(dest, pe) ? keel_shmem_pointer(dest, pe, KEEL_SHMEM_CALL) : NULL;
}

KEEL_SHMEM_DEFINE(void, info_get_version, (int *major, int *minor))
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

KEEL_SHMEM_DEFINE(void, info_get_name, (char *name))
{
    strcpy(name, SHMEM_VENDOR_STRING);
}

KEEL_SHMEM_DEFINE(void, pcontrol, (int level, ...))
{
}

/* ---- deprecated ---- */

void start_pes(int npes)
{
    pshmem_init();
}

int _my_pe(void)
{
    return pshmem_my_pe();
}

int _num_pes(void)
{
    return pshmem_n_pes();
}
