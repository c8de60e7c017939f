/* The thread that writes files. */
#define _GNU_SOURCE /* dladdr() */
#include "files/writer.h"
#include "files/pace.h"
#include "files/watch.h"

#include "base/crc.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WRITER_PIECE    ((size_t)1 << 20)   /* bytes read at a time */
#define WRITER_AHEAD    ((uint64_t)8 << 20) /* bytes between hints to write to the device */
#define WRITER_JOIN_NS  1000000000u
#define WRITER_NICENESS 19

typedef enum { WRITER_IDLE, WRITER_BUSY, WRITER_ENDED } writer_state_t;

struct keel_writer {
    keel_folder_t *folder;
    int is_watching;
    uint64_t rate; /* bytes per second; 0: no limit */
    keel_looks_t watch;
    pthread_t thread;
    pthread_mutex_t lock;
    /* a job begins, is hurried or revoked, a stop is due, or the thread is to leave */
    pthread_cond_t begins;
    pthread_cond_t ends;        /* the thread has left */
    keel_write_result_t result; /* of the current job; the thread's while BUSY */
    writer_state_t state;       /* atomic */
    /* under the lock */
    int is_revoked, is_hurried, is_leaving, is_over, has_left;
    int is_stop_due, stop_error; /* KEEL_FILES_STOP is to be made; errno of the newest try */
    const uint8_t *memory;       /* RANK: of the job, or of its copy, less the offset of the copy */
    uint64_t at;                 /* RANK: bytes read */
    uint64_t begun_ns;           /* the thread's */
    void *copy;                  /* of the rest; NULL: none */
    int is_joined;               /* the caller's */
    keel_folder_end_t end;       /* the thread's until the thread has left */
    uint8_t piece[WRITER_PIECE];
};

static int writer_dir(const keel_writer_t *writer)
{
    return keel_folder_dir(writer->folder);
}

static uint64_t writer_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Makes KEEL_FILES_STOP for the caller, and then what the thread does between file operations. */
static void writer_attend(keel_writer_t *writer)
{
    int is_due;

    if (keel_folder_is_left(writer->folder)) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    is_due = writer->is_stop_due;
    pthread_mutex_unlock(&writer->lock);
    if (is_due) {
        int error = keel_folder_open(writer->folder); /* no other job's */

        error = (error == 0) ? keel_set_dir_ask(writer_dir(writer), KEEL_FILES_STOP) : error;

        pthread_mutex_lock(&writer->lock);
        writer->is_stop_due = 0;
        writer->stop_error = error;
        pthread_mutex_unlock(&writer->lock);
    }
    if (writer->is_watching && writer_now_ns() - writer->watch.look_ns >= KEEL_WATCH_NS) {
        keel_watch_look(&writer->watch, writer->folder, writer_now_ns());
    }
}

static struct timespec writer_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

/* Waits under the lock for a change, at most until the time or the next look; 0: no time. A stop
 * that is due is a change. */
static void writer_wait(keel_writer_t *writer, uint64_t until_ns)
{
    const uint64_t look_ns = writer->watch.look_ns + KEEL_WATCH_NS;
    struct timespec until;

    until_ns = (writer->is_watching && (until_ns == 0 || look_ns < until_ns)) ? look_ns : until_ns;
    if (writer->is_stop_due) {
        return;
    }
    if (until_ns == 0) {
        pthread_cond_wait(&writer->begins, &writer->lock);
        return;
    }
    until = writer_timespec(until_ns);
    (void)pthread_cond_timedwait(&writer->begins, &writer->lock, &until);
}

/* Waits at the end of a chunk that began then, to keep to the rate. */
static void writer_pace(keel_writer_t *writer, size_t length, uint64_t begun_ns)
{
    const uint64_t until_ns = begun_ns + keel_pace_ns(length, writer->rate);

    writer_attend(writer);
    pthread_mutex_lock(&writer->lock);
    while (!writer->is_revoked && !writer->is_hurried && writer_now_ns() < until_ns) {
        writer_wait(writer, until_ns);
        pthread_mutex_unlock(&writer->lock);
        writer_attend(writer);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
}

/* Copies the next piece of the job's memory; returns 0 if the job is given up. */
static int writer_read(keel_writer_t *writer, size_t length)
{
    int is_readable;

    pthread_mutex_lock(&writer->lock);
    is_readable = !writer->is_revoked;
    if (is_readable) {
        memcpy(writer->piece, writer->memory + writer->at, length);
        writer->at += length;
    }
    pthread_mutex_unlock(&writer->lock);
    return is_readable;
}

static int writer_copy(void *arg, int file)
{
    keel_writer_t *writer = arg;
    const uint64_t bytes = writer->result.job.bytes;
    uint64_t started = 0;
    uint32_t crc = 0;

    for (uint64_t at = 0; at < bytes;) {
        const size_t length = (bytes - at < WRITER_PIECE) ? (size_t)(bytes - at) : WRITER_PIECE;
        const uint64_t begun_ns = writer_now_ns();
        int error;

        if (!writer_read(writer, length)) {
            return ECANCELED;
        }
        crc = keel_crc(crc, writer->piece, length);
        error = keel_set_write_all(file, writer->piece, length);
        if (error != 0) {
            return error;
        }
        at += length;
        if (at - started >= WRITER_AHEAD) {
            /* a hint: an error shows at fsync() */
            (void)posix_fadvise(file, (off_t)started, (off_t)(at - started), POSIX_FADV_DONTNEED);
            started = at;
        }
        writer_pace(writer, length, begun_ns);
    }
    writer->result.crc = crc;
    return 0;
}

static int writer_is_revoked(keel_writer_t *writer)
{
    int is_revoked;

    pthread_mutex_lock(&writer->lock);
    is_revoked = writer->is_revoked;
    pthread_mutex_unlock(&writer->lock);
    return is_revoked;
}

/* Reads the written file and compares the crc. */
static int writer_verify(void *arg, int file)
{
    keel_writer_t *writer = arg;
    const uint64_t bytes = writer->result.job.bytes;
    uint32_t crc = 0;

    writer->result.synced_s = (double)(writer_now_ns() - writer->begun_ns) * 1e-9;
    for (uint64_t at = 0; at < bytes;) {
        const size_t length = (bytes - at < WRITER_PIECE) ? (size_t)(bytes - at) : WRITER_PIECE;
        const uint64_t begun_ns = writer_now_ns();
        const int error = writer_is_revoked(writer) ? ECANCELED : keel_set_read_all(file, writer->piece, length);

        if (error != 0) {
            return error;
        }
        crc = keel_crc(crc, writer->piece, length);
        at += length;
        writer_pace(writer, length, begun_ns);
    }
    return (crc == writer->result.crc) ? 0 : EBADMSG;
}

static int writer_rank(keel_writer_t *writer)
{
    const keel_write_job_t *job = &writer->result.job;
    const keel_set_contents_t contents = {.write = writer_copy, .verify = writer_verify, .arg = writer};
    char name[KEEL_FILES_NAME_MAX];
    int set, error = keel_folder_open(writer->folder);

    error = (error == 0) ? keel_set_open(writer_dir(writer), job->id, 1, &set) : error;
    if (error != 0) {
        return error;
    }
    keel_set_rank_name(job->rank, name);
    error = keel_set_write_file(set, name, &contents);
    close(set);
    return error;
}

/* The removal of older sets is another job: the file system may take long for it. */
static int writer_manifest(keel_writer_t *writer)
{
    keel_write_result_t *result = &writer->result;
    const int error = keel_folder_complete(writer->folder, result->job.manifest);

    if (error == 0 && result->job.meets_request && !keel_folder_is_left(writer->folder)) {
        result->remove_error = keel_watch_met(&writer->watch, writer->folder);
    }
    return error;
}

/* Seconds of a processor that the thread has taken; 0 without such a clock. */
static double writer_processor_s(void)
{
    struct timespec now;

    return (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0) ? (double)now.tv_sec + (double)now.tv_nsec * 1e-9 : 0;
}

static void writer_job(keel_writer_t *writer)
{
    const double begun_s = writer_processor_s();
    keel_write_result_t *result = &writer->result;

    writer->begun_ns = writer_now_ns();
    if (result->job.kind == KEEL_WRITE_RANK) {
        result->error = writer_rank(writer);
    } else if (result->job.kind == KEEL_WRITE_MANIFEST) {
        result->error = writer_manifest(writer);
    } else {
        result->remove_error = keel_folder_prune(writer->folder, result->job.id, result->job.keep);
    }
    result->processor_s = writer_processor_s() - begun_s;
}

/* Between jobs. A request comes to the new folder, and counts once the lock is taken; the next set
 * reports a failure. */
static void writer_find_folder(keel_writer_t *writer)
{
    keel_folder_t *folder = writer->folder;

    if (writer->is_watching && !keel_folder_is_left(folder) &&
        (keel_folder_is_gone(folder) || !keel_folder_is_own(folder))) {
        (void)keel_folder_open(folder);
    }
}

static void *writer_run(void *arg)
{
    keel_writer_t *writer = arg;

    (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), WRITER_NICENESS);
    pthread_mutex_lock(&writer->lock);
    while (!writer->is_leaving) {
        const int is_due = __atomic_load_n(&writer->state, __ATOMIC_ACQUIRE) == WRITER_BUSY;

        if (!is_due) {
            writer_wait(writer, 0);
        }
        pthread_mutex_unlock(&writer->lock);
        if (is_due) {
            writer_job(writer);
            __atomic_store_n(&writer->state, WRITER_ENDED, __ATOMIC_RELEASE);
        }
        writer_find_folder(writer);
        writer_attend(writer);
        pthread_mutex_lock(&writer->lock);
    }
    if (writer->is_over) {
        pthread_mutex_unlock(&writer->lock);
        keel_folder_end(writer->folder, &writer->end);
        pthread_mutex_lock(&writer->lock);
    }
    writer->has_left = 1;
    pthread_cond_signal(&writer->ends);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

keel_status_t keel_writer_create(keel_folder_t *folder, int is_watching, uint64_t rate, keel_writer_t **writer_p)
{
    keel_writer_t *writer = keel_alloc(sizeof(*writer), "file writer");
    pthread_condattr_t monotonic;
    sigset_t all, before;
    int error;

    if (writer == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    writer->folder = folder;
    writer->is_watching = is_watching;
    writer->rate = rate;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->begins, &monotonic);
    pthread_cond_init(&writer->ends, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&writer->thread, NULL, writer_run, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        keel_free(writer);
        return KEEL_ERR_IO;
    }
    *writer_p = writer;
    return KEEL_OK;
}

void keel_writer_leave(keel_writer_t *writer, int is_over)
{
    pthread_mutex_lock(&writer->lock);
    writer->is_over = writer->is_leaving ? writer->is_over : is_over;
    writer->is_revoked = writer->is_leaving = 1;
    pthread_cond_signal(&writer->begins);
    pthread_mutex_unlock(&writer->lock);
}

int keel_writer_join(keel_writer_t *writer, uint64_t within_ns)
{
    const struct timespec until = writer_timespec(writer_now_ns() + within_ns);
    int has_left, error = 0;

    pthread_mutex_lock(&writer->lock);
    while (!writer->has_left && error == 0) {
        error = pthread_cond_timedwait(&writer->ends, &writer->lock, &until);
    }
    has_left = writer->has_left;
    pthread_mutex_unlock(&writer->lock);
    if (has_left && !writer->is_joined) {
        writer->is_joined = 1;
        pthread_join(writer->thread, NULL);
    }
    return has_left;
}

void keel_writer_give_up(keel_writer_t *writer)
{
    static const char inside;
    Dl_info own;

    keel_folder_leave(writer->folder);
    if (dladdr(&inside, &own) != 0) {
        (void)dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

keel_folder_end_t keel_writer_folder_end(const keel_writer_t *writer)
{
    return writer->end;
}

void keel_writer_destroy(keel_writer_t *writer)
{
    if (writer == NULL) {
        return;
    }
    keel_writer_leave(writer, 0);
    while (!keel_writer_join(writer, WRITER_JOIN_NS)) {
        /* no limit */
    }
    pthread_cond_destroy(&writer->begins);
    pthread_cond_destroy(&writer->ends);
    pthread_mutex_destroy(&writer->lock);
    keel_free(writer->copy);
    keel_free(writer);
}

void keel_writer_begin(keel_writer_t *writer, const keel_write_job_t *job)
{
    pthread_mutex_lock(&writer->lock);
    writer->result = (keel_write_result_t){.job = *job};
    writer->memory = job->memory;
    writer->at = 0;
    writer->is_revoked = 0;
    writer->is_hurried = job->is_hurried;
    __atomic_store_n(&writer->state, WRITER_BUSY, __ATOMIC_RELEASE);
    pthread_cond_signal(&writer->begins);
    pthread_mutex_unlock(&writer->lock);
}

void keel_writer_hurry(keel_writer_t *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->is_hurried = 1;
    pthread_cond_signal(&writer->begins);
    pthread_mutex_unlock(&writer->lock);
}

int keel_writer_is_busy(const keel_writer_t *writer)
{
    return __atomic_load_n(&writer->state, __ATOMIC_RELAXED) != WRITER_IDLE;
}

int keel_writer_take(keel_writer_t *writer, keel_write_result_t *result_p)
{
    if (__atomic_load_n(&writer->state, __ATOMIC_ACQUIRE) != WRITER_ENDED) {
        return 0;
    }
    *result_p = writer->result;
    keel_free(writer->copy);
    writer->copy = NULL;
    __atomic_store_n(&writer->state, WRITER_IDLE, __ATOMIC_RELAXED);
    return 1;
}

void keel_writer_detach(keel_writer_t *writer, uint32_t used)
{
    const keel_write_job_t *job = &writer->result.job;

    if (job->kind != KEEL_WRITE_RANK || job->id.generation >= used) {
        return;
    }
    pthread_mutex_lock(&writer->lock);
    if (writer->copy == NULL && writer->at < job->bytes) {
        const size_t rest = job->bytes - writer->at;

        writer->copy = keel_alloc(rest, "image for a file");
        if (writer->copy == NULL) {
            writer->is_revoked = 1;
            pthread_cond_signal(&writer->begins);
        } else {
            memcpy(writer->copy, writer->memory + writer->at, rest);
            writer->memory = (const uint8_t *)writer->copy - writer->at;
        }
    }
    pthread_mutex_unlock(&writer->lock);
}

int keel_writer_is_requested(const keel_writer_t *writer)
{
    return __atomic_load_n(&writer->watch.is_requested, __ATOMIC_RELAXED);
}

int keel_writer_is_stopping(const keel_writer_t *writer)
{
    return __atomic_load_n(&writer->watch.is_stopping, __ATOMIC_RELAXED);
}

uint64_t keel_writer_looks(const keel_writer_t *writer)
{
    return __atomic_load_n(&writer->watch.looks, __ATOMIC_ACQUIRE);
}

void keel_writer_ask_stop(keel_writer_t *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->is_stop_due = 1;
    pthread_cond_signal(&writer->begins);
    pthread_mutex_unlock(&writer->lock);
}

int keel_writer_has_asked_stop(keel_writer_t *writer, int *error_p)
{
    int is_done;

    pthread_mutex_lock(&writer->lock);
    is_done = !writer->is_stop_due;
    *error_p = writer->stop_error;
    pthread_mutex_unlock(&writer->lock);
    return is_done;
}

void keel_writer_end_stop(keel_writer_t *writer)
{
    (void)unlinkat(writer_dir(writer), KEEL_FILES_STOP, 0);
    __atomic_store_n(&writer->watch.is_stopping, 0, __ATOMIC_RELAXED);
}
