/* Request-based accesses. The access is complete locally when the call returns, and so is the
 * request. */
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_request.h"
#include "rma/mpi_rma.h"

int MPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    const int code = MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                             target_datatype, win);

    return (code == MPI_SUCCESS) ? keel_mpi_request_complete(request) : code;
}

int MPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
             int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    const int code = MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                             target_datatype, win);

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (target_rank != MPI_PROC_NULL) {
        keel_mpi_flush((uint32_t)keel_mpi_win_of(win)->places[target_rank].home, "MPI_Rget");
    }
    keel_mpi_channel_poll_some("MPI_Rget"); /* a program may use only this call to poll */
    return keel_mpi_request_complete(request);
}

int MPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                    MPI_Request *request)
{
    const int code = MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                                    target_datatype, op, win);

    return (code == MPI_SUCCESS) ? keel_mpi_request_complete(request) : code;
}

int MPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                        int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                        int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    const int code =
        MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                           target_rank, target_disp, target_count, target_datatype, op, win);

    keel_mpi_channel_poll_some("MPI_Rget_accumulate");
    return (code == MPI_SUCCESS) ? keel_mpi_request_complete(request) : code;
}
