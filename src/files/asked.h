/*
 * A request for a checkpoint, made by a process outside the job, which waits until the checkpoint
 * is complete. All functions wait for the file system.
 */
#ifndef KEEL_FILES_ASKED_H_
#define KEEL_FILES_ASKED_H_

#include "files/set_dir.h"

#include <sys/stat.h>

typedef struct keel_asked {
    const char *path;
    int dir, request; /* descriptors; open, so that no other file has the number of the request */
    struct stat about;
    keel_set_id_t *before; /* sets that were complete before the request */
    unsigned count;
} keel_asked_t;

typedef enum {
    KEEL_ASKED_AWAITED,
    KEEL_ASKED_COMPLETE,
    KEEL_ASKED_LOST /* no job has the request: the folder was removed, replaced or emptied */
} keel_asked_state_t;

/* Makes KEEL_FILES_REQUEST in the folder. Returns 0 or an errno. */
int keel_asked_begin(keel_asked_t *asked, const char *path);
keel_asked_state_t keel_asked_look(const keel_asked_t *asked);
void keel_asked_end(keel_asked_t *asked);

#endif
