/*
 * Which checkpoints the leader writes to files (KEEL_FILE_INTERVAL). With auto, the leader chooses
 * the number of checkpoints from one set to the next by ckpt/two_level.h, at each complete set.
 * Before the first choice every checkpoint is written.
 *
 * The inputs are the measured cost and interval of checkpoints, the measured time of the set, and
 * the processor time of the leader's writer, as if no core were free for the writer. KEEL_MTBF and
 * KEEL_FILE_MTBF give the rates of failures. The times of recovery are left out, because they are
 * factors of the expected time of any number.
 */
#ifndef KEEL_JOB_FILES_INTERVAL_H_
#define KEEL_JOB_FILES_INTERVAL_H_

#include <keel/keel.h>

typedef struct keel_files_interval {
    uint32_t every;  /* auto: one of so many checkpoints goes to files; 0: not chosen yet */
    double writer_s; /* processor time of the own writer for the set in the making */
    /* the first and the newest checkpoint: time, and checkpoints from the one to the other */
    uint64_t first_ns, newest_ns, passed;
} keel_files_interval_t;

/* One of so many checkpoints is to be written; 0: by time. */
uint32_t keel_files_interval_checkpoints(const keel_context_h ctx);
/* A checkpoint is in use. */
void keel_files_interval_passed(keel_context_h ctx);
/* The set is complete after so many seconds: chooses with auto. */
void keel_files_interval_measured(keel_context_h ctx, double set_s);

#endif
