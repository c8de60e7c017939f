/*
 * A process without accesses prints nothing and writes nothing: the environment with the library
 * reaches launchers and shells, too. An exit handler writes the report. _exit(), exec() and signals
 * run no exit handler; the process's mark in the directory of the output then stays.
 */
#define _GNU_SOURCE
#include "preload/preload_process.h"

#include "preload/preload_json.h"
#include "preload/preload_ring.h"
#include "preload/preload_targets.h"
#include "preload/preload_text.h"
#include "preload/preload_thread.h"
#include "base/message.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG_USUAL ((size_t)64 << 20)
#define PATH_SIZE 4096

int preload_process_copies;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int has_begun, is_over;
static const char *log_state = "count";
static uint64_t setup_ns;

uint64_t preload_process_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

int preload_process_is_over(void)
{
    return __atomic_load_n(&is_over, __ATOMIC_RELAXED);
}

static void warn(const char *setting, const char *value, const char *allowed)
{
    char line[PATH_SIZE];

    snprintf(line, sizeof(line), "keel-preload: %s=%s: %s", setting, value, allowed);
    keel_message_to_stderr(line);
}

static const char *setting_of(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static int is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_json(const char *path)
{
    const size_t length = strlen(path), suffix = strlen(".json");

    return length >= suffix && strcmp(path + length - suffix, ".json") == 0;
}

static void host_name(char *host, size_t max)
{
    if (gethostname(host, max) != 0) {
        snprintf(host, max, "host");
    }
    host[max - 1] = '\0';
}

/* the process's file in the directory of the output */
static void own_path(char *path, const char *directory, const char *suffix)
{
    char host[64];

    host_name(host, sizeof(host));
    snprintf(path, PATH_SIZE, "%s/%s.%d.%s", directory, host, (int)getpid(), suffix);
}

static int device_search(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char *const names[] = {"/libcuda.so", "/libamdhip64.so", "/libze_loader.so"};
    const char *name = strrchr(info->dlpi_name, '/');

    (void)size, (void)arg;
    for (size_t i = 0; name != NULL && i < sizeof(names) / sizeof(*names); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Few programs state the memory type of a buffer, and reading device memory ends the program. */
static int may_have_devices(void)
{
    return dl_iterate_phdr(device_search, NULL) != 0;
}

/* the lock is held */
static void log_begin(void)
{
    const char *mode = setting_of("KEEL_PRELOAD_MODE"), *size = setting_of("KEEL_PRELOAD_SIZE");
    const uint64_t begin = preload_process_clock();
    double bytes = LOG_USUAL;

    if (size != NULL && !keel_units_read_bytes(size, KEEL_UNITS_USUAL, &bytes)) {
        warn("KEEL_PRELOAD_SIZE", size, "not a number of bytes as 64m; 64 MiB are taken");
        bytes = LOG_USUAL;
    }
    if (mode != NULL && strcmp(mode, "log") != 0 && strcmp(mode, "count") != 0) {
        warn("KEEL_PRELOAD_MODE", mode, "neither log nor count; log is taken");
    }
    if (may_have_devices()) {
        log_state = "devices";
    } else if (mode == NULL || strcmp(mode, "count") != 0) {
        preload_process_copies = preload_ring_init((size_t)bytes);
        log_state = preload_process_copies ? "log" : "no memory";
    }
    setup_ns = preload_process_clock() - begin;
}

void preload_process_begin(void)
{
    const char *output = setting_of("KEEL_PRELOAD_OUTPUT");
    char path[PATH_SIZE];
    int file;

    pthread_mutex_lock(&lock);
    if (!has_begun) {
        has_begun = 1;
        log_begin();
        if (output != NULL && is_directory(output)) {
            own_path(path, output, "running");
            file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
            if (file >= 0) {
                close(file);
            }
        }
    }
    pthread_mutex_unlock(&lock);
}

/* set by launchers */
static int64_t rank_of_process(void)
{
    static const char *const names[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = setting_of(names[i]);
        uint64_t rank;

        if (value != NULL && keel_units_read_count(value, &rank) && rank <= UINT32_MAX) {
            return (int64_t)rank;
        }
    }
    return PRELOAD_NO_RANK;
}

static void own_visit(void *arg, uint64_t uid)
{
    (void)preload_report_add_worker(arg, uid);
}

static void report_fill(preload_report_t *report)
{
    preload_report_init(report);
    preload_thread_report(report);
    preload_targets_each_own(own_visit, report);
    snprintf(report->program, sizeof(report->program), "%s", program_invocation_short_name);
    snprintf(report->state, sizeof(report->state), "%s", log_state);
    host_name(report->host, sizeof(report->host));
    report->rank = rank_of_process();
    report->pid = getpid();
    report->processes = 1;
    report->setup = 1e-9 * (double)setup_ns;
    preload_report_finish(report);
}

/* a single write(): reports of several processes do not mix */
static int text_append(int file, const char *text, size_t length)
{
    ssize_t written;

    while (length > 0) {
        written = write(file, text, length);
        if (written < 0 && errno != EINTR) {
            return 0;
        }
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return 1;
}

static void report_append(const char *path, const preload_report_t *report, int as_json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    int file = path != NULL ? open(path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0666) : STDERR_FILENO;
    int is_written = 0;

    if (stream != NULL) {
        if (as_json) {
            preload_json_write(report, stream);
            fputc('\n', stream);
        } else {
            preload_text_write(report, stream);
        }
        is_written = fclose(stream) == 0 && file >= 0 && text_append(file, text, length);
        free(text);
    }
    if (!is_written && path != NULL) {
        warn("KEEL_PRELOAD_OUTPUT", path, strerror(errno));
    }
    if (path != NULL && file >= 0) {
        close(file);
    }
}

static void report_write(const preload_report_t *report)
{
    const char *output = setting_of("KEEL_PRELOAD_OUTPUT");
    char path[PATH_SIZE];

    if (output == NULL || !is_directory(output)) {
        report_append(output, report, output != NULL && is_json(output));
        return;
    }
    own_path(path, output, "json");
    report_append(path, report, 1);
    own_path(path, output, "running");
    unlink(path);
}

static int has_accesses(const preload_report_t *report)
{
    return report->calls[PRELOAD_PUT] + report->calls[PRELOAD_GET] + report->calls[PRELOAD_ATOMIC] +
               report->calls[PRELOAD_POINTER] >
           0;
}

static void fork_prepare(void)
{
    pthread_mutex_lock(&lock);
    preload_thread_lock();
    preload_targets_lock();
    preload_ring_lock();
}

static void fork_parent(void)
{
    preload_ring_unlock();
    preload_targets_unlock();
    preload_thread_unlock();
    pthread_mutex_unlock(&lock);
}

/* the child starts without counts */
static void fork_child(void)
{
    preload_thread_forget();
    preload_ring_unlock();
    preload_ring_release();
    preload_targets_unlock();
    preload_thread_unlock();
    has_begun = preload_process_copies = 0;
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void process_start(void)
{
    (void)pthread_atfork(fork_prepare, fork_parent, fork_child);
}

__attribute__((destructor)) static void process_end(void)
{
    preload_report_t report;

    if (__atomic_exchange_n(&is_over, 1, __ATOMIC_RELAXED)) {
        return;
    }
    report_fill(&report);
    if (has_accesses(&report)) {
        report_write(&report);
    }
    preload_report_release(&report);
}
