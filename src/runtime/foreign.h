/* The runtime of a job that attached Keel by the table of include/keel/runtime.h. */
#ifndef KEEL_RUNTIME_FOREIGN_H_
#define KEEL_RUNTIME_FOREIGN_H_

#include "runtime_ops.h"

#include <keel/runtime.h>

/* The start of an attached context. open() takes it as driver_arg and copies the table. The start
 * lives until keel_init_on() returns. */
typedef struct keel_attached_start {
    keel_attach_t table; /* accepted by keel_attached_check() */
    int is_reported;     /* a callback failed the start, and a message names the callback */
} keel_attached_start_t;

extern const keel_runtime_ops_t keel_runtime_attached_ops;

/*
 * Copies the caller's table to *table_p and checks the copy. The caller's header may be older, and
 * its table shorter. Returns KEEL_ERR_INVALID_PARAM with a message that names the wrong field.
 */
keel_status_t keel_attached_check(const keel_attach_t *given, keel_attach_t *table_p);

#endif
