/* Replacements that the job starts through PMIx_Spawn on demand (pmix_spawn.c). */
#ifndef KEEL_RUNTIME_PMIX_SPAWN_H_
#define KEEL_RUNTIME_PMIX_SPAWN_H_

#include <runtime_ops.h>

typedef struct keel_runtime_pmix keel_runtime_pmix_t;

/*
 * Environment variable of a spawned process: the job, the rank to take, the spare's number, and the
 * processes of this node.
 */
#define KEEL_ENV_SPAWNED "KEEL_SPAWNED"

/* Has the launcher start a process as spare @a spare for @a rank. A later failure ends the job. */
void keel_pmix_spawn(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare);
/* True if no process is this spare, now or later: it has died, or has never claimed its number. */
int keel_pmix_spawn_is_gone(keel_runtime_pmix_t *runtime, uint32_t spare);

int keel_pmix_is_spawned(void);
/* In a spawned process: true if all processes present at the request are gone. */
int keel_pmix_spawned_is_alone(void);
/*
 * In a spawned process, after connecting to PMIx: sets job and rank. KEEL_ERR_STATE: another
 * process is this spare already, or the job is over; the process must end.
 */
keel_status_t keel_pmix_spawned_open(keel_runtime_pmix_t *runtime);
/*
 * In a spawned process, once the job's size is known: sets the incarnation and the other processes
 * of this node.
 */
keel_status_t keel_pmix_spawned_read(keel_runtime_pmix_t *runtime);

#endif
