/*
 * The shared file pointer: a word in the arena of the file's first rank, in etypes of the view. An
 * access fetches the word, adds its own length, and then uses an explicit offset, so accesses of
 * different ranks never overlap. For an ordered access the ranks compute the prefix sums of their
 * lengths, and the last rank fetches and adds the total for all. The word rolls back with the
 * arena: after a rollback the program overwrites its writes since the checkpoint.
 */
#include "io/mpi_file.h"

#include "coll/mpi_coll.h"
#include "mpi_arena.h"

static uint32_t home_of(const keel_mpi_file_t *file)
{
    return file->comm->members[0];
}

static uint64_t pointer_add(const keel_mpi_file_t *file, uint64_t count, const char *call)
{
    uint64_t was = 0;

    keel_mpi_atomic(KEEL_ATOMIC_ADD, home_of(file), file->pointer, sizeof(was), count, 0, &was, call);
    return was;
}

static uint64_t pointer_get(const keel_mpi_file_t *file, const char *call)
{
    uint64_t is = 0;

    keel_mpi_get(home_of(file), file->pointer, &is, sizeof(is), call);
    return is;
}

static void pointer_set(const keel_mpi_file_t *file, uint64_t value, const char *call)
{
    uint64_t was = 0;

    keel_mpi_atomic(KEEL_ATOMIC_SWAP, home_of(file), file->pointer, sizeof(was), value, 0, &was, call);
}

static int file_raise(MPI_File fh, int class)
{
    PMPI_File_call_errhandler(fh, class);
    return class;
}

void keel_mpi_file_shared_make(keel_mpi_file_t *file, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(file->comm, call);
    MPI_Offset bytes = 0;

    file->unit = 1;
    if (file->comm->rank == 0) {
        file->pointer = keel_mpi_arena_alloc(sizeof(uint64_t), KEEL_MPI_ALIGN, call);
        if (file->amode & MPI_MODE_APPEND) {
            PMPI_File_get_size(file->handle, &bytes);
        }
        pointer_set(file, (uint64_t)bytes, call);
    }
    keel_mpi_coll_bcast(&coll, 0, &file->pointer, sizeof(file->pointer));
}

void keel_mpi_file_shared_unmake(const keel_mpi_file_t *file)
{
    if (file->comm->rank == 0) {
        keel_mpi_arena_free(file->pointer);
    }
}

/* ---- the pointer ---- */

int MPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                      MPI_Info info)
{
    static const char call[] = "MPI_File_set_view";
    keel_mpi_file_t *file;
    keel_mpi_coll_t coll;
    int code;

    keel_mpi_begin(call);
    file = keel_mpi_file_of(fh);
    if (file == NULL) {
        return PMPI_File_set_view(fh, disp, etype, filetype, datarep, info);
    }
    coll = keel_mpi_coll_begin(file->comm, call);
    keel_mpi_coll_barrier(&coll); /* accesses by the old view are complete */
    if (disp == MPI_DISPLACEMENT_CURRENT && (file->amode & MPI_MODE_SEQUENTIAL)) {
        PMPI_File_get_byte_offset(fh, (MPI_Offset)pointer_get(file, call), &disp);
        keel_mpi_coll_barrier(&coll);
    }
    code = PMPI_File_set_view(fh, disp, etype, filetype, datarep, info);
    if (code == MPI_SUCCESS) {
        PMPI_Type_size(etype, &file->unit);
    }
    if (file->comm->rank == 0 && code == MPI_SUCCESS) {
        pointer_set(file, 0, call);
    }
    keel_mpi_coll_barrier(&coll);
    return code;
}

int MPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    const keel_mpi_file_t *file;

    keel_mpi_begin("MPI_File_get_position_shared");
    file = keel_mpi_file_of(fh);
    if (file == NULL) {
        return PMPI_File_get_position_shared(fh, offset);
    }
    *offset = (MPI_Offset)pointer_get(file, "MPI_File_get_position_shared");
    return MPI_SUCCESS;
}

/* End of the file in etypes of the view, which only the system's individual pointer tells. */
static MPI_Offset end_of(MPI_File fh)
{
    MPI_Offset before = 0, end = 0;

    PMPI_File_get_position(fh, &before);
    PMPI_File_seek(fh, 0, MPI_SEEK_END);
    PMPI_File_get_position(fh, &end);
    PMPI_File_seek(fh, before, MPI_SEEK_SET);
    return end;
}

int MPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    static const char call[] = "MPI_File_seek_shared";
    const keel_mpi_file_t *file;
    keel_mpi_coll_t coll;
    int code = MPI_SUCCESS;

    keel_mpi_begin(call);
    file = keel_mpi_file_of(fh);
    if (file == NULL) {
        return PMPI_File_seek_shared(fh, offset, whence);
    }
    coll = keel_mpi_coll_begin(file->comm, call);
    keel_mpi_coll_barrier(&coll);
    if (file->comm->rank == 0) {
        if (whence == MPI_SEEK_CUR) {
            offset += (MPI_Offset)pointer_get(file, call);
        } else if (whence == MPI_SEEK_END) {
            offset += end_of(fh);
        } else if (whence != MPI_SEEK_SET) {
            code = MPI_ERR_ARG;
        }
        code = (offset < 0) ? MPI_ERR_ARG : code;
        if (code == MPI_SUCCESS) {
            pointer_set(file, (uint64_t)offset, call);
        }
    }
    keel_mpi_coll_bcast(&coll, 0, &code, sizeof(code));
    return (code == MPI_SUCCESS) ? code : file_raise(fh, code);
}

/* ---- accesses ---- */

/* Number of etypes of an access. */
static uint64_t length_of(const keel_mpi_file_t *file, int count, MPI_Datatype type)
{
    int bytes = 0;

    PMPI_Type_size(type, &bytes);
    return (count > 0 && bytes > 0) ? (uint64_t)count * (uint64_t)bytes / (uint64_t)file->unit : 0;
}

static MPI_Offset place_any(const keel_mpi_file_t *file, int count, MPI_Datatype type, const char *call)
{
    return (MPI_Offset)pointer_add(file, length_of(file, count, type), call);
}

/* Collective: log n messages per rank. */
static MPI_Offset place_ordered(const keel_mpi_file_t *file, int count, MPI_Datatype type, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(file->comm, call);
    const uint32_t size = file->comm->size, rank = file->comm->rank;
    const uint64_t mine = length_of(file, count, type);
    uint64_t sum = mine, before = 0, first = 0;

    for (uint64_t distance = 1; distance < size; distance *= 2) {
        if (rank + distance < size) {
            keel_mpi_coll_send(&coll, (uint32_t)(rank + distance), &sum, sizeof(sum));
        }
        if (rank >= distance) {
            keel_mpi_coll_receive(&coll, (uint32_t)(rank - distance), &before, sizeof(before));
            sum += before;
        }
    }
    if (rank == size - 1) {
        first = pointer_add(file, sum, call);
    }
    keel_mpi_coll_bcast(&coll, size - 1, &first, sizeof(first));
    return (MPI_Offset)(first + sum - mine);
}

#define DEFINE_ACCESS(_name, _way, _const, _at, _end, _type)                                                        \
    int MPI_File_##_name(MPI_File fh, _const void *buf, int count, MPI_Datatype type, _type *_end)                  \
    {                                                                                                               \
        static const char call[] = "MPI_File_" #_name;                                                              \
        const keel_mpi_file_t *file;                                                                                \
                                                                                                                    \
        keel_mpi_begin(call);                                                                                       \
        file = keel_mpi_file_of(fh);                                                                                \
        return (file == NULL) ? PMPI_File_##_name(fh, buf, count, type, _end)                                       \
                              : PMPI_File_##_at(fh, place_##_way(file, count, type, call), buf, count, type, _end); \
    }
DEFINE_ACCESS(read_shared, any, , read_at, status, MPI_Status)
DEFINE_ACCESS(write_shared, any, const, write_at, status, MPI_Status)
DEFINE_ACCESS(iread_shared, any, , iread_at, request, MPI_Request)
DEFINE_ACCESS(iwrite_shared, any, const, iwrite_at, request, MPI_Request)
DEFINE_ACCESS(read_ordered, ordered, , read_at, status, MPI_Status)
DEFINE_ACCESS(write_ordered, ordered, const, write_at, status, MPI_Status)

/* The first call does the access, as the standard allows; the second returns its status. */
#define DEFINE_SPLIT(_name, _const, _at)                                                                    \
    int MPI_File_##_name##_begin(MPI_File fh, _const void *buf, int count, MPI_Datatype type)               \
    {                                                                                                       \
        static const char call[] = "MPI_File_" #_name "_begin";                                             \
        keel_mpi_file_t *file;                                                                              \
                                                                                                            \
        keel_mpi_begin(call);                                                                               \
        file = keel_mpi_file_of(fh);                                                                        \
        if (file == NULL) {                                                                                 \
            return PMPI_File_##_name##_begin(fh, buf, count, type);                                         \
        }                                                                                                   \
        if (file->is_split) {                                                                               \
            return file_raise(fh, MPI_ERR_OTHER);                                                           \
        }                                                                                                   \
        file->is_split = 1;                                                                                 \
        return PMPI_File_##_at(fh, place_ordered(file, count, type, call), buf, count, type, &file->split); \
    }                                                                                                       \
                                                                                                            \
    int MPI_File_##_name##_end(MPI_File fh, _const void *buf, MPI_Status *status)                           \
    {                                                                                                       \
        keel_mpi_file_t *file;                                                                              \
                                                                                                            \
        keel_mpi_begin("MPI_File_" #_name "_end");                                                          \
        file = keel_mpi_file_of(fh);                                                                        \
        if (file == NULL) {                                                                                 \
            return PMPI_File_##_name##_end(fh, buf, status);                                                \
        }                                                                                                   \
        if (!file->is_split) {                                                                              \
            return file_raise(fh, MPI_ERR_OTHER);                                                           \
        }                                                                                                   \
        file->is_split = 0;                                                                                 \
        if (status != MPI_STATUS_IGNORE) {                                                                  \
            *status = file->split;                                                                          \
        }                                                                                                   \
        return MPI_SUCCESS;                                                                                 \
    }
DEFINE_SPLIT(read_ordered, , read_at)
DEFINE_SPLIT(write_ordered, const, write_at)
