/*
 * Checkpoints in files (KEEL_FILE_DIR), for losses that parity does not cover
 * (protocol/files.md).
 *
 * Writing. When the leader has committed a generation and a set of files is due, the leader orders
 * all ranks to write their image of that generation. Each rank's writer thread copies the image
 * from its slot. The leader collects the results and completes the set by its manifest.
 *
 * Restart. A job that finds complete sets in the folder begins at the newest one that every rank
 * can read: each rank loads its image into its slot, and the job begins with a rollback to that
 * generation, in which every rank is new.
 *
 * Safety:
 * - The image of the generation in use stays in its slot until the next generation is in use. The
 *   hook before a copy detaches the writer's job from a slot that is about to be overwritten.
 * - A manifest lists what the present attempt has written: the folder of a set carries the run of
 *   the leader that ordered it.
 * - After the start no failure of the file system ends the job. A folder that was removed is opened
 *   again before the next file is written, by every rank; no set is removed without the lock.
 */
#ifndef KEEL_JOB_FILES_H_
#define KEEL_JOB_FILES_H_

#include "files/writer.h"
#include "job/files_ask.h"
#include "job/files_interval.h"

#include <keel/keel.h>

typedef enum keel_files_kind {
    KEEL_FILES_WRITE,       /* the leader: write the image of this set */
    KEEL_FILES_WRITTEN,     /* to the leader: the image is written, or the write failed */
    KEEL_FILES_LOAD,        /* the leader, at the start: load the image of this set */
    KEEL_FILES_LOADED,      /* to the leader: the image is loaded, or the load failed */
    KEEL_FILES_BEGIN,       /* the leader: begin at the loaded set; generation 0: at the start */
    KEEL_FILES_GIVE_UP,     /* the leader: the job does not begin */
    KEEL_FILES_STOP_BEGINS, /* to the leader: a call of keel_checkpoint_and_stop() begins */
    KEEL_FILES_STOP_ENDS,   /* to the leader: the call has made the file, or has failed */
    KEEL_FILES_HURRY        /* the leader: KEEL_FILE_RATE does not hold for the ordered image */
} keel_files_kind_t;

/* control message KEEL_CONTROL_FILES; crc and bytes: of the file of the rank */
typedef struct keel_files_message {
    uint32_t kind; /* keel_files_kind_t */
    uint32_t generation, run;
    uint32_t error;        /* WRITTEN, LOADED and STOP_ENDS: errno; 0: done */
    uint32_t crc;          /* WRITTEN, LOAD */
    uint32_t window_calls; /* BEGIN: made before the images */
    uint64_t bytes;        /* WRITTEN, LOAD */
} keel_files_message_t;

/* a rank at the leader */
typedef struct keel_files_rank {
    uint32_t ordered; /* incarnation that has the order of the set in the making */
    int is_written;   /* file of the set in the making */
    /* incarnation + 1 that has begun a call of keel_checkpoint_and_stop(); 0: none */
    uint32_t stop_asked;
    /* the call has made the file, which counts from this number of looks on; 0: the call runs */
    uint64_t stop_looks;
} keel_files_rank_t;

typedef struct keel_files {
    keel_folder_t folder; /* the writer's while there is one */
    char *path;           /* of the folder, absolute: the program may change its own folder */
    int error;            /* ECHILD: a replacement has no writer; 0: otherwise */
    uint32_t tried;       /* generation in use when the writer was tried last */
    int has_begun;        /* the restart is over */
    int is_lost;          /* the launcher was asked to start the job again */
    keel_writer_t *writer;
    int is_abandoned;      /* the writer's thread does not end, and uses this structure */
    keel_set_id_t ordered; /* set that the own image is due for; generation 0: none */
    int is_hurried;        /* the newest order has no limit of the rate */
    /* the newest message of the leader at the start, and whether it is handled */
    keel_files_message_t start;
    int is_start_due;

    /* the leader */
    uint32_t run;
    uint32_t seen;   /* newest committed generation that was considered; UINT32_MAX: not known */
    uint32_t passed; /* generations committed since the last set began */
    uint64_t last_ns, begun_ns;
    keel_files_interval_t interval;
    uint64_t decisions;     /* decisions adopted when orders were last repeated */
    keel_manifest_t making; /* set in the making; generation 0: none */
    keel_files_rank_t *ranks;
    uint32_t missing; /* files to come */
    keel_files_ask_t request, stop;
    uint32_t stop_asked; /* ranks in a call of a stop; a writer that hangs sees no file */
    int is_ending;       /* the launcher was asked to end the job because of the stop */
    int is_requested;    /* the set in the making meets the request */
    int is_stopping;     /* and the job ends when it is complete */
    int is_set_hurried;  /* the set in the making, or a later one, meets a request */
    int is_completing;   /* the writer is to write, or writes, the manifest */
    int is_prune_due;    /* a set was completed or given up */
    keel_write_job_t prune;
    int reported_error; /* errno of the last reported failure; 0: none since a success */
    int is_late;        /* a newer generation is due during the set in the making */
    int is_late_said;   /* and reported */
    /* at the start: answers to LOAD */
    uint32_t answers, refusals;
    uint32_t refusing; /* a rank that could not load, with its errno */
    int refusal;
} keel_files_t;

/* Opens the folder. KEEL_OK without KEEL_FILE_DIR. */
keel_status_t keel_files_init(keel_context_h ctx);
void keel_files_release(keel_context_h ctx);
/* Hooks of the engine: the first advances the writing, the second precedes the copy of an image. */
void keel_files_progress(keel_context_h ctx);
void keel_files_image(keel_context_h ctx);
/* Hook after a decision for a catastrophe: asks the launcher to start the job again if a complete
 * set is in the folder. */
void keel_files_lost(keel_context_h ctx);
/* After the end of the program: no job restarts from the sets. */
void keel_files_end(keel_context_h ctx);

/* for files_set.c and files_start.c */
keel_status_t keel_files_writer_begin(keel_context_h ctx);

#endif
