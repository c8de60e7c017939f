#include "life/mpi_deterministic.h"
#include "p2p/mpi_ordered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t keel_mpi_deterministic_flags(const char *call)
{
    const char *text = getenv("KEEL_DETERMINISTIC");

    keel_mpi.waits = text != NULL && strcmp(text, "waits") == 0;
    keel_mpi.is_deterministic_mode = keel_mpi.waits || (text != NULL && strcmp(text, "y") == 0);
    if (text != NULL && !keel_mpi.is_deterministic_mode && strcmp(text, "n") != 0) {
        keel_mpi_fatal(call, "KEEL_DETERMINISTIC is n, y or waits");
    }
    return !keel_mpi.is_deterministic_mode ? KEEL_PARAM_FLAG_NONDETERMINISTIC
           : keel_mpi.waits                ? KEEL_PARAM_FLAG_WAITS
                                           : 0;
}

void keel_mpi_deterministic_note(const char *call)
{
    const uint64_t promise = 1 + (uint64_t)keel_mpi.is_deterministic_mode + (uint64_t)keel_mpi.waits;

    if (keel_mpi.phase == KEEL_MPI_REPLAYS && keel_mpi.hidden->promise != promise) {
        keel_mpi_fatal(call, "the checkpoint in files is of a job with another KEEL_DETERMINISTIC");
    }
    keel_mpi.hidden->promise = promise;
}

/* The logs and the message protocol are chosen in MPI_Init. A window that asks for deterministic
 * mode before the restart point therefore has keelrun launch the job again. */
static void request_deterministic_mode(const char *value, const keel_mpi_comm_t *comm, const char *call)
{
    static int is_reported;
    const char *setting = strcmp(value, "waits") == 0 ? "KEEL_DETERMINISTIC=waits" : "KEEL_DETERMINISTIC=y";
    const char *why = "it is behind the restart point";

    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        why = keel_start_with(keel_mpi.ctx, setting) == KEEL_ERR_STATE ? "KEEL_DETERMINISTIC is n"
                                                                       : "this launcher starts no job anew";
    }
    if (comm->rank == 0 && !is_reported) {
        is_reported = 1;
        fprintf(stderr, "mpi %u: %s: keel_deterministic is %s, but %s: deaths are rollbacks\n", keel_mpi.rank, call,
                value, why);
    }
}

/* Before the restart point no log that starts there recovers a death, so a withdrawal is declared
 * again behind it (mpi_restart.c). */
void keel_mpi_deterministic_apply_info(MPI_Info info, const keel_mpi_comm_t *comm, const char *call)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int is_given = 0, is_yes, is_no;

    if (info != MPI_INFO_NULL) {
        PMPI_Info_get(info, "keel_deterministic", sizeof(value) - 1, value, &is_given);
    }
    if (!is_given) {
        return;
    }
    is_yes = strcmp(value, "true") == 0 || strcmp(value, "y") == 0 || strcmp(value, "waits") == 0;
    is_no = strcmp(value, "false") == 0 || strcmp(value, "n") == 0;
    if (is_yes && !keel_mpi.is_deterministic_mode) {
        request_deterministic_mode(value, comm, call);
    } else if (!is_yes) {
        keel_mpi.is_withdrawn = 1;
        keel_mpi_ordered_set_nondeterministic(call);
    }
    if (!is_yes && !is_no && comm->rank == 0) {
        fprintf(stderr, "mpi %u: %s: keel_deterministic is '%s', none of true, waits and false: deaths are rollbacks\n",
                keel_mpi.rank, call, value);
    }
}
