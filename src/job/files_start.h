/* The start of a job with KEEL_FILE_DIR. */
#ifndef KEEL_JOB_FILES_START_H_
#define KEEL_JOB_FILES_START_H_

#include <keel/keel.h>

/* Waits as keel_context_wait() does, from keel_init() of a first life to the end of
 * keel_files_start(). A rollback is no error; with KEEL_FILE_DIR a death ends the job. */
keel_status_t keel_files_start_wait(keel_context_h ctx, unsigned *rounds);
/* First life: agrees with all ranks where the job begins; with a set of files the context is then
 * that of a replacement amid a rollback. A replacement begins to write files. KEEL_OK without
 * KEEL_FILE_DIR. */
keel_status_t keel_files_start(keel_context_h ctx);

#endif
