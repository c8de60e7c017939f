/*
 * Times of calls, for any OpenSHMEM from 1.4 on: shmem_times [CALLS [GROUP...] [-NAME/BYTES...]].
 * Groups are latency, rate, atomics and collectives (default: all). An atomic named with a hyphen,
 * such as -cswap/4, is left out, since some libraries crash there. Prints one line per call: name,
 * bytes, microseconds per call as the median of as many batches as fit. PE 0 calls at PE 1; all PEs
 * run collectives. Results of the calls are checked: a wrong call shows "wrong" instead of its
 * time. The exit status is then still 0; 1: no such group.
 */
#include <shmem.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 21, MOST = 1 << 20, IN_FLIGHT = 64, CHECKS = 64, WORDS = 4096 };

static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, MOST};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static char *here, *there;
static long calls;
static int argument_count;
static char **arguments;
static int has(const char *argument);

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Before each measurement: on Keel, empties the logs, if any. */
#ifdef KEEL_SHMEM_H_
#define meet() shmemx_checkpoint()
#else
#define meet() shmem_barrier_all()
#endif

/* @a call makes @a at_once of the timed operations. Any PE may report a wrong result. */
static void measure(const char *name, void (*call)(size_t), size_t bytes, long at_once, int is_of_all)
{
    const long batch = calls / (1 + (long)bytes / 4096) / BATCHES / at_once + 1;
    double took[BATCHES];

    meet();
    for (int i = 0; i < BATCHES && (is_of_all || shmem_my_pe() == 0); i++) {
        const double began = now_us();

        for (long j = 0; j < batch; j++) {
            call(bytes);
        }
        took[i] = (now_us() - began) / (double)(batch * at_once);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        qsort(took, BATCHES, sizeof(took[0]), compare);
        printf("%s %zu %.4f\n", name, bytes, took[BATCHES / 2]);
    }
}

static void wrong(const char *name, size_t bytes)
{
    printf("%s %zu wrong\n", name, bytes);
}

/* ---- puts and gets; at_once: count of operations in flight, or 1 ---- */

static void put(size_t bytes)
{
    shmem_putmem(there, here, bytes, 1);
    shmem_quiet();
}

static void get(size_t bytes)
{
    shmem_getmem(here, there, bytes, 1);
}

static size_t place(size_t bytes, size_t i)
{
    return i * bytes % MOST;
}

/* Count in flight; much smaller for large puts, so that they fit into logs. */
static size_t in_flight(size_t bytes)
{
    return (bytes <= 4096) ? IN_FLIGHT : (bytes <= 32768) ? IN_FLIGHT / 8 : IN_FLIGHT / 16;
}

static void puts_at_once(size_t bytes)
{
    for (size_t i = 0; i < in_flight(bytes); i++) {
        shmem_putmem_nbi(there + place(bytes, i), here + place(bytes, i), bytes, 1);
    }
    shmem_quiet();
}

static void gets_at_once(size_t bytes)
{
    for (size_t i = 0; i < in_flight(bytes); i++) {
        shmem_getmem_nbi(here + place(bytes, i), there + place(bytes, i), bytes, 1);
    }
    shmem_quiet();
}

/* Measures copies from @a to, one value after, to the place where the receiver checks them. */
static void measure_copies(const char *name, void (*call)(size_t), int is_at_once, const char *seen, int seen_by)
{
    for (int i = 0; i < SIZES; i++) {
        size_t others = 0;

        memset(here, 2 * i + (shmem_my_pe() == 0), MOST);
        memset(there, 2 * i + (shmem_my_pe() == 0), MOST);
        measure(name, call, sizes[i], is_at_once ? (long)in_flight(sizes[i]) : 1, 0);
        for (size_t j = 0; j < sizes[i]; j++) {
            others += seen[j] != (char)(2 * i + (seen_by == 1));
        }
        if (others > 0 && shmem_my_pe() == seen_by) {
            wrong(name, sizes[i]);
        }
        shmem_barrier_all();
    }
}

static void measure_latency(void)
{
    measure_copies("put", put, 0, there, 1);
    measure_copies("get", get, 0, here, 0);
}

static void measure_rate(void)
{
    measure_copies("put_rate", puts_at_once, 1, there, 1);
    measure_copies("get_rate", gets_at_once, 1, here, 0);
}

/* ---- atomics at a word of PE 1 ---- */

typedef enum {
    FETCH,
    SWAP,
    CSWAP,
    FETCH_ADD,
    FETCH_INC,
    FETCH_AND,
    FETCH_OR,
    FETCH_XOR,
    SET,
    ADD,
    INC,
    AND,
    OR,
    XOR,
    OPS
} op_t;
static const char *const op_names[] = {"fetch",     "swap", "cswap", "fetch_add", "fetch_inc", "fetch_and", "fetch_or",
                                       "fetch_xor", "set",  "add",   "inc",       "and",       "or",        "xor"};
static op_t op;

/*
 * Defines the call of an atomic, which returns the fetched value (0: none), and the check in PE 0:
 * every second compare_swap expects a wrong value.
 */
#define DEFINE_ATOMIC(_name, _type)                                                                         \
    static _type *_name##_word;                                                                             \
    static _type _name##_call(_type value, _type condition)                                                 \
    {                                                                                                       \
        switch (op) {                                                                                       \
        case FETCH:                                                                                         \
            return shmem_##_name##_atomic_fetch(_name##_word, 1);                                           \
        case SWAP:                                                                                          \
            return shmem_##_name##_atomic_swap(_name##_word, value, 1);                                     \
        case CSWAP:                                                                                         \
            return shmem_##_name##_atomic_compare_swap(_name##_word, condition, value, 1);                  \
        case FETCH_ADD:                                                                                     \
            return shmem_##_name##_atomic_fetch_add(_name##_word, value, 1);                                \
        case FETCH_INC:                                                                                     \
            return shmem_##_name##_atomic_fetch_inc(_name##_word, 1);                                       \
        case FETCH_AND:                                                                                     \
            return shmem_##_name##_atomic_fetch_and(_name##_word, value, 1);                                \
        case FETCH_OR:                                                                                      \
            return shmem_##_name##_atomic_fetch_or(_name##_word, value, 1);                                 \
        case FETCH_XOR:                                                                                     \
            return shmem_##_name##_atomic_fetch_xor(_name##_word, value, 1);                                \
        case SET:                                                                                           \
            shmem_##_name##_atomic_set(_name##_word, value, 1);                                             \
            break;                                                                                          \
        case ADD:                                                                                           \
            shmem_##_name##_atomic_add(_name##_word, value, 1);                                             \
            break;                                                                                          \
        case INC:                                                                                           \
            shmem_##_name##_atomic_inc(_name##_word, 1);                                                    \
            break;                                                                                          \
        case AND:                                                                                           \
            shmem_##_name##_atomic_and(_name##_word, value, 1);                                             \
            break;                                                                                          \
        case OR:                                                                                            \
            shmem_##_name##_atomic_or(_name##_word, value, 1);                                              \
            break;                                                                                          \
        case XOR:                                                                                           \
            shmem_##_name##_atomic_xor(_name##_word, value, 1);                                             \
            break;                                                                                          \
        case OPS:                                                                                           \
            break;                                                                                          \
        }                                                                                                   \
        return 0;                                                                                           \
    }                                                                                                       \
    static _type _name##_after(_type is, _type value, _type condition)                                      \
    {                                                                                                       \
        switch (op) {                                                                                       \
        case SWAP:                                                                                          \
        case SET:                                                                                           \
            return value;                                                                                   \
        case CSWAP:                                                                                         \
            return (is == condition) ? value : is;                                                          \
        case FETCH_ADD:                                                                                     \
        case ADD:                                                                                           \
            return is + value;                                                                              \
        case FETCH_INC:                                                                                     \
        case INC:                                                                                           \
            return is + 1;                                                                                  \
        case FETCH_AND:                                                                                     \
        case AND:                                                                                           \
            return is & value;                                                                              \
        case FETCH_OR:                                                                                      \
        case OR:                                                                                            \
            return is | value;                                                                              \
        case FETCH_XOR:                                                                                     \
        case XOR:                                                                                           \
            return is ^ value;                                                                              \
        case FETCH:                                                                                         \
        case OPS:                                                                                           \
            break;                                                                                          \
        }                                                                                                   \
        return is;                                                                                          \
    }                                                                                                       \
    static void _name##_once(size_t bytes)                                                                  \
    {                                                                                                       \
        (void)bytes;                                                                                        \
        (void)_name##_call(1, 0);                                                                           \
        if (op >= SET) {                                                                                    \
            shmem_quiet();                                                                                  \
        }                                                                                                   \
    }                                                                                                       \
    static void _name##_at_once(size_t bytes)                                                               \
    {                                                                                                       \
        (void)bytes;                                                                                        \
        for (int i = 0; i < IN_FLIGHT; i++) {                                                               \
            (void)_name##_call(1, 0);                                                                       \
        }                                                                                                   \
        shmem_quiet();                                                                                      \
    }                                                                                                       \
    static int _name##_is_right(void)                                                                       \
    {                                                                                                       \
        _type is = (_type)UINT64_C(0xfedcba9876543210);                                                     \
                                                                                                            \
        shmem_##_name##_p(_name##_word, is, 1);                                                             \
        shmem_quiet();                                                                                      \
        for (unsigned i = 0; i < CHECKS; i++) {                                                             \
            const _type value = (_type)(UINT64_C(0x9e3779b97f4a7c15) * (i + 1)), condition = is + (i & 1);  \
            const _type was = _name##_call(value, condition), should = _name##_after(is, value, condition); \
                                                                                                            \
            shmem_quiet();                                                                                  \
            if ((op < SET && was != is) || shmem_##_name##_g(_name##_word, 1) != should) {                  \
                return 0;                                                                                   \
            }                                                                                               \
            is = should;                                                                                    \
        }                                                                                                   \
        return 1;                                                                                           \
    }

DEFINE_ATOMIC(ulong, unsigned long)
DEFINE_ATOMIC(uint, unsigned int)

static void measure_op(size_t bytes, int (*is_right)(void), void (*once)(size_t), void (*at_once)(size_t))
{
    char name[32];

    snprintf(name, sizeof(name), "-%s/%zu", op_names[op], bytes);
    if (has(name)) {
        return;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0 && !is_right()) {
        wrong(op_names[op], bytes);
    }
    measure(op_names[op], once, bytes, 1, 0);
    if (op >= SET) {
        snprintf(name, sizeof(name), "%s_rate", op_names[op]);
        measure(name, at_once, bytes, IN_FLIGHT, 0);
    }
}

static void measure_atomics(void)
{
    ulong_word = (unsigned long *)there;
    uint_word = (unsigned int *)there;
    for (op = FETCH; op < OPS; op++) {
        measure_op(sizeof(long), ulong_is_right, ulong_once, ulong_at_once);
        measure_op(sizeof(int), uint_is_right, uint_once, uint_at_once);
    }
}

/* ---- collectives of all PEs; two work arrays each in turn ---- */

static long sums[WORDS], own[WORDS], sync_area[2][SHMEM_REDUCE_SYNC_SIZE];
static long work[2][WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static unsigned turn;

static void barrier(size_t bytes)
{
    (void)bytes;
    shmem_barrier_all();
}

static void sum(size_t bytes)
{
    shmem_long_sum_to_all(sums, own, (int)(bytes / sizeof(long)), 0, 0, shmem_n_pes(), work[turn % 2],
                          sync_area[turn % 2]);
    turn++;
}

static void most(size_t bytes)
{
    shmem_long_max_to_all(sums, own, (int)(bytes / sizeof(long)), 0, 0, shmem_n_pes(), work[turn % 2],
                          sync_area[turn % 2]);
    turn++;
}

static void measure_reduction(const char *name, void (*call)(size_t), size_t bytes)
{
    const long pes = shmem_n_pes();
    long others = 0;

    for (long i = 0; i < WORDS; i++) {
        own[i] = i + shmem_my_pe();
        sums[i] = -1;
    }
    measure(name, call, bytes, 1, 1);
    for (long i = 0; i < (long)(bytes / sizeof(long)); i++) {
        others += sums[i] != ((call == most) ? i + pes - 1 : i * pes + pes * (pes - 1) / 2);
    }
    if (others > 0) {
        wrong(name, bytes);
    }
    shmem_barrier_all();
}

static void measure_collectives(void)
{
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        sync_area[0][i] = sync_area[1][i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
    measure("barrier", barrier, 0, 1, 1);
    measure_reduction("sum", sum, sizeof(long));
    measure_reduction("max", most, sizeof(long));
    measure_reduction("sum", sum, 1024);
    measure_reduction("sum", sum, sizeof(sums));
}

static const struct {
    const char *name;
    void (*measure)(void);
} groups[] = {{"latency", measure_latency},
              {"rate", measure_rate},
              {"atomics", measure_atomics},
              {"collectives", measure_collectives}};
enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

/* True if given on the command line. */
static int has(const char *argument)
{
    for (int i = 2; i < argument_count; i++) {
        if (strcmp(arguments[i], argument) == 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int count = 0, unknown = 0;

    calls = (argc > 1) ? strtol(argv[1], NULL, 10) : 20000;
    argument_count = argc;
    arguments = argv;
    for (int i = 0; i < GROUPS; i++) {
        count += has(groups[i].name);
    }
    for (int i = 2; i < argc; i++) {
        unknown += argv[i][0] != '-';
    }
    if (calls <= 0 || unknown != count) {
        fprintf(stderr, "usage: shmem_times [CALLS [latency|rate|atomics|collectives...] [-NAME/BYTES...]]\n");
        return 1;
    }
    shmem_init();
    here = shmem_malloc(MOST);
    there = shmem_malloc(MOST);
    for (int i = 0; i < GROUPS; i++) {
        if (count == 0 || has(groups[i].name)) {
            groups[i].measure();
        }
    }
    shmem_finalize();
    return 0;
}
