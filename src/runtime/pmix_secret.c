/* PMIx transports the secret like addresses: the user can read all data of PMIx. */
#include "pmix_secret.h"
#include "pmix_events.h"
#include "pmix_spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_awaited(const keel_runtime_pmix_t *runtime)
{
    return keel_auth_state(&runtime->base.auth) == KEEL_AUTH_AWAITED;
}

static keel_status_t secret_get(keel_runtime_pmix_t *runtime, pmix_rank_t rank)
{
    pmix_value_t *value = NULL;
    pmix_status_t pmix_status = keel_pmix_get(runtime, rank, KEEL_PMIX_KEY_SECRET, &value);
    int is_right = 0;

    if (pmix_status == PMIX_SUCCESS) {
        is_right = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == KEEL_AUTH_SECRET;
        if (is_right) {
            keel_auth_set(&runtime->base.auth, (const uint8_t *)value->data.bo.bytes);
        }
        PMIX_VALUE_RELEASE(value);
    }
    if (!is_right) {
        keel_pmix_complain(
            runtime, "the launcher does not give the secret of the job (KEEL_AUTH=off on all ranks does without one)",
            pmix_status);
    }
    return is_right ? KEEL_OK : KEEL_ERR_RUNTIME;
}

static keel_status_t secret_inherit(keel_runtime_pmix_t *runtime)
{
    char *text = getenv(KEELSPAWN_ENV_SECRET);
    uint8_t secret[KEEL_AUTH_SECRET];
    unsigned byte, count = 0;

    while (text != NULL && count < KEEL_AUTH_SECRET && sscanf(text + 2 * (size_t)count, "%2x", &byte) == 1) {
        secret[count++] = (uint8_t)byte;
    }
    if (text != NULL) {
        memset(text, '0', strlen(text)); /* the kernel shows the initial environment to this user */
        unsetenv(KEELSPAWN_ENV_SECRET);
    }
    if (count < KEEL_AUTH_SECRET) {
        keel_pmix_complain(runtime, "the process that spawned this one gave no secret", PMIX_ERR_NOT_FOUND);
        return KEEL_ERR_RUNTIME;
    }
    keel_auth_set(&runtime->base.auth, secret);
    return KEEL_OK;
}

keel_status_t keel_pmix_secret_open(keel_runtime_pmix_t *runtime, int is_off)
{
    uint8_t secret[KEEL_AUTH_SECRET];

    if (is_off) {
        keel_auth_set_off(&runtime->base.auth);
    } else if (runtime->is_alone) {
        keel_auth_draw(secret);
        keel_auth_set(&runtime->base.auth, secret);
    } else if (runtime->is_keelrun) {
        return secret_get(runtime, PMIX_RANK_WILDCARD);
    } else if (keel_pmix_is_spawned()) {
        return secret_inherit(runtime);
    }
    return KEEL_OK;
}

pmix_status_t keel_pmix_secret_publish(keel_runtime_pmix_t *runtime)
{
    uint8_t secret[KEEL_AUTH_SECRET];

    if (!is_awaited(runtime) || runtime->job.rank != 0) {
        return PMIX_SUCCESS;
    }
    keel_auth_draw(secret);
    return keel_pmix_publish(KEEL_PMIX_KEY_SECRET, secret, sizeof secret);
}

keel_status_t keel_pmix_secret_fetch(keel_runtime_pmix_t *runtime)
{
    return is_awaited(runtime) ? secret_get(runtime, 0) : KEEL_OK;
}

pmix_status_t keel_pmix_secret_pass_on(const keel_runtime_pmix_t *runtime, char ***env)
{
    char text[2 * KEEL_AUTH_SECRET + 1];
    pmix_status_t status;

    if (keel_auth_state(&runtime->base.auth) != KEEL_AUTH_ON) {
        return PMIX_SUCCESS;
    }
    for (unsigned i = 0; i < KEEL_AUTH_SECRET; i++) {
        snprintf(text + 2 * (size_t)i, 3, "%02x", runtime->base.auth.secret[i]);
    }
    PMIX_SETENV(status, KEELSPAWN_ENV_SECRET, text, env);
    return status;
}
