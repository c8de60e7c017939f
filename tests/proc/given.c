/*
 * A window over memory of the program's own, partly filled before the window is created: given
 * STEPS DEATHS MEMORY plain|full.
 *
 *   MEMORY   placed: Keel's, at a requested address; pages, odd (of the heap, unaligned), stack,
 *            globals; mixed: rank 0 has its window from Keel, the others the four kinds in turn
 *   plain    puts and gets only; full: atomics, accumulates, signals and waits as well
 *
 * The ranks named in DEATHS ("RANK@STEP.PLACE,...", or -) die there in their first incarnation: 0
 * before the puts, 1 after them, 2 before the gsync. At the end the window is freed; the memory
 * must then be the program's own again, with its contents.
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAVE_EVERY = 6, EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, CELLS = 1000, PAGE = 4096, SKEW = 3 };

typedef struct {
    uint64_t sum, drawn, flag;
    double parts;
    uint32_t cells[CELLS]; /* put by the left neighbour */
    uint64_t first;        /* put by no rank */
} memory_t;

#define PLACE ((uintptr_t)0x300000000000)                       /* an unused address */
#define BYTES ((sizeof(memory_t) + 8 + PAGE - 1) / PAGE * PAGE) /* words begin at a multiple of 8 */

typedef struct {
    const char *deaths, *kind;
    int is_full;
    uint64_t steps, step; /* step is protected */
    uint64_t begin;       /* offset of the words in the window */
    keel_context_h ctx;
    keel_win_h win;
    void *memory;
    memory_t *own;
    uint32_t rank, size;
} job_t;

static char global_room[BYTES + 64];

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->step, place);
}

static void wrong(const job_t *job, const char *what, uint64_t is)
{
    fprintf(stderr, "given: rank %u, step %lu: %s is %lx\n", job->rank, (unsigned long)job->step, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

static uint32_t cell(uint32_t rank, uint64_t step, unsigned i)
{
    return (uint32_t)(step << 16) + rank * 1024 + i;
}

static uint64_t at(const job_t *job, size_t member)
{
    return job->begin + member;
}

static keel_status_t step_words(job_t *job, uint32_t right)
{
    const double part = 0.5;
    const keel_signal_t come = {.offset = at(job, offsetof(memory_t, flag)), .value = job->step + 1};
    uint64_t before = 0;

    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, right, at(job, offsetof(memory_t, sum)), 8, 3, 0, NULL));
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, right, at(job, offsetof(memory_t, drawn)), 8, 1, 0, &before));
    if (before != job->step) {
        wrong(job, "what was drawn", before);
    }
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, right, at(job, offsetof(memory_t, parts)), &part, 1,
                        NULL));
    TRY(keel_put_signal(job->win, right, 0, NULL, 0, &come));
    TRY(keel_wait_until(job->win, at(job, offsetof(memory_t, flag)), 8, KEEL_COMPARE_GE, job->step + 1));
    return KEEL_OK;
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size, left = (job->rank + job->size - 1) % job->size;
    uint32_t cells[CELLS];

    die_here(job, 0);
    for (unsigned i = 0; i < CELLS; i++) {
        cells[i] = cell(job->rank, job->step, i);
    }
    TRY(keel_put(job->win, right, at(job, offsetof(memory_t, cells)), cells, sizeof(cells)));
    TRY(keel_flush(job->ctx, right));
    TRY(job->is_full ? step_words(job, right) : KEEL_OK);
    die_here(job, 1);
    memset(cells, 0, sizeof(cells));
    TRY(keel_get(job->win, right, at(job, offsetof(memory_t, cells)), cells, sizeof(cells)));
    for (unsigned i = 0; i < CELLS; i++) {
        if (cells[i] != cell(job->rank, job->step, i)) {
            wrong(job, "a cell that was got back", cells[i]);
        }
    }
    TRY(keel_gsync(job->ctx, 0));
    if (job->own->cells[CELLS - 1] != cell(left, job->step, CELLS - 1) || job->own->first != 77) {
        wrong(job, "own memory", job->own->cells[CELLS - 1]);
    }
    job->step++;
    die_here(job, 2);
    return keel_gsync(job->ctx, (job->step % SAVE_EVERY == 0) ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void *find_memory(job_t *job, char *stack)
{
    static const char *const kinds[] = {"pages", "odd", "stack", "globals"};
    const char *kind = (strcmp(job->kind, "mixed") == 0) ? kinds[job->rank % 4] : job->kind;
    const int is_even = strcmp(job->kind, "mixed") == 0 || strcmp(job->kind, "placed") == 0;
    const size_t skew = is_even ? 8 : SKEW; /* offsets are the same in all ranks */

    job->begin = 8 - skew;
    if (strcmp(kind, "pages") == 0) {
        void *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        job->begin = 0;
        return (pages == MAP_FAILED) ? NULL : pages;
    }
    if (strcmp(kind, "odd") == 0) {
        return (char *)malloc(BYTES + 64) + skew;
    }
    return (strcmp(kind, "stack") == 0 ? stack : global_room) + skew;
}

/* After the free the contents are unchanged. A child of fork() has them, too, so the memory is the
 * program's. */
static void check_memory(job_t *job)
{
    const uint64_t sum = job->is_full ? 10 + 3 * job->steps : 10;
    const uint32_t left = (job->rank + job->size - 1) % job->size;
    int status = 0;
    pid_t child;

    if (job->own->sum != sum || job->own->first != 77 ||
        job->own->parts != (job->is_full ? (double)job->steps / 2 : 0) ||
        job->own->cells[5] != cell(left, job->steps - 1, 5)) {
        wrong(job, "memory that came back", job->own->sum);
    }
    child = fork();
    if (child == 0) {
        job->own->sum++;
        _exit(job->own->sum == sum + 1 ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || job->own->sum != sum) {
        wrong(job, "memory that a child wrote", job->own->sum);
    }
    memset(job->memory, 0, BYTES);
}

/* True if the window is over Keel's memory. */
static int is_keels(const job_t *job)
{
    return strcmp(job->kind, "placed") == 0 || (strcmp(job->kind, "mixed") == 0 && job->rank == 0);
}

static keel_status_t make_window(job_t *job)
{
    if (job->memory == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    job->own = (memory_t *)(void *)((char *)job->memory + job->begin);
    memset(job->memory, 0, BYTES);
    job->own->sum = 10;
    job->own->first = 77;
    if (is_keels(job)) {
        const int is_placed = strcmp(job->kind, "placed") == 0;
        const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_INITIAL |
                                                        (is_placed ? KEEL_WIN_PARAM_FIELD_ADDRESS : 0),
                                          .address = (void *)PLACE,
                                          .initial = job->memory};
        keel_win_h other;

        TRY(keel_win_alloc(job->ctx, BYTES, &params, &job->win));
        if (is_placed && (keel_win_base(job->win) != (void *)PLACE ||
                          (keel_incarnation(job->ctx) == 0 &&
                           keel_win_alloc(job->ctx, BYTES, &params, &other) != KEEL_ERR_NO_MEMORY))) {
            wrong(job, "where the window is", (uintptr_t)keel_win_base(job->win));
        }
        job->own = (memory_t *)(void *)((char *)keel_win_base(job->win) + job->begin);
        return KEEL_OK;
    }
    TRY(keel_win_create(job->ctx, job->memory, BYTES, NULL, &job->win));
    return (keel_win_base(job->win) == job->memory) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

int main(int argc, char **argv)
{
    job_t job = {.steps = (argc == 5) ? strtoul(argv[1], NULL, 10) : 0};
    char stack[BYTES + 64] __attribute__((aligned(64)));
    keel_stats_t stats;
    uint64_t rolled;

    if (argc != 5 || job.steps == 0) {
        fprintf(stderr, "usage: given STEPS DEATHS placed|pages|odd|stack|globals|mixed plain|full\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    job.kind = argv[3];
    job.is_full = strcmp(argv[4], "full") == 0;
    if (keel_init(NULL, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    job.memory = find_memory(&job, stack);
    if (make_window(&job) != KEEL_OK || keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK ||
        run(&job) != KEEL_OK || keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    rolled = stats.rollbacks;
    if (!is_keels(&job)) {
        if (keel_win_free(job.win) != KEEL_OK) {
            return EXIT_KEEL;
        }
        check_memory(&job);
    } else if (keel_win_free(job.win) != KEEL_OK) {
        return EXIT_KEEL;
    }
    if (job.rank == 3) { /* the last rank that may die */
        printf("given: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)rolled);
    }
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : EXIT_WRONG;
}
