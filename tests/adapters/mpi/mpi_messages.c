/* Messages of all kinds, each call's values checked on every rank. */
#include "expect.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LONG = 50000, SHORT = 16, PENDING_MAX = 1 << 20, PENDING_TAG = 500 };

static int right, left;

static void check_blocking(void)
{
    int value = rank, got = -1, count;
    MPI_Status status;
    double *many = malloc(LONG * sizeof(double)), *more = malloc(LONG * sizeof(double));

    MPI_Sendrecv(&value, 1, MPI_INT, right, 5, &got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(got == left && count == 1 && status.MPI_SOURCE == left && status.MPI_TAG == 5);
    for (int i = 0; i < LONG; i++) {
        many[i] = rank + i * 0.5;
    }
    MPI_Sendrecv(many, LONG, MPI_DOUBLE, right, 6, more, LONG, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    EXPECT(count == LONG && more[LONG - 1] == left + (LONG - 1) * 0.5 && status.MPI_TAG == 6);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(value == left);
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT(count == 0 && status.MPI_SOURCE == MPI_PROC_NULL && value == left);
    free(many);
    free(more);
}

/* Each rank sends to rank 0. Rank 0 receives in the order of arrival, and by tag in another
 * order. */
static void check_any(void)
{
    int sum = 0, value, flag = 0;
    MPI_Status status;

    if (rank > 0) {
        value = rank;
        MPI_Send(&value, 1, MPI_INT, 0, 100 + rank, MPI_COMM_WORLD);
        value = 2 * rank;
        MPI_Ssend(&value, 1, MPI_INT, 0, 200, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < ranks; i++) {
        MPI_Probe(i, 200, MPI_COMM_WORLD, &status);
        EXPECT(status.MPI_SOURCE == i && status.MPI_TAG == 200);
        MPI_Recv(&value, 1, MPI_INT, i, 200, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(value == 2 * i);
    }
    for (int i = 1; i < ranks; i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        EXPECT(status.MPI_SOURCE == value && status.MPI_TAG == 100 + value);
        sum += value;
    }
    EXPECT(sum == ranks * (ranks - 1) / 2);
    MPI_Iprobe(MPI_ANY_SOURCE, 201, MPI_COMM_WORLD, &flag, &status);
    EXPECT(!flag);
}

static void check_requests(void)
{
    enum { MANY = 20 };
    int from[MANY], to[MANY], index, flag, done = 0, indices[MANY], outcount;
    MPI_Request requests[2 * MANY], one;
    MPI_Status statuses[2 * MANY], status;

    for (int i = 0; i < MANY; i++) {
        to[i] = rank * 100 + i;
        MPI_Irecv(&from[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        MPI_Isend(&to[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[MANY + i]);
    }
    MPI_Wait(&requests[3], &status);
    EXPECT(from[3] == left * 100 + 3 && status.MPI_TAG == 3 && requests[3] == MPI_REQUEST_NULL);
    do {
        MPI_Test(&requests[4], &flag, &status);
    } while (!flag);
    EXPECT(from[4] == left * 100 + 4 && requests[4] == MPI_REQUEST_NULL);
    MPI_Waitany(MANY, requests, &index, &status);
    EXPECT(index >= 0 && index < MANY && from[index] == left * 100 + index && status.MPI_SOURCE == left);
    MPI_Waitsome(MANY, requests, &outcount, indices, statuses);
    EXPECT(outcount >= 1 && from[indices[0]] == left * 100 + indices[0]);
    MPI_Waitall(2 * MANY, requests, statuses);
    for (int i = 0; i < MANY; i++) {
        EXPECT(from[i] == left * 100 + i && requests[i] == MPI_REQUEST_NULL);
    }
    MPI_Waitany(MANY, requests, &index, &status);
    EXPECT(index == MPI_UNDEFINED);
    MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE);
    EXPECT(flag);
    MPI_Irecv(from, 1, MPI_INT, left, 999, MPI_COMM_WORLD, &one);
    MPI_Test(&one, &flag, &status);
    EXPECT(!flag);
    MPI_Cancel(&one);
    MPI_Wait(&one, &status);
    MPI_Test_cancelled(&status, &flag);
    EXPECT(flag);
    MPI_Irecv(from, 1, MPI_INT, left, 998, MPI_COMM_WORLD, &one);
    MPI_Issend(to, 1, MPI_INT, right, 998, MPI_COMM_WORLD, &requests[0]);
    while (done < 2) {
        MPI_Testany(1, &one, &index, &flag, &status);
        done += flag && index == 0;
        MPI_Testsome(1, requests, &outcount, indices, statuses);
        done += outcount == 1;
    }
    EXPECT(from[0] == left * 100);
}

static void check_persistent(void)
{
    int out = 0, in = -1, flag;
    MPI_Request requests[2];

    MPI_Recv_init(&in, 1, MPI_INT, left, 77, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, right, 77, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 10; i++) {
        out = rank * 1000 + i;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(in == left * 1000 + i && requests[0] != MPI_REQUEST_NULL);
    }
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    EXPECT(flag);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    EXPECT(requests[0] == MPI_REQUEST_NULL);
}

/* The elements of a column go to a row. */
static void check_types(void)
{
    int from[6][5], to[30], count;
    MPI_Datatype column, twice;
    MPI_Status status;

    for (int i = 0; i < 30; i++) {
        from[i / 5][i % 5] = rank * 100 + i;
        to[i] = -1;
    }
    MPI_Type_vector(6, 1, 5, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &twice);
    MPI_Type_commit(&twice);
    MPI_Sendrecv(&from[0][1], 2, twice, right, 1, to, 12, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    EXPECT(to[0] == left * 100 + 1 && to[5] == left * 100 + 26 && to[6] == left * 100 + 2 && to[12] == -1);
    MPI_Sendrecv(to, 12, MPI_INT, right, 2, &from[0][3], 2, twice, left, 2, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, twice, &count);
    EXPECT(count == 12 && from[0][2] == rank * 100 + 2);
    EXPECT(from[0][3] == (left + ranks - 1) % ranks * 100 + 1 && from[5][4] == (left + ranks - 1) % ranks * 100 + 27);
    MPI_Type_free(&twice);
    MPI_Type_free(&column);
}

/* The other kinds of sends and receives. */
static void check_ways(void)
{
    char room[1000 + 4 * MPI_BSEND_OVERHEAD], *back;
    int out[7], in[7], bytes, flag = 0;
    MPI_Request sends[5], receives[7];
    MPI_Message message;
    MPI_Status status;

    MPI_Buffer_attach(room, sizeof(room));
    for (int i = 0; i < 7; i++) {
        out[i] = rank * 10 + i;
        in[i] = -1;
        if (i < 5) {
            MPI_Recv_init(&in[i], 1, MPI_INT, left, 300 + i, MPI_COMM_WORLD, &receives[i]);
            MPI_Start(&receives[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD); /* a ready send requires a posted receive */
    MPI_Ibsend(&out[0], 1, MPI_INT, right, 300, MPI_COMM_WORLD, &sends[0]);
    MPI_Irsend(&out[1], 1, MPI_INT, right, 301, MPI_COMM_WORLD, &sends[1]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, right, 302, MPI_COMM_WORLD, &sends[2]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, right, 303, MPI_COMM_WORLD, &sends[3]);
    MPI_Ssend_init(&out[4], 1, MPI_INT, right, 304, MPI_COMM_WORLD, &sends[4]);
    MPI_Startall(3, &sends[2]);
    while (!flag) {
        MPI_Request_get_status(receives[4], &flag, &status);
    }
    EXPECT(in[4] == left * 10 + 4 && status.MPI_TAG == 304);
    MPI_Waitall(5, receives, MPI_STATUSES_IGNORE);
    MPI_Waitall(5, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; i++) {
        EXPECT(in[i] == left * 10 + i);
        MPI_Request_free(&receives[i]);
    }
    for (int i = 2; i < 5; i++) {
        MPI_Request_free(&sends[i]);
    }
    MPI_Bsend(&out[5], 1, MPI_INT, right, 305, MPI_COMM_WORLD);
    for (flag = 0; !flag;) {
        MPI_Improbe(left, 305, MPI_COMM_WORLD, &flag, &message, &status);
    }
    MPI_Imrecv(&in[5], 1, MPI_INT, &message, &receives[0]);
    MPI_Wait(&receives[0], &status);
    EXPECT(in[5] == left * 10 + 5 && status.MPI_SOURCE == left && status.MPI_TAG == 305);
    MPI_Irecv(&in[6], 1, MPI_INT, left, 306, MPI_COMM_WORLD, &receives[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&out[6], 1, MPI_INT, right, 306, MPI_COMM_WORLD);
    MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
    EXPECT(in[6] == left * 10 + 6);
    MPI_Buffer_detach(&back, &bytes);
    EXPECT(back == room && bytes == (int)sizeof(room));
}

/* A synchronous send ends once its receive is posted, even if the receiver waits for a barrier,
 * another message or a lock. */
static void check_synchronous(void)
{
    int value = rank, got[3] = {-1, -1, -1}, flag, *memory;
    MPI_Request request, any;
    MPI_Win win;

    MPI_Win_allocate(sizeof(*memory), sizeof(*memory), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    }
    if (rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, 1, 400, MPI_COMM_WORLD, &request);
        MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 401, MPI_COMM_WORLD, &any);
    } else if (rank == 1) {
        /* matches the receive from any source */
        MPI_Send(&value, 1, MPI_INT, 0, 401, MPI_COMM_WORLD);
        MPI_Ssend(&value, 1, MPI_INT, 0, 400, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Wait(&any, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(got[0] == 1 && got[1] == 1);
        MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&any, MPI_STATUS_IGNORE);
        EXPECT(got[2] == 1);
    } else {
        if (rank == 1) { /* the receive may not be posted yet, or its rank waits in the barrier */
            MPI_Issend(&value, 1, MPI_INT, 0, 402, MPI_COMM_WORLD, &request);
            for (flag = 0; !flag;) {
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Irecv(&got[0], 1, MPI_INT, 1, 403, MPI_COMM_WORLD, &request);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_unlock(0, win);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (ranks > 2) {
            MPI_Irecv(&got[1], 1, MPI_INT, 1, 404, MPI_COMM_WORLD, &request);
            MPI_Recv(&got[2], 1, MPI_INT, 2, 405, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            EXPECT(got[1] == 1 && got[2] == 2);
        }
    } else if (rank == 1) {
        MPI_Ssend(&value, 1, MPI_INT, 0, 403, MPI_COMM_WORLD);
        MPI_Win_unlock(0, win);
        if (ranks > 2) {
            MPI_Ssend(&value, 1, MPI_INT, 0, 404, MPI_COMM_WORLD);
            MPI_Send(NULL, 0, MPI_INT, 2, 406, MPI_COMM_WORLD);
        }
    } else if (rank == 2) {
        MPI_Recv(NULL, 0, MPI_INT, 1, 406, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 405, MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
}

/* Waits outside of MPI. */
static void await_flag(const int *flag, int value)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value) {
        sched_yield();
    }
}

/* Sends until a message finds no space; rank 1 takes all but the last. */
static void fill(char *data, int *flags)
{
    MPI_Request request;
    int sent = 0, is_sent, answer;

    for (;; sent++) {
        MPI_Isend(data, SHORT, MPI_BYTE, 1, PENDING_TAG, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &is_sent, MPI_STATUS_IGNORE);
        if (!is_sent || sent == PENDING_MAX) {
            break;
        }
    }
    EXPECT(!is_sent);
    flags[1] = sent;
    __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);
    await_flag(&flags[0], 2);
    MPI_Recv(&answer, 1, MPI_INT, 1, PENDING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    __atomic_store_n(&flags[0], 3, __ATOMIC_RELEASE);
    await_flag(&flags[0], 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void drain(char *data, int *flags)
{
    int is_there;

    await_flag(&flags[0], 1);
    for (int i = 0; i < flags[1]; i++) {
        MPI_Recv(data, SHORT, MPI_BYTE, 0, PENDING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&rank, 1, MPI_INT, 0, PENDING_TAG, MPI_COMM_WORLD);
    __atomic_store_n(&flags[0], 2, __ATOMIC_RELEASE);
    await_flag(&flags[0], 3);
    MPI_Iprobe(0, PENDING_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    EXPECT(is_there);
    __atomic_store_n(&flags[0], 4, __ATOMIC_RELEASE);
    MPI_Recv(data, SHORT, MPI_BYTE, 0, PENDING_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A receive that takes its message at once sends what has become possible, too: its rank may not
 * wait in any later call. The two ranks need common memory. */
static void check_pending(void)
{
    char data[SHORT] = {0};
    int *flags, size, unit;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win win;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    if (size >= 2) {
        MPI_Win_allocate_shared(2 * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, node, &flags, &win);
        MPI_Win_shared_query(win, 0, &bytes, &unit, &flags);
        flags[0] = 0;
        MPI_Barrier(node);
        if (rank == 0) {
            fill(data, flags);
        } else if (rank == 1) {
            drain(data, flags);
        }
        MPI_Win_free(&win);
    }
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    check_blocking();
    check_any();
    check_requests();
    check_persistent();
    check_types();
    check_ways();
    if (ranks > 1) {
        check_synchronous();
        check_pending();
    }
    return expect_end("mpi_messages");
}
