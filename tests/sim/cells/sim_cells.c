/*
 * Measures the cost of a death at any moment, for the kinds of tests/proc/cells.h. Each seed
 * determines the targets of accesses, the images, the times of computation, and the moment of the
 * death. The share of runs that recovered locally must lie within bounds. Runs with full logs do
 * not count. LEAST and MOST are percentages. The victim is the source, which no rank accesses, or
 * the target, which accesses no rank. With SEED the program plays one seed and prints the result.
 *
 *   sim_cells KIND source|target LANES RUNS LEAST MOST
 *   sim_cells KIND source|target LANES SEED
 */
#include "few_ranks.h"

#include "proc/cells.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MIN  5u
#define STEPS_MORE 5u
#define PAUSE_NS   20000

typedef struct drawn {
    few_t few;
    const cells_kind_t *kind;
    keel_random_t random; /* draws the times of computation */
    uint32_t targets[CELLS_RANKS], victim;
    uint64_t steps, saves; /* saves has a bit for each step that an image ends */
    uint64_t kill_step;    /* the death comes in this step of the victim */
    /*
     * scheduler steps: start of the victim's current step, and durations of the last steps without
     * and with an image
     */
    uint64_t began, lasted[2];
    /* scheduler step of the death, drawn within the duration of the last such step */
    uint64_t kill_at;
    cells_job_t job[CELLS_RANKS];
    keel_stats_t all;
} drawn_t;

static const char *role;
static drawn_t *playing;

static void fail(drawn_t *drawn, uint32_t rank, const char *what)
{
    keel_sim_flaw(drawn->few.sim, "rank %u.%u, step %lu: %s", rank, keel_sim_incarnation(drawn->few.sim, rank),
                  (unsigned long)drawn->job[rank].step, what);
}

static int does_save(const drawn_t *drawn, uint64_t step)
{
    return (int)(drawn->saves >> step & 1);
}

/* In half of the programs, notifications come too late for a rank that only polls. */
static keel_status_t look_again(cells_job_t *job)
{
    return few_progress(&playing->few, job->rank);
}

static void begin(few_t *few, uint32_t rank)
{
    drawn_t *drawn = (drawn_t *)few;
    keel_status_t status;

    drawn->job[rank] =
        (cells_job_t){.ctx = few->ctx[rank], .targets = drawn->targets, .rank = rank, .pause = look_again};
    status = cells_open(&drawn->job[rank]);
    if (status != KEEL_OK) {
        fail(drawn, rank, keel_status_string(status));
    }
}

static void between(void *arg, cells_job_t *job, uint64_t part)
{
    drawn_t *drawn = arg;

    (void)job;
    (void)part;
    keel_sim_compute(drawn->few.sim, keel_random_scaled(&drawn->random, PAUSE_NS));
}

/* Called when a step begins: determines the moment of the death, or kills at the last step. */
static void enter(drawn_t *drawn, const cells_job_t *job)
{
    const uint64_t now = keel_sim_step(drawn->few.sim);

    if (job->rank != drawn->victim || drawn->few.deaths > 0) {
        return;
    }
    if (job->step > 0) {
        drawn->lasted[does_save(drawn, job->step - 1)] = now - drawn->began;
    }
    drawn->began = now;
    if (job->step == drawn->kill_step) {
        drawn->kill_at = now + keel_random_below(&drawn->random, (uint32_t)drawn->lasted[does_save(drawn, job->step)]);
    } else if (job->step + 1 == drawn->steps) {
        drawn->kill_at = now;
    }
}

static void count(drawn_t *drawn, const cells_job_t *job)
{
    keel_stats_t stats;

    if (keel_stats(job->ctx, &stats, sizeof(stats)) != KEEL_OK) {
        fail(drawn, job->rank, "no statistics");
    }
    drawn->all.rollbacks = (stats.rollbacks > drawn->all.rollbacks) ? stats.rollbacks : drawn->all.rollbacks;
    drawn->all.rollbacks_in_doubt += stats.rollbacks_in_doubt;
    drawn->all.log_overflows += stats.log_overflows;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    drawn_t *drawn = (drawn_t *)few;
    cells_job_t *job = &drawn->job[rank];
    keel_status_t status = KEEL_OK;

    (void)last;
    while (status == KEEL_OK && job->step < drawn->steps) {
        enter(drawn, job);
        status = cells_step(job, drawn->kind, does_save(drawn, job->step), between, drawn);
        if (status == KEEL_OK && !drawn->kind->has_no_gsync && !cells_is_right(job, drawn->kind)) {
            fail(drawn, rank, "corrupt data");
        }
    }
    status = (status == KEEL_OK) ? keel_gsync(job->ctx, 0) : status;
    if (status == KEEL_OK && !cells_is_right(job, drawn->kind)) {
        fail(drawn, rank, "corrupt data at the end");
    }
    if (status == KEEL_OK) {
        count(drawn, job);
    }
    return status;
}

static void strike(few_t *few)
{
    drawn_t *drawn = (drawn_t *)few;

    if (few->deaths == 0 && drawn->kill_at > 0 && keel_sim_step(few->sim) >= drawn->kill_at) {
        few_kill(few, drawn->victim);
    }
}

/*
 * No rank accesses rank 1, and rank 2 accesses no rank. Each other rank may access, be accessed,
 * both or neither.
 */
static void draw(drawn_t *drawn, keel_random_t *random)
{
    static const uint32_t of_0[] = {CELLS_TARGET, 3, CELLS_RANKS}, of_3[] = {0, CELLS_TARGET, CELLS_RANKS};
    const int is_group = strcmp(drawn->kind->name, "groups") == 0; /* the group of ranks 0 to 2 */

    drawn->targets[0] = is_group ? CELLS_TARGET : of_0[keel_random_below(random, 3)];
    drawn->targets[CELLS_SOURCE] = CELLS_TARGET;
    drawn->targets[CELLS_TARGET] = CELLS_RANKS;
    drawn->targets[3] = of_3[keel_random_below(random, 3)];
    if (is_group && drawn->targets[3] == CELLS_TARGET) {
        drawn->targets[3] = 0;
    }
    drawn->victim = (strcmp(role, "source") == 0) ? CELLS_SOURCE : CELLS_TARGET;
    drawn->steps = STEPS_MIN + keel_random_below(random, STEPS_MORE);
    drawn->saves = 1 | (keel_random_next(random) & keel_random_next(random) & ~2ull);
    drawn->kill_step = 2 + keel_random_below(random, (uint32_t)drawn->steps - 3);
    drawn->random.state = keel_random_next(random);
}

/* Returns 0 if the run failed. */
static int run(uint64_t seed, const cells_kind_t *kind, const char *lanes, drawn_t *drawn)
{
    keel_random_t random = {keel_random_mix(seed ^ 0x63656c6c73)};
    const few_play_t play = {.ranks = CELLS_RANKS,
                             .deaths = 1,
                             .flags = kind->flags,
                             .lanes = lanes,
                             .is_noticing = (int)keel_random_below(&random, 2),
                             .begin = begin,
                             .phases = phases,
                             .strike = strike};

    memset(drawn, 0, sizeof(*drawn));
    playing = drawn;
    drawn->kind = kind;
    draw(drawn, &random);
    return few_run(&drawn->few, &play, seed);
}

static int usage(void)
{
    fprintf(stderr, "usage: sim_cells KIND source|target LANES RUNS LEAST MOST, or ... SEED\n");
    return EXIT_FAILURE;
}

static int run_one(uint64_t seed, const cells_kind_t *kind, const char *lanes, drawn_t *drawn)
{
    const int is_right = run(seed, kind, lanes, drawn);

    printf("%lu rollbacks, %lu in doubt, %lu full logs\n", (unsigned long)drawn->all.rollbacks,
           (unsigned long)drawn->all.rollbacks_in_doubt, (unsigned long)drawn->all.log_overflows);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static drawn_t drawn;
    const cells_kind_t *kind = (argc == 5 || argc == 7) ? cells_kind(argv[1]) : NULL;
    unsigned long runs, least, most, local = 0, rolled_back = 0, right = 0, full = 0;
    char lanes[64];

    if (kind == NULL || (strcmp(argv[2], "source") != 0 && strcmp(argv[2], "target") != 0)) {
        return usage();
    }
    role = argv[2];
    snprintf(lanes, sizeof(lanes), "KEEL_LANES=%s", argv[3]);
    runs = strtoul(argv[4], NULL, 10);
    if (argc == 5) {
        return run_one(runs, kind, lanes, &drawn);
    }
    least = strtoul(argv[5], NULL, 10);
    most = strtoul(argv[6], NULL, 10);
    for (uint64_t seed = 1; seed <= runs; seed++) {
        right += (unsigned long)run(seed, kind, lanes, &drawn);
        if (drawn.all.log_overflows > 0) {
            full++;
        } else if (drawn.all.rollbacks > 0) {
            rolled_back++;
        } else {
            local++;
        }
    }
    printf("%s, %s, %s: %lu recovered locally, %lu rolled back, %lu with full logs\n", kind->name, role, argv[3], local,
           rolled_back, full);
    if (right < runs || 20 * full > runs || 100 * local < least * (runs - full) || 100 * local > most * (runs - full)) {
        fprintf(stderr, "%lu to %lu %% are wanted, and at most 5 %% with full logs; %lu are not right\n", least, most,
                runs - right);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
