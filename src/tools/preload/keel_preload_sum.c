/* keel_preload_sum: adds the reports that the processes of a job left (src/preload). */
#include <keel/version.h>

#include "base/memory.h"
#include "preload/preload_json.h"
#include "preload/preload_text.h"
#include "tools/tool_output.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXIT_USAGE 2
#define PATH_SIZE  4096

static const char program[] = "keel_preload_sum";

typedef struct job {
    preload_report_t *reports;
    size_t count;
    size_t lost; /* processes that made accesses and left no report */
} job_t;

static void usage(FILE *stream)
{
    fputs("Usage: keel_preload_sum [options] PLACE...\n"
          "Adds the reports of libkeel-preload.so. PLACE is a file of reports in JSON, or a directory with such\n"
          "files (KEEL_PRELOAD_OUTPUT). Prints the sum of all processes and a line for each.\n"
          "  -o FILE      write to FILE instead: as JSON if its name ends with .json, else as text\n"
          "  -h, --help   show this help\n"
          "  --version    show Keel's version\n"
          "\n"
          "Exit status: 0, 1 a file cannot be read or written, 2 wrong options, 3 no process made an access.\n",
          stream);
}

static int job_add(job_t *job, const preload_report_t *report)
{
    preload_report_t *reports = keel_realloc(job->reports, (job->count + 1) * sizeof(*reports), "reports");

    if (reports == NULL) {
        return 0;
    }
    job->reports = reports;
    reports[job->count++] = *report;
    return 1;
}

static int file_read(const char *path, job_t *job)
{
    FILE *stream = fopen(path, "r");
    preload_report_t report;
    int status;

    if (stream == NULL) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        return 0;
    }
    while ((status = preload_json_read(stream, &report)) == 1) {
        if (!job_add(job, &report)) {
            status = -1;
            break;
        }
    }
    fclose(stream);
    if (status < 0) {
        fprintf(stderr, "%s: %s is no file of reports in JSON\n", program, path);
    }
    return status == 0;
}

static int has_suffix(const char *name, const char *suffix)
{
    const size_t length = strlen(name), end = strlen(suffix);

    return length > end && strcmp(name + length - end, suffix) == 0;
}

static int directory_read(const char *path, job_t *job)
{
    struct dirent **names;
    const int count = scandir(path, &names, NULL, alphasort);
    char file[PATH_SIZE];
    int is_read = 1;

    if (count < 0) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        return 0;
    }
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        if (has_suffix(names[i]->d_name, ".json")) {
            is_read &= file_read(file, job);
        }
        job->lost += has_suffix(names[i]->d_name, ".running");
        free(names[i]);
    }
    free(names);
    return is_read;
}

static int place_read(const char *path, job_t *job)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? directory_read(path, job) : file_read(path, job);
}

static int report_order(const void *left, const void *right)
{
    const preload_report_t *a = left, *b = right;

    if (a->rank != b->rank) {
        return (uint64_t)a->rank < (uint64_t)b->rank ? -1 : 1;
    }
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static void json_print(const job_t *job, const preload_report_t *sum, FILE *stream)
{
    fprintf(stream, "{\"lost_processes\": %zu,\n\"sum\": ", job->lost);
    preload_json_write(sum, stream);
    fputs(",\n\"processes\": [\n", stream);
    for (size_t i = 0; i < job->count; i++) {
        preload_json_write(&job->reports[i], stream);
        fputs(i + 1 < job->count ? ",\n" : "\n", stream);
    }
    fputs("]}\n", stream);
}

static void text_print(const job_t *job, const preload_report_t *sum, FILE *stream)
{
    preload_text_write(sum, stream);
    if (job->count > 1) {
        fputs("processes:\n", stream);
        preload_text_ranks(job->reports, job->count, stream);
    }
    if (job->lost > 0) {
        fprintf(stream,
                "not counted: %zu processes that made accesses and ended without exit handlers (a signal, _exit(), "
                "exec())\n",
                job->lost);
    }
}

/* @a path may be NULL: standard output */
static int job_print(job_t *job, const char *path)
{
    FILE *stream = path != NULL ? fopen(path, "w") : stdout;
    preload_report_t sum;
    int is_written;

    if (stream == NULL) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
        return 0;
    }
    if (!preload_report_sum(job->reports, job->count, &sum)) {
        fprintf(stderr, "%s: no memory\n", program);
        return 0;
    }
    if (path != NULL && has_suffix(path, ".json")) {
        json_print(job, &sum, stream);
    } else {
        text_print(job, &sum, stream);
    }
    preload_report_release(&sum);
    if (path == NULL) {
        return 1; /* tool_output_end() closes */
    }
    is_written = !ferror(stream);
    if (fclose(stream) != 0 || !is_written) {
        fprintf(stderr, "%s: %s could not be written\n", program, path);
        return 0;
    }
    return 1;
}

static int job_sum(job_t *job, char **places, int count, const char *path)
{
    int status = EXIT_SUCCESS;

    for (int i = 0; i < count; i++) {
        if (!place_read(places[i], job)) {
            status = EXIT_FAILURE;
        }
    }
    if (status != EXIT_SUCCESS) {
        return status;
    }
    if (job->count == 0 && job->lost == 0) {
        fprintf(stderr, "%s: no process made a one-sided call of UCP\n", program);
        return 3;
    }
    if (job->count > 1) {
        qsort(job->reports, job->count, sizeof(*job->reports), report_order);
    }
    return job_print(job, path) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
    const char *path = NULL;
    job_t job = {.reports = NULL};
    int option, status;

    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            path = optarg;
            break;
        case 'h':
            usage(stdout);
            return tool_output_end(program, EXIT_SUCCESS);
        case 'v':
            printf("keel_preload_sum %s\n", KEEL_VERSION_STRING);
            return tool_output_end(program, EXIT_SUCCESS);
        default:
            usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (optind == argc) {
        usage(stderr);
        return EXIT_USAGE;
    }
    status = job_sum(&job, argv + optind, argc - optind, path);
    for (size_t i = 0; i < job.count; i++) {
        preload_report_release(&job.reports[i]);
    }
    keel_free(job.reports);
    return tool_output_end(program, status);
}
