/* Addresses of the first life: published, exchanged and fetched before any rank may die. */
#include "pmix_events.h"
#include "pmix_runtime.h"
#include "pmix_secret.h"

#include <base/memory.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static keel_status_t keel_pmix_copy_address(keel_runtime_pmix_t *runtime, uint32_t rank, const void *data,
                                            size_t length)
{
    keel_pmix_address_t *address = &runtime->addresses[rank];

    address->data = keel_alloc(length != 0 ? length : 1, "peer address");
    if (address->data == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (length != 0) {
        memcpy(address->data, data, length);
    }
    address->length = length;
    return KEEL_OK;
}

static keel_status_t keel_pmix_fetch_addresses(keel_runtime_pmix_t *runtime, const char *key)
{
    for (uint32_t rank = 0; rank < runtime->base.size; rank++) {
        pmix_value_t *value = NULL;
        pmix_status_t pmix_status = keel_pmix_get(runtime, rank, key, &value);
        keel_status_t status;

        if (pmix_status != PMIX_SUCCESS || value->type != PMIX_BYTE_OBJECT) {
            if (pmix_status == PMIX_ERR_NOT_FOUND && runtime->is_keelrun) {
                poll(NULL, 0,
                     /* died before publishing: keelrun reports it and ends the job */
                     KEEL_PMIX_ABORT_WAIT_MS);
            }
            keel_pmix_complain(runtime, "cannot get the address of a rank", pmix_status);
            return KEEL_ERR_RUNTIME;
        }
        status = keel_pmix_copy_address(runtime, rank, value->data.bo.bytes, value->data.bo.size);
        PMIX_VALUE_RELEASE(value);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return KEEL_OK;
}

/*
 * Fetches the processes of this node: under launchers that neither report deaths nor kill, the
 * ranks do both.
 */
static keel_status_t keel_pmix_fetch_processes(keel_runtime_pmix_t *runtime)
{
    if (keel_pmix_processes_init(runtime) != KEEL_OK) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t holder = 0; holder < runtime->job_size; holder++) {
        pmix_value_t *value = NULL;

        if (runtime->base.node[holder] != runtime->base.node[runtime->process.rank] ||
            keel_pmix_get(runtime, holder, KEEL_PMIX_KEY_PROCESS, &value) != PMIX_SUCCESS) {
            continue;
        }
        if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == sizeof *runtime->processes) {
            keel_pmix_add_process(runtime, holder, (const void *)value->data.bo.bytes);
        }
        PMIX_VALUE_RELEASE(value);
    }
    return KEEL_OK;
}

pmix_status_t keel_pmix_publish(const char *key, const void *data, size_t length)
{
    pmix_byte_object_t bytes = {.bytes = (char *)(uintptr_t)data, .size = length};
    pmix_value_t value;
    pmix_status_t status;

    PMIX_VALUE_LOAD(&value, &bytes, PMIX_BYTE_OBJECT);
    status = PMIx_Put(PMIX_GLOBAL, key, &value);
    PMIX_VALUE_DESTRUCT(&value);
    return status == PMIX_SUCCESS ? PMIx_Commit() : status;
}

static pmix_status_t keel_pmix_fence(bool with_data)
{
    pmix_status_t status;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &with_data, PMIX_BOOL);
    status = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return status;
}

/*
 * Meets the other ranks by two fences: the first exchanges data, and the ranks fetch before the
 * second. So no rank asks PMIx for the data of a dead rank, which may hang. Under keelrun a rank
 * announces that it has fetched all data before it enters the second fence, so keelrun has received
 * every announcement before any rank leaves. An earlier death ends the job (by keelrun); after a
 * later death the rank is replaced, and no rank minds that the death made the fence fail.
 */
static keel_status_t keel_pmix_meet(keel_runtime_pmix_t *runtime, const void *address, size_t length)
{
    char key[PMIX_MAX_KEYLEN];
    keel_status_t status;
    pmix_status_t pmix_status;
    keel_process_t self;

    runtime->addresses = keel_alloc(runtime->base.size * sizeof *runtime->addresses, "peer addresses");
    if (runtime->addresses == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    snprintf(key, sizeof key, "keel.addr.%u", runtime->base.incarnation);
    keel_process_self(&self);
    pmix_status = keel_pmix_publish(key, address, length);
    if (pmix_status == PMIX_SUCCESS && !runtime->is_keelrun) {
        pmix_status = keel_pmix_publish(KEEL_PMIX_KEY_PROCESS, &self, sizeof self);
    }
    if (pmix_status == PMIX_SUCCESS) {
        pmix_status = keel_pmix_secret_publish(runtime);
    }
    if (pmix_status == PMIX_SUCCESS) {
        pmix_status = keel_pmix_fence(true);
    }
    if (pmix_status != PMIX_SUCCESS) {
        keel_pmix_complain(runtime, "cannot exchange addresses", pmix_status);
        return KEEL_ERR_RUNTIME;
    }
    status = keel_pmix_secret_fetch(runtime);
    if (status == KEEL_OK) {
        status = keel_pmix_fetch_addresses(runtime, key);
    }
    if (status == KEEL_OK && !runtime->is_keelrun) {
        status = keel_pmix_fetch_processes(runtime);
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (runtime->is_keelrun) {
        pmix_status = keel_pmix_send_met(runtime);
        (void)keel_pmix_fence(false);
    } else {
        pmix_status = keel_pmix_fence(false);
    }
    if (pmix_status != PMIX_SUCCESS && pmix_status != PMIX_OPERATION_SUCCEEDED) {
        keel_pmix_complain(runtime, "cannot meet the others", pmix_status);
        return KEEL_ERR_RUNTIME;
    }
    return KEEL_OK;
}

static keel_status_t keel_pmix_rejoin(keel_runtime_pmix_t *runtime, const void *address, size_t length)
{
    keel_pmix_spares_t *spares = &runtime->spares;

    if (spares->count > 0) { /* the announcement may have to be repeated */
        spares->address = keel_alloc(length, "own address");
        if (spares->address == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        memcpy(spares->address, address, length);
        spares->address_len = length;
    }
    return keel_pmix_send_join(runtime, address, length);
}

keel_status_t keel_pmix_announce(keel_runtime_t *base, const void *address, size_t length)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;

    if (length > KEEL_PMIX_ADDRESS_MAX) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (runtime->is_alone) {
        runtime->addresses = keel_alloc(sizeof *runtime->addresses, "peer addresses");
        return runtime->addresses != NULL ? keel_pmix_copy_address(runtime, 0, address, length) : KEEL_ERR_NO_MEMORY;
    }
    return base->incarnation == 0 ? keel_pmix_meet(runtime, address, length)
                                  : keel_pmix_rejoin(runtime, address, length);
}

keel_status_t keel_pmix_lookup(keel_runtime_t *base, uint32_t rank, void **address_p, size_t *length_p)
{
    const keel_runtime_pmix_t *runtime = (const keel_runtime_pmix_t *)base;

    if (rank >= base->size) {
        return KEEL_ERR_RANK;
    }
    if (runtime->addresses == NULL) {
        return KEEL_ERR_STATE;
    }
    *length_p = runtime->addresses[rank].length;
    *address_p = malloc(*length_p != 0 ? *length_p : 1); /* the caller frees it with free() */
    if (*address_p == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(*address_p, runtime->addresses[rank].data, *length_p);
    return KEEL_OK;
}

void keel_pmix_addresses_release(keel_runtime_pmix_t *runtime)
{
    for (uint32_t rank = 0; runtime->addresses != NULL && rank < runtime->base.size; rank++) {
        keel_free(runtime->addresses[rank].data);
    }
    keel_free(runtime->addresses);
}
