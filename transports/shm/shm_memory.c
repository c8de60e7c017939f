/* Memory shared within a node, own and mapped. */
#include "shm_memory.h"

#include "base/file_limit.h"
#include "base/memory.h"
#include "base/message.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* memory made in advance may exceed the requested size by this fraction */
enum { RESERVE_WASTE = 8 };

static keel_status_t draw_instance(uint64_t *instance_p)
{
    ssize_t length;

    do {
        length = getrandom(instance_p, sizeof(*instance_p), 0);
    } while ((length < 0) && (errno == EINTR));
    *instance_p |= 1; /* never 0 */
    return (length == sizeof(*instance_p)) ? KEEL_OK : KEEL_ERR_IO;
}

keel_status_t keel_shm_open(keel_shm_t *shm, const keel_transport_params_t *params)
{
    const char *lanes = (params->lanes != NULL) ? params->lanes : "auto";
    keel_status_t status;
    size_t available;

    *shm = (keel_shm_t){.params = params,
                        .is_used = (strcmp(lanes, "served") != 0),
                        .is_everywhere = (strcmp(lanes, "direct") == 0),
                        .card_memory = {.fd = -1}};
    ucs_list_head_init(&shm->mems);
    ucs_list_head_init(&shm->keys);
    ucs_list_head_init(&shm->reserve);
    shm->card = &shm->own_card;
    status = draw_instance(&shm->instance);
    if ((status != KEEL_OK) || !shm->is_used) {
        return status;
    }
    status = keel_shm_segment_make(sizeof(*shm->card), NULL, 1, &shm->card_memory, &available);
    if (status == KEEL_OK) {
        shm->card = shm->card_memory.base;
        shm->card->instance = shm->instance;
    }
    return status;
}

void keel_shm_close(keel_shm_t *shm)
{
    keel_transport_mem_t *mem, *next_mem;
    keel_transport_key_t *key, *next_key;

    ucs_list_for_each_safe(key, next_key, &shm->keys, link)
    {
        keel_shm_key_close(NULL, key);
    }
    ucs_list_for_each_safe(mem, next_mem, &shm->mems, link)
    {
        keel_shm_mem_free(mem);
    }
    ucs_list_for_each_safe(mem, next_mem, &shm->reserve, link)
    {
        keel_shm_mem_free(mem);
    }
    if (shm->card_memory.base != NULL) {
        keel_shm_segment_drop(&shm->card_memory);
    }
}

keel_status_t keel_shm_identify(const keel_shm_t *shm, keel_shm_segment_id_t *id)
{
    *id = (keel_shm_segment_id_t){0};
    return shm->is_used ? keel_shm_segment_identify(&shm->card_memory, id) : KEEL_OK;
}

keel_status_t keel_shm_attach(const keel_shm_t *shm, uint32_t peer, uint64_t instance, const keel_shm_segment_id_t *id,
                              keel_shm_card_t **card_p)
{
    const uint32_t *node = shm->params->node;
    const int is_wanted =
        shm->is_used && (shm->is_everywhere || ((node != NULL) && (node[peer] == node[shm->params->rank])));
    keel_status_t status;
    void *base;

    *card_p = NULL;
    if (!is_wanted || (id->bytes < sizeof(**card_p))) {
        return KEEL_OK;
    }
    status = keel_shm_segment_attach(id, &base);
    if (status != KEEL_OK) {
        return (status == KEEL_ERR_NO_MEMORY) ? status : KEEL_OK;
    }
    if (((const keel_shm_card_t *)base)->instance == instance) {
        *card_p = base;
    } else {
        keel_shm_segment_detach(base, id->bytes);
    }
    return KEEL_OK;
}

static keel_status_t make(const keel_shm_t *shm, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                          size_t *available_p)
{
    keel_transport_mem_t *mem = keel_alloc(sizeof(*mem), "memory handle");
    keel_status_t status;

    if (mem == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_shm_segment_make(bytes, address, shm->is_used, &mem->segment, available_p);
    if (status != KEEL_OK) {
        keel_free(mem);
        return status;
    }
    *mem_p = mem;
    return KEEL_OK;
}

/* smallest entry of a list with @a bytes, at least and not many more, or NULL */
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

keel_status_t keel_shm_reserve(keel_shm_t *shm, const uint64_t *bytes, unsigned count)
{
    keel_transport_mem_t *mem, *next;
    keel_status_t status = KEEL_OK;
    ucs_list_link_t kept;
    size_t missing = 0, available;
    unsigned i, misses = 0;

    ucs_list_head_init(&kept);
    for (i = 0; i < count; i++) {
        mem = find(&shm->reserve, bytes[i]);
        if (mem != NULL) {
            ucs_list_del(&mem->link);
            ucs_list_add_tail(&kept, &mem->link);
        } else {
            missing = bytes[i];
            misses++;
        }
    }
    ucs_list_for_each_safe(mem, next, &shm->reserve, link)
    {
        keel_shm_mem_free(mem);
    }
    ucs_list_splice_tail(&shm->reserve, &kept);
    if (misses > 0) {
        status = make(shm, missing, NULL, &mem, &available);
    }
    if (misses > 0 && status == KEEL_OK) {
        ucs_list_add_tail(&shm->reserve, &mem->link);
    }
    return (status == KEEL_OK && misses > 1) ? KEEL_INPROGRESS : status;
}

/* Takes memory from the reserve, at @a address if not NULL. Returns NULL if no memory fits or
 * the move to @a address fails. */
static keel_transport_mem_t *take_reserved(keel_shm_t *shm, size_t bytes, void *address)
{
    keel_transport_mem_t *mem = (bytes > 0) ? find(&shm->reserve, bytes) : NULL;

    if ((mem == NULL) || (keel_shm_segment_adapt(&mem->segment, bytes, address) != KEEL_OK)) {
        return NULL;
    }
    ucs_list_del(&mem->link);
    return mem;
}

keel_status_t keel_shm_mem_alloc(keel_shm_t *shm, size_t bytes, void *address, keel_transport_mem_t **mem_p)
{
    const keel_message_t *message = shm->params->message;
    keel_transport_mem_t *mem;
    size_t available = SIZE_MAX;
    keel_status_t status;

    mem = take_reserved(shm, bytes, address);
    if (mem == NULL) {
        status = make(shm, bytes, address, &mem, &available);
        if ((available != SIZE_MAX) && (message != NULL)) {
            keel_error(message, "memory is short: %zu bytes are available on this machine or in its control group",
                       available);
        }
        if ((status == KEEL_ERR_IO) && (message != NULL)) {
            keel_error(message, "no file for shared memory: %s (the limit on open files is %zu)", strerror(errno),
                       keel_files_limit());
        }
        if (status != KEEL_OK) {
            return status;
        }
    }
    ucs_list_add_tail(&shm->mems, &mem->link);
    *mem_p = mem;
    return KEEL_OK;
}

void keel_shm_mem_free(keel_transport_mem_t *mem)
{
    ucs_list_del(&mem->link);
    keel_shm_segment_drop(&mem->segment);
    keel_free(mem);
}

keel_status_t keel_shm_key_open(keel_shm_t *shm, const keel_shm_segment_id_t *id, keel_transport_key_t **key_p)
{
    keel_transport_key_t *key = keel_alloc(sizeof(*key), "key");
    keel_status_t status;

    if (key == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    key->bytes = id->bytes;
    status = keel_shm_segment_attach(id, &key->base);
    if (status != KEEL_OK) {
        keel_free(key);
        return status;
    }
    ucs_list_add_tail(&shm->keys, &key->link);
    *key_p = key;
    return KEEL_OK;
}

void keel_shm_key_close(keel_transport_t *transport, keel_transport_key_t *key)
{
    ucs_list_del(&key->link);
    if (key->base != NULL) {
        keel_shm_segment_detach(key->base, key->bytes);
    }
    keel_free(key);
}

void *keel_shm_key_ptr(keel_transport_key_t *key)
{
    return key->base;
}

keel_status_t keel_shm_key_replace(keel_transport_t *transport, keel_transport_key_t *key, keel_transport_key_t *old)
{
    if ((key->base == NULL) || (old->base == NULL) || (key->bytes != old->bytes)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if (keel_shm_segment_move_over(key->base, key->bytes, old->base) != KEEL_OK) {
        return KEEL_ERR_NO_MEMORY;
    }
    key->base = old->base;
    ucs_list_del(&old->link);
    keel_free(old);
    return KEEL_OK;
}
