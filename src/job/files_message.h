/*
 * Checkpoints in files: what the parts of this mechanism share: messages, the clock, errors, and
 * the rate.
 */
#ifndef KEEL_JOB_FILES_MESSAGE_H_
#define KEEL_JOB_FILES_MESSAGE_H_

#include "job/files.h"

/* Nanoseconds of the runtime's clock. */
uint64_t keel_files_now(const keel_context_h ctx);
/* The text of an errno of the folder. */
const char *keel_files_error(int error);
void keel_files_send(keel_context_h ctx, uint32_t rank, const keel_files_message_t *message);
/* The newest order, and the file that is being written, do not keep to KEEL_FILE_RATE. */
void keel_files_hurry(keel_context_h ctx);

#endif
