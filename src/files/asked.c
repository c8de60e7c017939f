/* A request for a checkpoint by a process outside the job. */
#include "files/asked.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* 1: the set is complete, or marked because the job has ended since; 0: neither; below 0: -errno,
 * the file system does not tell. */
static int is_complete(int dir, keel_set_id_t id)
{
    const int has = keel_set_has(dir, id, KEEL_FILES_MANIFEST);

    return (has != 0) ? has : keel_set_has(dir, id, KEEL_FILES_ENDED);
}

/* Lists the complete sets, and those of which the file system does not tell: no set of the list
 * meets a later request. */
static int sets_before(int dir, keel_set_id_t **ids_p, unsigned *count_p)
{
    unsigned count = 0, complete = 0;
    keel_set_id_t *ids = NULL;
    const int error = keel_set_list(dir, &ids, &count);

    for (unsigned i = 0; error == 0 && i < count; i++) {
        if (is_complete(dir, ids[i]) != 0) {
            ids[complete++] = ids[i];
        }
    }
    *ids_p = ids;
    *count_p = complete;
    return error;
}

int keel_asked_begin(keel_asked_t *asked, const char *path)
{
    int error;

    *asked = (keel_asked_t){.path = path, .request = -1};
    asked->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (asked->dir < 0) {
        return errno;
    }
    error = sets_before(asked->dir, &asked->before, &asked->count);
    if (error == 0) {
        asked->request = openat(asked->dir, KEEL_FILES_REQUEST, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        error = (asked->request < 0 || fstat(asked->request, &asked->about) != 0) ? errno : 0;
    }
    if (error != 0) {
        keel_asked_end(asked);
    }
    return error;
}

/* True if the request has this name, or if the file system does not tell. */
static int is_there(const keel_asked_t *asked, const char *name)
{
    struct stat now;

    if (fstatat(asked->dir, name, &now, 0) != 0) {
        return errno != ENOENT && errno != ESTALE;
    }
    return now.st_ino == asked->about.st_ino && now.st_dev == asked->about.st_dev;
}

/* True if the path names the folder of the request, or if the file system does not tell. */
static int is_same_folder(const keel_asked_t *asked)
{
    struct stat own, there;

    if (stat(asked->path, &there) != 0 || fstat(asked->dir, &own) != 0) {
        return errno != ENOENT && errno != ESTALE;
    }
    return own.st_ino == there.st_ino && own.st_dev == there.st_dev;
}

static int has_been(const keel_asked_t *asked, keel_set_id_t id)
{
    unsigned i = 0;

    while (i < asked->count && !keel_set_id_is(asked->before[i], id)) {
        i++;
    }
    return i < asked->count;
}

/* Returns 1 if a set is complete that was not before the request, 0 if not, and below 0 if the file
 * system does not tell. */
static int has_new_set(const keel_asked_t *asked)
{
    keel_set_id_t *ids;
    unsigned count;
    int is_new = 0;
    const int error = keel_set_list(asked->dir, &ids, &count);

    if (error != 0) {
        return -error;
    }
    for (unsigned i = 0; i < count && is_new != 1; i++) {
        const int is = has_been(asked, ids[i]) ? 0 : is_complete(asked->dir, ids[i]);

        is_new = (is != 0) ? is : is_new;
    }
    keel_free(ids);
    return is_new;
}

/* Rank 0 renames the request, and removes the file when the set that meets the request is complete.
 * The second look finds a file renamed meanwhile. A file that is gone without a new set was removed
 * by someone else. */
keel_asked_state_t keel_asked_look(const keel_asked_t *asked)
{
    int is_new;

    if (!is_same_folder(asked)) {
        return KEEL_ASKED_LOST;
    }
    if (is_there(asked, KEEL_FILES_REQUEST) || is_there(asked, KEEL_FILES_TAKEN)) {
        return KEEL_ASKED_AWAITED;
    }
    is_new = has_new_set(asked);
    return (is_new < 0) ? KEEL_ASKED_AWAITED : (is_new > 0) ? KEEL_ASKED_COMPLETE : KEEL_ASKED_LOST;
}

void keel_asked_end(keel_asked_t *asked)
{
    if (asked->dir >= 0) {
        close(asked->dir);
    }
    if (asked->request >= 0) {
        close(asked->request);
    }
    keel_free(asked->before);
    *asked = (keel_asked_t){.dir = -1, .request = -1};
}
