/*
 * Directories of jobs that ended without removing them: keelrun and its janitor were killed at once.
 *
 * The processes of a job hold a lock on a file in each of its directories: a directory whose lock is free belongs to no
 * living process. The kernel frees a lock with the last process that holds it, also where process numbers mean another
 * process, in a container that shares the directory.
 *
 * Why no living job's directory is removed: a cleaner renames a directory while it holds the lock, and then removes it. Between
 * its mkdir() and its lock an owner may find that a cleaner was faster: the file that it has locked is then no longer the one at
 * its path, and the owner makes the directory anew.
 */
#ifndef KEELRUN_LEFTOVER_H_
#define KEELRUN_LEFTOVER_H_

#include <stdbool.h>

/* Makes the directory @a path with its lock, which this process and its children hold until they end or execute a program.
 * Returns false and errno. */
bool leftover_make_directory(const char *path);
/* with all that is in it */
void leftover_remove_directory(const char *path);
/* Removes what the user's jobs left in the directories of temporary files and of shared memory. @a is_told: prints a
 * line for each on standard output. */
void leftover_clean(bool is_told);
/* where directories of temporary files are made: TMPDIR or /tmp */
const char *leftover_temporary(void);

#define LEFTOVER_SHARED_MEMORY "/dev/shm"

#endif
