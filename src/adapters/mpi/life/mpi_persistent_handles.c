/*
 * Datatypes, groups, operations and similar handles live in the system's MPI or in this process, so
 * no checkpoint contains them. Every life of a rank makes the same handles before the restart
 * point. A handle that the program frees later is therefore kept, and a rollback to a checkpoint
 * before the free puts it back into the variable that it was freed by.
 */
#include "life/mpi_persistent_handles.h"

#include "life/mpi_handle_vars.h"
#include "life/mpi_restart.h"
#include "mpi_table.h"
#include "p2p/mpi_request.h"

#include <stdlib.h>
#include <string.h>

typedef struct handles {
    keel_mpi_handle_vars_t variables;
    uint64_t freed_at; /* number of checkpoints at the time */
    uint64_t number;   /* the same in every life */
    int is_late;       /* made after the restart point */
    size_t size;       /* bytes of a handle */
    char handle[sizeof(void *)], none[sizeof(void *)];
} persistent_handle_t;

static keel_mpi_table_t handles;
static uint64_t made; /* handles that are not late */

void keel_mpi_persistent_handle_add(uintptr_t handle, void *variable, const void *none, size_t size, const char *call)
{
    persistent_handle_t *one;

    if (keel_mpi_table_find(&handles, handle) != NULL) {
        return;
    }
    one = calloc(1, sizeof(*one));
    if (one == NULL || !keel_mpi_table_add(&handles, handle, one)) {
        keel_mpi_fatal(call, "no memory");
    }
    one->variables.made_by = variable;
    one->is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    one->number = one->is_late ? 0 : made++;
    one->size = size;
    memcpy(one->handle, &handle, size);
    memcpy(one->none, none, size);
}

static int is_gone(const persistent_handle_t *one)
{
    return one->number < KEEL_MPI_PERSISTENT_HANDLES
               ? keel_mpi.hidden->freed_handles[one->number]
               : one->variables.freed_by != NULL && one->freed_at < keel_mpi.hidden->checkpoints;
}

int keel_mpi_persistent_handle_keep(uintptr_t handle, void *variable, const void *none, size_t size)
{
    persistent_handle_t *one = keel_mpi_table_find(&handles, handle);

    if (one == NULL) {
        return 0;
    }
    if (keel_mpi.phase != KEEL_MPI_RUNS || one->is_late) {
        keel_mpi_table_remove(&handles, handle);
        free(one);
        return 0;
    }
    one->variables.freed_by = variable;
    one->freed_at = keel_mpi.hidden->checkpoints;
    if (one->number < KEEL_MPI_PERSISTENT_HANDLES) {
        keel_mpi.hidden->freed_handles[one->number] = 1;
    }
    memcpy(variable, none, size);
    return 1;
}

/* True if the variable holds a handle made since the checkpoint. */
static int has_late(const persistent_handle_t *one, const void *variable)
{
    const persistent_handle_t *other = keel_mpi_table_find(
        &handles, one->size == sizeof(int) ? (uintptr_t) * (const int *)variable : *(const uintptr_t *)variable);

    return other != NULL && other->is_late;
}

static void drop_late(void)
{
    for (size_t i = 0; i < handles.size;) {
        persistent_handle_t *one = handles.entries[i].object;

        if (one != NULL && one->is_late) { /* the removal may move another entry here */
            keel_mpi_table_remove(&handles, handles.entries[i].handle);
            free(one);
        } else {
            i++;
        }
    }
}

void keel_mpi_persistent_handle_revive(void)
{
    for (size_t i = 0; i < handles.size; i++) {
        persistent_handle_t *one = handles.entries[i].object;

        if (one == NULL || one->is_late) {
            continue;
        }
        if (!is_gone(one) && keel_mpi_is_live_variable(one->variables.freed_by) &&
            has_late(one, one->variables.freed_by)) {
            memcpy(one->variables.freed_by, one->none, one->size);
        }
        keel_mpi_handle_vars_revive(&one->variables, is_gone(one), one->handle, one->none, one->size);
    }
    drop_late();
}

void keel_mpi_persistent_handle_unmake(void)
{
    for (size_t i = 0; i < handles.size; i++) {
        free(handles.entries[i].object);
    }
    free(handles.entries);
    handles = (keel_mpi_table_t){0};
}

/* ---- calls ---- */

#define DEFINE_FREE(_kind, _type, _none)                                                        \
    int MPI_##_kind##_free(_type *handle)                                                       \
    {                                                                                           \
        const _type none = _none;                                                               \
                                                                                                \
        return keel_mpi_persistent_handle_keep((uintptr_t)*handle, handle, &none, sizeof(none)) \
                   ? MPI_SUCCESS                                                                \
                   : PMPI_##_kind##_free(handle);                                               \
    }
DEFINE_FREE(Info, MPI_Info, MPI_INFO_NULL)

/* MPI_Comm_get_errhandler() returns MPI_ERRORS_ARE_FATAL in place of Keel's own handler, with no
 * reference to release. */
int MPI_Errhandler_free(MPI_Errhandler *handler)
{
    const MPI_Errhandler none = MPI_ERRHANDLER_NULL;

    if (*handler == MPI_ERRORS_ARE_FATAL) {
        *handler = none;
        return MPI_SUCCESS;
    }
    return keel_mpi_persistent_handle_keep((uintptr_t)*handler, handler, &none, sizeof(none))
               ? MPI_SUCCESS
               : PMPI_Errhandler_free(handler);
}

/* Open requests may still use the handle. */
#define DEFINE_FREE_LATE(_kind, _type, _none, _takes)                                           \
    int MPI_##_kind##_free(_type *handle)                                                       \
    {                                                                                           \
        const _type none = _none;                                                               \
                                                                                                \
        if (keel_mpi_persistent_handle_keep((uintptr_t)*handle, handle, &none, sizeof(none))) { \
            return MPI_SUCCESS;                                                                 \
        }                                                                                       \
        if (_takes(*handle)) {                                                                  \
            *handle = none;                                                                     \
            return MPI_SUCCESS;                                                                 \
        }                                                                                       \
        return PMPI_##_kind##_free(handle);                                                     \
    }
DEFINE_FREE_LATE(Type, MPI_Datatype, MPI_DATATYPE_NULL, keel_mpi_request_takes_type)
DEFINE_FREE_LATE(Op, MPI_Op, MPI_OP_NULL, keel_mpi_request_takes_op)

#define DEFINE_MAKE(_name, _type, _none, _parameters, _arguments, _handle)                                        \
    int MPI_##_name _parameters                                                                                   \
    {                                                                                                             \
        const _type none = _none;                                                                                 \
        const int code = PMPI_##_name _arguments;                                                                 \
                                                                                                                  \
        if (code == MPI_SUCCESS) {                                                                                \
            keel_mpi_persistent_handle_add((uintptr_t) * (_handle), _handle, &none, sizeof(none), "MPI_" #_name); \
        }                                                                                                         \
        return code;                                                                                              \
    }
DEFINE_MAKE(Type_commit, MPI_Datatype, MPI_DATATYPE_NULL, (MPI_Datatype * datatype), (datatype), datatype)
DEFINE_MAKE(Type_dup, MPI_Datatype, MPI_DATATYPE_NULL, (MPI_Datatype oldtype, MPI_Datatype *newtype),
            (oldtype, newtype), newtype)
DEFINE_MAKE(Op_create, MPI_Op, MPI_OP_NULL, (MPI_User_function * function, int commute, MPI_Op *op),
            (function, commute, op), op)
DEFINE_MAKE(Info_create, MPI_Info, MPI_INFO_NULL, (MPI_Info * info), (info), info)
DEFINE_MAKE(Info_dup, MPI_Info, MPI_INFO_NULL, (MPI_Info info, MPI_Info *newinfo), (info, newinfo), newinfo)
DEFINE_MAKE(Comm_create_errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL,
            (MPI_Comm_errhandler_function * function, MPI_Errhandler *errhandler), (function, errhandler), errhandler)
DEFINE_MAKE(Win_create_errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL,
            (MPI_Win_errhandler_function * function, MPI_Errhandler *errhandler), (function, errhandler), errhandler)
