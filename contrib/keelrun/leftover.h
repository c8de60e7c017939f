/*
 * Directories of jobs that ended without removing them: keelrun and its janitor were killed at
 * once.
 *
 * The processes of a job hold a lock on a file in each of its directories: a directory with a free
 * lock belongs to no living process. The kernel frees a lock with the last process that holds it,
 * even if processes in a container share the directory under other process numbers.
 *
 * Why no living job's directory is removed: a cleaner renames a directory while holding the lock,
 * then removes it. Between mkdir() and lock, an owner may lose the race against a cleaner: the
 * locked file is then no longer the file at its path, and the owner makes the directory again.
 */
#ifndef KEELRUN_LEFTOVER_H_
#define KEELRUN_LEFTOVER_H_

#include <stdbool.h>

/*
 * Makes the directory @a path with its lock, held by this process and its children until they end
 * or execute a program. Returns false and errno.
 */
bool leftover_make_directory(const char *path);
/* Removes a directory with all contents. */
void leftover_remove_directory(const char *path);
/*
 * Removes leftovers of the user's jobs in the directories of temporary files and of shared memory.
 * @a is_verbose: prints a line for each on standard output.
 */
void leftover_clean(bool is_verbose);
/* Parent directory of temporary directories: TMPDIR or /tmp. */
const char *leftover_temporary(void);

#define LEFTOVER_SHARED_MEMORY "/dev/shm"

#endif
