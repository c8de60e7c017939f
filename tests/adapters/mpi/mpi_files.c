/* Files of all ranks, by explicit offsets, by a pointer of each rank and by the shared pointer. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 1000 };

static char name[200];

/* The same name at all ranks, and unique. */
static void name_make(const char *what, int mine)
{
    int process = (int)getpid();

    if (!mine) {
        MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    snprintf(name, sizeof(name), "%s/mpi_files_%d_%s", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", process,
             what);
}

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

static void check_offsets(void)
{
    int words[WORDS], back[WORDS], size;
    const MPI_Offset mine = (MPI_Offset)rank * (MPI_Offset)sizeof(words);
    const MPI_Offset other = (MPI_Offset)((rank + 1) % ranks) * (MPI_Offset)sizeof(words);
    MPI_Offset bytes;
    MPI_Request request;
    MPI_Group group;
    MPI_File file;

    name_make("offsets", 0);
    EXPECT(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
           MPI_SUCCESS);
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &size);
    EXPECT(size == ranks);
    MPI_Group_free(&group);
    for (int i = 0; i < WORDS; i++) {
        words[i] = rank * WORDS + i;
    }
    MPI_File_write_at(file, mine, words, WORDS / 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, mine + (MPI_Offset)sizeof(words) / 2, words + WORDS / 2, WORDS / 2, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_iread_at(file, other, back, WORDS, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < WORDS; i++) {
        EXPECT(back[i] == (rank + 1) % ranks * WORDS + i);
    }
    MPI_File_get_size(file, &bytes);
    EXPECT(bytes == (MPI_Offset)ranks * (MPI_Offset)sizeof(words));
    MPI_File_set_size(file, 100); /* cuts off earlier writes of all ranks, and no later write */
    MPI_File_write_at(file, 100 + 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    EXPECT(bytes == 100 + 4 * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_preallocate(file, 5000);
    MPI_File_get_size(file, &bytes);
    EXPECT(bytes == 5000);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
    EXPECT(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
           MPI_SUCCESS); /* on all ranks */
    EXPECT(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) ==
           MPI_SUCCESS);
    MPI_File_read_at(file, 100, back, ranks, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; i++) {
        EXPECT(back[i] == i);
    }
    MPI_File_close(&file);
    EXPECT(access(name, F_OK) != 0);
    EXPECT(class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
           MPI_ERR_NO_SUCH_FILE);
}

/* Each rank has every ranks-th word. */
static void check_views(void)
{
    int words[WORDS], back[WORDS];
    MPI_Datatype strided;
    MPI_File file;

    name_make("views", 0);
    MPI_Type_vector(WORDS, 1, ranks, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    for (int i = 0; i < WORDS; i++) {
        words[i] = rank * WORDS + i;
    }
    MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, strided, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, words, WORDS, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_seek(file, 7 * ranks, MPI_SEEK_SET);
    MPI_File_read(file, back, ranks, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < ranks; i++) {
        EXPECT(back[i] == i * WORDS + 7);
    }
    MPI_File_close(&file);
    MPI_Type_free(&strided);
}

static MPI_Offset position(MPI_File file)
{
    MPI_Offset at = -1;

    MPI_File_get_position_shared(file, &at);
    return at;
}

/* Ordered accesses of lengths that differ: rank r has r + 1 words. */
static void check_ordered(MPI_File file)
{
    int words[WORDS], back[WORDS], count;
    const int mine = rank + 1, first = rank * (rank + 1) / 2, all = ranks * (ranks + 1) / 2;
    MPI_Status status;

    for (int i = 0; i < mine; i++) {
        words[i] = first + i;
    }
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, words, mine, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == mine);
    MPI_File_write_ordered_begin(file, words, mine, MPI_INT);
    MPI_File_write_ordered_end(file, words, &status);
    EXPECT(position(file) == 2 * all);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int half = 0; half < 2; half++) {
        MPI_File_read_at(file, half * all, back, all, MPI_INT, MPI_STATUS_IGNORE);
        for (int i = 0; i < all; i++) {
            EXPECT(back[i] == i);
        }
    }
    MPI_File_seek_shared(file, -all, MPI_SEEK_CUR);
    MPI_File_read_ordered(file, back, mine, MPI_INT, &status);
    EXPECT(memcmp(back, words, (size_t)mine * sizeof(int)) == 0);
    MPI_File_seek_shared(file, -all, MPI_SEEK_END);
    EXPECT(position(file) == all);
    memset(back, 0, sizeof(back));
    MPI_File_read_ordered_begin(file, back, mine, MPI_INT);
    MPI_File_read_ordered_end(file, back, &status);
    EXPECT(memcmp(back, words, (size_t)mine * sizeof(int)) == 0);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    EXPECT(MPI_File_seek_shared(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
    EXPECT(MPI_File_read_ordered_end(file, back, &status) != MPI_SUCCESS);
    EXPECT(position(file) == 2 * all);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each word is written once, in any order, and read once. */
static void check_any_order(MPI_File file)
{
    int seen[WORDS] = {0}, all[WORDS], word, other;
    MPI_Request request;
    MPI_Status status;

    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int i = 0; i < 4; i++) {
        word = 4 * rank + i;
        if (i % 2 == 0) {
            MPI_File_write_shared(file, &word, 1, MPI_INT, &status);
        } else {
            MPI_File_iwrite_shared(file, &word, 1, MPI_INT, &request);
            MPI_Wait(&request, &status);
        }
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(position(file) == 4 * ranks);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    for (int i = 0; i < 2; i++) {
        MPI_File_read_shared(file, &word, 1, MPI_INT, &status);
        MPI_File_iread_shared(file, &other, 1, MPI_INT, &request);
        MPI_Wait(&request, &status);
        seen[word]++;
        seen[other]++;
    }
    MPI_Allreduce(seen, all, 4 * ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 4 * ranks; i++) {
        EXPECT(all[i] == 1);
    }
}

/* A pointer that all ranks share. */
static void check_shared(void)
{
    const int begin = 7;
    int amode, word = -1;
    MPI_File file;

    name_make("shared", 0);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_ordered(file, &begin, (rank == 0) ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(position(file) == sizeof(begin));
    MPI_File_set_view(file, sizeof(begin), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    EXPECT(position(file) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    check_ordered(file);
    check_any_order(file);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_APPEND | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    EXPECT(position(file) == (MPI_Offset)sizeof(int) * (1 + ranks * (ranks + 1)) || ranks < 3);
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_get_amode(file, &amode);
    EXPECT(amode == (MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE));
    MPI_File_read_ordered(file, &word, (rank == 0) ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(word == ((rank == 0) ? begin : -1));
    MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_ordered(file, &word, (rank == ranks - 1) ? 1 : 0, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(word < 4 * ranks);
    MPI_File_close(&file);
    EXPECT(access(name, F_OK) != 0);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    check_offsets();
    check_views();
    check_shared();
    return expect_end("mpi_files");
}
