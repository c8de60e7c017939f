/* Profiling names act on the job, called directly and by address, and see the effects of the usual
 * names. */
#include "expect.h"

#include <dlfcn.h>

typedef int (*barrier_t)(MPI_Comm comm);

static const barrier_t barriers[] = {PMPI_Barrier, MPI_Barrier};

static void check_own(void)
{
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    int is = -1, flag = 0, group_size = 0, sum = 0;
    MPI_Request request;
    MPI_Group group;

    PMPI_Comm_size(MPI_COMM_WORLD, &is);
    EXPECT(is == ranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, &is);
    EXPECT(is == rank);
    PMPI_Initialized(&flag);
    EXPECT(flag);
    PMPI_Irecv(&is, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(is == left);
    PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == ranks * (ranks - 1) / 2);
    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_size(group, &group_size);
    EXPECT(group_size == ranks);
    PMPI_Group_free(&group);
    for (size_t i = 0; i < sizeof(barriers) / sizeof(barriers[0]); i++) {
        EXPECT(barriers[i](MPI_COMM_WORLD) == MPI_SUCCESS);
    }
}

/* The profiler counts a message of each rank, and a collective call. */
static void call_wrapped(void)
{
    int is = -1, sum = 0;

    if (rank == 0) {
        for (int i = 1; i < ranks; i++) {
            MPI_Recv(&is, 1, MPI_INT, i, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT(is == i);
        }
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == ranks * (ranks - 1) / 2);
}

/* Loads the plugin after MPI_Init, by its name only: the linker finds the file next to this
 * program. */
static void call_loaded(void)
{
    void *plugin = dlopen(PLUGIN, RTLD_LAZY | RTLD_LOCAL);
    int (*size)(void), (*sum)(int);

    EXPECT(plugin != NULL);
    if (plugin != NULL) {
        *(void **)&size = dlsym(plugin, "mpi_plugin_size");
        *(void **)&sum = dlsym(plugin, "mpi_plugin_sum");
        EXPECT(size() == ranks);
        EXPECT(sum(rank) == ranks * (ranks - 1) / 2);
        dlclose(plugin);
    }
    EXPECT(dlopen("no_such_object.so", RTLD_LAZY) == NULL && dlerror() != NULL);
}

int main(int argc, char **argv)
{
    expect_begin(&argc, &argv);
    check_own();
    call_wrapped();
    call_loaded();
    return expect_end("mpi_profiled");
}
