/*
 * Endpoints and addresses of workers: the uid in an address tells which process an endpoint leads
 * to. UCX before 1.13 has no call for the uid, and targets stay without names there.
 */
#include "preload/preload_call.h"
#include "preload/preload_process.h"

/* 0: unknown */
static uint64_t uid_of(const ucp_address_t *address)
{
#if UCP_API_VERSION >= UCP_VERSION(1, 13)
    static __typeof__(&ucp_worker_address_query) kept;
    __typeof__(&ucp_worker_address_query) query = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    ucp_worker_address_attr_t attributes;

    if (query == NULL) {
        query = (__typeof__(query))preload_next_if_any("ucp_worker_address_query");
        __atomic_store_n(&kept, query, __ATOMIC_RELAXED);
    }
    attributes.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID;
    if (query != NULL && query((ucp_address_t *)address, &attributes) == UCS_OK) {
        return attributes.worker_uid;
    }
#endif
    return 0;
}

static void own_add(const ucp_address_t *address)
{
    const uint64_t uid = uid_of(address);

    if (uid != 0) {
        preload_targets_own(uid);
    }
}

PRELOAD_API ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep_p)
{
    ucs_status_t status;
    uint64_t uid = 0;
    PRELOAD_NEXT(ucp_ep_create)

    status = next(worker, params, ep_p);
    if (status == UCS_OK && !preload_process_is_over()) {
        if ((params->field_mask & UCP_EP_PARAM_FIELD_REMOTE_ADDRESS) != 0) {
            uid = uid_of(params->address);
        }
        preload_targets_add(*ep_p, worker, uid);
    }
    return status;
}

PRELOAD_API ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address_p,
                                                size_t *address_length_p)
{
    ucs_status_t status;
    PRELOAD_NEXT(ucp_worker_get_address)

    status = next(worker, address_p, address_length_p);
    if (status == UCS_OK) {
        own_add(*address_p);
    }
    return status;
}

PRELOAD_API ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr)
{
    ucs_status_t status;
    PRELOAD_NEXT(ucp_worker_query)

    status = next(worker, attr);
    if (status == UCS_OK && (attr->field_mask & UCP_WORKER_ATTR_FIELD_ADDRESS) != 0) {
        own_add(attr->address);
    }
    return status;
}
