/*
 * Requests for checkpoints in files while ranks die: a file "request" or "stop" from outside, or
 * keel_checkpoint_and_stop() of a rank, at any step of a job that otherwise never ends; with and
 * without checkpoints of its own that are in the making or are being written. Two ranks die around
 * that step, rank 0 in half of the cases. Each request must be met, by a set of a generation that
 * no rank had begun when the request was made: an older image lacks work from before the request.
 * A stop must end the job. The next job must begin at the newest set at all ranks, and have
 * the sums of a job without files; if the program itself asked, the call must lie behind.
 *
 * The writer here does the same file operations as the thread of files/writer.c, between two steps
 * of a rank, so many looks after the job begins as are drawn.
 */
#include "engine/context.h"
#include "files/asked.h"
#include "files/watch.h"
#include "files/writer.h"
#include "job/init.h"
#include "sim/random.h"
#include "sim/world.h"

#include "base/crc.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS  4
#define STEPS  4000 /* more than a job takes */
#define SEEDS  240
#define FOUND  1010 /* a seed of a request while ranks begin the checkpoint before rank 0 does */
#define KILLS  2
#define BYTES  256
#define FDS    200 /* descriptors that may be open */
#define BEGUN  400 /* steps of the simulator from which on requests are made */
#define SPAN   3000
#define AROUND 1500 /* of the deaths */
#define MORE   10   /* steps of the next job */

typedef enum { BY_STOP, BY_CALL, BY_REQUEST, KINDS } kind_t;

typedef struct job {
    char path[64];
    int dir;
    keel_sim_t *sim;
    keel_context_h ctx[RANKS];    /* of live ranks, after keel_init() */
    uint64_t right[STEPS][RANKS]; /* sums after each step */
    uint64_t last;                /* step at which the program ends */
    int has_files, is_busy;       /* checkpoints of its own go to files */
    int is_asked;                 /* to stop */
    int has_begun;                /* all ranks have */
    uint64_t began[RANKS];        /* step at which the newest life of a rank went on */
    /* the request */
    kind_t kind;
    uint32_t caller;
    uint64_t make_at; /* step of the simulator; BY_CALL: of the program */
    uint64_t made;    /* step of the simulator; 0: not yet */
    int has_stop;
    keel_asked_t asked;
    /* step of the simulator at which each rank began each generation */
    uint32_t making[RANKS];
    uint64_t begun[RANKS][STEPS];
    uint64_t kill_at[KILLS]; /* step of the simulator; 0: no kill */
    uint32_t victim[KILLS];
    unsigned deaths;
} job_t;

static job_t job;
static keel_random_t writer_draws;

/* ---- the writer ---- */

struct keel_writer {
    keel_folder_t *folder;
    int is_watching, is_busy, has_ended, is_stop_due, stop_error;
    unsigned wait; /* calls until the job ends */
    keel_looks_t watch;
    keel_write_result_t result;
    void *copy;
    keel_folder_end_t end;
};

/* Nothing here is about the loss of a machine. */
int fsync(int file)
{
    (void)file;
    return 0;
}

keel_status_t keel_writer_create(keel_folder_t *folder, int is_watching, uint64_t rate, keel_writer_t **writer_p)
{
    keel_writer_t *writer = keel_alloc(sizeof(*writer), "file writer");

    (void)rate;
    if (writer == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    writer->folder = folder;
    writer->is_watching = is_watching;
    *writer_p = writer;
    return KEEL_OK;
}

static int write_image(void *arg, int file)
{
    keel_writer_t *writer = arg;
    const keel_write_job_t *work = &writer->result.job;
    const void *image = (writer->copy != NULL) ? writer->copy : work->memory;

    writer->result.crc = keel_crc(0, image, work->bytes);
    return keel_set_write_all(file, image, work->bytes);
}

static int write_rank(keel_writer_t *writer)
{
    const keel_set_contents_t contents = {.write = write_image, .arg = writer};
    char name[KEEL_FILES_NAME_MAX];
    int set, error = keel_folder_open(writer->folder);

    error = (error == 0) ? keel_set_open(keel_folder_dir(writer->folder), writer->result.job.id, 1, &set) : error;
    if (error != 0) {
        return error;
    }
    keel_set_rank_name(writer->result.job.rank, name);
    error = keel_set_write_file(set, name, &contents);
    close(set);
    return error;
}

static void writer_work(keel_writer_t *writer)
{
    keel_write_result_t *result = &writer->result;

    if (result->job.kind == KEEL_WRITE_RANK) {
        result->error = write_rank(writer);
    } else if (result->job.kind == KEEL_WRITE_MANIFEST) {
        result->error = keel_folder_complete(writer->folder, result->job.manifest);
        if (result->error == 0 && result->job.meets_request) {
            result->remove_error = keel_watch_met(&writer->watch, writer->folder);
        }
    } else {
        result->remove_error = keel_folder_prune(writer->folder, result->job.id, result->job.keep);
    }
    writer->has_ended = 1;
}

static void writer_step(keel_writer_t *writer)
{
    if (writer->is_stop_due) {
        writer->stop_error = keel_set_dir_ask(keel_folder_dir(writer->folder), KEEL_FILES_STOP);
        writer->is_stop_due = 0;
    }
    if (writer->is_watching && keel_random_below(&writer_draws, 4) == 0) {
        keel_watch_look(&writer->watch, writer->folder, 1);
    }
    if (writer->is_busy && !writer->has_ended && writer->wait-- == 0) {
        writer_work(writer);
    }
}

void keel_writer_begin(keel_writer_t *writer, const keel_write_job_t *work)
{
    writer->result = (keel_write_result_t){.job = *work};
    writer->is_busy = 1;
    writer->has_ended = 0;
    writer->wait = keel_random_below(&writer_draws, 60);
}

int keel_writer_take(keel_writer_t *writer, keel_write_result_t *result_p)
{
    writer_step(writer);
    if (!writer->has_ended) {
        return 0;
    }
    *result_p = writer->result;
    keel_free(writer->copy);
    writer->copy = NULL;
    writer->is_busy = writer->has_ended = 0;
    return 1;
}

void keel_writer_detach(keel_writer_t *writer, uint32_t used)
{
    const keel_write_job_t *work = &writer->result.job;

    if (work->kind == KEEL_WRITE_RANK && work->id.generation < used && writer->copy == NULL && !writer->has_ended) {
        writer->copy = keel_alloc(work->bytes, "image for a file");
        memcpy(writer->copy, work->memory, work->bytes);
    }
}

void keel_writer_leave(keel_writer_t *writer, int is_over)
{
    if (is_over) {
        keel_folder_end(writer->folder, &writer->end);
    }
}

int keel_writer_join(keel_writer_t *writer, uint64_t within_ns)
{
    (void)writer;
    (void)within_ns;
    return 1;
}

void keel_writer_give_up(keel_writer_t *writer)
{
    (void)writer;
}

keel_folder_end_t keel_writer_folder_end(const keel_writer_t *writer)
{
    return writer->end;
}

void keel_writer_destroy(keel_writer_t *writer)
{
    if (writer != NULL) {
        keel_free(writer->copy);
        keel_free(writer);
    }
}

void keel_writer_hurry(keel_writer_t *writer)
{
    (void)writer;
}

int keel_writer_is_busy(const keel_writer_t *writer)
{
    return writer->is_busy;
}

int keel_writer_is_requested(const keel_writer_t *writer)
{
    return writer->watch.is_requested;
}

int keel_writer_is_stopping(const keel_writer_t *writer)
{
    return writer->watch.is_stopping;
}

uint64_t keel_writer_looks(const keel_writer_t *writer)
{
    return writer->watch.looks;
}

void keel_writer_ask_stop(keel_writer_t *writer)
{
    writer->is_stop_due = 1;
}

int keel_writer_has_asked_stop(keel_writer_t *writer, int *error_p)
{
    *error_p = writer->stop_error;
    return !writer->is_stop_due;
}

void keel_writer_end_stop(keel_writer_t *writer)
{
    (void)unlinkat(keel_folder_dir(writer->folder), KEEL_FILES_STOP, 0);
    writer->watch.is_stopping = 0;
}

/* ---- the program ---- */

static void flaw_if(int is_flawed, uint32_t rank, const char *what)
{
    if (is_flawed) {
        keel_sim_flaw(job.sim, "rank %u %s", rank, what);
    }
}

static keel_status_t phases(uint32_t rank, keel_context_h ctx, keel_win_h win)
{
    uint64_t *words = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && words[0] < job.last) {
        const uint64_t step = words[0];

        if (job.kind == BY_CALL && job.caller == rank && job.make_at == step) {
            job.made = (job.made == 0) ? keel_sim_step(job.sim) : job.made;
            status = keel_checkpoint_and_stop(ctx);
        }
        words[1] = words[1] * 31 + words[2 + (step + 1) % 2] + rank;
        status = (status == KEEL_OK) ? keel_put(win, (rank + 1) % RANKS, (2 + step % 2) * 8, &words[1], 8) : status;
        words[0]++;
        if (!job.has_files) {
            job.right[step][rank] = words[1];
        } else if (words[0] == job.last) {
            flaw_if(job.is_asked, rank, "does not stop");
            flaw_if(!job.is_asked && words[1] != job.right[step][rank], rank, "has a wrong sum");
        }
        status = (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
    }
    return status;
}

static keel_status_t lives(uint32_t rank, keel_context_h ctx, keel_win_h win)
{
    keel_status_t status;

    do {
        status = keel_restarted(ctx) ? keel_restore(ctx) : KEEL_OK;
        job.began[rank] = *(uint64_t *)keel_win_base(win);
        status = (status == KEEL_OK) ? phases(rank, ctx, win) : status;
        status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    char folder[96];
    const char *env[] = {"KEEL_GROUP_SIZE=4",
                         "KEEL_PARITIES=2",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         "KEEL_FILE_STOP_WITHIN=0",
                         job.is_busy ? "KEEL_CKPT_INTERVAL=5gsyncs" : "KEEL_CKPT_INTERVAL=off",
                         job.is_busy ? "KEEL_FILE_INTERVAL=0" : "KEEL_FILE_INTERVAL=3600",
                         job.has_files ? folder : NULL,
                         NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    keel_context_h ctx;
    keel_status_t status;
    keel_win_h win;

    (void)arg;
    snprintf(folder, sizeof(folder), "KEEL_FILE_DIR=%s", job.path);
    status = keel_init_on(keel_sim_drivers(sim), &params, &ctx);
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, BYTES, NULL, &win) : status;
    if (status == KEEL_OK) {
        job.ctx[rank] = ctx;
        status = lives(rank, ctx, win);
        job.ctx[rank] = NULL;
    }
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
}

/* ---- between two steps ---- */

/* A death while a job begins ends it: another property. */
static void strike(void)
{
    unsigned begun = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        begun += job.ctx[r] != NULL;
    }
    job.has_begun |= begun == RANKS;
    for (unsigned i = 0; i < KILLS; i++) {
        if (job.kill_at[i] != 0 && keel_sim_step(job.sim) >= job.kill_at[i] && job.has_begun) {
            const uint32_t victim = job.victim[i];

            job.deaths += keel_sim_kill(job.sim, victim) != 0;
            job.ctx[victim] = NULL;
            job.making[victim] = 0;
            job.kill_at[i] = 0;
        }
    }
}

static void note_begins(void)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t making = (job.ctx[r] != NULL) ? job.ctx[r]->ckpt.set.making.number : 0;

        if (making != job.making[r] && making != 0 && making < STEPS) {
            job.begun[r][making] = keel_sim_step(job.sim);
        }
        job.making[r] = making;
    }
}

/* True if a set is complete of a generation that all ranks began after the request was made. */
static int is_met(void)
{
    keel_set_id_t *ids = NULL;
    unsigned count = 0;
    int is_found = 0;

    if (keel_set_list(job.dir, &ids, &count) != 0) {
        return 0;
    }
    for (unsigned i = 0; i < count && !is_found; i++) {
        is_found = ids[i].generation < STEPS && keel_set_has(job.dir, ids[i], KEEL_FILES_MANIFEST) == 1;
        for (uint32_t r = 0; r < RANKS && is_found; r++) {
            is_found = job.begun[r][ids[i].generation] > job.made;
        }
    }
    keel_free(ids);
    return is_found;
}

static void ask_stop(void)
{
    job.has_stop = 1;
    if (keel_set_dir_ask(job.dir, KEEL_FILES_STOP) != 0) {
        keel_sim_flaw(job.sim, "no request can be made");
    }
}

static void make_request(void)
{
    job.made = keel_sim_step(job.sim);
    if (job.kind == BY_STOP) {
        ask_stop();
    } else if (keel_asked_begin(&job.asked, job.path) != 0) {
        keel_sim_flaw(job.sim, "no request can be made");
    }
}

/* The request is met: then the job may stop. */
static void check_request(void)
{
    const keel_asked_state_t state = keel_asked_look(&job.asked);

    if (state == KEEL_ASKED_LOST) {
        keel_sim_flaw(job.sim, "the request is lost");
    } else if (state == KEEL_ASKED_COMPLETE && !is_met()) {
        keel_sim_flaw(job.sim, "the request is met by a checkpoint from before it");
    } else if (state == KEEL_ASKED_COMPLETE) {
        ask_stop();
    }
}

static void hook(void *arg, keel_sim_t *sim)
{
    (void)arg;
    strike();
    note_begins();
    if (job.has_files && job.kind != BY_CALL && job.made == 0 && keel_sim_step(sim) >= job.make_at && job.has_begun) {
        make_request();
    } else if (job.kind == BY_REQUEST && job.made != 0 && !job.has_stop && keel_sim_step(sim) % 8 == 0) {
        check_request();
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

/* ---- jobs ---- */

/* Closes the descriptors that dead ranks have left open. */
static void close_dead(void)
{
    const size_t length = strlen(job.path);
    char name[64], path[256];

    for (int fd = job.dir + 1; fd < FDS; fd++) {
        ssize_t got;

        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        got = readlink(name, path, sizeof(path));
        if (got >= (ssize_t)length && memcmp(path, job.path, length) == 0) {
            close(fd);
        }
    }
}

/* Runs the job once; its flaw goes to @a flaw. */
static keel_sim_end_t attempt(uint64_t seed, char *flaw, size_t size)
{
    const keel_sim_options_t options = {
        .seed = seed, .ranks = RANKS, .has_writer = 1, .program = program, .hook = hook};
    keel_sim_end_t end;

    memset(job.ctx, 0, sizeof(job.ctx));
    memset(job.making, 0, sizeof(job.making));
    job.has_begun = 0;
    if (keel_sim_create(&options, &job.sim) != KEEL_OK) {
        abort();
    }
    keel_sim_hook_at(job.sim, 1);
    end = keel_sim_run(job.sim);
    snprintf(flaw, size, "%s", keel_sim_flaw_text(job.sim));
    keel_sim_destroy(job.sim);
    close_dead();
    return end;
}

static void empty_folder(void)
{
    static const char *const names[] = {KEEL_FILES_LOCK, KEEL_FILES_REQUEST, KEEL_FILES_TAKEN, KEEL_FILES_STOP};
    keel_set_id_t *ids = NULL;
    unsigned count = 0;

    (void)keel_set_list(job.dir, &ids, &count);
    for (unsigned i = 0; i < count; i++) {
        (void)keel_set_remove(job.dir, ids[i]);
    }
    keel_free(ids);
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        (void)unlinkat(job.dir, names[i], 0);
    }
}

static void draw(keel_random_t *random, uint64_t seed)
{
    const uint64_t at = BEGUN + keel_random_next(random) % SPAN;

    writer_draws.state = seed;
    job.kind = (kind_t)(seed % KINDS);
    job.is_busy = seed / KINDS % 2 == 0;
    job.caller = keel_random_below(random, RANKS);
    job.make_at = (job.kind == BY_CALL) ? 1 + keel_random_below(random, 20) : at;
    job.made = 0;
    job.is_asked = 1;
    job.has_stop = 0;
    memset(job.begun, 0, sizeof(job.begun));
    job.deaths = 0;
    for (unsigned i = 0; i < KILLS; i++) {
        job.kill_at[i] = keel_random_below(random, 3) == 0 ? 0 : at - BEGUN + 1 + keel_random_next(random) % AROUND;
        job.victim[i] = keel_random_below(random, 2) ? 0 : keel_random_below(random, RANKS);
    }
}

/* The step of the images of the newest complete set: a gsync precedes the first step. */
static uint64_t newest_step(void)
{
    keel_set_id_t *ids = NULL;
    unsigned count = 0, i = 0;
    uint64_t step;

    (void)keel_set_list(job.dir, &ids, &count);
    while (i < count && keel_set_has(job.dir, ids[i], KEEL_FILES_MANIFEST) != 1) {
        i++;
    }
    step = (i < count) ? ids[i].generation - 1 : 0;
    keel_free(ids);
    return step;
}

/* The next job begins at the same set at all ranks, behind the program's own call, and ends. */
static int goes_on(uint64_t seed)
{
    char flaw[256];
    keel_sim_end_t end;

    memset(job.kill_at, 0, sizeof(job.kill_at));
    job.made = UINT64_MAX; /* no other request */
    job.is_asked = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        job.began[r] = 0;
    }
    job.last = newest_step() + MORE;
    end = attempt(seed, flaw, sizeof(flaw));
    for (uint32_t r = 0; r < RANKS && end == KEEL_SIM_DONE; r++) {
        if (job.began[r] != job.last - MORE) {
            snprintf(flaw, sizeof(flaw), "rank %u begins at step %lu, not %lu", r, (unsigned long)job.began[r],
                     (unsigned long)(job.last - MORE));
            end = KEEL_SIM_FLAW;
        }
    }
    if (end != KEEL_SIM_DONE) {
        fprintf(stderr, "seed %lu, the next job: %s\n", (unsigned long)seed, flaw);
    }
    return end == KEEL_SIM_DONE;
}

static int stops(uint64_t seed)
{
    keel_random_t random = {.state = seed};
    char flaw[256];
    keel_sim_end_t end;

    empty_folder();
    draw(&random, seed);
    job.last = STEPS;
    end = attempt(seed, flaw, sizeof(flaw));
    if (job.kind == BY_REQUEST && job.made != 0) {
        keel_asked_end(&job.asked);
    }
    if (end != KEEL_SIM_ABORTED || strstr(flaw, "the job has stopped") == NULL) {
        fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, job.deaths, flaw);
        return 0;
    }
    if (!is_met()) {
        fprintf(stderr, "seed %lu, %u deaths: the stop is met by a checkpoint from before it\n", (unsigned long)seed,
                job.deaths);
        return 0;
    }
    return goes_on(seed);
}

int main(void)
{
    int is_right;
    unsigned deaths = 0;
    char flaw[256];

    snprintf(job.path, sizeof(job.path), "/tmp/keel_requests.XXXXXX");
    if (mkdtemp(job.path) == NULL || keel_set_dir_open(job.path, &job.dir) != 0) {
        return EXIT_FAILURE;
    }
    job.last = STEPS / 4;
    is_right = attempt(1, flaw, sizeof(flaw)) == KEEL_SIM_DONE;
    job.has_files = 1;
    for (uint64_t seed = 0; is_right && seed <= SEEDS; seed++) {
        is_right = stops((seed > 0) ? seed : FOUND);
        deaths += job.deaths;
    }
    empty_folder();
    close(job.dir);
    (void)rmdir(job.path);
    if (is_right && deaths < SEEDS / 2) {
        fprintf(stderr, "only %u deaths\n", deaths);
        is_right = 0;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
