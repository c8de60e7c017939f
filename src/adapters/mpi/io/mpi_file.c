/*
 * The system's MPI opens a file in each process alone, which is right for explicit offsets and
 * individual pointers. Collective effects are done here: the first rank creates, resizes and
 * deletes the file; mpi_file_shared.c has the shared pointer. A file opened before the restart
 * point and closed behind it stays open in the system's MPI, as communicators do, since a rollback
 * may open it again.
 */
#include "io/mpi_file.h"

#include "coll/mpi_coll.h"
#include "comm/mpi_comm.h"
#include "comm/mpi_group.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "mpi_table.h"
#include "p2p/mpi_ordered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static keel_mpi_table_t files; /* without files of one rank opened behind the restart point */
static const MPI_File none = MPI_FILE_NULL;

/* NULL: a file of one rank, or not a file. */
keel_mpi_file_t *keel_mpi_file_of(MPI_File handle)
{
    keel_mpi_file_t *file = keel_mpi_table_find(&files, (uintptr_t)handle);

    return (file != NULL && file->variables.freed_by == NULL) ? file : NULL;
}

/* An effect on the file itself happens once: before the restart point a replacement takes the
 * result from the startup record. In deterministic mode a rank recovered locally would repeat the
 * effect, so declare_if() rules out local recovery from then on. */
static int once(int code)
{
    keel_mpi_startup_result(&code, sizeof(code));
    return code;
}

static void declare_if(int is_once, const char *call)
{
    if (is_once && keel_mpi.phase == KEEL_MPI_RUNS) {
        keel_mpi_ordered_set_nondeterministic(call);
    }
}

/* ---- opening and closing ---- */

static void file_make(const keel_mpi_comm_t *comm_ptr, uint64_t context, const char *filename, int amode, MPI_File *fh)
{
    static const char call[] = "MPI_File_open";
    keel_mpi_file_t *file = calloc(1, sizeof(*file));

    if (file == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    file->handle = *fh;
    file->comm = keel_mpi_comm_add(MPI_COMM_NULL, comm_ptr->size,
                                   keel_mpi_members_copy(comm_ptr->size, comm_ptr->members, call), context, call);
    file->name = (amode & MPI_MODE_DELETE_ON_CLOSE) ? strdup(filename) : NULL;
    file->amode = amode;
    file->is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    file->variables.made_by = fh;
    if (!keel_mpi_table_add(&files, (uintptr_t)*fh, file)) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_file_shared_make(file, call);
}

/* The first rank opens the file first, since only its call may find the file to exist; then the
 * others open it. All ranks succeed or none does. */
static int open_together(const keel_mpi_coll_t *coll, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    /* done here */
    const int removed = MPI_MODE_DELETE_ON_CLOSE | ((amode & MPI_MODE_RDWR) ? 0 : MPI_MODE_SEQUENTIAL);
    const int others = amode & ~(MPI_MODE_EXCL | removed), is_first = coll->comm->rank == 0;
    /* the file exists already */
    const int first = keel_mpi_is_replaying() ? others : amode & ~removed;
    int code = is_first ? PMPI_File_open(MPI_COMM_SELF, filename, first, info, fh) : MPI_SUCCESS;
    int is_any;

    keel_mpi_coll_bcast(coll, 0, &code, sizeof(code));
    if (code != MPI_SUCCESS) {
        return code;
    }
    code = is_first ? MPI_SUCCESS : PMPI_File_open(MPI_COMM_SELF, filename, others, info, fh);
    is_any = keel_mpi_coll_any(coll, code != MPI_SUCCESS);
    if (is_any && code == MPI_SUCCESS) {
        PMPI_File_close(fh);
    }
    return (is_any && code == MPI_SUCCESS) ? MPI_ERR_OTHER : code;
}

int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    uint64_t context;
    keel_mpi_coll_t coll;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_File_open")

    if (comm_ptr->size == 1 && keel_mpi.phase == KEEL_MPI_RUNS) {
        return PMPI_File_open(MPI_COMM_SELF, filename, amode, info, fh);
    }
    declare_if((amode & (MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE)) != 0, "MPI_File_open");
    context = keel_mpi_comm_context(comm_ptr, "MPI_File_open");
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_File_open");
    code = open_together(&coll, filename, amode, info, fh);
    if (code == MPI_SUCCESS) {
        file_make(comm_ptr, context, filename, amode, fh);
    } else {
        *fh = MPI_FILE_NULL;
    }
    return code;
}

static void file_destroy(keel_mpi_file_t *file)
{
    keel_mpi_table_remove(&files, (uintptr_t)file->handle);
    keel_mpi_file_shared_unmake(file);
    keel_mpi_comm_remove(file->comm);
    free(file->name);
    free(file);
}

static int close_together(keel_mpi_file_t *file, const keel_mpi_coll_t *coll, MPI_File *fh)
{
    const int code = PMPI_File_close(fh);

    if (file->name != NULL) {
        /* deleted after all ranks have closed it, and before any call returns */
        keel_mpi_coll_barrier(coll);
        if (file->comm->rank == 0 || keel_mpi_is_replaying()) {
            /* opening the file again in a replacement has created it again */
            PMPI_File_delete(file->name, MPI_INFO_NULL);
        }
        keel_mpi_coll_barrier(coll);
    }
    file_destroy(file);
    return code;
}

int MPI_File_close(MPI_File *fh)
{
    keel_mpi_file_t *file;
    keel_mpi_coll_t coll;
    int amode = 0;

    keel_mpi_begin("MPI_File_close");
    file = keel_mpi_table_find(&files, (uintptr_t)*fh);
    if (file == NULL) {
        return PMPI_File_close(fh);
    }
    if (file->variables.freed_by == NULL) {
        coll = keel_mpi_coll_begin(file->comm, "MPI_File_close");
        keel_mpi_coll_barrier(&coll);
        if (keel_mpi.phase != KEEL_MPI_RUNS || file->is_late) {
            return close_together(file, &coll, fh);
        }
        PMPI_File_get_amode(*fh, &amode);
        if (!(amode & MPI_MODE_RDONLY)) {
            PMPI_File_sync(*fh);
        }
        *(uint64_t *)keel_mpi_arena_at(file->comm->coll_count) = KEEL_MPI_FREED;
        file->variables.freed_by = fh;
    }
    *fh = MPI_FILE_NULL;
    return MPI_SUCCESS;
}

/* ---- collective effects ---- */

int MPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    const keel_mpi_file_t *file;

    keel_mpi_begin("MPI_File_get_group");
    file = keel_mpi_file_of(fh);
    *group = (file != NULL) ? keel_mpi_group_of_comm(file->comm, 0, "MPI_File_get_group")
                            : keel_mpi_group_make(1, &keel_mpi.rank, "MPI_File_get_group");
    return MPI_SUCCESS;
}

int MPI_File_get_amode(MPI_File fh, int *amode)
{
    const keel_mpi_file_t *file;

    keel_mpi_begin("MPI_File_get_amode");
    file = keel_mpi_file_of(fh);
    if (file == NULL) {
        return PMPI_File_get_amode(fh, amode);
    }
    *amode = file->amode;
    return MPI_SUCCESS;
}

/* Done by the first rank, after all ranks' earlier accesses. */
#define DEFINE_SIZE(_name)                                                                    \
    int MPI_File_##_name(MPI_File fh, MPI_Offset size)                                        \
    {                                                                                         \
        const keel_mpi_file_t *file;                                                          \
        keel_mpi_coll_t coll;                                                                 \
        int code = MPI_SUCCESS;                                                               \
                                                                                              \
        keel_mpi_begin("MPI_File_" #_name);                                                   \
        declare_if(1, "MPI_File_" #_name);                                                    \
        file = keel_mpi_file_of(fh);                                                          \
        if (file == NULL) {                                                                   \
            return PMPI_File_##_name(fh, size);                                               \
        }                                                                                     \
        coll = keel_mpi_coll_begin(file->comm, "MPI_File_" #_name);                           \
        keel_mpi_coll_barrier(&coll);                                                         \
        if (file->comm->rank == 0) {                                                          \
            code = once(keel_mpi_is_replaying() ? MPI_SUCCESS : PMPI_File_##_name(fh, size)); \
        }                                                                                     \
        keel_mpi_coll_bcast(&coll, 0, &code, sizeof(code));                                   \
        return code;                                                                          \
    }
DEFINE_SIZE(set_size)
DEFINE_SIZE(preallocate)

int MPI_File_delete(const char *filename, MPI_Info info)
{
    keel_mpi_begin("MPI_File_delete");
    declare_if(1, "MPI_File_delete");
    return once(keel_mpi_is_replaying() ? MPI_SUCCESS : PMPI_File_delete(filename, info));
}

/* ---- checkpoints, rollbacks and the end ---- */

/* The next file made after the restart point (@a is_late), or else the next closed file; NULL:
 * none. */
static keel_mpi_file_t *file_find(int is_late)
{
    for (size_t i = 0; i < files.size; i++) {
        keel_mpi_file_t *file = files.entries[i].object;

        if (file != NULL && (is_late ? file->is_late : file->variables.freed_by != NULL)) {
            return file;
        }
    }
    return NULL;
}

int keel_mpi_file_is_late(void)
{
    return file_find(1) != NULL;
}

void keel_mpi_file_drop_late(void)
{
    keel_mpi_file_t *file;

    while ((file = file_find(1)) != NULL) {
        MPI_File handle = file->handle;

        keel_mpi_handle_vars_forget(&file->variables, &handle, &none, sizeof(none));
        PMPI_File_close(&handle);
        file_destroy(file);
    }
}

void keel_mpi_file_revive(void)
{
    for (size_t i = 0; i < files.size; i++) {
        keel_mpi_file_t *file = files.entries[i].object;

        if (file != NULL) {
            const int is_closed = *(const uint64_t *)keel_mpi_arena_at(file->comm->coll_count) == KEEL_MPI_FREED;

            file->is_split = 0;
            keel_mpi_handle_vars_revive(&file->variables, is_closed, &file->handle, &none, sizeof(none));
        }
    }
}

void keel_mpi_file_end_closed(void)
{
    keel_mpi_file_t *file;

    while ((file = file_find(0)) != NULL) {
        MPI_File handle = file->handle;

        PMPI_File_close(&handle);
        if (file->name != NULL && file->comm->rank == 0) {
            PMPI_File_delete(file->name, MPI_INFO_NULL);
        }
        file_destroy(file);
    }
}

void keel_mpi_file_unmake(void)
{
    for (size_t i = 0; i < files.size; i++) {
        keel_mpi_file_t *file = files.entries[i].object;

        if (file != NULL) {
            free(file->comm->members);
            free(file->comm);
            free(file->name);
            free(file);
        }
    }
    free(files.entries);
    files = (keel_mpi_table_t){0};
}
