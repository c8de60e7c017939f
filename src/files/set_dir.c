/* The folder of KEEL_FILE_DIR. */
#include "files/set_dir.h"

#include "base/crc.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)256 << 10) /* bytes between sums */

/* Puts the name of a new folder on stable storage, if its parent may be read. */
static int sync_parent(int dir)
{
    const int parent = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = 0;

    if (parent >= 0) {
        error = (fsync(parent) != 0) ? errno : 0;
        close(parent);
    }
    return error;
}

int keel_set_dir_open(const char *path, int *dir_p)
{
    const int is_made = mkdir(path, 0777) == 0;
    int error;

    if (!is_made && errno != EEXIST) {
        return errno;
    }
    *dir_p = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*dir_p < 0) {
        return errno;
    }
    error = is_made ? sync_parent(*dir_p) : 0;
    if (error != 0) {
        close(*dir_p);
        *dir_p = -1;
    }
    return error;
}

int keel_set_dir_lock(int dir, int *lock_p)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error;

    *lock_p = openat(dir, KEEL_FILES_LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock_p < 0) {
        return errno;
    }
    /* a lock of the process: children of fork() do not hold it */
    if (fcntl(*lock_p, F_SETLK, &lock) == 0) {
        return 0;
    }
    error = errno;
    close(*lock_p);
    *lock_p = -1;
    return (error == EACCES || error == EAGAIN) ? EWOULDBLOCK : error;
}

pid_t keel_set_dir_holder(int dir)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int file = openat(dir, KEEL_FILES_LOCK, O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return 0;
    }
    if (fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        lock.l_pid = 0;
    } else if (lock.l_pid <= 0) {
        lock.l_pid = -1;
    }
    close(file);
    return lock.l_pid;
}

int keel_set_dir_ask(int dir, const char *name)
{
    const int file = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (file < 0) {
        return errno;
    }
    close(file);
    return 0;
}

void keel_set_name(keel_set_id_t id, char name[KEEL_FILES_NAME_MAX])
{
    snprintf(name, KEEL_FILES_NAME_MAX, "set-%" PRIu32 "-%08" PRIx32, id.generation, id.run);
}

void keel_set_rank_name(uint32_t rank, char name[KEEL_FILES_NAME_MAX])
{
    snprintf(name, KEEL_FILES_NAME_MAX, "rank-%" PRIu32, rank);
}

/* Reads the name of a set's folder; returns 0 if it is no such name. */
static int set_parse(const char *name, keel_set_id_t *id_p)
{
    char again[KEEL_FILES_NAME_MAX];

    if (sscanf(name, "set-%" SCNu32 "-%" SCNx32, &id_p->generation, &id_p->run) != 2) {
        return 0;
    }
    keel_set_name(*id_p, again);
    return strcmp(name, again) == 0;
}

int keel_set_open(int dir, keel_set_id_t id, int is_made, int *set_p)
{
    char name[KEEL_FILES_NAME_MAX];

    keel_set_name(id, name);
    if (is_made && mkdirat(dir, name, 0777) != 0 && errno != EEXIST) {
        return errno;
    }
    *set_p = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (*set_p < 0) ? errno : 0;
}

static int set_compare(const void *a, const void *b)
{
    const keel_set_id_t *x = a, *y = b;

    if (x->generation != y->generation) {
        return (x->generation < y->generation) ? 1 : -1;
    }
    return (x->run < y->run) - (x->run > y->run);
}

/* Reads the entries of a folder through a descriptor of its own. */
static int folder_open(int folder, DIR **stream_p)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error;

    if (copy < 0) {
        return errno;
    }
    *stream_p = fdopendir(copy);
    if (*stream_p != NULL) {
        return 0;
    }
    error = errno;
    close(copy);
    return error;
}

int keel_set_list(int dir, keel_set_id_t **ids_p, unsigned *count_p)
{
    const struct dirent *entry;
    keel_set_id_t *ids = NULL, id;
    unsigned count = 0, room = 0;
    DIR *stream;
    int error = folder_open(dir, &stream);

    if (error != 0) {
        return error;
    }
    while (error == 0 && (errno = 0, entry = readdir(stream)) != NULL) {
        if (!set_parse(entry->d_name, &id)) {
            continue;
        }
        if (count == room) {
            keel_set_id_t *grown;

            room = 2 * room + 8;
            grown = keel_realloc(ids, room * sizeof(*ids), "sets of files");
            if (grown == NULL) {
                error = ENOMEM;
                break;
            }
            ids = grown;
        }
        ids[count++] = id;
    }
    error = (error == 0) ? errno : error;
    closedir(stream);
    if (error != 0) {
        keel_free(ids);
        return error;
    }
    if (count > 0) {
        qsort(ids, count, sizeof(*ids), set_compare);
    }
    *ids_p = ids;
    *count_p = count;
    return 0;
}

int keel_set_has(int dir, keel_set_id_t id, const char *name)
{
    char set[KEEL_FILES_NAME_MAX], path[3 * KEEL_FILES_NAME_MAX];

    keel_set_name(id, set);
    snprintf(path, sizeof(path), "%s/%s", set, name);
    if (faccessat(dir, path, F_OK, 0) == 0) {
        return 1;
    }
    return (errno == ENOENT || errno == ENOTDIR) ? 0 : -errno;
}

int keel_set_mark(int dir, keel_set_id_t id, const char *name)
{
    int set, error = keel_set_open(dir, id, 0, &set);

    if (error != 0) {
        return error;
    }
    if (renameat(set, KEEL_FILES_MANIFEST, set, name) != 0 || fsync(set) != 0) {
        error = errno;
    }
    close(set);
    return error;
}

/* Removes all files of a set's folder. */
static int set_empty(int set)
{
    const struct dirent *entry;
    DIR *stream;
    int error = folder_open(set, &stream);

    if (error != 0) {
        return error;
    }
    while (error == 0 && (errno = 0, entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(set, entry->d_name, 0) != 0 && errno != ENOENT) {
            error = errno;
        }
    }
    error = (error == 0) ? errno : error;
    closedir(stream);
    return error;
}

int keel_set_remove(int dir, keel_set_id_t id)
{
    char name[KEEL_FILES_NAME_MAX];
    int set, error = keel_set_open(dir, id, 0, &set);

    if (error != 0) {
        return (error == ENOENT) ? 0 : error;
    }
    /* The manifest has to be gone first: a kill amid the removal leaves no complete set that lacks
     * files. */
    if (unlinkat(set, KEEL_FILES_MANIFEST, 0) != 0 && errno != ENOENT) {
        error = errno;
    } else if (fsync(set) != 0) {
        error = errno;
    } else {
        error = set_empty(set);
    }
    close(set);
    if (error != 0) {
        return error;
    }
    keel_set_name(id, name);
    return (unlinkat(dir, name, AT_REMOVEDIR) != 0 && errno != ENOENT) ? errno : 0;
}

int keel_set_write_all(int file, const void *data, size_t length)
{
    const char *at = data;

    while (length > 0) {
        const size_t most = (size_t)1 << 30;
        const ssize_t written = write(file, at, (length < most) ? length : most);

        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return (written < 0) ? errno : EIO;
        }
        at += written;
        length -= (size_t)written;
    }
    return 0;
}

/* The first error of fsync() stays: a second call may report success for lost data. */
static int sync_file(int file)
{
    return (fsync(file) != 0) ? errno : 0;
}

static int set_verify(int file, const keel_set_contents_t *contents)
{
    if (contents->verify == NULL) {
        return 0;
    }
    /* a hint: the bytes should come from the device, not from the page cache */
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    return (lseek(file, 0, SEEK_SET) < 0) ? errno : contents->verify(contents->arg, file);
}

/* Moves a written file to its name. If the folder cannot be synced the file has failed, so the name
 * goes: otherwise a manifest would count. */
static int set_publish(int set, int file, const char *from, const char *to, const keel_set_contents_t *contents)
{
    int error = sync_file(file);

    error = (error == 0) ? set_verify(file, contents) : error;
    if (error == 0 && renameat(set, from, set, to) != 0) {
        error = errno;
    }
    if (error != 0) {
        return error;
    }
    error = sync_file(set);
    if (error != 0) {
        (void)unlinkat(set, to, 0);
    }
    return error;
}

int keel_set_write_file(int set, const char *name, const keel_set_contents_t *contents)
{
    char temporary[KEEL_FILES_NAME_MAX + 8];
    int file, error;

    snprintf(temporary, sizeof(temporary), "%s.tmp", name);
    file = openat(set, temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) {
        return errno;
    }
    error = contents->write(contents->arg, file);
    error = (error == 0) ? set_publish(set, file, temporary, name, contents) : error;
    close(file);
    if (error != 0) {
        (void)unlinkat(set, temporary, 0);
    }
    return error;
}

int keel_set_read_all(int file, void *data, size_t length)
{
    char *at = data;

    while (length > 0) {
        const ssize_t got = read(file, at, length);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return (got < 0) ? errno : EBADMSG;
        }
        at += got;
        length -= (size_t)got;
    }
    return 0;
}

int keel_set_read_crc(int file, void *data, size_t length, uint32_t *crc_p)
{
    char *at = data;

    *crc_p = 0;
    while (length > 0) {
        const size_t part = (length < READ_CHUNK) ? length : READ_CHUNK;
        const int error = keel_set_read_all(file, at, part);

        if (error != 0) {
            return error;
        }
        *crc_p = keel_crc(*crc_p, at, part);
        at += part;
        length -= part;
    }
    return 0;
}

int keel_set_rank_size(int set, uint32_t rank, uint64_t *bytes_p)
{
    char name[KEEL_FILES_NAME_MAX];
    struct stat about;

    keel_set_rank_name(rank, name);
    if (fstatat(set, name, &about, 0) != 0) {
        return errno;
    }
    *bytes_p = (uint64_t)about.st_size;
    return S_ISREG(about.st_mode) ? 0 : EBADMSG;
}
