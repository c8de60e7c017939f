/* Folders of areas. */
#include "trace/trace_folder.h"
#include "trace/trace_job.h"
#include "trace/trace_json.h"
#include "trace/trace_sums.h"
#include "trace/trace_timeline.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEFT_NAME   "left" /* number of ranks outside of the job by now; locked */
#define NEW_SUFFIX  ".new"
#define JSON_SUFFIX ".json"

int keel_trace_folder_make(const char *folder)
{
    return (mkdir(folder, 0700) == 0) ? 0 : errno;
}

void keel_trace_folder_remove(const char *folder)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    if (entries == NULL) {
        return;
    }
    while ((entry = readdir(entries)) != NULL) {
        if (keel_trace_is_area_name(entry->d_name)) {
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    (void)unlinkat(dirfd(entries), LEFT_NAME, 0);
    closedir(entries);
    (void)rmdir(folder);
}

void keel_trace_folder_clear(const char *folder, uint32_t rank, uint32_t size)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;
    unsigned job, of, incarnation;

    if (entries == NULL) {
        return;
    }
    while ((entry = readdir(entries)) != NULL) {
        if (sscanf(entry->d_name, KEEL_TRACE_AREA_PREFIX "%u.%u.%u", &job, &of, &incarnation) == 3 &&
            (of == rank || (rank == 0 && of >= size))) {
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
        }
    }
    if (rank == 0) {
        (void)unlinkat(dirfd(entries), LEFT_NAME, 0);
    }
    closedir(entries);
}

typedef int (*writer_t)(const keel_trace_job_t *job, FILE *stream);

/* Writes a file under another name, then renames it. */
static int write_file(const keel_trace_job_t *job, const char *path, writer_t write)
{
    const size_t length = strlen(path) + sizeof(NEW_SUFFIX);
    char *name = keel_alloc(length, "name of a file");
    FILE *stream;
    int error;

    if (name == NULL) {
        return ENOMEM;
    }
    snprintf(name, length, "%s" NEW_SUFFIX, path);
    stream = fopen(name, "we");
    error = (stream == NULL) ? errno : 0;
    if (stream != NULL) {
        error = write(job, stream);
        if (ferror(stream) && error == 0) {
            error = EIO;
        }
        if (fclose(stream) != 0 && error == 0) {
            error = errno;
        }
        if (error == 0 && rename(name, path) != 0) {
            error = errno;
        }
        if (error != 0) {
            (void)unlink(name);
        }
    }
    keel_free(name);
    return error;
}

static int is_json_name(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(JSON_SUFFIX);

    return length > suffix && strcmp(name + length - suffix, JSON_SUFFIX) == 0;
}

int keel_trace_folder_write(const char *folder, const keel_trace_files_t *files, const char **failed_p)
{
    keel_trace_job_t job;
    int error = keel_trace_job_read(folder, &job);

    *failed_p = folder;
    if (error != 0) {
        return error;
    }
    if (files->trace != NULL && error == 0) {
        *failed_p = files->trace;
        error = write_file(&job, files->trace, keel_trace_json_write);
    }
    if (files->stats != NULL && error == 0) {
        *failed_p = files->stats;
        error =
            write_file(&job, files->stats, is_json_name(files->stats) ? keel_trace_sums_json : keel_trace_sums_text);
    }
    if (files->timeline != NULL && error == 0) {
        *failed_p = files->timeline;
        error = write_file(&job, files->timeline, keel_trace_timeline_write);
    }
    keel_trace_job_release(&job);
    return error;
}

/* Increments the number in the file. Returns an errno. */
static int count_left(int file, uint32_t *count_p)
{
    const ssize_t got = pread(file, count_p, sizeof(*count_p), 0);

    if (got < 0) {
        return errno;
    }
    *count_p = (got == sizeof(*count_p)) ? *count_p + 1 : 1;
    return (pwrite(file, count_p, sizeof(*count_p), 0) == sizeof(*count_p)) ? 0 : errno;
}

int keel_trace_folder_leave(const char *folder, const keel_trace_files_t *files, uint32_t size, const char **failed_p)
{
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = (dir >= 0) ? openat(dir, LEFT_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    uint32_t count = 0;
    int error = (file < 0) ? errno : 0;

    *failed_p = folder;
    while (error == 0 && fcntl(file, F_SETLKW, &lock) != 0) {
        error = (errno == EINTR) ? 0 : errno;
    }
    if (error == 0) {
        error = count_left(file, &count);
    }
    if (error == 0 && count == size) {
        error = keel_trace_folder_write(folder, files, failed_p);
        if (error == 0) {
            keel_trace_folder_remove(folder);
        }
    }
    if (file >= 0) {
        close(file); /* releases the lock */
    }
    if (dir >= 0) {
        close(dir);
    }
    return error;
}
