/* The secret of a job: how its processes get it. */
#ifndef KEEL_RUNTIME_PMIX_SECRET_H_
#define KEEL_RUNTIME_PMIX_SECRET_H_

#include "pmix_runtime.h" /* and so stdatomic.h */

/* in the environment of a process that was spawned, in hexadecimal digits; the process removes it */
#define KEELSPAWN_ENV_SECRET "KEELSPAWN_SECRET"

/*
 * keelrun gives the secret to all processes by its server, and a rank to the process that it spawns. Under other launchers the first
 * rank draws it, and publishes it with its address; until the others have that, the secret is awaited.
 */
keel_status_t keel_pmix_secret_open(keel_runtime_pmix_t *runtime, int is_off);
pmix_status_t
keel_pmix_secret_publish(keel_runtime_pmix_t *runtime); /* before the ranks meet; nothing where it is known */
keel_status_t keel_pmix_secret_fetch(keel_runtime_pmix_t *runtime); /* when they have met; nothing where it is known */
/* adds the secret to an environment */
pmix_status_t keel_pmix_secret_pass_on(const keel_runtime_pmix_t *runtime, char ***env);

#endif
