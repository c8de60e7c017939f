/* Memory that other ranks reach, and its keys. */
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

#define SIM_BLOB_MAGIC 0x53494d4b45593031ull

typedef struct sim_blob {
    uint64_t magic;
    uint32_t rank, incarnation;
    uint32_t mem_id, reserved;
    uint64_t bytes, base;
} sim_blob_t;

keel_status_t sim_mem_alloc(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                            void **base_p)
{
    sim_process_t *process = sim_process_of(transport);
    keel_transport_mem_t *mem;

    sim_point(process->sim, "mem_alloc");
    keel_sim_store_fence(process->sim);
    mem = sim_new(sizeof(*mem));
    mem->owner = process;
    mem->id = process->mem_count;
    if (!sim_pool_take(process->sim, mem, bytes, address)) {
        free(mem);
        return KEEL_ERR_NO_MEMORY;
    }
    memset(mem->net, 0, mem->length);
    mem->next = process->mems;
    process->mems = mem;
    ++process->mem_count;
    *mem_p = mem;
    *base_p = mem->base;
    return KEEL_OK;
}

void sim_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    sim_process_t *process = sim_process_of(transport);

    sim_point(process->sim, "mem_free");
    keel_sim_store_fence(process->sim);
    if (mem->is_freed || (mem->owner != process)) {
        keel_sim_flaw(process->sim, "rank %u.%u frees memory twice", process->rank, process->incarnation);
        return;
    }
    memset(mem->net, SIM_POISON, mem->length);
    mem->is_freed = 1;
}

void sim_mem_expose(keel_transport_t *transport, keel_transport_mem_t *mem, unsigned lane)
{
    mem->is_atomic = (lane & KEEL_LANE_ATOMIC) && (sim_process_of(transport)->sim->options.direct == KEEL_SIM_RMA);
}

keel_status_t sim_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p)
{
    const sim_process_t *process = sim_process_of(transport);
    const sim_blob_t packed = {
        SIM_BLOB_MAGIC, process->rank, process->incarnation, mem->id, 0, mem->bytes, (uint64_t)(uintptr_t)mem->base};

    if (*length_p < sizeof(packed)) {
        return KEEL_ERR_BUDGET;
    }
    memcpy(blob, &packed, sizeof(packed));
    *length_p = sizeof(packed);
    return KEEL_OK;
}

static keel_transport_mem_t *sim_mem_find(const sim_process_t *owner, uint32_t id)
{
    keel_transport_mem_t *mem;

    for (mem = owner->mems; (mem != NULL) && (mem->id != id); mem = mem->next) {
    }
    return mem;
}

keel_status_t sim_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                           uint64_t remote_base, keel_transport_key_t **key_p)
{
    sim_process_t *process = sim_process_of(transport);
    keel_transport_mem_t *mem;
    keel_transport_key_t *key;
    const sim_process_t *target;
    sim_blob_t packed;
    int is_own;

    sim_point(process->sim, "key_open");
    keel_sim_store_fence(process->sim);
    target = process->links[peer].target;
    /* for atomics, which need no link to the own rank */
    is_own = (target == NULL) && (peer == process->rank);
    target = is_own ? process : target;
    if ((target == NULL) || (!is_own && !(process->links[peer].lanes & (KEEL_LANE_PTR | KEEL_LANE_READ)))) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (length != sizeof(packed)) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&packed, blob, sizeof(packed));
    if ((packed.magic != SIM_BLOB_MAGIC) || (packed.rank != peer)) {
        return KEEL_ERR_CORRUPT;
    }
    if (packed.incarnation != target->incarnation) {
        keel_sim_flaw(process->sim, "rank %u.%u opens a key of %u.%u, being connected to %u.%u", process->rank,
                      process->incarnation, peer, packed.incarnation, peer, target->incarnation);
        return KEEL_ERR_UNREACHABLE;
    }
    mem = sim_mem_find(target, packed.mem_id);
    if ((mem == NULL) || (packed.base != remote_base)) {
        return KEEL_ERR_CORRUPT;
    }
    if (is_own && !mem->is_atomic) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if (target->state == SIM_DEAD) { /* existing mappings stay, but new ones fail */
        return KEEL_ERR_UNREACHABLE;
    }
    key = sim_new(sizeof(*key));
    key->mem = mem;
    key->peer = peer;
    key->is_open = 1;
    key->next = process->keys;
    process->keys = key;
    *key_p = key;
    return KEEL_OK;
}

void sim_key_close(keel_transport_t *transport, keel_transport_key_t *key)
{
    sim_process_t *process = sim_process_of(transport);
    keel_transport_key_t **at;

    sim_point(process->sim, "key_close");
    keel_sim_store_fence(process->sim);
    for (at = &process->keys; *at != NULL; at = &(*at)->next) {
        if (*at == key) {
            *at = key->next;
            free(key);
            return;
        }
    }
    keel_sim_flaw(process->sim, "rank %u.%u closes a key that is not open", process->rank, process->incarnation);
}

int sim_key_is_atomic(const keel_transport_key_t *key)
{
    return key->mem->is_atomic;
}

void *sim_key_ptr(keel_transport_key_t *key)
{
    return (key->mem->owner->sim->options.direct == KEEL_SIM_PTR) ? key->mem->net : NULL;
}
