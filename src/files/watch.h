/*
 * The looks of the leader's writer for KEEL_FILES_REQUEST and KEEL_FILES_STOP. One thread looks;
 * any thread reads what the newest look has found.
 */
#ifndef KEEL_FILES_WATCH_H_
#define KEEL_FILES_WATCH_H_

#include "files/folder.h"

#define KEEL_WATCH_NS 200000000u /* interval of looks */

typedef struct keel_looks {
    /* the thread's */
    uint64_t look_ns; /* time of the newest look */
    int is_met;       /* KEEL_FILES_TAKEN is of a request that was met, and could not be removed */
    /* atomic */
    int is_requested, is_stopping;
    uint64_t looks; /* for KEEL_FILES_STOP that succeeded */
} keel_looks_t;

/* Looks. A look renames KEEL_FILES_REQUEST to KEEL_FILES_TAKEN if there is none of that name yet: a
 * request that is made meanwhile stays for a later set. Where the file system does not tell, the
 * state stays as it was. A leader without the lock finds nothing: requests in the folder may be
 * of another job. */
void keel_watch_look(keel_looks_t *watch, const keel_folder_t *folder, uint64_t now_ns);
/* The thread: a set has met the request. Removes KEEL_FILES_TAKEN. Returns 0 or an errno. A file
 * that stays is no request, and later looks try the removal again. */
int keel_watch_met(keel_looks_t *watch, const keel_folder_t *folder);

#endif
