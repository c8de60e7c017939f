/*
 * The folder with the areas of a job, and its end: the areas become the files that the user named.
 *
 * Under keelrun the launcher makes and removes the folder (KEEL_PARTS), and no process of the job
 * can remove it. Under other launchers the folder is FILE.parts, and the last rank that leaves the
 * job writes FILE and removes the folder.
 */
#ifndef KEEL_TRACE_TRACE_FOLDER_H_
#define KEEL_TRACE_TRACE_FOLDER_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_TRACE_SUFFIX ".parts"

/* Files to write from the areas of a folder; NULL: not asked for. */
typedef struct keel_trace_files {
    const char *trace, *stats, *timeline;
} keel_trace_files_t;

/* 0 if there was no folder with this name before, or an errno: EEXIST is the usual one for other
 * ranks. */
int keel_trace_folder_make(const char *folder);
/* Removes the areas in the folder, and the folder if nothing else is in it. */
void keel_trace_folder_remove(const char *folder);

/* Call before the first life of @a rank makes an area: removes areas of the rank from an earlier
 * job; rank 0 also removes areas of ranks from @a size on. */
void keel_trace_folder_clear(const char *folder, uint32_t rank, uint32_t size);
/*
 * Counts the calling rank as gone. The last of @a size ranks writes the files
 * and removes the folder. 0, or an errno with the name in *failed_p.
 */
int keel_trace_folder_leave(const char *folder, const keel_trace_files_t *files, uint32_t size, const char **failed_p);

/* Writes the files. Each appears whole or not at all. 0, or an errno with the name in *failed_p. */
int keel_trace_folder_write(const char *folder, const keel_trace_files_t *files, const char **failed_p);

#endif
