/* Leaving the job. */
#ifndef KEEL_JOB_LEAVE_H_
#define KEEL_JOB_LEAVE_H_

#include <keel/keel.h>

/* when what it had to say was heard; frees the context. KEEL_ERR_ISOLATED: the others finish the job without what this process did last */
keel_status_t keel_context_leave(keel_context_h ctx);

#endif
