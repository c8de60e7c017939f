/*
 * A refused checkpoint, by a word: mpi_unfit
 * request|freed|matched|window|communicator|post|handle|prefix|attach|attached. And an accepted
 * checkpoint, with two ranks: with "sent" more messages are outstanding than fit into the arena,
 * without a receive or a wait; with "polls" a rank has polled before the restart point more often
 * than the record has room for, and dies; with "offered" a message is on its way at the restart
 * point that the receiver fetches.
 */
#include <keel_mpi.h>
#include <mpi.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { POLLS = 300 }; /* each a value of 40 bytes or more */

static struct {
    long step;
    MPI_Comm comm;
} state; /* protected */

/* Rank 1 polls in vain: the message is sent after the polls. */
static void poll_in_vain(int rank)
{
    int flag = 0;

    if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < POLLS; i++) {
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Send(NULL, 0, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 reports with the first message that it can fetch, so the second one is offered. */
static void offer(int rank, char *data, int bytes)
{
    const int room = 2 * (bytes + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);

    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < 2; i++) {
        if (rank == 0) {
            data[0] = (char)('a' + i);
            MPI_Bsend(data, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        } else if (i == 0) {
            MPI_Recv(data, bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    const char *word = (argc > 1) ? argv[1] : "";
    static char many[100000], page[20000];
    MPI_Request request = MPI_REQUEST_NULL;
    static int rank, is_wrong;
    MPI_Message message;
    MPI_Win win, late;
    MPI_Group world;
    MPI_Comm dup;
    long *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    state.comm = (strcmp(word, "handle") == 0) ? dup : MPI_COMM_NULL;
    keel_mpi_protect(7, &state, sizeof(state));
    for (int i = 0; i < 20 && strcmp(word, "prefix") == 0; i++) {
        memset(many, 'a' + i, sizeof(many)); /* equal values would take the room of one */
        MPI_Bcast(many, sizeof(many), MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    if (strcmp(word, "polls") == 0) {
        poll_in_vain(rank);
    }
    if (strcmp(word, "attached") == 0) {
        MPI_Win_attach(win, page, sizeof(page));
    }
    if (strcmp(word, "offered") == 0) {
        offer(rank, many, sizeof(many));
    }
    KEEL_MPI_RESTART_POINT();
    if (strcmp(word, "offered") == 0 && rank == 1) {
        MPI_Recv(many, sizeof(many), MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        is_wrong = many[0] != 'b';
    }
    if (strcmp(word, "polls") == 0 && rank == 1 && keel_mpi_incarnation() == 0) {
        raise(SIGKILL);
    }
    if (strcmp(word, "request") == 0 || strcmp(word, "freed") == 0) {
        MPI_Irecv(many, 1, MPI_CHAR, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
        if (strcmp(word, "freed") == 0) {
            MPI_Request_free(&request);
        }
    } else if (strcmp(word, "matched") == 0) {
        MPI_Send(many, 1, MPI_CHAR, 0, 4, MPI_COMM_SELF);
        MPI_Mprobe(0, 4, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    } else if (strcmp(word, "window") == 0) {
        MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &late);
    } else if (strcmp(word, "communicator") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    } else if (strcmp(word, "post") == 0) {
        MPI_Win_post(world, 0, win);
    } else if (strcmp(word, "attach") == 0) {
        MPI_Win_attach(win, page, sizeof(page));
    } else if (strcmp(word, "sent") == 0) {
        many[sizeof(many) - 1] = 'x';
        MPI_Isend(many, sizeof(many), MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &request);
    }
    keel_mpi_checkpoint();
    if (strcmp(word, "sent") == 0) {
        many[sizeof(many) - 1] = 0;
        MPI_Recv(many, sizeof(many), MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        is_wrong = many[sizeof(many) - 1] != 'x';
    }
    MPI_Finalize();
    return is_wrong;
}
