/*
 * A rank dies while waiting for an exclusive lock shared by rank 0. The replacement and all other
 * ranks get the lock afterwards, each once in each step: mpi_waiter STEPS.
 */
#include <keel_mpi.h>
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { FATAL = 3, USAGE = 2, WRONG = 1, DEATH_US = 200000, HELD_US = 600000 };

static struct {
    long step;
} at; /* protected */

static void die(int signal)
{
    (void)signal;
    (void)kill(getpid(), SIGKILL);
}

/* Rank 1 dies some time after this call, in the first incarnation. By then the rank waits for the
 * lock. */
static void die_soon(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = DEATH_US}};

    if (at.step == FATAL && keel_mpi_incarnation() == 0) {
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
}

static void add_one(MPI_Win win)
{
    long value;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    value++;
    MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
}

static void step(int rank, int ranks, MPI_Win win)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        die_soon();
    } else if (rank == ranks - 1) {
        if (at.step == FATAL) {
            usleep(HELD_US);
        }
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    add_one(win);
}

int main(int argc, char **argv)
{
    const long steps = (argc == 2) ? strtol(argv[1], NULL, 10) : 0;
    int rank, ranks;
    long *count;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (steps == 0 || ranks < 3) {
        fputs("usage: mpi_waiter STEPS, with 3 ranks or more\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, USAGE);
    }
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &count, &win);
    *count = 0;
    keel_mpi_protect(1, &at, sizeof(at));
    KEEL_MPI_RESTART_POINT();
    while (at.step < steps) {
        step(rank, ranks, win);
        MPI_Barrier(MPI_COMM_WORLD);
        at.step++;
        if (at.step % 2 == 0) {
            keel_mpi_checkpoint();
        }
    }
    if (rank == 0) {
        if (*count != steps * ranks) {
            fprintf(stderr, "mpi_waiter: the lock was had %ld times, not %ld\n", *count, steps * ranks);
            MPI_Abort(MPI_COMM_WORLD, WRONG);
        }
        printf("mpi_waiter: %d ranks, %ld steps: right\n", ranks, steps);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
