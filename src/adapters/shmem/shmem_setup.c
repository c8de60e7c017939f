/* Beginning and end, who is there, and what becomes of a call that a death was amid. */
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAP_DEFAULT ((size_t)64 << 20)

keel_shmem_t keel_shmem;

/* ---- ends ---- */

static void say(const char *call, const char *what)
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

/* from the program's start, by whoever started it */
static void start_anew(const char *call, const char *why)
{
    fprintf(stderr, "shmem %u: %s: a PE died, and %s: the job has to be started anew\n", keel_shmem.pe, call, why);
    keel_abort(keel_shmem.ctx, KEEL_EXIT_AGAIN);
}

int keel_shmem_begin(const char *call)
{
    if (keel_shmem.ctx == NULL) {
        say(call, "not between shmem_init and shmem_finalize");
        _Exit(EXIT_FAILURE);
    }
    return keel_shmem.is_due;
}

void keel_shmem_begin_reading(const char *call)
{
    if (keel_shmem_begin(call)) {
        start_anew(call, "its replacement came to a call that cannot be left out ahead of a SHMEMX_RESTART_POINT");
    }
}

void keel_shmem_end(keel_status_t status, const char *call)
{
    if (status == KEEL_OK) {
        return;
    }
    if (status == KEEL_ERR_ROLLED_BACK) {
        start_anew(call, "there is no checkpoint yet, or no SHMEMX_RESTART_POINT");
    }
    say(call, keel_status_string(status));
    keel_abort(keel_shmem.ctx, EXIT_FAILURE);
}

/* ---- beginning ---- */

/* bytes, with K, M, G or T behind the number; 0: it is none */
static size_t heap_bytes(const char *text)
{
    static const char units[] = "kmgt";
    char *end;
    const double number = strtod(text, &end);
    const char *unit = (*end != '\0') ? strchr(units, *end | 0x20) : NULL;
    const unsigned shift = (unit != NULL) ? 10 * (unsigned)(unit - units + 1) : 0;

    if (end == text || number <= 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) || number > 0x1p46) {
        return 0;
    }
    return (size_t)(number * (double)((uint64_t)1 << shift));
}

/* what has no checkpoint has no restart point either, as far as can be known: nothing is to be left out then */
static void check_checkpoint(void)
{
    keel_stats_t stats;

    keel_shmem_end(keel_stats(keel_shmem.ctx, &stats, sizeof(stats)), "shmem_init");
    if (stats.generation == 0) {
        start_anew("shmem_init", "there is no checkpoint yet");
    }
}

/* A gsync lies between what is filled here and what others put there. */
static void begin_globals(size_t bytes)
{
    if (bytes > 0 && !keel_shmem_globals_map(keel_shmem.hidden, keel_shmem.bytes)) {
        say("shmem_init", "global variables cannot be symmetric, their memory is not mapped a second time; "
                          "SHMEM_KEEL_GLOBALS=n goes on without");
        keel_abort(keel_shmem.ctx, EXIT_FAILURE);
    }
    if (!keel_shmem.is_due) {
        keel_shmem_end(keel_gsync(keel_shmem.ctx, 0), "shmem_init");
    }
}

void shmem_init(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    const char *text = getenv("SHMEM_SYMMETRIC_SIZE");
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (text != NULL) ? heap_bytes(text) : HEAP_DEFAULT, globals;
    keel_status_t status;

    if (keel_shmem.ctx != NULL) {
        return;
    }
    if (bytes == 0 || bytes > (size_t)1 << 46) {
        say("shmem_init", "SHMEM_SYMMETRIC_SIZE is no number of bytes");
        _Exit(EXIT_FAILURE);
    }
    status = keel_init(&params, &keel_shmem.ctx);
    if (status != KEEL_OK) {
        say("shmem_init", keel_status_string(status));
        _Exit(EXIT_FAILURE);
    }
    keel_shmem.pe = keel_rank(keel_shmem.ctx);
    keel_shmem.pes = keel_size(keel_shmem.ctx);
    globals = keel_shmem_globals_find();
    keel_shmem.bytes = sizeof(keel_shmem_hidden_t) + bytes;
    keel_shmem.bytes += (globals > 0) ? -keel_shmem.bytes & (page - 1) : 0;
    keel_shmem.is_due = keel_restarted(keel_shmem.ctx);
    keel_shmem_end(keel_win_alloc(keel_shmem.ctx, keel_shmem.bytes + globals, NULL, &keel_shmem.win), "shmem_init");
    keel_shmem.hidden = keel_win_base(keel_shmem.win);
    if (keel_shmem.is_due) {
        check_checkpoint();
    } else if (keel_win_size(keel_shmem.win, 0) != keel_shmem.bytes + globals) {
        keel_shmem_refuse("shmem_init", "SHMEM_SYMMETRIC_SIZE, or the program, is another than that of PE 0", bytes);
    }
    begin_globals(globals);
}

int shmem_init_thread(int requested, int *provided)
{
    shmem_init();
    *provided = (requested < SHMEM_THREAD_SERIALIZED) ? requested : SHMEM_THREAD_SERIALIZED;
    return 0;
}

void shmem_query_thread(int *provided)
{
    (void)keel_shmem_begin("shmem_query_thread");
    *provided = SHMEM_THREAD_SERIALIZED;
}

void shmem_finalize(void)
{
    keel_shmem_begin_reading("shmem_finalize");
    keel_shmem_end(keel_finalize(keel_shmem.ctx), "shmem_finalize");
    keel_shmem = (keel_shmem_t){0};
}

void shmem_global_exit(int status)
{
    (void)keel_shmem_begin("shmem_global_exit");
    keel_abort(keel_shmem.ctx, status & 0xff);
}

/* ---- who and what is there ---- */

int shmem_my_pe(void)
{
    (void)keel_shmem_begin("shmem_my_pe");
    return (int)keel_shmem.pe;
}

int shmem_n_pes(void)
{
    (void)keel_shmem_begin("shmem_n_pes");
    return (int)keel_shmem.pes;
}

int shmem_pe_accessible(int pe)
{
    (void)keel_shmem_begin("shmem_pe_accessible");
    return pe >= 0 && (uint32_t)pe < keel_shmem.pes;
}

static int is_of_heap(const void *address, size_t bytes)
{
    const uintptr_t heap = (uintptr_t)(keel_shmem.hidden + 1);
    const size_t size = keel_shmem.bytes - sizeof(keel_shmem_hidden_t);
    const uintptr_t at = (uintptr_t)address;

    return at >= heap && bytes <= size && at - heap <= size - bytes;
}

static void refuse_address(const void *address, const char *call)
{
    char what[160];

    if (keel_shmem_globals.why == NULL) {
        keel_shmem_refuse(call, "neither in the symmetric heap nor a global variable of the program",
                          (uintptr_t)address);
    }
    snprintf(what, sizeof(what), "not in the symmetric heap; global variables are not symmetric here, %s",
             keel_shmem_globals.why);
    keel_shmem_refuse(call, what, (uintptr_t)address);
}

uint64_t keel_shmem_offset(const void *address, size_t bytes, int pe, const char *call)
{
    const char *hidden = (const char *)keel_shmem.hidden;

    if (pe < 0 || (uint32_t)pe >= keel_shmem.pes) {
        keel_shmem_refuse(call, "there is no PE of this number", (uint64_t)(int64_t)pe);
    }
    if (is_of_heap(address, bytes)) {
        return (uint64_t)((const char *)address - hidden);
    }
    if (keel_shmem_globals_have(address, bytes)) {
        return keel_shmem_globals.offset + ((uintptr_t)address - keel_shmem_globals.begin);
    }
    if ((const char *)address < hidden || (const char *)address >= hidden + sizeof(keel_shmem_hidden_t)) {
        refuse_address(address, call);
    }
    return (uint64_t)((const char *)address - hidden);
}

int shmem_addr_accessible(const void *addr, int pe)
{
    return shmem_pe_accessible(pe) && (is_of_heap(addr, 1) || keel_shmem_globals_have(addr, 1));
}

void *shmem_ptr(const void *dest, int pe)
{
    return (shmem_addr_accessible(dest, pe) && (uint32_t)pe == keel_shmem.pe) ? (void *)dest : NULL;
}

void shmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

void shmem_info_get_name(char *name)
{
    strcpy(name, SHMEM_VENDOR_STRING);
}
