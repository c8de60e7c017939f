/* Calls each refused function without arguments, which it ignores; each returns an error of its
 * class. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "expect.h"

#include <mpi_functions.h>

#include <dlfcn.h>

#define CALL(_name) {#_name, (int (*)(void))dlsym(RTLD_DEFAULT, #_name)},

int main(int argc, char **argv)
{
    int class, count = 0;

    expect_begin(&argc, &argv);
    const struct {
        const char *name;
        int (*call)(void);
    } calls[] = {KEEL_MPI_REFUSED(CALL)};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (calls[i].call == NULL) {
            printf("%s is not there\n", calls[i].name);
            flaws++;
            continue;
        }
        MPI_Error_class(calls[i].call(), &class);
        EXPECT(class == MPI_ERR_UNSUPPORTED_OPERATION);
        count++;
    }
    if (rank == 0) {
        printf("mpi_refusals: %d functions\n", count);
    }
    return expect_end("mpi_refusals");
}
