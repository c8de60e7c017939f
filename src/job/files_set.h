/* Checkpoints in files: the leader's set in the making. */
#ifndef KEEL_JOB_FILES_SET_H_
#define KEEL_JOB_FILES_SET_H_

#include "job/files.h"

/* The leader: a rank's result, the manifest's result, and the next step of the set in the
 * making. */
void keel_files_set_written(keel_context_h ctx, uint32_t rank, const keel_files_message_t *message);
void keel_files_set_completed(keel_context_h ctx, const keel_write_result_t *result);
/* Reports a set that could not be removed. */
void keel_files_set_pruned(keel_context_h ctx, const keel_write_result_t *result);
void keel_files_set_step(keel_context_h ctx);
/* The leader: a call of keel_checkpoint_and_stop() begins at the rank, and has made the file
 * KEEL_FILES_STOP, or has failed with an errno. */
void keel_files_set_stop_begins(keel_context_h ctx, uint32_t rank);
void keel_files_set_stop_ends(keel_context_h ctx, uint32_t rank, int error);

#endif
