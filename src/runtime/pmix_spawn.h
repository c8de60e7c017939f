/* Replacements that the job asks its launcher for by PMIx_Spawn, when one is needed (pmix_spawn.c). */
#ifndef KEEL_RUNTIME_PMIX_SPAWN_H_
#define KEEL_RUNTIME_PMIX_SPAWN_H_

#include <runtime.h>

typedef struct keel_runtime_pmix keel_runtime_pmix_t;

/* in environment of a process that was started so: the job, the rank to take, the spare's number, who runs on this node */
#define KEEL_ENV_SPAWNED "KEEL_SPAWNED"

/* has the launcher start a process that is spare @a spare and takes @a rank; it may fail later, and ends the job then */
void keel_pmix_spawn(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare);
/* whether nobody is that spare, and from now on nobody will be: it has died, or has never come to claim it */
int keel_pmix_spawn_is_gone(keel_runtime_pmix_t *runtime, uint32_t spare);

int keel_pmix_is_spawned(void);
/* in a process that was started so: all are gone that were there when it was asked for */
int keel_pmix_spawned_is_alone(void);
/* ... when PMIx is connected: which job and rank it is of. KEEL_ERR_STATE: another process is that spare already, or the job is
 * over, and this one has to end. */
keel_status_t keel_pmix_spawned_open(keel_runtime_pmix_t *runtime);
/* ... and when the size of the job is known: its incarnation, and who else runs on this node */
keel_status_t keel_pmix_spawned_take(keel_runtime_pmix_t *runtime);

#endif
