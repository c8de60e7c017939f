/* The runtime over PMIx: under keelrun with replacement, under other launchers what they give, alone as a job of one. */
#ifndef KEEL_RUNTIME_PMIX_H_
#define KEEL_RUNTIME_PMIX_H_

#include <runtime.h>

/* driver_arg is not used; PMIx keeps one connection a process, so one runtime of this kind may be open at a time */
extern const keel_runtime_ops_t keel_runtime_pmix_ops;

#endif
