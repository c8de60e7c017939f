/*
 * The folder as a job has it open, for the whole life of the job. If the folder is removed, or
 * another one takes its place, the path is opened again.
 */
#ifndef KEEL_FILES_FOLDER_H_
#define KEEL_FILES_FOLDER_H_

#include "files/manifest.h"

typedef struct keel_folder {
    const char *path;
    int is_leader; /* the process holds the lock of the folder */
    int dir;       /* descriptor; -1: not open yet; atomic. The number never changes again. */
    int lock;      /* descriptor; -1: closed */
    int is_locked;
    int is_left; /* atomic */
} keel_folder_t;

void keel_folder_init(keel_folder_t *folder, const char *path, int is_leader);
/* Opens the folder if it is not open, or if the path names another one by now; then takes the lock
 * if the leader does not hold it. Calls come from one thread at a time. Returns 0 or an errno;
 * EWOULDBLOCK: another job holds the lock. */
int keel_folder_open(keel_folder_t *folder);
/* True if the open folder has been removed, as far as its descriptor shows. */
int keel_folder_is_gone(const keel_folder_t *folder);
void keel_folder_close(keel_folder_t *folder);

/* From any thread: keel_folder_complete(), keel_folder_prune() and keel_folder_end() begin no
 * further change, because another job may have the folder soon. */
void keel_folder_leave(keel_folder_t *folder);
static inline int keel_folder_is_left(const keel_folder_t *folder)
{
    return __atomic_load_n(&folder->is_left, __ATOMIC_RELAXED);
}

/* Asks the system to read the rank's file of the newest complete set into the page cache: that is
 * where a job begins, unless the file is damaged. The reading goes on after the return. A hint:
 * errors have no effect. */
void keel_folder_read_ahead(const keel_folder_t *folder, uint32_t rank);
/* Completes a set: verifies that all files of the manifest are there, and writes the manifest.
 * Returns 0 or an errno. */
int keel_folder_complete(const keel_folder_t *folder, const keel_manifest_t *manifest);
/* Removes complete sets but the newest @a keep and @a id, and all sets that are not complete.
 * Without the lock a leader removes none, because the sets may be another job's. Returns 0 or the
 * errno of the first set that could not be removed. */
int keel_folder_prune(const keel_folder_t *folder, keel_set_id_t id, unsigned keep);

/* Checkpoints that stay after the end of the program. */
typedef struct keel_folder_end {
    int error;           /* errno; ENOLCK: the job has no lock; 0: none stay */
    uint32_t generation; /* the newest that stays; 0: all that there are */
} keel_folder_end_t;

/* Marks all complete sets as ended, the oldest first: after a kill amid that a job restarts from
 * the newest. Removes KEEL_FILES_STOP. The leader only; without the lock no effect, because the
 * sets may be another job's. */
void keel_folder_end(const keel_folder_t *folder, keel_folder_end_t *end_p);

/* True unless a leader lacks the lock: what is in the folder may then be another job's. From the
 * thread that calls keel_folder_open(). */
static inline int keel_folder_is_own(const keel_folder_t *folder)
{
    return !folder->is_leader || folder->is_locked;
}

/* Descriptor of the folder; -1: not open yet. From any thread. */
static inline int keel_folder_dir(const keel_folder_t *folder)
{
    return __atomic_load_n(&folder->dir, __ATOMIC_ACQUIRE);
}

#endif
