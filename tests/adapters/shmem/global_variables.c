/*
 * Global variables in every kind of access, as in programs for other implementations; compiled by
 * oshcc. With an argument, a refused access: global_variables [library|local|beyond].
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE 300000
#define LONG  4096

static long lock = 0;
long initialised[4] = {1, 2, 3, 4};
static long zeroed[4];
static double large[LARGE];
static char text[32] = "as it was";
static uint64_t signal_word;
static struct {
    char c;
    short s;
    int i;
} parts = {'c', 7, 70000};
static shmemx_volatile long kept = 5;
static int pe, pes, right, left, flaws;

#define EXPECT(_what) expect((_what) != 0, #_what, __LINE__)

static void expect(int is_right, const char *what, int line)
{
    if (!is_right) {
        printf("global_variables: PE %d, line %d: not %s\n", pe, line, what);
        flaws++;
    }
}

/* Constants, the same in all PEs, that are no variables. */
static void check_constants(void)
{
    static const long table[LONG] = {7, 9};
    static long sums[LONG];
    long got[2] = {0, 0};

    if (getenv("GLOBALS_ARE_SERVED") != NULL) {
        return; /* constants cannot be recognised */
    }
    shmem_long_get(got, &table[1], 2, right);
    EXPECT(got[0] == 9 && got[1] == 0 && shmem_long_g(&table[0], left) == 7);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, table, LONG);
    EXPECT(sums[0] == 7l * pes && sums[1] == 9l * pes && sums[LONG - 1] == 0);
    shmem_barrier_all();
}

static void check_accesses(void)
{
    static int within = 11; /* of a function */
    int i;

    EXPECT(initialised[0] == 1 && initialised[3] == 4 && zeroed[0] == 0 && strcmp(text, "as it was") == 0 && kept == 5);
    shmem_barrier_all();
    shmem_long_p(&initialised[1], 100 + pe, right);
    shmem_putmem(text, "by a put", sizeof("by a put"), right);
    shmem_int_p(&within, 20 + pe, right);
    shmem_short_p(&parts.s, (short)(30 + pe), right);
    shmem_long_p(&kept, 40 + pe, right);
    shmem_barrier_all();
    EXPECT(initialised[1] == 100 + left && within == 20 + left && strcmp(text, "by a put") == 0);
    EXPECT(parts.s == 30 + left && parts.c == 'c' && parts.i == 70000 && kept == 40 + left);
    EXPECT(shmem_long_g(&initialised[1], right) == 100 + pe);
    for (i = 0; i < LARGE; i++) {
        large[i] = pe * 1000.0 + i;
    }
    shmem_barrier_all();
    shmem_double_get(large, large, 0, right);
    {
        double *copy = (double *)malloc(sizeof(large));

        shmem_double_get(copy, large, LARGE, right);
        EXPECT(copy[0] == right * 1000.0 && copy[LARGE - 1] == right * 1000.0 + LARGE - 1);
        free(copy);
    }
    shmem_barrier_all();
}

static void check_words(void)
{
    int i;

    for (i = 0; i < pes; i++) {
        shmem_long_atomic_add(&zeroed[0], pe + 1, i);
        (void)shmem_long_atomic_fetch_inc(&zeroed[1], i);
    }
    shmem_barrier_all();
    EXPECT(zeroed[0] == (long)pes * (pes + 1) / 2 && zeroed[1] == pes);
    shmem_set_lock(&lock);
    zeroed[3] = shmem_long_g(&zeroed[2], 0);
    shmem_long_p(&zeroed[2], zeroed[3] + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    EXPECT(shmem_long_g(&zeroed[2], 0) == pes);
    shmem_long_put_signal(&initialised[2], &initialised[3], 1, &signal_word, (uint64_t)pe + 1, SHMEM_SIGNAL_SET, right);
    EXPECT(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)left + 1) == (uint64_t)left + 1);
    EXPECT(initialised[2] == 4);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &zeroed[1], &zeroed[0], 1);
    EXPECT(zeroed[1] == (long)pes * pes * (pes + 1) / 2);
}

static void check_addresses(void)
{
    int local;

    EXPECT(shmem_addr_accessible(&parts, right) && shmem_addr_accessible(&kept, right));
    EXPECT(!shmem_addr_accessible(&local, right));
    /* served variables cannot be recognised */
    EXPECT(!shmem_addr_accessible(&stdout, right) || getenv("GLOBALS_ARE_SERVED") != NULL);
    EXPECT(!shmem_addr_accessible("constant", right) && !shmem_addr_accessible((const void *)check_words, right));
    EXPECT(shmem_ptr(&parts, pe) == &parts);
}

/* A child has its own variables: parent and child do not see each other's stores after the fork. */
static void check_children(void)
{
    int status = -1;
    pid_t child;

    zeroed[0] = 7;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        zeroed[0]++;
        text[0] = 'B';
        _exit(zeroed[0] == 8 && strcmp(text, "By a put") == 0 ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(zeroed[0] == 7 && strcmp(text, "by a put") == 0);
    EXPECT(system("true") == 0);
}

static void do_wrong(const char *what)
{
    int local = 0;

    if (strcmp(what, "library") == 0) {
        shmem_putmem(&stdout, &local, sizeof(stdout), 1);
    } else if (strcmp(what, "local") == 0) {
        shmem_int_p(&local, 1, 1);
    } else {
        shmem_putmem(&large[LARGE - 1], large, sizeof(large), 1);
    }
}

int main(int argc, char **argv)
{
    initialised[3] = 4; /* stored before shmem_init() */
    shmem_init();
    pe = shmem_my_pe();
    pes = shmem_n_pes();
    right = (pe + 1) % pes;
    left = (pe + pes - 1) % pes;
    if (argc > 1) {
        if (pe == 0) {
            do_wrong(argv[1]);
        }
        shmem_barrier_all();
        return 0;
    }
    check_constants();
    check_accesses();
    check_words();
    check_addresses();
    check_children();
    if (flaws > 0) {
        shmem_global_exit(1);
    }
    shmem_finalize();
    EXPECT(parts.s == 30 + left); /* still present */
    printf("global_variables: PE %d: %s\n", pe, flaws == 0 ? "right" : "wrong");
    return flaws > 0;
}
