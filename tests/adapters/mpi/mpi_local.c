/*
 * Nonblocking calls return although the receiver is idle. The receiver polls its memory until a
 * word is put after these calls, and then takes the messages. There are more messages of each kind
 * than a ring can hold.
 */
#include "expect.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 300000, KINDS = 5, MANY = 2000 };

static char *data, *got;
static MPI_Win win;
static volatile long *word;

static char byte_of(int kind, int i)
{
    return (char)(kind * 31 + i * 7 + 1);
}

static void fill(int kind)
{
    for (int i = 0; i < LARGE; i++) {
        data[kind * LARGE + i] = byte_of(kind, i);
    }
}

static int is_filled(const char *at, int kind)
{
    for (int i = 0; i < LARGE; i++) {
        if (at[i] != byte_of(kind, i)) {
            return 0;
        }
    }
    return 1;
}

/* Lets the receiver go on. */
static void put_word(int to, long value)
{
    MPI_Put(&value, 1, MPI_LONG, to, 0, 1, MPI_LONG, win);
    MPI_Win_flush(to, win);
}

static void await_word(long value)
{
    while (*word < value) {
        sched_yield();
    }
    MPI_Win_sync(win);
}

static void send_all(void)
{
    char *room = malloc(LARGE + MPI_BSEND_OVERHEAD);
    MPI_Request requests[5], many[MANY];
    MPI_Datatype pairs;
    int size;

    MPI_Buffer_attach(room, LARGE + MPI_BSEND_OVERHEAD);
    MPI_Type_vector(LARGE / 2, 1, 2, MPI_CHAR, &pairs); /* every second byte: packed by the call */
    MPI_Type_commit(&pairs);
    for (int kind = 0; kind < KINDS; kind++) {
        fill(kind);
    }
    MPI_Isend(data, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Bsend(data + LARGE, LARGE, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    memset(data + LARGE, 0, LARGE); /* the buffer is the program's again */
    MPI_Issend(data + 2 * LARGE, LARGE, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(data + 3 * LARGE, 1, pairs, 1, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Send_init(data + 4 * LARGE, LARGE, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &requests[3]);
    MPI_Start(&requests[3]);
    for (int i = 0; i < MANY; i++) {
        MPI_Isend(data + 4 * LARGE + i, 1, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &many[i]);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
    put_word(1, 1);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, many, MPI_STATUSES_IGNORE);
    memset(data, 0, (size_t)KINDS * LARGE);
    MPI_Request_free(&requests[3]);
    MPI_Type_free(&pairs);
    MPI_Buffer_detach(&room, &size);
    free(room);
}

static void receive_all(void)
{
    MPI_Request barrier;
    char one = 0;

    await_word(1);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    for (int kind = KINDS - 1; kind >= 0; kind--) { /* from the last kind to the first */
        MPI_Recv(got, LARGE, MPI_CHAR, 0, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (kind != 3) {
            EXPECT(is_filled(got, kind));
        }
        for (int i = 0; kind == 3 && i < LARGE / 2; i++) {
            EXPECT(got[i] == byte_of(kind, 2 * i));
        }
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Recv(&one, 1, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(one == byte_of(4, i));
    }
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

/* The buffer is the program's again when a synchronous send has ended. A match at the receiver
 * alone is not enough. */
static void check_synchronous(void)
{
    MPI_Request request;

    for (int i = 0; i < 20; i++) {
        if (rank == 0) {
            fill(i % KINDS);
            MPI_Issend(data + i % KINDS * LARGE, LARGE, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &request);
            if (i % 2 == 0) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
            } else {
                for (int is_done = 0; !is_done;) {
                    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
                }
            }
            memset(data + i % KINDS * LARGE, 0, LARGE);
            fill(i % KINDS);
            MPI_Ssend(data + i % KINDS * LARGE, LARGE, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
            memset(data + i % KINDS * LARGE, 0, LARGE);
        } else if (rank == 1) {
            for (int j = 0; j < 2; j++) {
                MPI_Recv(got, LARGE, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EXPECT(is_filled(got, i % KINDS));
            }
        }
    }
}

/* The received data replaces the buffer, and the sent data is the old contents. */
static void check_replaced(void)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

    fill(rank % KINDS);
    memcpy(got, data + rank % KINDS * LARGE, LARGE);
    MPI_Sendrecv_replace(got, LARGE, MPI_CHAR, right, 6, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(is_filled(got, left % KINDS));
}

/* The program ends without a wait. The data is the program's again once the request is freed. */
static void send_and_end(void)
{
    MPI_Request request;

    if (rank == 0) {
        fill(0);
        MPI_Isend(data, LARGE, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Issend(data, LARGE, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        memset(data, 0, LARGE);
    } else if (rank == 1) {
        for (int i = 0; i < 2; i++) {
            MPI_Recv(got, LARGE, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT(is_filled(got, 0));
        }
    }
}

/* Called in MPI_Finalize: messages of nonblocking sends there arrive, too. */
static int send_at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    static char room[LARGE + MPI_BSEND_OVERHEAD], late[LARGE];
    void *back;
    int size;

    if (rank == 0) {
        memset(late, 9, LARGE);
        MPI_Buffer_attach(room, sizeof(room));
        MPI_Bsend(late, LARGE, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(late, LARGE, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(late[0] == 9 && late[LARGE - 1] == 9);
    }
    if (rank == 0) {
        MPI_Buffer_detach(&back, &size);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    long *base;
    int key;

    expect_begin(&argc, &argv);
    data = malloc((size_t)KINDS * LARGE);
    got = malloc(LARGE);
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = 0;
    word = base;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (ranks > 1) {
        if (rank == 0) {
            send_all();
        } else if (rank == 1) {
            receive_all();
        } else {
            MPI_Request barrier;

            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        }
        check_synchronous();
        check_replaced();
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (ranks > 1) {
        send_and_end();
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_at_the_end, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    free(data);
    free(got);
    return expect_end("mpi_local");
}
