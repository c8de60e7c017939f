/* Ways to leave a job: leaving return|exit STATUS|global STATUS|all STATUS|late STATUS|child. PE 1
 * leaves so, the others wait for it. */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long word;

static void with_child(void)
{
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        exit(5); /* flushes its own output, and leaves no trace */
    }
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5) {
        shmem_global_exit(1);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const char *how = (argc > 1) ? argv[1] : "";
    const int status = (argc > 2) ? atoi(argv[2]) : 0;

    if (strcmp(how, "early") == 0) {
        shmem_global_exit(status);
    }
    shmem_init();
    if (strcmp(how, "child") == 0) {
        with_child();
    }
    if (strcmp(how, "late") == 0) {
        shmem_finalize();
        shmem_global_exit(status);
    }
    /* into a pipe: every way to leave must flush the line */
    printf("PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
    if (strcmp(how, "all") == 0) {
        shmem_barrier_all();
        shmem_global_exit(status);
    }
    if (shmem_my_pe() == 1 && strcmp(how, "global") == 0) {
        shmem_global_exit(status);
    }
    if (shmem_my_pe() == 1 && strcmp(how, "exit") == 0) {
        exit(status);
    }
    if (strcmp(how, "global") == 0 || status != 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_NE, 0); /* no PE ever sets the word */
    }
    return 0;
}
