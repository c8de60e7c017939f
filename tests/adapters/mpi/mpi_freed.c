/*
 * Objects freed while still in use, callbacks on a free, and facts about the whole job: datatypes
 * that name a byte twice, attributes, and windows over memory adjacent to memory of other threads.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 100, FEW = 24 };

static int keys[3], called, at_end, right, left;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

static void take_away(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++) {
        ((int *)inout)[i] -= 1000;
    }
}

static void check_messages(void)
{
    int said[4] = {rank, rank + 1, rank + 2, rank + 3}, got[4] = {-1, -1, -1, -1};
    MPI_Datatype four, two;
    MPI_Message matched;
    MPI_Request sends, issued;
    MPI_Status status;
    MPI_Comm dup;

    MPI_Type_contiguous(4, MPI_INT, &four);
    MPI_Type_commit(&four);
    MPI_Send_init(said, 1, four, right, 1, MPI_COMM_WORLD, &sends);
    MPI_Type_free(&four);
    MPI_Type_contiguous(2, MPI_INT, &two); /* possibly at the address of the freed type */
    MPI_Type_commit(&two);
    MPI_Start(&sends);
    status.MPI_ERROR = 4711;
    MPI_Recv(got, 4, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    /* single receives leave MPI_ERROR alone */
    EXPECT(got[3] == left + 3 && status.MPI_ERROR == 4711);
    MPI_Wait(&sends, MPI_STATUS_IGNORE);
    MPI_Request_free(&sends);
    MPI_Type_free(&two);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Send_init(said, 1, MPI_INT, right, 5, dup, &sends);
    MPI_Recv_init(got, 1, MPI_INT, left, 5, dup, &issued);
    MPI_Comm_free(&dup);
    MPI_Start(&sends);
    MPI_Start(&issued);
    MPI_Wait(&issued, &status);
    MPI_Wait(&sends, MPI_STATUS_IGNORE);
    EXPECT(got[0] == left && status.MPI_SOURCE == left);
    MPI_Request_free(&sends);
    MPI_Request_free(&issued);

    MPI_Issend(said, 4, MPI_INT, right, 2, MPI_COMM_WORLD, &issued);
    MPI_Request_free(&issued); /* before the matching receive */
    MPI_Recv(got, 4, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(got[0] == left);

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Send(said, 1, MPI_INT, right, 3, dup);
    MPI_Mprobe(left, 3, dup, &matched, MPI_STATUS_IGNORE);
    MPI_Comm_free(&dup);
    MPI_Mrecv(got, 1, MPI_INT, &matched, &status);
    EXPECT(got[0] == left && status.MPI_SOURCE == left && status.MPI_TAG == 3);
}

/* Frees requests of receives. Their messages are sent after this rank has gone on. */
static void check_receives(void)
{
    int in[2] = {-1, -1}, word = 0, out = rank;
    MPI_Request requests[2];

    MPI_Irecv(&in[0], 1, MPI_INT, left, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Send(&out, 1, MPI_INT, left, 8, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int tag = 6; tag < 9; tag++) {
        MPI_Send(&out, 1, MPI_INT, right, tag, MPI_COMM_WORLD);
    }
    MPI_Recv(&word, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(in[0] == left && in[1] == left);
}

static void check_reductions(void)
{
    int mine = rank + 1, sum = -1, of_pairs[2] = {rank, 2 * rank}, sums[2] = {-1, -1};
    MPI_Request requests[2];
    MPI_Datatype pair;
    MPI_Op first, second;

    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &first);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, first, MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(of_pairs, sums, 2, pair, first, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&pair);
    MPI_Op_free(&first);
    EXPECT(first == MPI_OP_NULL && pair == MPI_DATATYPE_NULL);
    MPI_Op_create(take_away, 1, &second); /* possibly at the address of the freed operation */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Op_free(&second);
    EXPECT(sum == ranks * (ranks + 1) / 2 && sums[0] == ranks * (ranks - 1) / 2 && sums[1] == 2 * sums[0]);
}

/* Overlaps are legal if the type is only read. */
static void check_overlaps(void)
{
    int lengths[4] = {1, 1, 1, 1}, places[4] = {0, 0, 1, 1}, memory[2] = {10 * rank, 10 * rank + 1}, got[4] = {0};
    MPI_Datatype twice;
    MPI_Request sends;
    int *cells;
    MPI_Win win;

    MPI_Type_indexed(4, lengths, places, MPI_INT, &twice);
    MPI_Type_commit(&twice);
    MPI_Isend(memory, 1, twice, right, 4, MPI_COMM_WORLD, &sends);
    MPI_Recv(got, 4, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sends, MPI_STATUS_IGNORE);
    EXPECT(got[0] == 10 * left && got[1] == got[0] && got[2] == got[0] + 1 && got[3] == got[2]);
    MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    memcpy(cells, memory, sizeof(memory));
    memset(got, 0, sizeof(got));
    MPI_Win_fence(0, win);
    MPI_Get(got, 4, MPI_INT, right, 0, 1, twice, win);
    MPI_Win_fence(0, win);
    EXPECT(got[0] == 10 * right && got[1] == got[0] && got[2] == got[0] + 1 && got[3] == got[2]);
    MPI_Win_free(&win);
    MPI_Type_free(&twice);
}

/* ---- attributes ---- */

static int comm_is_freed(MPI_Comm comm, int key, void *value, void *state)
{
    int size = -1;

    MPI_Comm_size(comm, &size);
    EXPECT(size == *(int *)value);
    called++;
    return MPI_SUCCESS;
}

static int win_is_freed(MPI_Win win, int key, void *value, void *state)
{
    MPI_Group group = MPI_GROUP_NULL;
    int size = -1;

    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    EXPECT(size == *(int *)value);
    called++;
    return MPI_SUCCESS;
}

static void check_calls(void)
{
    int comm_key, win_key, *cells;
    MPI_Comm dup;
    MPI_Win win;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_is_freed, &comm_key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_is_freed, &win_key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_attr(dup, comm_key, &ranks);
    MPI_Comm_free(&dup);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_set_attr(win, win_key, &ranks);
    MPI_Win_free(&win);
    EXPECT(called == 2);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Win_free_keyval(&win_key);
}

static void check_job(void)
{
    int *value = NULL, is_there = 0;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &is_there);
    EXPECT(is_there && *value == ranks);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &is_there);
    EXPECT(is_there && *value == 0);
}

/* Called in reverse order of creation, while MPI still works. */
static int ends(MPI_Comm comm, int key, void *value, void *state)
{
    int is_over = 1, sum = 0;

    MPI_Finalized(&is_over);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(!is_over && sum == ranks * (ranks - 1) / 2 &&
           (keys[1] != MPI_KEYVAL_INVALID ? key == keys[1] : key == keys[at_end == 0 ? 2 : 0]));
    at_end++;
    return MPI_SUCCESS;
}

static void set_at_self(void)
{
    for (int i = 0; i < 3; i++) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ends, &keys[i], NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &called);
    }
    MPI_Comm_delete_attr(MPI_COMM_SELF, keys[1]);
    EXPECT(at_end == 1);
    at_end = 0;
    keys[1] = MPI_KEYVAL_INVALID;
}

/* Windows on pages that other threads of the process, including Keel's, store to meanwhile. */
static void check_windows(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        int *memory = malloc(FEW * sizeof(int));
        const int said = rank + i;
        MPI_Win win;

        memory[0] = -1;
        MPI_Win_create(memory, FEW * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(&said, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        EXPECT(memory[0] == left + i);
        MPI_Win_free(&win);
        EXPECT(memory[0] == left + i);
        free(memory);
    }
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    check_messages();
    check_receives();
    check_reductions();
    check_overlaps();
    check_calls();
    check_job();
    check_windows();
    set_at_self();
    expect_end("mpi_freed");
    if (at_end != 2) {
        printf("mpi_freed: called %d times at the end\n", at_end);
    }
    return flaws > 0;
}
