/*
 * The folder as a job has it open, for the whole life of the job. If the folder is removed, or
 * another one takes its place, the path is opened again.
 */
#ifndef KEEL_FILES_FOLDER_H_
#define KEEL_FILES_FOLDER_H_

typedef struct keel_folder {
    const char *path;
    int is_leader; /* the process holds the lock of the folder */
    int dir;       /* descriptor; -1: not open yet; atomic. The number never changes again. */
    int lock;      /* descriptor; -1: closed */
    int is_locked;
} keel_folder_t;

void keel_folder_init(keel_folder_t *folder, const char *path, int is_leader);
/* Opens the folder if it is not open, or if the path names another one by now; then takes the lock
 * if the leader does not hold it. Calls come from one thread at a time. Returns 0 or an errno;
 * EWOULDBLOCK: another job holds the lock. */
int keel_folder_open(keel_folder_t *folder);
/* True if the open folder has been removed, as far as its descriptor shows. */
int keel_folder_is_gone(const keel_folder_t *folder);
void keel_folder_close(keel_folder_t *folder);

/* Descriptor of the folder; -1: not open yet. From any thread. */
static inline int keel_folder_dir(const keel_folder_t *folder)
{
    return __atomic_load_n(&folder->dir, __ATOMIC_ACQUIRE);
}

#endif
