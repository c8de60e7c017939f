/* Names, attributes, info, error handlers, memory, files of one rank, and wrong calls. */
#include "mpi_deprecated.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int handled, deleted;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled++;
}

static void handle_win(MPI_Win *win, int *code, ...)
{
    handled++;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    deleted++;
    return MPI_SUCCESS;
}

static void check_names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, key, flag, *value, mine = 5, *model;
    MPI_Aint *size;
    MPI_Comm dup;
    MPI_Win win;
    void *base, **address;

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    EXPECT(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, forget, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "mine");
    MPI_Comm_get_name(dup, name, &length);
    MPI_Comm_set_attr(dup, key, &mine);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    EXPECT(strcmp(name, "mine") == 0 && flag && value == &mine);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    EXPECT(flag && *value >= 32767);
    MPI_Comm_free(&dup);
    EXPECT(deleted == 1);
    check_deprecated(key);
    MPI_Comm_free_keyval(&key);
    MPI_Win_allocate(100, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "window");
    MPI_Win_get_name(win, name, &length);
    EXPECT(strcmp(name, "window") == 0);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &address, &flag);
    EXPECT(flag && (void *)address == base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    EXPECT(flag && *size == 100);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    EXPECT(flag && *value == 4);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    EXPECT(*value == MPI_WIN_FLAVOR_ALLOCATE && *model == MPI_WIN_UNIFIED);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_set_attr(win, key, &mine);
    MPI_Win_get_attr(win, key, &value, &flag);
    EXPECT(flag && value == &mine);
    MPI_Win_delete_attr(win, key);
    MPI_Win_get_attr(win, key, &value, &flag);
    EXPECT(!flag);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
}

static void check_info(void)
{
    char value[100] = "";
    int flag, unit;
    MPI_Info info, used;
    MPI_Win win;
    MPI_Group group, world;
    MPI_Aint size;
    int result;
    void *base, *again;

    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
    MPI_Info_set(info, "same_size", "true");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Comm_get_info(MPI_COMM_WORLD, &used);
    MPI_Info_free(&used);
    MPI_Win_allocate(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &used);
    MPI_Info_get(used, "no_locks", sizeof(value) - 1, value, &flag);
    EXPECT(!flag || strcmp(value, "false") == 0);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    EXPECT(result == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Comm_group(MPI_COMM_WORLD, &group); /* another reference to the same group */
    EXPECT(group == world);
    MPI_Group_free(&group);
    EXPECT(group == MPI_GROUP_NULL);
    MPI_Group_size(world, &unit);
    EXPECT(unit == ranks);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &again);
    EXPECT(size == 64 && unit == 8 && again == base);
    MPI_Win_free(&win);
}

/* With an error handler that returns, an error has its class. */
#define WRONG(_class, _call) EXPECT(class_of(_call) == (_class))

static int class_of(int code)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(code, &class);
    return class;
}

static void check_wrong(void)
{
    MPI_Errhandler comm_handler, win_handler, got;
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Win win, other;
    MPI_Comm dup;
    int value = 0, n;
    void *base;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    EXPECT(got == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* since MPI 4.0 for calls without a communicator */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    EXPECT(got == MPI_ERRORS_RETURN);
    WRONG(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD));
    WRONG(MPI_ERR_RANK, MPI_Recv(&value, 1, MPI_INT, -77, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    WRONG(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    WRONG(MPI_ERR_COUNT, MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    WRONG(MPI_ERR_TYPE, MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    WRONG(MPI_ERR_COMM, MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    WRONG(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &n));
    WRONG(MPI_ERR_ROOT, MPI_Bcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD));
    WRONG(MPI_ERR_OP, MPI_Allreduce(&value, &n, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    WRONG(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
    WRONG(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    WRONG(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other));
    WRONG(MPI_ERR_DISP, MPI_Win_create(NULL, 0, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    MPI_Comm_create_errhandler(handle, &comm_handler);
    MPI_Win_create_errhandler(handle_win, &win_handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, comm_handler);
    WRONG(MPI_ERR_RANK, MPI_Send(&value, 1, MPI_INT, ranks, 0, dup));
    MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER);
    EXPECT(handled == 2);
    MPI_Comm_free(&dup);
    MPI_Win_allocate(40, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_errhandler(win, &got);
    EXPECT(got == MPI_ERRORS_ARE_FATAL);
    MPI_Win_set_errhandler(win, got);
    EXPECT(MPI_Errhandler_free(&got) == MPI_SUCCESS && got == MPI_ERRHANDLER_NULL);
    WRONG(MPI_ERR_REQUEST, MPI_Cancel(&none));
    MPI_Win_set_errhandler(win, win_handler);
    WRONG(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    WRONG(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
    WRONG(MPI_ERR_LOCKTYPE, MPI_Win_lock(4711, 0, 0, win));
    WRONG(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, base, 4));
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    WRONG(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    WRONG(MPI_ERR_RMA_RANGE, MPI_Put(&value, 1, MPI_INT, 0, 10, 1, MPI_INT, win));
    WRONG(MPI_ERR_RMA_RANGE, MPI_Get(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
    WRONG(MPI_ERR_RANK, MPI_Put(&value, 1, MPI_INT, ranks, 0, 1, MPI_INT, win));
    WRONG(MPI_ERR_COUNT, MPI_Put(&value, 1, MPI_INT, 0, 0, -1, MPI_INT, win));
    EXPECT(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) == MPI_SUCCESS);
    MPI_Win_unlock(0, win);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    EXPECT(handled == 12);
    MPI_Win_free(&win);
    MPI_Errhandler_free(&comm_handler);
    MPI_Errhandler_free(&win_handler);
    if (ranks > 1) {
        MPI_Message message;
        char small;

        MPI_Send(&value, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
        WRONG(MPI_ERR_TRUNCATE, MPI_Recv(&small, 1, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        value = rank;
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
        MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        message = MPI_Message_f2c(MPI_Message_c2f(message));
        MPI_Mrecv(&n, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        EXPECT(n == (rank + ranks - 1) % ranks && message == MPI_MESSAGE_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int query(void *asked, MPI_Status *status)
{
    *(int *)asked += 100;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 7;
    status->MPI_TAG = 8;
    return MPI_SUCCESS;
}

static int let_go(void *asked)
{
    *(int *)asked += 10;
    return MPI_SUCCESS;
}

static int cancel(void *asked, int is_complete)
{
    *(int *)asked += is_complete ? 2 : 1;
    return MPI_SUCCESS;
}

/* Checks generalized requests, completed by the program. */
static void check_generalized(void)
{
    int asked = 0, count;
    MPI_Request request;
    MPI_Status status;

    MPI_Grequest_start(query, let_go, cancel, &asked, &request);
    MPI_Cancel(&request);
    EXPECT(asked == 1);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    EXPECT(asked == 111 && count == 3 && status.MPI_SOURCE == 7 && status.MPI_TAG == 8);
}

static void check_files(void)
{
    char name[200], text[] = "some bytes of a rank", back[sizeof(text)] = "";
    MPI_File file;
    MPI_Offset size;
    MPI_Request request;

    snprintf(name, sizeof(name), "%s/keel-mpi-%d-%d", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp",
             (int)getpid(), rank);
    EXPECT(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_write_at(file, 10, text, sizeof(text), MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 10, back, sizeof(back), MPI_CHAR, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &size);
    EXPECT(strcmp(back, text) == 0 && size == 10 + (MPI_Offset)sizeof(text));
    MPI_File_close(&file);
    MPI_File_delete(name, MPI_INFO_NULL);
}

static void check_memory(void)
{
    char *a, *b;
    int flag, provided, version, minor;
    double before = MPI_Wtime();

    MPI_Alloc_mem(1000, MPI_INFO_NULL, &a);
    MPI_Alloc_mem(1, MPI_INFO_NULL, &b);
    memset(a, 1, 1000);
    EXPECT(a != b && (uintptr_t)a % 16 == 0);
    MPI_Free_mem(a);
    MPI_Free_mem(b);
    MPI_Initialized(&flag);
    EXPECT(flag);
    MPI_Finalized(&flag);
    EXPECT(!flag);
    MPI_Query_thread(&provided);
    MPI_Get_version(&version, &minor);
    EXPECT(provided <= MPI_THREAD_SERIALIZED && version >= 3 && MPI_Wtime() >= before);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    check_names();
    check_info();
    check_wrong();
    check_files();
    check_generalized();
    check_memory();
    return expect_end("mpi_objects");
}
