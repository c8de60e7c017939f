/* Distribution of a job's secret to its processes. */
#ifndef KEEL_RUNTIME_PMIX_SECRET_H_
#define KEEL_RUNTIME_PMIX_SECRET_H_

#include "pmix_runtime.h" /* and so stdatomic.h */

/* Environment variable of a spawned process, in hexadecimal digits, removed by the process. */
#define KEELSPAWN_ENV_SECRET "KEELSPAWN_SECRET"

/*
 * keelrun's server gives the secret to all processes, and a rank gives the secret to each process
 * that it spawns. Under other launchers the first rank draws the secret and publishes it with its
 * address; the other ranks wait.
 */
keel_status_t keel_pmix_secret_open(keel_runtime_pmix_t *runtime, int is_off);
/* Publishes the secret before the ranks meet; does nothing if the secret is known. */
pmix_status_t keel_pmix_secret_publish(keel_runtime_pmix_t *runtime);
/* Fetches the secret after the ranks have met; does nothing if the secret is known. */
keel_status_t keel_pmix_secret_fetch(keel_runtime_pmix_t *runtime);
/* Adds the secret to an environment. */
pmix_status_t keel_pmix_secret_pass_on(const keel_runtime_pmix_t *runtime, char ***env);

#endif
