/*
 * The direct lane: memory of this process that ranks of the node map, and theirs mapped here. It is reached by loads,
 * stores and CPU atomics alone, so it needs no endpoint, no progress and no help of its owner, and survives the
 * owner's death as long as a key is open.
 */
#include "ucp_transport.h"

#include "base/file_limit.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum { RESERVE_WASTE = 8 }; /* memory made ahead may be larger than what is asked for by this part */

struct keel_transport_mem {
    ucs_list_link_t link;
    keel_ucp_segment_t segment;
};

struct keel_transport_key {
    ucs_list_link_t link;
    void *base;
    size_t bytes;
};

keel_status_t keel_ucp_direct_open(keel_ucp_t *ucp)
{
    keel_status_t status;
    size_t available;

    ucs_list_head_init(&ucp->mems);
    ucs_list_head_init(&ucp->keys);
    ucs_list_head_init(&ucp->reserve);
    ucp->card_memory.fd = -1;
    ucp->card = &ucp->own_card;
    if (!ucp->use_direct) {
        return KEEL_OK;
    }
    status = keel_ucp_segment_make(sizeof(*ucp->card), NULL, 1, &ucp->card_memory, &available);
    if (status == KEEL_OK) {
        ucp->card = ucp->card_memory.base;
        ucp->card->instance = ucp->instance;
    }
    return status;
}

void keel_ucp_direct_close(keel_ucp_t *ucp)
{
    keel_transport_mem_t *mem, *next_mem;
    keel_transport_key_t *key, *next_key;

    ucs_list_for_each_safe(key, next_key, &ucp->keys, link)
    {
        keel_ucp_direct_key_close(&ucp->super, key);
    }
    ucs_list_for_each_safe(mem, next_mem, &ucp->mems, link)
    {
        keel_ucp_direct_mem_free(&ucp->super, mem);
    }
    ucs_list_for_each_safe(mem, next_mem, &ucp->reserve, link)
    {
        keel_ucp_direct_mem_free(&ucp->super, mem);
    }
    if (ucp->card_memory.base != NULL) {
        keel_ucp_segment_drop(&ucp->card_memory);
    }
}

keel_ucp_card_t *keel_ucp_direct_attach(const keel_ucp_address_blob_t *address)
{
    keel_ucp_card_t *card;
    void *base;

    if ((address->card.bytes < sizeof(*card)) || (keel_ucp_segment_attach(&address->card, &base) != KEEL_OK)) {
        return NULL;
    }
    card = base;
    if (card->instance != address->head.instance) {
        keel_ucp_segment_detach(base, address->card.bytes);
        return NULL;
    }
    return card;
}

static keel_status_t make(keel_ucp_t *ucp, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                          size_t *available_p)
{
    keel_transport_mem_t *mem = keel_alloc(sizeof(*mem), "memory handle");
    keel_status_t status;

    if (mem == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_ucp_segment_make(bytes, address, ucp->use_direct, &mem->segment, available_p);
    if (status != KEEL_OK) {
        keel_free(mem);
        return status;
    }
    *mem_p = mem;
    return KEEL_OK;
}

/* the smallest of a list that has as many bytes, at least and not many more, or NULL */
static keel_transport_mem_t *find(ucs_list_link_t *list, size_t bytes)
{
    keel_transport_mem_t *mem, *best = NULL;

    ucs_list_for_each(mem, list, link)
    {
        if ((mem->segment.bytes >= bytes) && (mem->segment.bytes - bytes <= bytes / RESERVE_WASTE) &&
            ((best == NULL) || (mem->segment.bytes < best->segment.bytes))) {
            best = mem;
        }
    }
    return best;
}

keel_status_t keel_ucp_direct_reserve(keel_transport_t *transport, const uint64_t *bytes, unsigned count)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_transport_mem_t *mem, *next;
    keel_status_t status = KEEL_OK;
    ucs_list_link_t kept;
    size_t missing = 0, available;
    unsigned i, misses = 0;

    ucs_list_head_init(&kept);
    for (i = 0; i < count; i++) {
        mem = find(&ucp->reserve, bytes[i]);
        if (mem != NULL) {
            ucs_list_del(&mem->link);
            ucs_list_add_tail(&kept, &mem->link);
        } else {
            missing = bytes[i];
            misses++;
        }
    }
    ucs_list_for_each_safe(mem, next, &ucp->reserve, link)
    {
        keel_ucp_direct_mem_free(transport, mem);
    }
    ucs_list_splice_tail(&ucp->reserve, &kept);
    if (misses > 0) {
        status = make(ucp, missing, NULL, &mem, &available);
    }
    if (misses > 0 && status == KEEL_OK) {
        ucs_list_add_tail(&ucp->reserve, &mem->link);
    }
    return (status == KEEL_OK && misses > 1) ? KEEL_INPROGRESS : status;
}

/* of the reserve, at @a address when that is not NULL; NULL: there is none that fits, or it cannot be moved there */
static keel_transport_mem_t *take_reserved(keel_ucp_t *ucp, size_t bytes, void *address)
{
    keel_transport_mem_t *mem = (bytes > 0) ? find(&ucp->reserve, bytes) : NULL;

    if ((mem == NULL) || (keel_ucp_segment_adapt(&mem->segment, bytes, address) != KEEL_OK)) {
        return NULL;
    }
    ucs_list_del(&mem->link);
    return mem;
}

keel_status_t keel_ucp_direct_mem_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                        keel_transport_mem_t **mem_p, void **base_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_transport_mem_t *mem;
    size_t available = SIZE_MAX;
    keel_status_t status;

    mem = take_reserved(ucp, bytes, address);
    if (mem == NULL) {
        status = make(ucp, bytes, address, &mem, &available);
        if (available != SIZE_MAX) {
            keel_ucp_error(ucp, "memory is short: %zu bytes are available on this machine or in its control group",
                           available);
        }
        if (status == KEEL_ERR_IO) {
            keel_ucp_error(ucp, "no file for shared memory: %s (the limit on open files is %zu)", strerror(errno),
                           keel_files_limit());
        }
        if (status != KEEL_OK) {
            return status;
        }
    }
    ucs_list_add_tail(&ucp->mems, &mem->link);
    *base_p = mem->segment.base;
    *mem_p = mem;
    return KEEL_OK;
}

void keel_ucp_direct_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    ucs_list_del(&mem->link);
    keel_ucp_segment_drop(&mem->segment);
    keel_free(mem);
}

keel_status_t keel_ucp_direct_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob,
                                       size_t *length_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_key_blob_t key = {0};
    keel_status_t status;

    if (*length_p < sizeof(key)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_ucp_segment_identify(&mem->segment, &key.segment);
    if (status != KEEL_OK) {
        return status;
    }
    keel_ucp_blob_seal(&key, KEEL_UCP_BLOB_KEY, sizeof(key), ucp->instance);
    memcpy(blob, &key, sizeof(key));
    *length_p = sizeof(key);
    return KEEL_OK;
}

keel_status_t keel_ucp_direct_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                                       uint64_t remote_base, keel_transport_key_t **key_p)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_transport_key_t *key;
    keel_ucp_key_blob_t packed;
    keel_status_t status;

    if ((keel_ucp_blob_check(blob, length, KEEL_UCP_BLOB_KEY, sizeof(packed)) != KEEL_OK) ||
        (length != sizeof(packed))) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&packed, blob, sizeof(packed));
    if ((peer >= ucp->params.size) || (ucp->peers[peer] == NULL) ||
        (ucp->peers[peer]->instance != packed.head.instance)) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (!(ucp->peers[peer]->lanes & KEEL_LANE_PTR)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    key = keel_alloc(sizeof(*key), "key");
    if (key == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    key->bytes = packed.segment.bytes;
    status = keel_ucp_segment_attach(&packed.segment, &key->base);
    if (status != KEEL_OK) {
        keel_free(key);
        return status;
    }
    ucs_list_add_tail(&ucp->keys, &key->link);
    *key_p = key;
    return KEEL_OK;
}

void keel_ucp_direct_key_close(keel_transport_t *transport, keel_transport_key_t *key)
{
    ucs_list_del(&key->link);
    keel_ucp_segment_detach(key->base, key->bytes);
    keel_free(key);
}

void *keel_ucp_direct_key_ptr(keel_transport_key_t *key)
{
    return key->base;
}

keel_status_t keel_ucp_direct_key_succeed(keel_transport_t *transport, keel_transport_key_t *key,
                                          keel_transport_key_t *old)
{
    if (key->bytes != old->bytes) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if (keel_ucp_segment_move_over(key->base, key->bytes, old->base) != KEEL_OK) {
        return KEEL_ERR_NO_MEMORY;
    }
    key->base = old->base;
    ucs_list_del(&old->link);
    keel_free(old);
    return KEEL_OK;
}
