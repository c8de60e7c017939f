/*
 * Without deterministic mode. A replacement gets the whole arena in MPI_Init, since the startup
 * record and the tables lie in it. Its startup may then write to its windows, as in its first life,
 * so MPI_Init copies the restored arena aside and the restart point puts the copy back. All ranks,
 * rolled back and new, meet there, so no rank puts to memory that is yet to be restored.
 *
 * With deterministic mode, and in programs with calls of Keel. A replacement may be recovered
 * locally, and the others go on with it as soon as it has its memory. Such a replacement reads only
 * the tables and the startup record from its image in MPI_Init, and restores its memory at the
 * restart point. Ranks meet there only in keel_restore(): they behave alike whether they rolled
 * back or never left the checkpoint.
 */
#include "life/mpi_restart.h"

#include "coll/mpi_coll.h"
#include "comm/mpi_comm.h"
#include "comm/mpi_group.h"
#include "io/mpi_file.h"
#include "keel_mpi.h"
#include "life/mpi_context.h"
#include "life/mpi_persistent_handles.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_fetch.h"
#include "p2p/mpi_ordered.h"
#include "p2p/mpi_request.h"
#include "rma/mpi_alias.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_MAX ((ptrdiff_t)64 << 20)

typedef struct region {
    struct region *next;
    unsigned id;
    void *address;
    size_t bytes;
    uint64_t offset; /* of the saved copy, a block of the arena */
} region_t;

static region_t *regions; /* protected memory */

static struct {
    keel_extent_t *extents; /* extents of the copy; NULL: no copy */
    unsigned count;
    char *copy;
    int is_restarted;
    unsigned long saves_every; /* 0: barriers take no checkpoints */
    /* frame of the restart point; a jump leaves the calls with frames below */
    const char *frame;
} state;

static void stats_get(keel_stats_t *stats_p, const char *call)
{
    keel_mpi_check(keel_stats(keel_mpi.ctx, stats_p, sizeof(*stats_p)), call);
}

static void restore(const char *call)
{
    keel_stats_t stats;
    keel_status_t status;

    do {
        status = keel_restore(keel_mpi.ctx);
    } while (status == KEEL_ERR_ROLLED_BACK); /* a death during the restore */
    keel_mpi_check(status, call);
    stats_get(&stats, call);
    if (stats.generation == 0) {
        keel_mpi_check(KEEL_ERR_ROLLED_BACK, call);
    }
}

static void copy_free(void)
{
    free(state.extents);
    free(state.copy);
    state.extents = NULL;
    state.copy = NULL;
}

static void copy_make(void)
{
    size_t bytes = 0, at = 0;

    state.extents = keel_mpi_arena_extents(&state.count);
    for (unsigned i = 0; state.extents != NULL && i < state.count; i++) {
        bytes += state.extents[i].length;
    }
    state.copy = malloc(bytes);
    if (state.extents == NULL || state.copy == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory for what was restored");
    }
    for (unsigned i = 0; i < state.count; i++) {
        memcpy(state.copy + at, keel_mpi_arena_at(state.extents[i].offset), state.extents[i].length);
        at += state.extents[i].length;
    }
}

static void copy_restore(void)
{
    size_t at = 0;

    for (unsigned i = 0; i < state.count; i++) {
        memcpy(keel_mpi_arena_at(state.extents[i].offset), state.copy + at, state.extents[i].length);
        at += state.extents[i].length;
    }
    copy_free();
}

static void image_get(uint64_t offset, size_t bytes, keel_status_t *status_p)
{
    if (bytes > 0 && *status_p == KEEL_OK) {
        *status_p = keel_image_get(keel_mpi.arena, offset, keel_mpi_arena_at(offset), bytes);
    }
}

/* Reads the tables and the startup record. */
static keel_status_t image_get_tables(void)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    keel_status_t status = KEEL_OK;

    image_get(0, offsetof(keel_mpi_hidden_t, blocks), &status);
    keel_mpi_arena_check_layout(status);
    image_get(offsetof(keel_mpi_hidden_t, blocks), hidden->block_count * sizeof(hidden->blocks[0]), &status);
    image_get(offsetof(keel_mpi_hidden_t, exposed), hidden->exposed_count * sizeof(hidden->exposed[0]), &status);
    image_get(hidden->startup, hidden->startup_used, &status);
    return status;
}

/* Reads everything from one generation; a decision may meanwhile change it, even to none. */
static void image_get_all(uint64_t generation)
{
    keel_status_t status;
    keel_stats_t stats = {.generation = generation};

    do {
        generation = stats.generation;
        status = image_get_tables();
        stats_get(&stats, "MPI_Init");
    } while (stats.generation != generation && stats.generation != 0);
    if (stats.generation == 0 || status == KEEL_ERR_STATE || status == KEEL_ERR_RANGE) {
        status = KEEL_ERR_ROLLED_BACK;
    }
    keel_mpi_check(status, "MPI_Init");
}

/* No checkpoint yet: a replacement recovered locally repeats all work, if Keel's logs cover it. */
static void replay_from_start(void)
{
    keel_stats_t stats;

    if (keel_mpi.is_deterministic_mode && keel_mpi.waits) {
        const keel_status_t status = keel_restore(keel_mpi.ctx);

        stats_get(&stats, "MPI_Init");
        if (status == KEEL_OK && stats.rollbacks == 0) {
            return;
        }
    }
    keel_mpi_relaunch("MPI_Init", "there is no checkpoint yet");
}

void keel_mpi_restart_begin(void)
{
    const char *every = getenv("KEELMPI_BARRIER_SAVES");
    keel_stats_t stats;

    if (every != NULL) {
        state.saves_every = strtoul(every, NULL, 10);
        if (state.saves_every == 0 && strcmp(every, "0") != 0) {
            keel_mpi_fatal("MPI_Init", "KEELMPI_BARRIER_SAVES is no number");
        }
    }
    keel_mpi.phase = KEEL_MPI_RECORDS;
    if (!keel_restarted(keel_mpi.ctx)) {
        return;
    }
    stats_get(&stats, "MPI_Init");
    if (stats.generation == 0) {
        replay_from_start();
        return;
    }
    if (keel_mpi.is_deterministic_mode || keel_mpi_context_is_in_image()) {
        image_get_all(stats.generation);
    } else {
        restore("MPI_Init");
        keel_mpi_arena_check_layout(KEEL_OK);
        copy_make();
    }
    keel_mpi.phase = KEEL_MPI_REPLAYS;
}

void keel_mpi_restart_end(void)
{
    copy_free();
    while (regions != NULL) {
        region_t *region = regions;

        regions = region->next;
        free(region);
    }
}

/* ---- checkpoints ---- */

static void set_extents(const char *call)
{
    unsigned count;
    keel_extent_t *extents = keel_mpi_arena_extents(&count);

    if (extents == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_check(keel_win_extents(keel_mpi.arena, extents, count), call);
    free(extents);
}

/* A rank with pending sends tells all others by a put; a message would make other ranks wait that
 * never wait here. */
static void announce_pending(uint64_t number, const char *call)
{
    keel_mpi.hidden->pending_at = keel_mpi_ordered_has_pending() ? number : keel_mpi.hidden->pending_at;
    for (uint32_t rank = 0; keel_mpi_ordered_has_pending() && rank < keel_mpi.ranks; rank++) {
        if (rank != keel_mpi.rank) {
            keel_mpi_put(rank, offsetof(keel_mpi_hidden_t, pending_at), &number, sizeof(number), call);
        }
    }
}

/* Pending messages are sent behind a gsync, when no rank takes any, so a replay sends the same
 * ones. The next gsync makes them takeable. */
static void drain_deterministic(const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    int is_pending = 0;

    do {
        hidden->drains++;
        announce_pending(hidden->drains, call);
        keel_mpi_ordered_arrive(call);
        for (unsigned i = 0; i < 2; i++) {
            keel_mpi_flush_all(call);
            keel_mpi_check(keel_gsync(keel_mpi.ctx, 0), call);
            is_pending =
                (i == 0) ? __atomic_load_n(&hidden->pending_at, __ATOMIC_ACQUIRE) == hidden->drains : is_pending;
            keel_mpi_ordered_take_all(call);
        }
        keel_mpi_ordered_push(call);
    } while (is_pending);
    keel_mpi_ordered_reset(1); /* all ranks know that all messages have been taken */
}

/* All messages have arrived after a barrier and a poll; no rank sends before the next barrier. */
static void drain(const char *call)
{
    if (keel_mpi.is_deterministic_mode) {
        drain_deterministic(call);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const keel_mpi_coll_t coll = keel_mpi_coll_begin(keel_mpi_comm_of(MPI_COMM_WORLD), call);

        keel_mpi_stream_await_all(call);
        keel_mpi_flush_all(call);
        keel_mpi_coll_barrier(&coll);
        while (keel_mpi_channel_progress(call)) {
        }
    }
}

/* The reason why a checkpoint cannot be taken; NULL: none. */
static const char *checkpoint_obstacle(void)
{
    const char *what = keel_mpi_win_checkpoint_obstacle();

    return (what != NULL)               ? what
           : keel_mpi_file_is_late()    ? "a file that several ranks opened after the restart point is still open"
           : keel_mpi_comm_is_late()    ? "a communicator that was made after the restart point is still there"
           : keel_mpi_request_is_open() ? "a request is open: complete or cancel it before a checkpoint"
           : keel_mpi_mprobe_is_open()  ? "a message was matched by MPI_Mprobe and is not received"
                                        : NULL;
}

static void checkpoint(const char *call)
{
    const char *what;

    keel_mpi_stream_await_all(call);
    what = checkpoint_obstacle();
    if (what != NULL) {
        keel_mpi_fatal(call, what);
    }
    drain(call);
    if (keel_mpi_request_has_freed()) {
        keel_mpi_fatal(call, "a receive is open, whose request was freed and whose message was not sent");
    }
    keel_mpi_match_save(call);
    for (const region_t *region = regions; region != NULL; region = region->next) {
        memcpy(keel_mpi_arena_at(region->offset), region->address, region->bytes);
    }
    keel_mpi.hidden->checkpoints++;
    set_extents(call);
    keel_mpi_check(keel_checkpoint(keel_mpi.ctx), call);
}

void keel_mpi_checkpoint(void)
{
    keel_mpi_begin("keel_mpi_checkpoint");
    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        keel_mpi_fatal("keel_mpi_checkpoint", "before KEEL_MPI_RESTART_POINT");
    }
    checkpoint("keel_mpi_checkpoint");
}

/* All ranks have called equally many barriers since the restart point. */
void keel_mpi_restart_barrier(void)
{
    keel_mpi_coll_t coll;

    if (state.saves_every == 0 || keel_mpi.phase != KEEL_MPI_RUNS ||
        ++keel_mpi.hidden->barriers % state.saves_every != 0) {
        return;
    }
    coll = keel_mpi_coll_begin(keel_mpi_comm_of(MPI_COMM_WORLD), "MPI_Barrier");
    if (!keel_mpi_coll_any(&coll, checkpoint_obstacle() != NULL || keel_mpi_request_has_freed())) {
        checkpoint("MPI_Barrier");
    }
}

/* ---- the restart point ---- */

static int is_protected(unsigned id)
{
    for (const region_t *region = regions; region != NULL; region = region->next) {
        if (region->id == id) {
            return 1;
        }
    }
    return 0;
}

void keel_mpi_protect(unsigned id, void *address, size_t bytes)
{
    region_t *region = malloc(sizeof(*region));

    keel_mpi_begin("keel_mpi_protect");
    if (region == NULL) {
        keel_mpi_fatal("keel_mpi_protect", "no memory");
    }
    if (keel_mpi.phase == KEEL_MPI_RUNS || bytes == 0 || is_protected(id) || keel_mpi_arena_contains(address, 1)) {
        keel_mpi_fatal("keel_mpi_protect",
                       "after the restart point, no bytes, an id that is in use, or memory of a window");
    }
    *region = (region_t){regions, id, address, bytes, keel_mpi_arena_alloc(bytes, KEEL_MPI_ALIGN, "keel_mpi_protect")};
    regions = region;
}

jmp_buf *keel_mpi_restart_buffer(void)
{
    keel_mpi_begin("KEEL_MPI_RESTART_POINT");
    state.frame = __builtin_frame_address(0);
    return keel_restart_buffer(keel_mpi.ctx);
}

/* Unmapped memory is not accessed. */
int keel_mpi_is_live_variable(const void *variable)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char is_there;

    if (variable == NULL || mincore((void *)((uintptr_t)variable / page * page), page, &is_there) != 0) {
        return 0;
    }
    return (const char *)variable >= state.frame || state.frame - (const char *)variable > STACK_MAX;
}

/* The kind of a process-specific handle, else NULL; MPICH's predefined communicators are not. */
static const char *handle_kind(uintptr_t value)
{
    const int is_fixed =
        sizeof(MPI_Comm) < sizeof(void *) && (value == (uintptr_t)MPI_COMM_WORLD || value == (uintptr_t)MPI_COMM_SELF);

    return (!is_fixed && keel_mpi_comm_of((MPI_Comm)value) != NULL) ? "a communicator"
           : (keel_mpi_win_of((MPI_Win)value) != NULL)              ? "a window"
                                                                    : NULL;
}

/* Each process makes its own handles, so a restored handle would be invalid. */
static void refuse_handles(const region_t *region)
{
    char text[128];

    for (size_t at = -(uintptr_t)region->address % sizeof(MPI_Comm); at + sizeof(MPI_Comm) <= region->bytes;
         at += sizeof(MPI_Comm)) {
        uintptr_t value = 0;
        const char *kind;

        memcpy(&value, (const char *)region->address + at, sizeof(MPI_Comm));
        kind = handle_kind(sizeof(MPI_Comm) < sizeof(void *) ? (uintptr_t)(intptr_t)(int)value : value);
        if (kind != NULL) {
            snprintf(text, sizeof(text), "%s stands in what is protected as %u, byte %zu: handles are not restored",
                     kind, region->id, at);
            keel_mpi_fatal("KEEL_MPI_RESTART_POINT", text);
        }
    }
}

/* Finishes receives with freed requests: a replacement gets only the messages in the record. */
static void record_freed(const char *call)
{
    keel_mpi_request_hold_freed(1);
    drain(call);
    keel_mpi_request_hold_freed(0);
    keel_mpi.phase = KEEL_MPI_RECORDS;
    keel_mpi_request_finish_freed();
    keel_mpi.phase = KEEL_MPI_RUNS;
}

static void resume_first(void)
{
    if (keel_mpi_startup_is_full()) {
        keel_mpi_fatal("KEEL_MPI_RESTART_POINT", "what was received before it is more than KEELMPI_PREFIX");
    }
    for (const region_t *region = regions; region != NULL; region = region->next) {
        refuse_handles(region);
    }
    keel_mpi_win_check_restorable("KEEL_MPI_RESTART_POINT");
    keel_mpi.phase = KEEL_MPI_RUNS;
    if (keel_mpi.is_withdrawn) {
        keel_mpi_ordered_set_nondeterministic("KEEL_MPI_RESTART_POINT");
    }
    record_freed("KEEL_MPI_RESTART_POINT");
    checkpoint("KEEL_MPI_RESTART_POINT");
}

void keel_mpi_resume(void)
{
    if (keel_mpi.is_ending) {
        keel_mpi_relaunch("MPI_Finalize", "what the program has to be done at its end was begun");
    }
    if (keel_mpi.phase == KEEL_MPI_RECORDS && !keel_restarted(keel_mpi.ctx)) {
        resume_first();
        return;
    }
    keel_mpi_fetch_void(); /* before any memory changes */
    keel_mpi_request_finish_freed();
    keel_mpi.phase = KEEL_MPI_RUNS;
    if (keel_restarted(keel_mpi.ctx)) {
        /* rolled back, or a second restart since MPI_Init, or deterministic mode, which
         * restores memory here */
        copy_free();
        keel_mpi_request_drop();
        keel_mpi_mprobe_drop();
        keel_mpi_direct_unmake();
        keel_mpi_win_drop_late();
        keel_mpi_file_drop_late();
        keel_mpi_comm_drop_late();
        (keel_mpi.is_deterministic_mode ? keel_mpi_alias_drop_late : keel_mpi_alias_unmap)();
        restore("KEEL_MPI_RESTART_POINT");
    } else {
        copy_restore();
    }
    for (region_t *region = regions; region != NULL; region = region->next) {
        memcpy(region->address, keel_mpi_arena_at(region->offset), region->bytes);
    }
    if (keel_mpi.is_deterministic_mode) {
        keel_mpi_alias_check("KEEL_MPI_RESTART_POINT");
    } else {
        keel_mpi_alias_map();
    }
    keel_mpi_file_revive();
    keel_mpi_comm_revive();
    keel_mpi_win_revive();
    keel_mpi_group_revive();
    keel_mpi_persistent_handle_revive();
    keel_mpi_channel_restore();
    state.is_restarted = 1;
    if (!keel_mpi.is_deterministic_mode) {
        keel_mpi_check(keel_gsync(keel_mpi.ctx, 0), "KEEL_MPI_RESTART_POINT");
        keel_mpi_win_update_places("KEEL_MPI_RESTART_POINT");
    }
}

int keel_mpi_restarted(void)
{
    keel_mpi_begin("keel_mpi_restarted");
    return state.is_restarted;
}
