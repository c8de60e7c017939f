/* Files of all ranks, by explicit offsets and by a pointer of each, and of one rank with all that the system's MPI has for them. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 1000 };

static char name[200];

/* the same for all, and nobody else's */
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
    MPI_File_set_size(file, 100); /* what all wrote before it is cut off, and nothing that is written after it */
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
           MPI_SUCCESS); /* in all ranks */
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

/* each has its words at every so many */
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

/* a pointer that several ranks share is refused; one rank has it */
static void check_shared(void)
{
    int words[4] = {rank, rank + 1, rank + 2, rank + 3}, back[4] = {-1, -1, -1, -1};
    MPI_Offset at;
    MPI_Request request;
    MPI_Status status;
    MPI_File file;

    name_make("shared", 0);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    EXPECT(ranks == 1 ||
           class_of(MPI_File_write_shared(file, words, 1, MPI_INT, &status)) == MPI_ERR_UNSUPPORTED_OPERATION);
    EXPECT(ranks == 1 || class_of(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_File_close(&file);
    name_make("own", 1);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_shared(file, &words[0], 1, MPI_INT, &status);
    MPI_File_iwrite_shared(file, &words[1], 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(file, &words[2], 1, MPI_INT, &status);
    MPI_File_write_ordered_begin(file, &words[3], 1, MPI_INT);
    MPI_File_write_ordered_end(file, &words[3], &status);
    MPI_File_get_position_shared(file, &at);
    EXPECT(at == 4);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_shared(file, &back[0], 1, MPI_INT, &status);
    MPI_File_iread_shared(file, &back[1], 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_ordered(file, &back[2], 1, MPI_INT, &status);
    MPI_File_read_ordered_begin(file, &back[3], 1, MPI_INT);
    MPI_File_read_ordered_end(file, &back[3], &status);
    EXPECT(memcmp(words, back, sizeof(words)) == 0);
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
