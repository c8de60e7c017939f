/*
 * Memory of the program's own that is attached to a window: attached STEPS DEATHS EVERY
 * plain|roll|waits.
 *
 * A page is attached at the program's start and stays. Two more pages are attached, with their
 * contents, in one step of six, and detached in another. Each step puts a word to both places of
 * the neighbour, attached or not, and gets a word that the owner stored at its own address. Every
 * EVERYth step ends with a safe gsync, so deaths roll the job back across attaches (6) or detaches
 * (3). roll: each death is a rollback. waits: a signal announces to the source that all memory is
 * attached, and a second signal announces the put. A replacement has other memory. Of the
 * survivors, a first attaches other memory again, a second the same memory, and a third only memory
 * detached since.
 *
 * The ranks named in DEATHS ("RANK@STEP.PLACE,...", or -) die there in their first incarnation: 0
 * before the attach or detach, 1 after it, 2 after the puts, 3 before the gsync that may be safe;
 * 9, of step 0, during the program's start.
 */
#include "deaths.h"
#include "try.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_KEEL = 3, PAGE = 4096, WORDS = PAGE / 8, ATTACH_AT = 1, DETACH_AT = 4 };
enum { FIXED = 0, MOVING = 2 * PAGE, MOVING_BYTES = 2 * PAGE, CAPACITY = 6 * PAGE };
enum { UNTOUCHED, PUT, STORED }; /* words of both memories */

typedef struct {
    const char *deaths;
    int is_waiting;
    unsigned every;
    uint64_t steps;
    struct {
        uint64_t step, attached_at; /* 0: not attached */
    } state;                        /* protected */
    uint64_t really_at;             /* attached_at of this process, unaffected by rollbacks */
    keel_context_h ctx;
    keel_win_h win, signals;  /* words: the right neighbour has attached, the left has put */
    uint64_t *fixed, *moving; /* memory */
    uint32_t rank, size;
} job_t;

static void die_here(const job_t *job, unsigned place)
{
    die_when_said(keel_incarnation(job->ctx) == 0 ? job->deaths : NULL, job->rank, job->state.step, place);
}

static void wrong(const job_t *job, const char *what, uint64_t is)
{
    fprintf(stderr, "attached: rank %u, step %lu: %s is %lx\n", job->rank, (unsigned long)job->state.step, what,
            (unsigned long)is);
    exit(EXIT_WRONG);
}

static uint64_t word(uint32_t rank, uint64_t step, unsigned which)
{
    return (step << 32) + rank * 1000 + which;
}

static void fill(uint64_t *words, size_t bytes, uint64_t with)
{
    for (size_t i = 0; i < bytes / 8; i++) {
        words[i] = with;
    }
}

static uint64_t *make_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        exit(EXIT_KEEL);
    }
    fill(memory, bytes, 0xeeeeeeee);
    return memory;
}

static keel_status_t attach_or_detach(job_t *job)
{
    if (job->state.step % 6 == ATTACH_AT) {
        fill(job->moving, MOVING_BYTES, word(job->rank, job->state.step, 7));
        TRY(keel_win_attach(job->win, MOVING, job->moving, MOVING_BYTES));
        job->state.attached_at = job->really_at = job->state.step;
    } else if (job->state.step % 6 == DETACH_AT && job->state.attached_at > 0) {
        const uint64_t put = job->moving[PUT];

        TRY(keel_win_detach(job->win, job->moving));
        if (job->moving[PUT] != put || job->moving[UNTOUCHED] != word(job->rank, job->state.attached_at, 7)) {
            wrong(job, "what was detached", job->moving[UNTOUCHED]);
        }
        job->state.attached_at = job->really_at = 0;
    }
    return KEEL_OK;
}

/* Attached memory equals the window, detached memory does not. */
static void check(const job_t *job)
{
    const uint64_t *base = keel_win_base(job->win), *moved = base + MOVING / 8;
    const uint64_t put = word((job->rank + job->size - 1) % job->size, job->state.step, PUT);
    const uint64_t untouched = word(job->rank, job->state.attached_at, 7);

    if (job->fixed[PUT] != put || base[PUT] != put || job->fixed[UNTOUCHED] != word(job->rank, 0, 5) ||
        job->fixed[WORDS - 1] != word(job->rank, 0, 5)) {
        wrong(job, "memory that is attached all the time", job->fixed[PUT]);
    }
    if (moved[PUT] != put) {
        wrong(job, "the window", moved[PUT]);
    }
    if (job->state.attached_at > 0 && (job->moving[PUT] != put || job->moving[UNTOUCHED] != untouched ||
                                       job->moving[2 * WORDS - 1] != untouched || moved[WORDS] != untouched)) {
        wrong(job, "memory that is attached", job->moving[UNTOUCHED]);
    }
    if (job->state.attached_at == 0 && (job->moving[PUT] != 99 || job->moving[2 * WORDS - 1] != 99)) {
        wrong(job, "memory that is not attached", job->moving[PUT]);
    }
}

/* Signals to one neighbour, and waits for the signal of the other. */
static keel_status_t signal_and_wait(const job_t *job, uint32_t target, uint64_t offset)
{
    const keel_signal_t come = {.offset = offset, .value = job->state.step + 1};

    TRY(keel_fence(job->ctx));
    TRY(keel_put_signal(job->signals, target, 0, NULL, 0, &come));
    return keel_wait_until(job->signals, offset, 8, KEEL_COMPARE_GE, job->state.step + 1);
}

static keel_status_t step(job_t *job)
{
    const uint32_t right = (job->rank + 1) % job->size, left = (job->rank + job->size - 1) % job->size;
    const uint64_t put = word(job->rank, job->state.step, PUT);
    uint64_t got = 0;

    die_here(job, 0);
    TRY(attach_or_detach(job));
    job->fixed[STORED] = word(job->rank, job->state.step, STORED);
    die_here(job, 1);
    TRY(job->is_waiting ? signal_and_wait(job, left, 0) : keel_gsync(job->ctx, 0));
    if (job->state.attached_at == 0) {
        fill(job->moving, MOVING_BYTES, 99);
    }
    TRY(keel_put(job->win, right, FIXED + 8 * PUT, &put, 8));
    TRY(keel_put(job->win, right, MOVING + 8 * PUT, &put, 8));
    TRY(keel_get(job->win, right, FIXED + 8 * STORED, &got, 8));
    if (got != word(right, job->state.step, STORED)) {
        wrong(job, "what the neighbour stored", got);
    }
    die_here(job, 2);
    TRY(job->is_waiting ? signal_and_wait(job, right, 8) : keel_gsync(job->ctx, 0));
    check(job);
    job->state.step++;
    die_here(job, 3);
    return keel_gsync(job->ctx, (job->state.step % job->every == 0) ? KEEL_GSYNC_SAFE : 0);
}

/* Attaches the memory that the restored state requires, whatever this process had attached last. */
static keel_status_t attach_again(job_t *job)
{
    TRY(keel_win_attach(job->win, FIXED, job->fixed, PAGE)); /* already attached */
    if (job->state.attached_at == 0 || (job->rank == 3 && job->really_at == job->state.attached_at)) {
        return KEEL_OK;
    }
    if (job->rank == 2) {
        job->moving = make_memory(MOVING_BYTES);
    }
    TRY(keel_win_attach(job->win, MOVING, job->moving, MOVING_BYTES));
    job->really_at = job->state.attached_at;
    return KEEL_OK;
}

static keel_status_t run(job_t *job)
{
    keel_status_t status = KEEL_OK;

    do {
        if (keel_restarted(job->ctx)) {
            status = keel_restore(job->ctx);
            status = (status == KEEL_OK) ? attach_again(job) : status;
        }
        while (status == KEEL_OK && job->state.step < job->steps) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static keel_status_t begin(job_t *job)
{
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_ATTACH, .attach = 1};

    job->fixed = make_memory(PAGE);
    job->moving = make_memory(MOVING_BYTES);
    TRY(keel_win_alloc(job->ctx, CAPACITY, &params, &job->win));
    fill(job->fixed, PAGE, word(job->rank, 0, 5));
    TRY(keel_win_attach(job->win, FIXED, job->fixed, PAGE));
    die_here(job, 9);
    TRY(keel_win_alloc(job->ctx, 16, NULL, &job->signals));
    TRY(keel_protect(job->ctx, 1, &job->state, sizeof(job->state)));
    return KEEL_OK;
}

/* A child of fork() has detached memory, but no attached memory. */
static void check_child(const job_t *job, uint64_t *memory, int has_it)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* without the long report of UCX */
        memory[UNTOUCHED] = 1;
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || has_it != (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        wrong(job, "the end of a child", (uint64_t)status);
    }
}

static void check_end(const job_t *job)
{
    const uint64_t put = word((job->rank + job->size - 1) % job->size, job->steps - 1, PUT);

    if (job->fixed[PUT] != put || job->fixed[STORED] != word(job->rank, job->steps - 1, STORED) ||
        (job->state.attached_at > 0 && job->moving[PUT] != put)) {
        wrong(job, "memory behind the end", job->fixed[PUT]);
    }
    check_child(job, job->fixed, 1);
    check_child(job, job->moving, 1);
    if (job->fixed[UNTOUCHED] != word(job->rank, 0, 5)) {
        wrong(job, "memory that a child wrote", job->fixed[UNTOUCHED]);
    }
}

int main(int argc, char **argv)
{
    job_t job = {.steps = (argc == 5) ? strtoul(argv[1], NULL, 10) : 0};
    keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS};
    keel_stats_t stats;

    if (argc != 5 || job.steps == 0) {
        fprintf(stderr, "usage: attached STEPS DEATHS EVERY plain|roll|waits\n");
        return EXIT_USAGE;
    }
    job.deaths = argv[2];
    job.every = (unsigned)strtoul(argv[3], NULL, 10);
    job.is_waiting = strcmp(argv[4], "waits") == 0;
    params.flags = job.is_waiting                   ? KEEL_PARAM_FLAG_WAITS
                   : (strcmp(argv[4], "roll") == 0) ? KEEL_PARAM_FLAG_NONDETERMINISTIC
                                                    : 0;
    if (keel_init(&params, &job.ctx) != KEEL_OK) {
        return EXIT_KEEL;
    }
    job.rank = keel_rank(job.ctx);
    job.size = keel_size(job.ctx);
    if (begin(&job) != KEEL_OK || run(&job) != KEEL_OK || keel_stats(job.ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return EXIT_KEEL;
    }
    /* images contain attached memory only */
    if (stats.checkpoints > 0 && stats.checkpoint_bytes > 5 * PAGE) {
        wrong(&job, "an image's size", stats.checkpoint_bytes);
    }
    if (job.rank == 3) { /* the last rank that may die */
        printf("attached: %u ranks, %lu steps, %lu rollbacks: right\n", job.size, (unsigned long)job.steps,
               (unsigned long)stats.rollbacks);
    }
    check_child(&job, job.fixed, 0);
    if (keel_finalize(job.ctx) != KEEL_OK) {
        return EXIT_WRONG;
    }
    check_end(&job);
    return 0;
}
