/* The folder as a job has it open. */
#include "files/folder.h"
#include "files/set_dir.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void keel_folder_init(keel_folder_t *folder, const char *path, int is_leader)
{
    *folder = (keel_folder_t){.path = path, .is_leader = is_leader, .dir = -1, .lock = -1};
}

/* Returns 0 with *is_current_p: the path names the open folder. */
static int folder_compare(const keel_folder_t *folder, int *is_current_p)
{
    struct stat own, there;

    *is_current_p = 0;
    if (folder->dir < 0) {
        return 0;
    }
    if (stat(folder->path, &there) != 0) {
        return (errno == ENOENT || errno == ESTALE) ? 0 : errno;
    }
    if (fstat(folder->dir, &own) != 0) {
        return (errno == ESTALE) ? 0 : errno;
    }
    *is_current_p = own.st_dev == there.st_dev && own.st_ino == there.st_ino;
    return 0;
}

/* The new folder takes the number of the old descriptor: other threads never see a closed one. */
static int folder_replace(keel_folder_t *folder)
{
    int dir, error = keel_set_dir_open(folder->path, &dir);

    if (error != 0) {
        return error;
    }
    if (folder->dir < 0) {
        __atomic_store_n(&folder->dir, dir, __ATOMIC_RELEASE);
        folder->is_locked = 0;
        return 0;
    }
    error = (dup2(dir, folder->dir) < 0 || fcntl(folder->dir, F_SETFD, FD_CLOEXEC) != 0) ? errno : 0;
    folder->is_locked = (error != 0) ? folder->is_locked : 0;
    close(dir);
    return error;
}

static int folder_lock(keel_folder_t *folder)
{
    int error;

    /* The old lock may be of the same file: a close ends all locks of a file. */
    if (folder->lock >= 0) {
        close(folder->lock);
        folder->lock = -1;
    }
    error = keel_set_dir_lock(folder->dir, &folder->lock);
    folder->is_locked = error == 0;
    return error;
}

int keel_folder_open(keel_folder_t *folder)
{
    int is_current, error = folder_compare(folder, &is_current);

    if (error == 0 && !is_current) {
        error = folder_replace(folder);
    }
    return (error == 0 && folder->is_leader && !folder->is_locked) ? folder_lock(folder) : error;
}

int keel_folder_is_gone(const keel_folder_t *folder)
{
    struct stat own;

    if (folder->dir < 0) {
        return 1;
    }
    return (fstat(folder->dir, &own) == 0) ? own.st_nlink == 0 : errno == ESTALE;
}

void keel_folder_leave(keel_folder_t *folder)
{
    __atomic_store_n(&folder->is_left, 1, __ATOMIC_RELAXED);
}

/* Read for one call by any system: each has a limit of its own, and ignores the rest. */
#define READ_AHEAD_STEP ((off_t)128 << 10)
/* A call may wait for the device when many are in progress: the start does not wait for more. */
#define READ_AHEAD_BYTES ((off_t)256 << 20)

static void file_read_ahead(int dir, keel_set_id_t id, uint32_t rank)
{
    char name[KEEL_FILES_NAME_MAX];
    struct stat about;
    int set, file;

    if (keel_set_open(dir, id, 0, &set) != 0) {
        return;
    }
    keel_set_rank_name(rank, name);
    file = openat(set, name, O_RDONLY | O_CLOEXEC);
    close(set);
    if (file < 0) {
        return;
    }
    if (fstat(file, &about) == 0) {
        for (off_t at = 0; at < about.st_size && at < READ_AHEAD_BYTES; at += READ_AHEAD_STEP) {
            (void)posix_fadvise(file, at, READ_AHEAD_STEP, POSIX_FADV_WILLNEED);
        }
    }
    close(file);
}

void keel_folder_read_ahead(const keel_folder_t *folder, uint32_t rank)
{
    keel_set_id_t *ids;
    unsigned count;

    if (keel_set_list(keel_folder_dir(folder), &ids, &count) != 0) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (keel_set_has(keel_folder_dir(folder), ids[i], KEEL_FILES_MANIFEST) > 0) {
            file_read_ahead(keel_folder_dir(folder), ids[i], rank);
            break;
        }
    }
    keel_free(ids);
}

/* Verifies that all files of the manifest are there. */
static int complete_check(const keel_manifest_t *manifest, int set)
{
    for (uint32_t r = 0; r < manifest->count; r++) {
        uint64_t bytes;
        const int error = keel_set_rank_size(set, r, &bytes);

        if (error != 0 || bytes != manifest->files[r].bytes) {
            return (error != 0) ? error : EBADMSG;
        }
    }
    return 0;
}

int keel_folder_complete(const keel_folder_t *folder, const keel_manifest_t *manifest)
{
    const int dir = keel_folder_dir(folder);
    int set, error = keel_set_open(dir, manifest->id, 0, &set);

    if (error != 0) {
        return error;
    }
    error = complete_check(manifest, set);
    error = (error == 0 && keel_folder_is_left(folder)) ? ECANCELED : error;
    error = (error == 0) ? keel_manifest_write(set, manifest) : error;
    if (error == 0 && fsync(dir) != 0) { /* the folder's name */
        error = errno;
        (void)unlinkat(set, KEEL_FILES_MANIFEST, 0);
    }
    close(set);
    return error;
}

int keel_folder_prune(const keel_folder_t *folder, keel_set_id_t id, unsigned keep)
{
    const int dir = keel_folder_dir(folder);
    keel_set_id_t *ids;
    unsigned count, kept = 0;
    int first = 0, error;

    if (!keel_folder_is_own(folder)) {
        return 0;
    }
    error = keel_set_list(dir, &ids, &count);
    if (error != 0) {
        return error;
    }
    for (unsigned i = 0; i < count && !keel_folder_is_left(folder); i++) {
        /* also if that cannot be told */
        const int is_complete = keel_set_has(dir, ids[i], KEEL_FILES_MANIFEST) != 0;

        if (keel_set_id_is(ids[i], id) || (is_complete && kept < keep)) {
            kept += (unsigned)is_complete;
            continue;
        }
        error = keel_set_remove(dir, ids[i]);
        first = (first == 0) ? error : first;
    }
    keel_free(ids);
    return first;
}

void keel_folder_end(const keel_folder_t *folder, keel_folder_end_t *end_p)
{
    keel_set_id_t *ids = NULL;
    unsigned count = 0;
    int error;

    *end_p = (keel_folder_end_t){.error = 0};
    if (!folder->is_locked || keel_folder_is_left(folder)) {
        end_p->error = (folder->is_leader && !keel_folder_is_gone(folder)) ? ENOLCK : 0;
        return;
    }
    (void)unlinkat(folder->dir, KEEL_FILES_STOP, 0); /* the program was faster */
    error = keel_set_list(folder->dir, &ids, &count);
    if (error != 0) {
        end_p->error = keel_folder_is_gone(folder) ? 0 : error;
        return;
    }
    for (unsigned i = count; i-- > 0 && !keel_folder_is_left(folder);) {
        error = (keel_set_has(folder->dir, ids[i], KEEL_FILES_MANIFEST) != 0)
                    ? keel_set_mark(folder->dir, ids[i], KEEL_FILES_ENDED)
                    : 0;
        if (error != 0) {
            *end_p = (keel_folder_end_t){.error = error, .generation = ids[i].generation};
        }
    }
    keel_free(ids);
}

void keel_folder_close(keel_folder_t *folder)
{
    if (folder->dir >= 0) {
        close(folder->dir);
    }
    if (folder->lock >= 0) {
        close(folder->lock);
    }
    folder->dir = folder->lock = -1;
    folder->is_locked = 0;
}
