/*
 * Puts of blocks that take several records: lists with empty blocks and with blocks longer than a
 * record, blocks at regular distances, and data with a signal in another window. Messages are
 * short. One rank dies at each of many moments, on each lane, in a program that waits and in a
 * program that does not. Each rank must have all data put to it, and its own later writes must
 * stay.
 *
 *   sim_rma_puts_of_several_records_survive_death [SEED]
 */
#include "few_ranks.h"

#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS   3u
#define PHASES  3u
#define MESSAGE 1024u
#define MOMENTS 24u
#define OVER    0x77u /* value that a rank writes over the first byte of each of its parts */

/* offsets in each rank's window of the data of lists, blocks and signals */
enum {
    LIST = 0,
    LISTED = 5000,
    BLOCKS = 8192,
    BLOCK = 24,
    BLOCKS_MAX = 101,
    SIGNAL = 16384,
    SIGNALLED = 3001,
    BYTES = 24576
};

typedef struct job {
    few_t few;
    keel_win_h words[RANKS]; /* the other window, with the signal's word */
    uint32_t victim;
    int has_waits, is_over; /* a rank is past the last phase, so a death would not be replaced */
    uint64_t dies, step;    /* step of the death, and last step until now */
} job_t;

static uint8_t byte_of(uint32_t rank, uint64_t phase, uint64_t at)
{
    return (uint8_t)keel_random_mix(rank << 24 ^ phase << 32 ^ at);
}

/* Fills in the data that a rank puts in a phase, at the target's offsets. */
static void fill(uint8_t *data, uint32_t rank, uint64_t phase)
{
    for (uint64_t i = 0; i < BYTES; i++) {
        data[i] = byte_of(rank, phase, i);
    }
}

static size_t put_length(uint64_t phase, unsigned i)
{
    static const size_t lengths[] = {8, 0, 1, 1003, 2500, 64, 13, 0, 992, 7};

    return lengths[(i + phase) % (sizeof(lengths) / sizeof(lengths[0]))];
}

static keel_status_t put_list(keel_win_h win, uint32_t to, uint64_t phase, uint8_t *data)
{
    keel_block_t list[32];
    uint64_t at = LIST;
    unsigned count = 0;

    for (; count < 32 && at < LISTED; count++) {
        const size_t length = put_length(phase, count);

        list[count] = (keel_block_t){at, (at + length < LISTED) ? length : LISTED - at, data + at};
        at += list[count].length;
    }
    return keel_put_list(win, to, list, count);
}

static keel_status_t put_all(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase)
{
    const uint32_t to = (rank + 1) % RANKS;
    const keel_signal_t signal = {.win = job->words[rank], .offset = 16, .value = phase};
    const size_t length = (phase == 2) ? 40 : SIGNALLED;
    const keel_blocks_t blocks = {
        .offset = BLOCKS, .length = BLOCK, .count = BLOCKS_MAX, .stride = BLOCK + 8, .buffer_stride = BLOCK + 8};
    static uint8_t data[RANKS][BYTES]; /* a rank's stack is short */
    keel_status_t status;

    fill(data[rank], rank, phase);
    status = put_list(win, to, phase, data[rank]);
    status = (status == KEEL_OK) ? keel_put_strided(win, to, &blocks, data[rank] + BLOCKS) : status;
    return (status == KEEL_OK) ? keel_put_signal(win, to, SIGNAL, data[rank] + SIGNAL, length, &signal) : status;
}

/* Checks one part. @a is_over: the program wrote over the first byte. */
static int has_part(job_t *job, uint32_t rank, uint64_t phase, const uint8_t *own, uint64_t from, uint64_t length,
                    int is_over)
{
    const uint32_t before = (rank + RANKS - 1) % RANKS;

    for (uint64_t i = from; i < from + length; i++) {
        const uint8_t wanted = (is_over && i == from) ? OVER : byte_of(before, phase, i);

        if (own[i] != wanted) {
            keel_sim_flaw(job->few.sim, "rank %u lacks byte %lu of phase %lu", rank, (unsigned long)i,
                          (unsigned long)phase);
            return 0;
        }
    }
    return 1;
}

static int has_all(job_t *job, uint32_t rank, uint64_t phase, const uint8_t *own, int is_over)
{
    int has = has_part(job, rank, phase, own, LIST, LISTED, is_over) &&
              has_part(job, rank, phase, own, SIGNAL, (phase == 2) ? 40 : SIGNALLED, is_over);

    for (uint64_t i = 0; i < BLOCKS_MAX; i++) {
        has = has && has_part(job, rank, phase, own, BLOCKS + i * (BLOCK + 8), BLOCK, is_over && i == 0);
    }
    return has;
}

static keel_status_t phase_of(job_t *job, uint32_t rank, keel_win_h win, uint64_t phase)
{
    const keel_context_h ctx = job->few.ctx[rank];
    uint8_t *own = keel_win_base(win);
    keel_status_t status = put_all(job, rank, win, phase);

    if (status == KEEL_OK && job->has_waits) {
        status = keel_wait_until(job->words[rank], 16, 8, KEEL_COMPARE_EQ, phase);
        if (status == KEEL_OK && has_all(job, rank, phase, own, 0)) {
            own[LIST] = own[BLOCKS] = own[SIGNAL] = OVER;
        }
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK) {
        (void)has_all(job, rank, phase, own, job->has_waits);
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    for (uint64_t phase = 1; phase <= PHASES && status == KEEL_OK; phase++) {
        status = phase_of(job, rank, win, phase);
        status =
            /* the next puts come after all ranks have checked */
            (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    job->is_over |= status == KEEL_OK;
    if (status == KEEL_OK && few->ctx[rank]->rec.rollbacks > 0) {
        keel_sim_flaw(few->sim, "the job rolled back");
    }
    return status;
}

static void begin(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;

    if (keel_win_alloc(few->ctx[rank], 64, NULL, &job->words[rank]) != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u has no window", rank);
    }
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    job->step = job->is_over ? job->step : keel_sim_step(few->sim);
    if (job->dies > 0 && few->deaths == 0 && !job->is_over && job->step >= job->dies && few->ctx[job->victim] != NULL) {
        few_kill(few, job->victim);
    }
}

static int run(const char *lanes, const uint32_t *node, int has_waits, uint64_t seed)
{
    few_play_t play = {.ranks = RANKS,
                       .windows = 1,
                       .bytes = BYTES,
                       .flags = has_waits ? KEEL_PARAM_FLAG_WAITS : 0,
                       .lanes = lanes,
                       .node = node,
                       .message = MESSAGE,
                       .begin = begin,
                       .phases = phases,
                       .strike = strike};
    job_t undisturbed = {.has_waits = has_waits};
    int is_right = few_run(&undisturbed.few, &play, seed);

    play.deaths = 1;
    for (unsigned i = 1; i <= MOMENTS && is_right; i++) {
        job_t job = {.has_waits = has_waits, .victim = (uint32_t)(seed + i) % RANKS};

        job.dies = undisturbed.step * i / (MOMENTS + 2);
        is_right = few_run(&job.few, &play, seed);
        if (!is_right) {
            fprintf(stderr, "  %s, %s, %s, rank %u dies at step %lu of %lu\n", lanes,
                    node != NULL ? "nodes" : "one node", has_waits ? "waits" : "no waits", job.victim,
                    (unsigned long)job.dies, (unsigned long)undisturbed.step);
        }
    }
    return is_right;
}

int main(int argc, char **argv)
{
    static const uint32_t nodes[RANKS] = {0, 0, 1};
    const uint64_t seed = (argc > 1) ? strtoull(argv[1], NULL, 0) : 1;
    int is_right = 1;

    for (int has_waits = 0; has_waits <= 1; has_waits++) {
        is_right &= run("KEEL_LANES=direct", NULL, has_waits, seed);
        is_right &= run("KEEL_LANES=served", NULL, has_waits, seed);
        is_right &= run("KEEL_LANES=auto", nodes, has_waits, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
