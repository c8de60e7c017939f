/*
 * The folder of KEEL_FILE_DIR: checkpoints of a job in files, beyond the life of its processes.
 *
 *   lock                        held by the leader of the job that uses the folder
 *   request                     asks for a set soon
 *   request.taken               a request that the leader has seen; removed when a set is complete
 *   stop                        asks for a set soon and then for the end of the job
 *   set-GENERATION-RUN/rank-R   image of rank R, as in memory (ckpt/image.h)
 *   set-GENERATION-RUN/manifest exists if and only if the set is complete (manifest.h)
 *   set-GENERATION-RUN/manifest-ended the same of an ended job: no job restarts from the set
 *
 * A file gets its name by a rename after its contents are on stable storage and were read back.
 * RUN is drawn by the leader at its start, so that two attempts at one generation never share a
 * folder.
 *
 * Functions return 0 or an errno.
 */
#ifndef KEEL_FILES_SET_DIR_H_
#define KEEL_FILES_SET_DIR_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KEEL_FILES_LOCK     "lock"
#define KEEL_FILES_REQUEST  "request"       /* made from outside */
#define KEEL_FILES_TAKEN    "request.taken" /* a request that the leader has seen */
#define KEEL_FILES_STOP     "stop"
#define KEEL_FILES_MANIFEST "manifest"
/* the manifest of a set of an ended job: no job restarts from the set */
#define KEEL_FILES_ENDED    "manifest-ended"
#define KEEL_FILES_NAME_MAX 64

typedef struct keel_set_id {
    uint32_t generation; /* of the images */
    uint32_t run;
} keel_set_id_t;

/* Contents of a new file. */
typedef struct keel_set_contents {
    int (*write)(void *arg, int file);
    /* Reads the synced file from its begin. EBADMSG: other bytes than were written. NULL: the file
     * is not read. */
    int (*verify)(void *arg, int file);
    void *arg;
} keel_set_contents_t;

static inline int keel_set_id_is(keel_set_id_t a, keel_set_id_t b)
{
    return a.generation == b.generation && a.run == b.run;
}

/* Opens the folder; makes the folder if only the parent exists. */
int keel_set_dir_open(const char *path, int *dir_p);
/* Takes the lock until *lock_p is closed. EWOULDBLOCK: another job holds the lock. */
int keel_set_dir_lock(int dir, int *lock_p);
/* The process that holds the lock; 0: none, or the file system does not tell; -1: a process
 * without a number on this machine. */
pid_t keel_set_dir_holder(int dir);
/* Makes an empty file, such as KEEL_FILES_STOP. */
int keel_set_dir_ask(int dir, const char *name);
/* Writes the name of a set's folder. */
void keel_set_name(keel_set_id_t id, char name[KEEL_FILES_NAME_MAX]);
/* Writes the name of a rank's file in a set's folder. */
void keel_set_rank_name(uint32_t rank, char name[KEEL_FILES_NAME_MAX]);
/* Opens the folder of a set; @a is_made: makes it first, if it is missing. */
int keel_set_open(int dir, keel_set_id_t id, int is_made, int *set_p);
/* Lists all sets, complete or not, the newest generation first. Free *ids_p by keel_free(). */
int keel_set_list(int dir, keel_set_id_t **ids_p, unsigned *count_p);
/* 1: a file of this name, such as KEEL_FILES_MANIFEST, is in the folder of the set; 0: none;
 * below 0: -errno, the folder cannot be read. */
int keel_set_has(int dir, keel_set_id_t id, const char *name);
/* Renames the manifest of a complete set to @a name. */
int keel_set_mark(int dir, keel_set_id_t id, const char *name);
/* Removes the set: the manifest, then the files. A missing set counts as removed. */
int keel_set_remove(int dir, keel_set_id_t id);
/* Writes a file under a temporary name to stable storage, verifies the file, then renames it. */
int keel_set_write_file(int set, const char *name, const keel_set_contents_t *contents);
/* Writes all bytes; repeats write() after a partial write. */
int keel_set_write_all(int file, const void *data, size_t length);
/* Reads so many bytes. EBADMSG: the file is shorter. */
int keel_set_read_all(int file, void *data, size_t length);
/* The same, with the crc of the bytes, summed while the bytes are in the cache. */
int keel_set_read_crc(int file, void *data, size_t length, uint32_t *crc_p);
/* Size of the file of a rank. EBADMSG: no regular file. */
int keel_set_rank_size(int set, uint32_t rank, uint64_t *bytes_p);

#endif
