#include "mpi_error.h"

#include "comm/mpi_comm.h"
#include "rma/mpi_window.h"

#include <stdio.h>

static MPI_Errhandler fatal = MPI_ERRHANDLER_NULL, fatal_win = MPI_ERRHANDLER_NULL;

static void end_job(const int *code)
{
    char text[MPI_MAX_ERROR_STRING] = "an error";
    int length;

    PMPI_Error_string(*code, text, &length);
    keel_mpi_fatal("MPI", text);
}

static void comm_fatal(MPI_Comm *comm, int *code, ...)
{
    end_job(code);
}

static void win_fatal(MPI_Win *win, int *code, ...)
{
    end_job(code);
}

void keel_mpi_error_make(void)
{
    if (PMPI_Comm_create_errhandler(comm_fatal, &fatal) != MPI_SUCCESS ||
        PMPI_Win_create_errhandler(win_fatal, &fatal_win) != MPI_SUCCESS ||
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, fatal) != MPI_SUCCESS ||
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, fatal) != MPI_SUCCESS) {
        keel_mpi_fatal("MPI_Init", "no error handlers");
    }
}

void keel_mpi_error_win(MPI_Win win)
{
    PMPI_Win_set_errhandler(win, fatal_win);
}

/* True if the handler would end the job; releases the handler. */
static int is_fatal(MPI_Errhandler *handler)
{
    const int is = *handler == MPI_ERRORS_ARE_FATAL || *handler == fatal || *handler == fatal_win;

    if (*handler != MPI_ERRORS_ARE_FATAL && *handler != MPI_ERRORS_RETURN) {
        PMPI_Errhandler_free(handler);
    }
    return is;
}

int keel_mpi_raise(MPI_Comm comm, int code, const char *call, const char *what)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

    PMPI_Comm_get_errhandler(comm, &handler);
    if (is_fatal(&handler)) {
        keel_mpi_fatal(call, what);
    }
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

int keel_mpi_raise_win(MPI_Win win, int code, const char *call, const char *what)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;

    PMPI_Win_get_errhandler(win, &handler);
    if (is_fatal(&handler)) {
        keel_mpi_fatal(call, what);
    }
    PMPI_Win_call_errhandler(win, code);
    return code;
}

/* ---- calls ---- */

#define DEFINE_ERRHANDLER(_name, _type, _begin, _fatal)                                                         \
    int MPI_##_name##_set_errhandler(_type object, MPI_Errhandler errhandler)                                   \
    {                                                                                                           \
        _begin(object_ptr, object, "MPI_" #_name "_set_errhandler")                                             \
                                                                                                                \
            (void) object_ptr;                                                                                  \
        return PMPI_##_name##_set_errhandler(object, errhandler == MPI_ERRORS_ARE_FATAL ? _fatal : errhandler); \
    }                                                                                                           \
    int MPI_##_name##_get_errhandler(_type object, MPI_Errhandler *errhandler)                                  \
    {                                                                                                           \
        int code;                                                                                               \
        _begin(object_ptr, object, "MPI_" #_name "_get_errhandler")                                             \
                                                                                                                \
            (void) object_ptr;                                                                                  \
        code = PMPI_##_name##_get_errhandler(object, errhandler);                                               \
        if (code == MPI_SUCCESS && *errhandler == _fatal) {                                                     \
            MPI_Errhandler handler = *errhandler;                                                               \
                                                                                                                \
            PMPI_Errhandler_free(&handler);                                                                     \
            *errhandler = MPI_ERRORS_ARE_FATAL;                                                                 \
        }                                                                                                       \
        return code;                                                                                            \
    }
DEFINE_ERRHANDLER(Comm, MPI_Comm, KEEL_MPI_COMM, fatal)
DEFINE_ERRHANDLER(Win, MPI_Win, KEEL_MPI_WIN, fatal_win)

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    KEEL_MPI_COMM(comm_ptr, comm, "MPI_Comm_call_errhandler")

    (void)comm_ptr;
    keel_mpi_raise(comm, errorcode, "MPI_Comm_call_errhandler", "called by the program");
    return MPI_SUCCESS;
}

int MPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_call_errhandler")

    (void)win_ptr;
    keel_mpi_raise_win(win, errorcode, "MPI_Win_call_errhandler", "called by the program");
    return MPI_SUCCESS;
}
