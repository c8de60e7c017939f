/* The folder as a job has it open. */
#include "files/folder.h"
#include "files/set_dir.h"

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
