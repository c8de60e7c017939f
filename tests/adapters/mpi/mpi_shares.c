/*
 * A looping program with shared memory, neighbours of a grid, nonblocking collectives and messages
 * between two groups. All objects are made before the restart point.
 *
 *   mpi_shares STEPS -|RANK@STEP.PLACE,...
 *       the named ranks die there in the first incarnation: 0 before the step, 1 after the
 *       stores, 2 with outstanding requests, 3 after the messages
 */
#include "deaths.h"

#include <keel_mpi.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAVE_EVERY = 4, USAGE = 2, WRONG = 1 };

static struct {
    long step, sum;
} done;
static const char *deaths;
static int rank, ranks;

typedef struct {
    MPI_Comm node, ring, inter, copy;
    MPI_Win shared, apart;
    long *mine, *others, *apart_right; /* own word, and the words stored to by this rank */
} world_t;

static void die_here(unsigned place)
{
    die_when_said(deaths, (unsigned long)rank, (unsigned long)done.step, place);
}

static void expect(long is, long expected, const char *what)
{
    if (is != expected) {
        fprintf(stderr, "mpi_shares: rank %d, step %ld: %s is %ld, not %ld\n", rank, done.step, what, is, expected);
        MPI_Abort(MPI_COMM_WORLD, WRONG);
    }
}

static void world_make(world_t *world)
{
    const int periods = 1, half = ranks / 2;
    int unit, sum;
    MPI_Aint bytes;
    MPI_Request request;
    MPI_Comm part;
    MPI_Info info;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &world->node);
    MPI_Comm_size(world->node, &sum);
    expect(sum, ranks, "the number of ranks that share memory");
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, world->node, &world->mine, &world->shared);
    MPI_Win_shared_query(world->shared, 0, &bytes, &unit, &world->others);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), info, world->node, &world->apart_right, &world->apart);
    *world->apart_right = *world->mine = 0;
    MPI_Win_shared_query(world->apart, (rank + 1) % ranks, &bytes, &unit, &world->apart_right);
    MPI_Info_free(&info);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periods, 0, &world->ring);
    MPI_Comm_idup(world->ring, &world->copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank < half, rank, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank < half ? half : 0, 9, &world->inter);
    MPI_Comm_free(&part);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum, ranks * (ranks - 1) / 2, "a sum before the restart point");
    MPI_Win_lock_all(MPI_MODE_NOCHECK, world->shared);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, world->apart);
}

static void meet(const world_t *world)
{
    MPI_Win_sync(world->shared);
    MPI_Barrier(world->node);
    MPI_Win_sync(world->shared);
}

static void step(const world_t *world)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    const long said[] = {done.step * 100 + rank, done.step * 1000 + rank};
    long received[2] = {-1, -1}, sum = 0, from = -1;
    int me, others;
    MPI_Request requests[2];

    die_here(0);
    world->others[right] = done.step * 10 + rank;
    *world->apart_right += 1;
    die_here(1);
    meet(world);
    expect(*world->mine, done.step * 10 + left, "what the left one stored");
    expect(world->others[right], done.step * 10 + rank, "what was stored to the right");
    MPI_Neighbor_alltoall(said, 1, MPI_LONG, received, 1, MPI_LONG, world->copy);
    expect(received[0], done.step * 1000 + left, "the value of the left rank");
    expect(received[1], done.step * 100 + right, "the value of the right rank");
    MPI_Iallreduce(&said[0], &sum, 1, MPI_LONG, MPI_SUM, world->ring, &requests[0]);
    MPI_Ibarrier(world->ring, &requests[1]);
    die_here(2);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(sum, ranks * done.step * 100 + ranks * (ranks - 1) / 2, "the sum");
    MPI_Comm_rank(world->inter, &me);
    MPI_Comm_remote_size(world->inter, &others);
    if (me < others) {
        MPI_Send(&said[0], 1, MPI_LONG, me, 3, world->inter);
        die_here(3);
        MPI_Recv(&from, 1, MPI_LONG, me, 3, world->inter, MPI_STATUS_IGNORE);
        expect(from % 100, rank < ranks / 2 ? rank + ranks / 2 : rank - ranks / 2, "the source");
    }
    done.sum += sum;
    done.step++;
    meet(world);
}

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;
    world_t world;
    MPI_Aint bytes;
    long *apart;
    int unit;

    if (steps <= 0) {
        fprintf(stderr, "usage: mpi_shares STEPS -|RANK@STEP.PLACE,...\n");
        return USAGE;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    deaths = (keel_mpi_incarnation() == 0) ? argv[2] : NULL;
    world_make(&world);
    MPI_Barrier(MPI_COMM_WORLD);
    keel_mpi_protect(1, &done, sizeof(done));
    KEEL_MPI_RESTART_POINT();
    while (done.step < steps) {
        step(&world);
        if (done.step % SAVE_EVERY == 0) {
            keel_mpi_checkpoint();
        }
    }
    MPI_Win_shared_query(world.apart, rank, &bytes, &unit, &apart);
    expect(*apart, steps, "what the left one counted");
    MPI_Win_unlock_all(world.shared);
    MPI_Win_unlock_all(world.apart);
    MPI_Win_free(&world.shared);
    MPI_Win_free(&world.apart);
    if (rank == 0) {
        printf("mpi_shares: %d ranks, %ld steps: right\n", ranks, steps);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
