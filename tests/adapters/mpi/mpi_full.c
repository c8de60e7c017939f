/*
 * Messages without space in the sender's arena, in programs that rely on no buffering: nonblocking
 * sends are followed by the message that their receivers need first. Started with an arena of ARENA
 * mebibytes: mpi_full ARENA [CASE], with three ranks.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, DATA = 1, GO = 2, MANY = 40, ALL = 3 };

static int arena, large; /* bytes of a message; two do not fit */
static char *data, *got;

/* Marks a message at both ends with a word. */
static void mark(char *at, int bytes, int word)
{
    memcpy(at, &word, sizeof(word));
    memcpy(at + bytes - sizeof(word), &word, sizeof(word));
}

static int is_marked(const char *at, int bytes, int word)
{
    return memcmp(at, &word, sizeof(word)) == 0 && memcmp(at + bytes - sizeof(word), &word, sizeof(word)) == 0;
}

static void start(int i, int to, int tag, MPI_Request *request)
{
    mark(data + (size_t)i * (size_t)large, large, 100 * rank + i);
    MPI_Isend(data + (size_t)i * (size_t)large, large, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
}

static void receive(int i, int from, int tag)
{
    MPI_Recv(got, large, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(is_marked(got, large, 100 * from + i));
}

static void go(int to)
{
    MPI_Send(&rank, 1, MPI_INT, to, GO, MPI_COMM_WORLD);
}

static void await_go(int from)
{
    int said = -1;

    MPI_Recv(&said, 1, MPI_INT, from, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(said == from);
}

/* The receiver waits for a third rank, and the third rank for the sender's next message. */
static void check_third(void)
{
    MPI_Request requests[ALL];

    if (rank == 0) {
        for (int i = 0; i < ALL; i++) {
            start(i, 1, DATA, &requests[i]);
        }
        go(2);
        MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        await_go(2);
        for (int i = 0; i < ALL; i++) {
            receive(i, 0, DATA);
        }
    } else if (rank == 2) {
        await_go(0);
        go(1);
    }
}

/* The messages that fill the arena are taken only after a message without space has arrived
 * elsewhere. */
static void check_other(void)
{
    MPI_Request requests[ALL];

    if (rank == 0) {
        start(0, 1, DATA, &requests[0]);
        start(1, 2, DATA, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        await_go(1);
    } else if (rank == 1) {
        await_go(2);
        receive(0, 0, DATA);
        go(0);
    } else if (rank == 2) {
        receive(1, 0, DATA);
        go(1);
    }
}

/* A ring: each rank sends to the next before it receives. The first message sent is the last
 * received. */
static void check_ring(void)
{
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Request requests[ALL];

    for (int i = 0; i < ALL; i++) {
        start(i, next, DATA + i, &requests[i]);
    }
    for (int i = ALL; i-- > 0;) {
        receive(i, before, DATA + i);
    }
    MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE);
    mark(data, (arena + 1) * MIB, rank); /* larger than the arena */
    MPI_Sendrecv(data, (arena + 1) * MIB, MPI_BYTE, next, DATA, got, (arena + 1) * MIB, MPI_BYTE, before, DATA,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(is_marked(got, (arena + 1) * MIB, before));
}

/* Barriers between the sends and the receives, and between the receives and the end of the
 * sends. */
static void check_barriers(void)
{
    MPI_Request requests[2 * ALL];

    if (rank == 0) {
        for (int i = 0; i < ALL; i++) {
            start(i, 1, DATA, &requests[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < ALL; i++) {
            start(i, 2, DATA, &requests[ALL + i]);
        }
    }
    for (int i = 0; i < ALL && rank == 1; i++) {
        receive(i, 0, DATA);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ALL && rank == 2; i++) {
        receive(i, 0, DATA);
    }
    if (rank == 0) {
        MPI_Waitall(2 * ALL, requests, MPI_STATUSES_IGNORE);
    }
}

/* Two all-to-all exchanges larger than the arena, and broadcasts. */
static void check_collectives(void)
{
    MPI_Request request;

    for (int i = 0; i < ranks; i++) {
        mark(data + (size_t)i * (size_t)large, large, 10 * rank + i);
    }
    MPI_Ialltoall(data, large, MPI_BYTE, got, large, MPI_BYTE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(got, 0, (size_t)ranks * (size_t)large);
    MPI_Alltoall(data, large, MPI_BYTE, got, large, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        EXPECT(is_marked(got + (size_t)i * (size_t)large, large, 10 * i + rank));
    }
    for (int i = 0; i < ALL; i++) {
        mark(data, large, rank + i);
        MPI_Bcast(data, large, MPI_BYTE, 0, MPI_COMM_WORLD);
        EXPECT(is_marked(data, large, i));
    }
}

/* Short messages after long messages. The receiver requests the tags in reverse order. */
static void check_order(void)
{
    MPI_Request requests[MANY + ALL];
    int words[MANY], word;

    if (rank == 0) {
        for (int i = 0; i < ALL; i++) {
            start(i, 1, DATA, &requests[i]);
        }
        for (int i = 0; i < MANY; i++) {
            words[i] = i;
            MPI_Isend(&words[i], 1, MPI_INT, 1, 100 + i / 2, MPI_COMM_WORLD, &requests[ALL + i]);
        }
        go(2);
        MPI_Waitall(MANY + ALL, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        await_go(2);
        for (int i = MANY / 2; i-- > 0;) {
            for (int j = 0; j < 2; j++) {
                MPI_Recv(&word, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                EXPECT(word == 2 * i + j);
            }
        }
        for (int i = 0; i < ALL; i++) {
            receive(i, 0, DATA);
        }
    } else if (rank == 2) {
        await_go(0);
        go(1);
    }
}

/* A synchronous send ends once its receive is posted, even without space. A synchronous send
 * without a receive does not end, and is the last of all. */
static void check_synchronous(void)
{
    MPI_Request requests[ALL];
    int is_there;

    if (rank == 0) {
        start(0, 1, DATA, &requests[0]);
        start(1, 1, DATA, &requests[1]);
        mark(data + 2 * (size_t)large, large, 2);
        MPI_Ssend(data + 2 * (size_t)large, large, MPI_BYTE, 1, GO, MPI_COMM_WORLD);
        go(2);
        MPI_Issend(data, 1, MPI_BYTE, 1, DATA + 2, MPI_COMM_WORLD, &requests[2]);
        for (is_there = 0; !is_there;) {
            MPI_Test(&requests[2], &is_there, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Irecv(got, large, MPI_BYTE, 0, GO, MPI_COMM_WORLD, &requests[0]);
        await_go(2);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        EXPECT(is_marked(got, large, 2));
        receive(0, 0, DATA);
        receive(1, 0, DATA);
        MPI_Recv(got, 1, MPI_BYTE, 0, DATA + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 2) {
        await_go(0);
        go(1);
    }
}

/* A synchronous send ends during a long message to its sender. The long message arrives intact; no
 * message comes between its chunks. */
static void check_answers(void)
{
    MPI_Request request;
    char word = 0;

    if (rank < 2) {
        for (int i = 0; i < large; i++) {
            data[i] = (char)(i % 127 + 1);
        }
    }
    if (rank == 0) {
        MPI_Issend(&word, 1, MPI_CHAR, 1, GO, MPI_COMM_WORLD, &request);
        MPI_Recv(got, large, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(memcmp(got, data, (size_t)large) == 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Irecv(&word, 1, MPI_CHAR, 0, GO, MPI_COMM_WORLD, &request);
        MPI_Send(data, large, MPI_BYTE, 0, DATA, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Messages with a freed request arrive, from any source, too. The last message is received while
 * the other ranks finish. */
static void check_any(void)
{
    MPI_Request request;

    if (rank == 0) {
        for (int i = 0; i < 2 * ALL; i++) {
            MPI_Recv(got, large, MPI_BYTE, MPI_ANY_SOURCE, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (rank < 3) {
        for (int i = 0; i < ALL; i++) {
            start(i, 0, DATA, &request);
            MPI_Request_free(&request);
        }
    }
}

int main(int argc, char **argv)
{
    static void (*const cases[])(void) = {check_third,       check_other,       check_ring,
                                          check_barriers,    check_collectives, check_order,
                                          check_synchronous, check_answers,     check_any};
    const int only = (argc > 2) ? (int)strtol(argv[2], NULL, 10) : -1;

    arena = (argc > 1) ? (int)strtol(argv[1], NULL, 10) : 4;
    expect_begin(&argc, &argv);
    large = arena * MIB / 8 * 5;
    data = calloc((size_t)(ALL * arena), MIB);
    got = calloc((size_t)(ALL * arena), MIB);
    if (data == NULL || got == NULL || ranks != 3) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(*cases)); i++) {
        if (only < 0 || only == i) {
            cases[i]();
        }
    }
    free(data);
    free(got);
    return expect_end("mpi_full");
}
