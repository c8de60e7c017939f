/*
 * Memory shared by ranks: one file mapped twice, at the owner's address and at an address for all
 * other ranks. So a replacement gets fresh pages at the old address, while survivors without the
 * news still reach the old pages, as with shared or registered memory. Also the list of each
 * process's allocations.
 */
#define _GNU_SOURCE
#include "sim/world.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIM_POOL_BYTES ((size_t)4 << 30)
#define SIM_PAGE       ((size_t)4096)

/* process-wide and kept between runs: faulting in the memory again would cost more than a run */
static struct {
    int fd;
    char *base, *net;
    keel_sim_t *user;
} sim_pool = {-1, NULL, NULL, NULL};

static int sim_pool_map(void)
{
    sim_pool.fd = memfd_create("keel-sim", MFD_CLOEXEC);
    if ((sim_pool.fd < 0) || (ftruncate(sim_pool.fd, SIM_POOL_BYTES) != 0)) {
        return -1;
    }
    sim_pool.base = mmap(NULL, SIM_POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, sim_pool.fd, 0);
    sim_pool.net = mmap(NULL, SIM_POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, sim_pool.fd, 0);
    return ((sim_pool.base == MAP_FAILED) || (sim_pool.net == MAP_FAILED)) ? -1 : 0;
}

int sim_pool_open(keel_sim_t *sim)
{
    if (sim_pool.user != NULL) {
        return -1; /* one world at a time */
    }
    if ((sim_pool.base == NULL) && (sim_pool_map() != 0)) {
        return -1;
    }
    sim_pool.user = sim;
    sim->pool_used = 0;
    return 0;
}

void sim_pool_close(keel_sim_t *sim)
{
    const keel_transport_mem_t *mem;
    const sim_process_t *process;

    if (sim_pool.user != sim) {
        return;
    }
    sim_pool.user = NULL;
    for (process = sim->all; process != NULL; process = process->all_next) {
        for (mem = process->mems; mem != NULL; mem = mem->next) {
            if (mem->base != sim_pool.base + mem->file_offset) { /* the address of a predecessor */
                mmap(mem->base, mem->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
                     sim_pool.fd, mem->base - sim_pool.base);
            }
        }
    }
}

/* memory at this address of an earlier incarnation, or of an earlier allocation of this one */
static const keel_transport_mem_t *sim_pool_find(const keel_sim_t *sim, uint32_t rank, const char *at)
{
    const keel_transport_mem_t *mem;
    const sim_process_t *process;

    for (process = sim->rank[rank]; process != NULL; process = process->earlier) {
        for (mem = process->mems; mem != NULL; mem = mem->next) {
            if (mem->wanted == at) {
                return mem;
            }
        }
    }
    return NULL;
}

int sim_pool_take(keel_sim_t *sim, keel_transport_mem_t *mem, size_t bytes, char *at)
{
    const keel_transport_mem_t *before;

    mem->bytes = bytes;
    mem->length = ((bytes > 0 ? bytes : 1) + SIM_PAGE - 1) & ~(SIM_PAGE - 1);
    if ((bytes > SIM_POOL_BYTES) || (mem->length > SIM_POOL_BYTES - sim->pool_used)) {
        return 0;
    }
    mem->file_offset = sim->pool_used;
    sim->pool_used += mem->length;
    mem->net = sim_pool.net + mem->file_offset;
    mem->wanted = at;
    mem->base = sim_pool.base + mem->file_offset;
    before = (at == NULL) ? NULL : sim_pool_find(sim, mem->owner->rank, at);
    if ((before == NULL) || (before->length < mem->length)) {
        return 1;
    }
    if ((before->owner == mem->owner) && !before->is_freed) {
        return 0; /* the address is in use */
    }
    if (mmap(before->base, mem->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, sim_pool.fd,
             (off_t)mem->file_offset) == MAP_FAILED) {
        return 0;
    }
    mem->base = before->base;
    return 1;
}

/* ---- private memory ---- */

static sim_allocation_t **sim_allocation_slot(keel_sim_t *sim, const void *memory)
{
    return &sim->allocation_hash[((uintptr_t)memory >> 4) % SIM_HASH_SIZE];
}

static int sim_may_allocate(void *arg, size_t bytes, const char *name)
{
    keel_sim_t *sim = arg;

    sim->allocation_name = name;
    return sim->denied == NULL || strcmp(name, sim->denied) != 0;
}

void keel_sim_deny(keel_sim_t *sim, const char *name)
{
    sim->denied = name;
}

static void sim_allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    keel_sim_t *sim = arg;
    sim_process_t *owner = sim->current;
    sim_allocation_t **slot, *allocation;

    if (owner == NULL) {
        return;
    }
    allocation = sim_new(sizeof(*allocation));
    allocation->owner = owner;
    allocation->memory = memory;
    allocation->bytes = bytes;
    allocation->is_arena = is_arena;
    allocation->name = sim->allocation_name;
    slot = sim_allocation_slot(sim, memory);
    allocation->hash_next = *slot;
    *slot = allocation;
    allocation->next = owner->allocations;
    if (owner->allocations != NULL) {
        owner->allocations->prev = allocation;
    }
    owner->allocations = allocation;
}

static void sim_freed(void *arg, void *memory)
{
    keel_sim_t *sim = arg;
    sim_allocation_t **at, *allocation;

    for (at = sim_allocation_slot(sim, memory); *at != NULL; at = &(*at)->hash_next) {
        allocation = *at;
        if (allocation->memory != memory) {
            continue;
        }
        *at = allocation->hash_next;
        if (allocation->prev != NULL) {
            allocation->prev->next = allocation->next;
        } else {
            allocation->owner->allocations = allocation->next;
        }
        if (allocation->next != NULL) {
            allocation->next->prev = allocation->prev;
        }
        free(allocation);
        return;
    }
}

size_t keel_sim_bytes(const keel_sim_t *sim, uint32_t rank, const char *name)
{
    const sim_allocation_t *allocation;
    size_t bytes = 0;

    for (allocation = sim->rank[rank]->allocations; allocation != NULL; allocation = allocation->next) {
        bytes += (strcmp(allocation->name, name) == 0) ? allocation->bytes : 0;
    }
    return bytes;
}

unsigned keel_sim_waits(const keel_sim_t *sim, uint32_t rank)
{
    return sim->rank[rank]->waits;
}

unsigned keel_sim_polls(const keel_sim_t *sim, uint32_t rank)
{
    return sim->rank[rank]->polls_longest;
}

void sim_allocations_free(sim_process_t *process)
{
    sim_allocation_t *allocation;
    void *memory;
    size_t bytes;
    int is_arena;

    while ((allocation = process->allocations) != NULL) {
        memory = allocation->memory;
        bytes = allocation->bytes;
        is_arena = allocation->is_arena;
        sim_freed(process->sim, memory);
        if (is_arena) {
            munmap(memory, bytes);
        } else {
            memset(memory, SIM_POISON, bytes);
            free(memory);
        }
    }
}

void sim_memory_hooks_set(keel_sim_t *sim)
{
    const keel_memory_hook_t hook = {
        .may_allocate = sim_may_allocate, .allocated = sim_allocated, .freed = sim_freed, .arg = sim};

    keel_memory_set_hook((sim != NULL) ? &hook : NULL);
}
