/* Beginning and end, who is there, and what becomes of a call that a death was amid. */
#include "shmem_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

KEEL_SHMEM_DEFINE(void, init, (void))
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    const char *text = getenv("SHMEM_SYMMETRIC_SIZE");
    size_t bytes = (text != NULL) ? heap_bytes(text) : HEAP_DEFAULT;
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
    keel_shmem.bytes = sizeof(keel_shmem_hidden_t) + bytes;
    keel_shmem.is_due = keel_restarted(keel_shmem.ctx);
    keel_shmem_end(keel_win_alloc(keel_shmem.ctx, keel_shmem.bytes, NULL, &keel_shmem.win), "shmem_init");
    keel_shmem.hidden = keel_win_base(keel_shmem.win);
    keel_shmem_teams_alloc("shmem_init");
    if (keel_shmem.is_due) {
        check_checkpoint();
    } else if (keel_win_size(keel_shmem.win, 0) != keel_shmem.bytes) {
        keel_shmem_refuse("shmem_init", "SHMEM_SYMMETRIC_SIZE is another than that of PE 0", bytes);
    }
    keel_shmem_teams_begin();
}

KEEL_SHMEM_DEFINE(int, init_thread, (int requested, int *provided))
{
    pshmem_init();
    *provided = (requested < SHMEM_THREAD_SERIALIZED) ? requested : SHMEM_THREAD_SERIALIZED;
    return 0;
}

KEEL_SHMEM_DEFINE(void, query_thread, (int *provided))
{
    (void)keel_shmem_begin("shmem_query_thread");
    *provided = SHMEM_THREAD_SERIALIZED;
}

KEEL_SHMEM_DEFINE(void, finalize, (void))
{
    keel_shmem_begin_reading("shmem_finalize");
    keel_shmem_end(keel_finalize(keel_shmem.ctx), "shmem_finalize");
    keel_shmem = (keel_shmem_t){0};
}

KEEL_SHMEM_DEFINE(void, global_exit, (int status))
{
    (void)keel_shmem_begin("shmem_global_exit");
    keel_abort(keel_shmem.ctx, status & 0xff);
}

/* ---- who and what is there ---- */

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

static int is_symmetric(const void *address, size_t bytes)
{
    const uintptr_t heap = (uintptr_t)(keel_shmem.hidden + 1);
    const size_t size = keel_shmem.bytes - sizeof(keel_shmem_hidden_t);
    const uintptr_t at = (uintptr_t)address;

    return at >= heap && bytes <= size && at - heap <= size - bytes;
}

keel_shmem_place_t keel_shmem_place(const void *address, size_t bytes, int pe, const char *call)
{
    const char *hidden = (const char *)keel_shmem.hidden;
    keel_shmem_place_t place;

    if (pe < 0 || (uint32_t)pe >= keel_shmem.pes) {
        keel_shmem_refuse(call, "there is no PE of this number", (uint64_t)(int64_t)pe);
    }
    if (!is_symmetric(address, bytes)) {
        if (keel_shmem_teams_place(address, bytes, &place)) {
            return place;
        }
        keel_shmem_refuse(call, "not in the symmetric heap; global variables are not symmetric here",
                          (uintptr_t)address);
    }
    return (keel_shmem_place_t){keel_shmem.win, (uint64_t)((const char *)address - hidden)};
}

KEEL_SHMEM_DEFINE(int, addr_accessible, (const void *addr, int pe))
{
    return pshmem_pe_accessible(pe) && is_symmetric(addr, 1);
}

KEEL_SHMEM_DEFINE(void *, ptr, (const void *dest, int pe))
{
    return (pshmem_addr_accessible(dest, pe) && (uint32_t)pe == keel_shmem.pe) ? (void *)dest : NULL;
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
