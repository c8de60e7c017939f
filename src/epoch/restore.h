/* keel_restore(): returns memory to the state of an image; and the restart point of a program
 * when the job rolls back. */
#ifndef KEEL_EPOCH_RESTORE_H_
#define KEEL_EPOCH_RESTORE_H_

#include <keel/keel.h>

keel_status_t keel_restore_memory(void *arg, const void *image, size_t size);
keel_status_t keel_restore_run(keel_context_h ctx);

#endif
