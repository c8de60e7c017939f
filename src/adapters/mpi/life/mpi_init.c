/* Start and end of the job, and fatal errors. */
#include "coll/mpi_coll.h"
#include "comm/mpi_attr.h"
#include "comm/mpi_comm.h"
#include "datatype/mpi_layout.h"
#include "io/mpi_file.h"
#include "life/mpi_deterministic.h"
#include "life/mpi_persistent_handles.h"
#include "life/mpi_restart.h"
#include "life/mpi_singleton.h"
#include "life/mpi_startup.h"
#include "life/mpi_stop_world.h"
#include "mpi_arena.h"
#include "mpi_error.h"
#include "mpi_profiling.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_ordered.h"
#include "p2p/mpi_spin.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_window.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_BYTES (256 << 20) /* freed at the end of the heap */

keel_mpi_t keel_mpi;

/* ---- fatal errors ---- */

static void print_error(const char *call, const char *what)
{
    if (keel_mpi.ranks == 0) { /* keel_init() gives the rank */
        fprintf(stderr, "mpi error: %s: %s\n", call, what);
    } else {
        fprintf(stderr, "mpi %u error: %s: %s\n", keel_mpi.rank, call, what);
    }
}

void keel_mpi_fatal(const char *call, const char *what)
{
    print_error(call, what);
    if (keel_mpi.ctx != NULL) {
        keel_abort(keel_mpi.ctx, EXIT_FAILURE);
    }
    _Exit(EXIT_FAILURE);
}

void keel_mpi_relaunch(const char *call, const char *why)
{
    char reason[300];

    snprintf(reason, sizeof(reason), "%s: a rank died, and %s: the job has to be started anew", call, why);
    keel_abort_because(keel_mpi.ctx, KEEL_EXIT_AGAIN, reason);
}

void keel_mpi_check(keel_status_t status, const char *call)
{
    if (status == KEEL_OK) {
        return;
    }
    if (status == KEEL_ERR_ROLLED_BACK) {
        keel_mpi_relaunch(call, "there is no checkpoint yet, or no KEEL_MPI_RESTART_POINT");
    }
    keel_mpi_fatal(call, keel_status_string(status));
}

/* ---- start and end ---- */

/*
 * By default glibc returns the freed end of the heap to the system at once. A program that
 * allocates the buffers of each exchange then has their pages mapped and cleared each time.
 * Settings of the user go first.
 */
static void keep_freed_memory(void)
{
    if (getenv("MALLOC_TRIM_THRESHOLD_") == NULL && getenv("MALLOC_MMAP_THRESHOLD_") == NULL &&
        getenv("MALLOC_TOP_PAD_") == NULL && getenv("GLIBC_TUNABLES") == NULL) {
        (void)mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that glibc takes */
        (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

static int init(int *argc, char ***argv, int required, int *provided, const char *call)
{
    const char *env[3] = {NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS | KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_SIGNAL,
                                  .flags = keel_mpi_deterministic_flags(call),
                                  .env = env,
                                  .signal = keel_mpi_stop_world_signal()};
    const char *shrink = getenv("KEEL_SHRINK");
    unsigned count = 0;
    keel_status_t status;
    int code;

    if (keel_mpi.ctx != NULL || keel_mpi.is_final) {
        keel_mpi_fatal(call, keel_mpi.is_final ? "MPI_Finalize was called" : "it was called already");
    }
    if (shrink != NULL && *shrink != '\0' && strcasecmp(shrink, "no") != 0) {
        keel_mpi_fatal(call, "KEEL_SHRINK: MPI programs cannot go on with fewer ranks yet");
    }
    keel_mpi_profiling_redirect();
    keep_freed_memory();
    if (getenv("KEEL_OPLOG_SIZE") == NULL && !keel_mpi.is_deterministic_mode) {
        /* no accesses are logged */
        env[count++] = "KEEL_OPLOG_SIZE=1m";
    }
    if (getenv("KEEL_GETLOG_SIZE") == NULL && !keel_mpi.is_deterministic_mode) {
        env[count++] = "KEEL_GETLOG_SIZE=1m";
    }
    status = keel_init(&params, &keel_mpi.ctx);
    if (status != KEEL_OK) {
        keel_mpi_fatal(call, keel_status_string(status));
    }
    keel_mpi.rank = keel_rank(keel_mpi.ctx);
    keel_mpi.ranks = keel_size(keel_mpi.ctx);
    code = keel_mpi_singleton_init(argc, argv, required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED,
                                   provided);
    if (code != MPI_SUCCESS) {
        keel_mpi_fatal(call, "the system's MPI does not start");
    }
    keel_mpi_arena_make();
    keel_mpi_restart_begin();
    keel_mpi_deterministic_note(call);
    keel_mpi_startup_make();
    keel_mpi_channel_make();
    keel_mpi_layout_make();
    keel_mpi_comm_make();
    keel_mpi_error_make();
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv)
{
    int provided;

    return init(argc, argv, MPI_THREAD_SINGLE, &provided, "MPI_Init");
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init(argc, argv, required, provided, "MPI_Init_thread");
}

int MPI_Initialized(int *flag)
{
    *flag = keel_mpi.ctx != NULL || keel_mpi.is_final;
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    *flag = keel_mpi.is_final;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    keel_mpi_coll_t coll;

    keel_mpi_begin("MPI_Finalize");
    coll = keel_mpi_coll_begin(keel_mpi_comm_of(MPI_COMM_WORLD), "MPI_Finalize");
    keel_mpi_stream_await_all("MPI_Finalize");
    keel_mpi_flush_all("MPI_Finalize");
    keel_mpi_coll_barrier(&coll);
    keel_mpi.is_ending = 1; /* callbacks of the program follow, and may still call MPI */
    keel_mpi_attr_finalize();
    keel_mpi_file_end_closed();
    keel_mpi_win_end_freed();
    keel_mpi_comm_end_freed();
    if (!keel_mpi.is_deterministic_mode) {
        /* messages of the callbacks; peers take them in this barrier */
        keel_mpi_stream_await_all("MPI_Finalize");
        coll = keel_mpi_coll_begin(keel_mpi_comm_of(MPI_COMM_WORLD), "MPI_Finalize");
        keel_mpi_coll_barrier(&coll);
    }
    keel_mpi_ordered_arrive("MPI_Finalize");
    keel_mpi_check(keel_finalize(keel_mpi.ctx), "MPI_Finalize");
    keel_mpi.ctx = NULL;
    keel_mpi.is_final = 1;
    keel_mpi_restart_end();
    keel_mpi_file_unmake();
    keel_mpi_win_unmake();
    keel_mpi_comm_unmake();
    keel_mpi_layout_unmake();
    keel_mpi_persistent_handle_unmake();
    keel_mpi_direct_unmake();
    keel_mpi_stream_unmake();
    keel_mpi_spin_unmake();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int errorcode)
{
    keel_mpi_begin("MPI_Abort");
    fprintf(stderr, "mpi %u: MPI_Abort: %d\n", keel_mpi.rank, errorcode);
    /* Only errorcode 0 is success, as with both MPIs: STOP of OpenCoarrays aborts with 0. */
    keel_abort(keel_mpi.ctx, errorcode == 0 || (errorcode & 0xff) != 0 ? errorcode & 0xff : EXIT_FAILURE);
}
