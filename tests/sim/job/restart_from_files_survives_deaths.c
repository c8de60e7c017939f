/*
 * A job begins from files while ranks die: one or two of them, rank 0 in half of the cases, at any
 * step of the restart and soon after the restart. No program of a replacement begins while another
 * rank is in the keel_init() of its first life. In a third of the jobs the newest set has a damaged
 * file. Each attempt must end. A rank may end an attempt after a death; another attempt
 * follows, as a launcher begins one. An attempt without deaths must begin at the newest whole set.
 * In the end every rank must have the sums of a job without a restart.
 */
#include "ckpt/repair.h"
#include "engine/context.h"
#include "files/manifest.h"
#include "job/init.h"
#include "sim/random.h"
#include "sim/world.h"

#include "base/crc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS  4
#define STEPS  20
#define SEEDS  150
#define FOUND  1588 /* a seed of a job in which a replacement began too early */
#define SETS   2
#define KILLS  2
#define BYTES  256
#define FDS    100 /* descriptors that may be open */
#define MARGIN 200 /* steps of the simulator after the restart in which ranks die, too */

typedef struct job {
    char path[64];
    int dir;
    keel_sim_t *sim;
    int is_saving, is_small; /* groups of two */
    uint64_t sums[RANKS], right[RANKS];
    uint64_t began[RANKS];   /* step at which the newest life of a rank went on */
    uint64_t restarted_at;   /* step of the simulator at which all ranks had restored; 0: not yet */
    unsigned restored;       /* ranks that have restored */
    int is_ending;           /* a rank has reached its keel_finalize() */
    int is_starting[RANKS];  /* the first process of the rank is in keel_init() */
    uint64_t kill_at[KILLS]; /* step of the simulator; 0: no kill */
    uint32_t victim[KILLS];
    unsigned deaths;
    unsigned begun_again, recovered; /* attempts with deaths, by their ends */
    /* sets */
    uint32_t generations[SETS];
    unsigned written[SETS];
    uint64_t steps[SETS]; /* of the images: one gsync for the window, then one for each step */
    keel_manifest_file_t files[SETS][RANKS];
} job_t;

/* ---- writing, as no thread may in the simulator ---- */

typedef struct span {
    const void *data;
    size_t bytes;
} span_t;

static int write_span(void *arg, int file)
{
    const span_t *span = arg;

    return keel_set_write_all(file, span->data, span->bytes);
}

static keel_set_id_t id_of(const job_t *job, unsigned i)
{
    return (keel_set_id_t){.generation = job->generations[i], .run = 1};
}

/* Writes the own image of the generation in use, once for each of the first generations. */
static void save(job_t *job, uint32_t rank, keel_context_h ctx)
{
    const uint32_t used = ctx->ckpt.set.used.number;
    char name[KEEL_FILES_NAME_MAX];
    unsigned i = 0;
    span_t span;
    const keel_set_contents_t contents = {.write = write_span, .arg = &span};
    int set;

    while (i < SETS && job->generations[i] != 0 && job->generations[i] != used) {
        i++;
    }
    if (used == 0 || i == SETS || job->files[i][rank].bytes != 0) {
        return;
    }
    job->generations[i] = used;
    job->steps[i] = used - 1;
    span.data = keel_repair_image(&ctx->ckpt.set, &span.bytes);
    job->files[i][rank] = (keel_manifest_file_t){.bytes = span.bytes, .crc = keel_crc(0, span.data, span.bytes)};
    keel_set_rank_name(rank, name);
    if (keel_set_open(job->dir, id_of(job, i), 1, &set) != 0 || keel_set_write_file(set, name, &contents) != 0) {
        keel_sim_flaw(job->sim, "rank %u: no file", rank);
    }
    close(set);
    job->written[i]++;
}

/* Writes the manifests; @a is_damaged: then changes a byte of a file of the newest set. */
static int complete(const job_t *job)
{
    for (unsigned i = 0; i < SETS; i++) {
        const keel_manifest_t manifest = {
            .id = id_of(job, i), .program = "", .count = RANKS, .files = (keel_manifest_file_t *)job->files[i]};
        keel_manifest_t own = manifest;
        char exe[1024];
        const ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
        int set;

        exe[length > 0 ? length : 0] = '\0';
        keel_manifest_set_program(&own, strrchr(exe, '/') + 1);
        if (job->written[i] != RANKS || keel_set_open(job->dir, own.id, 0, &set) != 0 ||
            keel_manifest_write(set, &own) != 0) {
            return 0;
        }
        close(set);
    }
    return 1;
}

/* Changes a byte in the middle of a file; the second call undoes the change. */
static void flip(const job_t *job, unsigned i, uint32_t rank)
{
    const off_t at = (off_t)job->files[i][rank].bytes / 2;
    char name[KEEL_FILES_NAME_MAX];
    uint8_t byte = 0;
    int set, file;

    keel_set_rank_name(rank, name);
    (void)keel_set_open(job->dir, id_of(job, i), 0, &set);
    file = openat(set, name, O_RDWR);
    if (pread(file, &byte, 1, at) == 1) {
        byte ^= 1;
    }
    if (pwrite(file, &byte, 1, at) != 1) {
        abort();
    }
    close(file);
    close(set);
}

/* ---- the program ---- */

static keel_status_t phases(job_t *job, uint32_t rank, keel_context_h ctx, keel_win_h win)
{
    uint64_t *words = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && words[0] < STEPS) {
        const uint64_t step = words[0];

        if (job->is_saving) {
            save(job, rank, ctx);
        }
        words[1] = words[1] * 31 + words[2 + (step + 1) % 2] + rank;
        status = keel_put(win, (rank + 1) % RANKS, (2 + step % 2) * 8, &words[1], 8);
        words[0]++;
        if (status == KEEL_OK) {
            status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
        }
    }
    job->sums[rank] = words[1];
    return status;
}

static keel_status_t lives(job_t *job, uint32_t rank, keel_context_h ctx, keel_win_h win)
{
    keel_status_t status;

    do {
        status = KEEL_OK;
        if (keel_restarted(ctx)) {
            status = keel_restore(ctx);
            if (status == KEEL_OK) {
                job->began[rank] = *(uint64_t *)keel_win_base(win);
                job->restored++;
                if (job->restored == RANKS && job->restarted_at == 0) {
                    job->restarted_at = keel_sim_step(job->sim);
                }
            }
        }
        status = (status == KEEL_OK) ? phases(job, rank, ctx, win) : status;
        job->is_ending |= status == KEEL_OK;
        status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    job_t *job = arg;
    char folder[96];
    const char *env[] = {job->is_small ? "KEEL_GROUP_SIZE=2" : "KEEL_GROUP_SIZE=4",
                         "KEEL_CKPT_INTERVAL=3gsyncs",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         job->is_saving ? NULL : folder,
                         NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    keel_context_h ctx;
    keel_status_t status;
    keel_win_h win;

    snprintf(folder, sizeof(folder), "KEEL_FILE_DIR=%s", job->path);
    job->began[rank] = 0;
    job->is_starting[rank] = incarnation == 0;
    status = keel_init_on(keel_sim_drivers(sim), &params, &ctx);
    job->is_starting[rank] = 0;
    for (uint32_t r = 0; r < RANKS && status == KEEL_OK; r++) {
        if (incarnation > 0 && job->is_starting[r]) {
            keel_sim_flaw(sim, "rank %u.%u begins before rank %u", rank, incarnation, r);
        }
    }
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, BYTES, NULL, &win) : status;
    status = (status == KEEL_OK) ? lives(job, rank, ctx, win) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
}

static void hook(void *arg, keel_sim_t *sim)
{
    job_t *job = arg;

    for (unsigned i = 0; i < KILLS; i++) {
        /* A launcher does not replace a rank that dies before all ranks have met, or when the job
         * ends. */
        if (job->kill_at[i] != 0 && keel_sim_step(sim) >= job->kill_at[i] && sim->announced >= RANKS &&
            !job->is_ending) {
            if (keel_sim_kill(sim, job->victim[i])) {
                job->deaths++;
                job->is_starting[job->victim[i]] = 0;
            }
            job->kill_at[i] = 0;
        }
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

/* ---- jobs ---- */

/* Closes the descriptors that dead ranks have left open. */
static void close_dead(const job_t *job)
{
    const size_t length = strlen(job->path);
    char name[64], path[256];

    for (int fd = job->dir + 1; fd < FDS; fd++) {
        ssize_t got;

        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        got = readlink(name, path, sizeof(path));
        if (got >= (ssize_t)length && memcmp(path, job->path, length) == 0) {
            close(fd);
        }
    }
}

/* One attempt. Prints the flaw of one that ends otherwise than it may. */
static int attempt(job_t *job, uint64_t seed, keel_sim_end_t *end_p)
{
    const keel_sim_options_t options = {.seed = seed, .ranks = RANKS, .program = program, .hook = hook, .arg = job};
    int is_right;

    job->deaths = job->restored = 0;
    job->is_ending = 0;
    memset(job->is_starting, 0, sizeof(job->is_starting));
    job->restarted_at = 0;
    if (keel_sim_create(&options, &job->sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(job->sim, 1);
    *end_p = keel_sim_run(job->sim);
    close_dead(job);
    job->begun_again += *end_p == KEEL_SIM_ABORTED;
    job->recovered += *end_p == KEEL_SIM_DONE && job->deaths > 0;
    is_right = *end_p == KEEL_SIM_DONE || (*end_p == KEEL_SIM_ABORTED && job->deaths > 0);
    if (!is_right) {
        fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, job->deaths, keel_sim_flaw_text(job->sim));
    }
    keel_sim_destroy(job->sim);
    return is_right;
}

static int is_right_end(const job_t *job, uint64_t seed, uint64_t first)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (job->sums[r] != job->right[r]) {
            fprintf(stderr, "seed %lu: rank %u has a wrong sum\n", (unsigned long)seed, r);
            return 0;
        }
        if (job->deaths == 0 && job->began[r] != first) {
            fprintf(stderr, "seed %lu: rank %u begins at step %lu, not %lu\n", (unsigned long)seed, r,
                    (unsigned long)job->began[r], (unsigned long)first);
            return 0;
        }
    }
    return 1;
}

/* Makes the sets complete again, which a job that ended by itself has marked. */
static void unmark(const job_t *job)
{
    for (unsigned i = 0; i < SETS; i++) {
        int set;

        (void)keel_set_open(job->dir, id_of(job, i), 0, &set);
        (void)renameat(set, KEEL_FILES_ENDED, set, KEEL_FILES_MANIFEST);
        close(set);
    }
}

/* A job, begun until an attempt succeeds; @a deaths[a]: kills in attempt a. */
static int restart(job_t *job, uint64_t seed, uint64_t span)
{
    keel_random_t random = {.state = seed};
    const int is_damaged = seed % 3 == 0;
    const uint32_t damaged = keel_random_below(&random, RANKS);
    const uint64_t first = job->steps[is_damaged ? 0 : 1];
    const unsigned both = keel_random_below(&random, 2); /* kills in the first attempt */
    keel_sim_end_t end = KEEL_SIM_ABORTED;
    int is_right = 1;

    if (is_damaged) {
        flip(job, 1, damaged);
    }
    for (unsigned tries = 0; is_right && end != KEEL_SIM_DONE && tries <= KILLS; tries++) {
        const unsigned kills = (tries == 0) ? 1 + both : (tries == 1) ? 1 - both : 0;

        for (unsigned i = 0; i < KILLS; i++) {
            job->kill_at[i] = (i < kills) ? 1 + keel_random_next(&random) % span : 0;
            job->victim[i] = keel_random_below(&random, 2) ? 0 : keel_random_below(&random, RANKS);
        }
        is_right = attempt(job, seed * 10 + tries, &end);
    }
    is_right = is_right && is_right_end(job, seed, first);
    if (is_damaged) {
        flip(job, 1, damaged);
    }
    unmark(job);
    return is_right;
}

static int prepare(job_t *job, uint64_t *span_p)
{
    keel_sim_end_t end;
    int is_right;

    snprintf(job->path, sizeof(job->path), "/tmp/keel_restart.XXXXXX");
    if (mkdtemp(job->path) == NULL || keel_set_dir_open(job->path, &job->dir) != 0) {
        return 0;
    }
    job->is_saving = 1;
    is_right = attempt(job, 1, &end) && complete(job);
    job->is_saving = 0;
    memcpy(job->right, job->sums, sizeof(job->sums));
    /* how long a restart takes */
    is_right = is_right && attempt(job, 1, &end) && end == KEEL_SIM_DONE && is_right_end(job, 0, job->steps[1]);
    unmark(job);
    *span_p = job->restarted_at + MARGIN;
    return is_right;
}

static void forget(const job_t *job)
{
    for (unsigned i = 0; i < SETS; i++) {
        (void)keel_set_remove(job->dir, id_of(job, i));
    }
    (void)unlinkat(job->dir, KEEL_FILES_LOCK, 0);
    close(job->dir);
    (void)rmdir(job->path);
}

int main(void)
{
    int is_right = 1;

    for (int is_small = 0; is_small < 2; is_small++) {
        job_t job = {.is_small = is_small};
        uint64_t span = 0;

        is_right &= prepare(&job, &span);
        for (uint64_t seed = 1; is_right && seed <= SEEDS + 1; seed++) {
            is_right &= restart(&job, (seed <= SEEDS) ? seed : FOUND, span);
        }
        if (is_right && (job.begun_again == 0 || job.recovered == 0)) {
            fprintf(stderr, "%u attempts begun again, %u recovered\n", job.begun_again, job.recovered);
            is_right = 0;
        }
        forget(&job);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
