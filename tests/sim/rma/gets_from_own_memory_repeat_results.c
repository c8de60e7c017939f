/*
 * Each rank polls own memory by gets until the previous rank has put the next word, and reports the
 * number of its looks to the previous rank. Rank 1 dies during a look. The replacement must find
 * the same results as often as rank 1 did, and go on.
 *
 *   get         keel_get() of a word
 *   strided     keel_get_strided()
 *   much        keel_get() of many words
 *   odd         keel_get() of unaligned bytes
 *   later       keel_get_nbx()
 *   signalled   keel_get() of a word; data and word are put with a signal
 *   listed      keel_get() of a word; data and word are put by a list
 *
 * The program declares waits, or declares that gets are polls; or the program declares nothing, and
 * the first wait comes before or after the polls.
 *
 *   sim_rma_gets_from_own_memory_repeat_results [HOW]
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS     12
#define WRONG_MAX 8
#define RANKS     3
#define PHASES    4
#define MUCH      1500 /* bytes of one record */
#define LARGE     5000 /* bytes of several records */

/*
 * Offsets in each rank's window. The data lies behind the word that announces the data; odd gets
 * begin before the word.
 */
enum { WORD = 8, LOOKED = 24, FIRST = 32, DATA = 40, BYTES = 8192 };

typedef enum { GET, STRIDED, MANY, ODD, LATER, SIGNALLED, LISTED, HOWS } how_t;
typedef enum { WAITS, POLLS, WAITS_BEFORE, WAITS_BEHIND, KINDS } kind_t;

typedef struct job {
    few_t few;
    how_t how;
    kind_t kind;
    /* looks of rank 1 in its first life, and the number of looks after which rank 1 dies */
    uint64_t looks, dies;
} job_t;

static keel_status_t look(const job_t *job, uint32_t rank, keel_win_h win, uint64_t *word_p)
{
    const keel_blocks_t blocks = {.offset = WORD, .length = 8, .count = 2, .stride = 16, .buffer_stride = 8};
    uint64_t words[2] = {0};
    char bytes[MUCH];
    keel_req_h req = NULL;
    keel_status_t status;

    switch (job->how) {
    case GET:
    case SIGNALLED:
    case LISTED:
        return keel_get(win, rank, WORD, word_p, sizeof(*word_p));
    case STRIDED:
        status = keel_get_strided(win, rank, &blocks, words);
        *word_p = words[0];
        return status;
    case MANY:
        status = keel_get(win, rank, WORD, bytes, sizeof(bytes));
        memcpy(word_p, bytes, sizeof(*word_p));
        return status;
    case ODD:
        status = keel_get(win, rank, WORD - 3, bytes, 14);
        memcpy(word_p, bytes + 3, sizeof(*word_p));
        return status;
    case LATER:
    default:
        status = keel_get_nbx(win, rank, WORD, word_p, sizeof(*word_p), NULL, &req);
        return (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status;
    }
}

static keel_status_t put(const job_t *job, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset,
                         uint64_t word)
{
    const keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(job->few.ctx[rank], target) : status;
}

/* Puts data, and the word that announces the data. */
static keel_status_t put_both(const job_t *job, uint32_t rank, keel_win_h win, uint32_t target, uint64_t phase)
{
    uint64_t data = phase << 8 | rank, word = phase;
    const keel_signal_t signal = {.offset = WORD, .value = word};
    const keel_block_t list[] = {{DATA, sizeof(data), &data}, {WORD, sizeof(word), &word}};
    keel_status_t status;

    switch (job->how) {
    case SIGNALLED:
        return keel_put_signal(win, target, DATA, &data, sizeof(data), &signal);
    case LISTED:
        status = keel_put_list(win, target, list, 2);
        return (status == KEEL_OK) ? keel_flush(job->few.ctx[rank], target) : status;
    default:
        status = put(job, rank, win, target, DATA, data);
        return (status == KEEL_OK) ? put(job, rank, win, target, WORD, word) : status;
    }
}

/* Signals the next rank, then waits for the signal of the previous rank. */
static keel_status_t wait_first(const job_t *job, uint32_t rank, keel_win_h win)
{
    keel_status_t status = put(job, rank, win, (rank + 1) % RANKS, FIRST, 1);

    return (status == KEEL_OK) ? keel_wait_until(win, FIRST, 8, KEEL_COMPARE_EQ, 1) : status;
}

static keel_status_t poll(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase, uint64_t *looked_p)
{
    const int is_first = rank == 1 && keel_incarnation(job->few.ctx[1]) == 0;
    uint64_t word = 0;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && word != phase) {
        status = few_progress(&job->few, rank);
        status = (status == KEEL_OK) ? look(job, rank, win, &word) : status;
        *looked_p += 1;
        job->looks += is_first;
    }
    return status;
}

static keel_status_t play(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase, uint64_t *looked_p)
{
    const uint32_t next = (rank + 1) % RANKS, before = (rank + RANKS - 1) % RANKS;
    keel_status_t status = KEEL_OK;
    uint64_t data[LARGE / 8];

    if (phase == 1 && job->kind == WAITS_BEFORE) {
        status = wait_first(job, rank, win);
    }
    /* rank 1 looks meanwhile */
    for (unsigned i = 0; i < 10 && rank == 0 && status == KEEL_OK; i++) {
        status = few_progress(&job->few, rank);
    }
    status = (status == KEEL_OK) ? put_both(job, rank, win, next, phase) : status;
    status = (status == KEEL_OK) ? poll(job, rank, win, phase, looked_p) : status;
    status = (status == KEEL_OK) ? keel_get(win, rank, DATA, data, sizeof(data)) : status;
    if (status == KEEL_OK && data[0] != (phase << 8 | before)) {
        keel_sim_flaw(job->few.sim, "rank %u finds %lx in phase %lu", rank, (unsigned long)data[0],
                      (unsigned long)phase);
    }
    status = (status == KEEL_OK) ? put(job, rank, win, before, LOOKED, *looked_p) : status;
    if (status == KEEL_OK && phase == 1 && job->kind == WAITS_BEHIND) {
        status = wait_first(job, rank, win);
    }
    return (status == KEEL_OK) ? keel_gsync(job->few.ctx[rank], 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t looked = 0, reported = 0;
    keel_status_t status = KEEL_OK;

    for (uint64_t phase = 1; phase <= PHASES && status == KEEL_OK; phase++) {
        status = play(job, rank, win, phase, &looked);
        status = (status == KEEL_OK) ? keel_get(win, (rank + RANKS - 1) % RANKS, LOOKED, &reported, sizeof(reported))
                                     : status;
        if (status == KEEL_OK && reported != looked) {
            keel_sim_flaw(few->sim, "rank %u has looked %lu times, and said %lu", rank, (unsigned long)looked,
                          (unsigned long)reported);
        }
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    if (status == KEEL_OK && few->ctx[rank]->rec.rollbacks > 0 && job->kind <= POLLS) {
        keel_sim_flaw(few->sim, "the job rolled back");
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->looks >= job->dies) {
        few_kill(few, 1);
    }
}

static int run(how_t how, kind_t kind, const char *lanes, uint64_t seed)
{
    static const uint64_t flags[KINDS] = {KEEL_PARAM_FLAG_WAITS, KEEL_PARAM_FLAG_POLLS};
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 1,
                             .windows = 1,
                             .bytes = BYTES,
                             .flags = flags[kind],
                             .lanes = lanes,
                             .phases = phases,
                             .strike = strike};
    job_t job = {.how = how, .kind = kind, .dies = 1 + seed % 10};

    return few_run(&job.few, &play, seed);
}

int main(int argc, char **argv)
{
    static const char *const hows[] = {"get", "strided", "much", "odd", "later", "signalled", "listed"};
    static const char *const kinds[] = {"waits", "polls", "waits before", "waits behind"};
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int wrong = 0;

    for (unsigned how = 0; how < HOWS; how++) {
        for (unsigned i = 0;
             i < KINDS * 2 * SEEDS && wrong < WRONG_MAX && (argc < 2 || strcmp(argv[1], hows[how]) == 0); i++) {
            const unsigned kind = i % KINDS, lane = i / KINDS % 2, seed = 1 + i / KINDS / 2;

            if (!run((how_t)how, (kind_t)kind, lanes[lane], seed)) {
                fprintf(stderr, "  %s, %s, %s\n", hows[how], kinds[kind], lanes[lane]);
                wrong++;
            }
        }
    }
    return (wrong == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
