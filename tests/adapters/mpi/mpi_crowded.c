/*
 * Messages as large as the arena, outstanding to several ranks. The sender does not know the order
 * of the receives. Started with an arena of ARENA mebibytes: mpi_crowded ARENA. Rank 1 takes no
 * message of rank 0 until rank 2 has taken all of its own and has signalled rank 1; a receive is
 * posted meanwhile. Then a chain of messages is taken to the end, and the last message leaves space
 * for the next.
 */
#include "expect.h"

#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20, SHORTS = 60, SHORT = 4096, DATA = 1, GO = 2, DONE = 3 };

static char *data, *got;

static void send_large(int to, int mib, int tag)
{
    data[0] = (char)(to + tag);
    data[mib * MIB - 1] = (char)mib;
    MPI_Send(data, mib * MIB, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive_large(int mib, int tag)
{
    got[0] = got[mib * MIB - 1] = -1;
    MPI_Recv(got, mib * MIB, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(got[0] == rank + tag && got[mib * MIB - 1] == mib);
}

/* With sends that need no space, every order is correct. */
static void check_three(int arena)
{
    MPI_Request requests[2];
    char done = 0;

    if (rank == 0) {
        MPI_Irecv(&done, 1, MPI_CHAR, MPI_ANY_SOURCE, DONE, MPI_COMM_WORLD, &requests[0]);
        memset(data, 0, (size_t)arena * MIB);
        data[0] = 1 + DATA;
        data[(arena - 2) * MIB - 1] = (char)(arena - 2);
        MPI_Isend(data, (arena - 2) * MIB, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &requests[1]);
        send_large(2, 1, DATA);
        send_large(2, 1, DATA);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(done == 1);
    } else if (rank == 1) {
        MPI_Recv(&done, 1, MPI_CHAR, 2, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive_large(arena - 2, DATA);
        MPI_Ssend(&done, 1, MPI_CHAR, 0, DONE, MPI_COMM_WORLD);
    } else if (rank == 2) {
        receive_large(1, DATA);
        receive_large(1, DATA);
        done = 1;
        MPI_Send(&done, 1, MPI_CHAR, 1, GO, MPI_COMM_WORLD);
    }
}

/* The messages after those that fill the ring form a chain. The last message of the chain is
 * large. */
static void check_chain(int arena)
{
    char word = 1;

    if (rank == 0) {
        for (int i = 0; i < SHORTS; i++) {
            MPI_Send(data, SHORT - 512, MPI_BYTE, 1, DATA, MPI_COMM_WORLD);
        }
        send_large(1, arena - 2, DATA);
        MPI_Send(&word, 1, MPI_CHAR, 2, GO, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_CHAR, 1, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_large(2, arena - 2, DATA);
    } else if (rank == 1) {
        MPI_Recv(&word, 1, MPI_CHAR, 2, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < SHORTS; i++) {
            MPI_Recv(got, SHORT, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        receive_large(arena - 2, DATA);
        MPI_Send(&word, 1, MPI_CHAR, 0, DONE, MPI_COMM_WORLD);
    } else if (rank == 2) {
        MPI_Recv(&word, 1, MPI_CHAR, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_CHAR, 1, GO, MPI_COMM_WORLD);
        receive_large(arena - 2, DATA);
    }
}

int main(int argc, char **argv)
{
    const int arena = (argc > 1) ? (int)strtol(argv[1], NULL, 10) : 4;

    expect_begin(&argc, &argv);
    data = calloc((size_t)arena, MIB);
    got = calloc((size_t)arena, MIB);
    if (data == NULL || got == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    check_three(arena);
    MPI_Barrier(MPI_COMM_WORLD);
    check_chain(arena);
    free(data);
    free(got);
    return expect_end("mpi_crowded");
}
