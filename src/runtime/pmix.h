/*
 * The runtime over PMIx: with replacements under keelrun, with the launcher's services under other
 * launchers, alone as a job of one.
 */
#ifndef KEEL_RUNTIME_PMIX_H_
#define KEEL_RUNTIME_PMIX_H_

#include <runtime_ops.h>

/*
 * Does not use driver_arg. PMIx keeps one connection per process, so only one such runtime may be
 * open at a time.
 */
extern const keel_runtime_ops_t keel_runtime_pmix_ops;

#endif
