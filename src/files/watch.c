/* The looks for requests and stops. */
#include "files/watch.h"
#include "files/set_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h> /* renameat() */
#include <unistd.h>

/* Returns 1 if the file exists, 0 if not, and below 0 if the file system does not tell. */
static int has(int dir, const char *name)
{
    if (faccessat(dir, name, F_OK, 0) == 0) {
        return 1;
    }
    return (errno == ENOENT) ? 0 : -errno;
}

/* Renames a new request. Returns 1 if there is one, 0 if not, and below 0 if the file system does
 * not tell. */
static int rename_request(int dir)
{
    const int is_new = has(dir, KEEL_FILES_REQUEST);

    if (is_new <= 0) {
        return is_new;
    }
    return (renameat(dir, KEEL_FILES_REQUEST, dir, KEEL_FILES_TAKEN) == 0) ? 1 : -errno;
}

static int take_request(int dir)
{
    const int is_taken = has(dir, KEEL_FILES_TAKEN);

    return (is_taken != 0) ? is_taken : rename_request(dir);
}

/* As take_request() if KEEL_FILES_TAKEN is of a request that was met: a newer request takes the
 * name, or the file is removed. */
static int take_newer(keel_looks_t *watch, int dir)
{
    if (rename_request(dir) == 1) {
        watch->is_met = 0;
        return 1;
    }
    watch->is_met = unlinkat(dir, KEEL_FILES_TAKEN, 0) != 0 && errno != ENOENT;
    return 0;
}

void keel_watch_look(keel_looks_t *watch, const keel_folder_t *folder, uint64_t now_ns)
{
    const int dir = keel_folder_dir(folder);
    int is_stopping, is_requested;

    watch->look_ns = now_ns;
    if (!keel_folder_is_own(folder)) {
        __atomic_store_n(&watch->is_stopping, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&watch->is_requested, 0, __ATOMIC_RELAXED);
        return;
    }
    is_stopping = has(dir, KEEL_FILES_STOP);
    is_requested = watch->is_met ? take_newer(watch, dir) : take_request(dir);
    if (is_stopping >= 0) {
        __atomic_store_n(&watch->is_stopping, is_stopping, __ATOMIC_RELAXED);
        /* pairs with keel_writer_looks(): a reader of the number reads what was found, too */
        __atomic_store_n(&watch->looks, watch->looks + 1, __ATOMIC_RELEASE);
    }
    if (is_requested >= 0) {
        __atomic_store_n(&watch->is_requested, is_requested, __ATOMIC_RELAXED);
    }
}

int keel_watch_met(keel_looks_t *watch, const keel_folder_t *folder)
{
    const int error = (unlinkat(keel_folder_dir(folder), KEEL_FILES_TAKEN, 0) != 0 && errno != ENOENT) ? errno : 0;

    watch->is_met = error != 0;
    __atomic_store_n(&watch->is_requested, 0, __ATOMIC_RELAXED);
    return error;
}
