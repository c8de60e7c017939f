/* Locks and removes directories of jobs. */
#include "leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

#define LEFTOVER_PREFIX     "keelrun."
#define LEFTOVER_GONE       ".gone" /* suffix of a directory under removal */
#define LEFTOVER_LOCK       "lock"
#define LEFTOVER_PATH_MAX   512
#define LEFTOVER_TRIES      8
#define LEFTOVER_REMOVE_FDS 16

const char *leftover_temporary(void)
{
    const char *directory = getenv("TMPDIR");

    return directory != NULL ? directory : "/tmp";
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

void leftover_remove_directory(const char *path)
{
    nftw(path, remove_one, LEFTOVER_REMOVE_FDS, FTW_DEPTH | FTW_PHYS);
}

/* True if the file at @a path is the file open as @a fd. */
static bool is_at(const char *path, int fd)
{
    struct stat own, there;

    return fstat(fd, &own) == 0 && lstat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

/*
 * Takes the lock of a directory and returns the descriptor that holds it. -1: another process holds
 * the lock, or there is no directory.
 */
static int lock_directory(const char *directory, int how)
{
    char path[LEFTOVER_PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/" LEFTOVER_LOCK, directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0) {
        return -1;
    }
    while (flock(fd, how) != 0) {
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    }
    if (!is_at(path, fd)) {
        close(fd);
        errno = EAGAIN;
        return -1;
    }
    return fd;
}

bool leftover_make_directory(const char *path)
{
    for (unsigned i = 0; i < LEFTOVER_TRIES; i++) {
        if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
            return false;
        }
        if (lock_directory(path, LOCK_EX) >= 0) {
            return true; /* the descriptor stays open */
        }
        if (errno != ENOENT && errno != EAGAIN) {
            return false;
        }
    }
    return false;
}

static bool is_own_directory(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Removes a directory. Returns false if it belongs to a living job. */
static bool remove_leftover(const char *path)
{
    char gone[LEFTOVER_PATH_MAX + sizeof LEFTOVER_GONE];
    const int lock = lock_directory(path, LOCK_EX | LOCK_NB);

    if (lock < 0) {
        return false;
    }
    snprintf(gone, sizeof gone, "%s%s", path, ends_with(path, LEFTOVER_GONE) ? "" : LEFTOVER_GONE);
    if (strcmp(gone, path) == 0 || rename(path, gone) == 0) {
        leftover_remove_directory(gone);
    }
    close(lock);
    return !is_own_directory(gone) && !is_own_directory(path);
}

static void clean(const char *directory, bool is_verbose)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char path[LEFTOVER_PATH_MAX];

        if (strncmp(entry->d_name, LEFTOVER_PREFIX, strlen(LEFTOVER_PREFIX)) != 0 ||
            snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= (int)sizeof path ||
            !is_own_directory(path) || !remove_leftover(path)) {
            continue;
        }
        report_verbose("%s removed: its job ended without it", path);
        if (is_verbose) {
            printf("%s removed\n", path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

void leftover_clean(bool is_verbose)
{
    clean(leftover_temporary(), is_verbose);
    clean(LEFTOVER_SHARED_MEMORY, is_verbose);
}
