/* Regions: own memory, and the known regions of peers. */
#include "peer/region.h"
#include "peer/control.h"
#include "peer/members.h"
#include "peer/peer.h"

#include "base/memory.h"
#include "base/second_map.h"

#include <string.h>

#define REGION_BLOB_MAX 256
#define REGIONS_LEAST   32u /* initial capacity of a table */

enum region_flag { REGION_SERVED = 1, REGION_DEVICE_WANTED = 2 };

typedef struct region_announcement {
    uint32_t region;
    uint32_t blob_length;
    uint32_t agreement;
    uint32_t flags; /* region_flag */
    uint64_t base;
    uint64_t size;
    uint8_t blob[REGION_BLOB_MAX];
} region_announcement_t;

/* ---- tables ---- */

static keel_status_t table_grow(void **table_p, unsigned before, unsigned room, size_t entry)
{
    void *grown = keel_alloc(room * entry, "regions");

    if (grown == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (before > 0) {
        memcpy(grown, *table_p, before * entry);
        keel_free(*table_p);
    }
    *table_p = grown;
    return KEEL_OK;
}

/* After a failure some tables may be larger than others, which does no harm. */
keel_status_t keel_lane_regions_reserve(keel_lane_t *lane, unsigned region)
{
    const unsigned before = lane->regions_room;
    unsigned room = (before > 0) ? before : REGIONS_LEAST;
    keel_status_t status = KEEL_OK;

    if (region < before) {
        return KEEL_OK;
    }
    while (room <= region) {
        room *= 2;
    }
    KEEL_EACH_RANK_WHILE(r, lane, status == KEEL_OK) {
        status = table_grow((void **)&lane->peers[r].regions, before, room, sizeof(keel_region_t));
    }
    if (status == KEEL_OK) {
        pthread_mutex_lock(&lane->lock);
        status = table_grow((void **)&lane->own, before, room, sizeof(keel_own_region_t));
        lane->regions_room = (status == KEEL_OK) ? room : before;
        pthread_mutex_unlock(&lane->lock);
    }
    return status;
}

/* ---- own regions ---- */

/* True for images and shares of parity, which the parity group alone reads. */
static int region_is_of_group(unsigned region)
{
    return region >= KEEL_REGION_IMAGE0 && region < KEEL_REGION_LOCKS;
}

/* One-sided operations that reach a region without a mapping; 0: none. Images and parity are
 * only read; windows and the get log are also written. */
static unsigned region_lane(unsigned region)
{
    if (region_is_of_group(region)) {
        return KEEL_LANE_READ;
    }
    return (region >= KEEL_REGION_WINDOW0 || region == KEEL_REGION_GETLOG) ? KEEL_LANE_RMA : 0;
}

/* True if the program gave the memory and it has no other mapping. The announcement says so,
 * because peers would otherwise report a failed mapping. */
static int own_is_served(const keel_lane_t *lane, const keel_own_region_t *own)
{
    return own->base != NULL && own->mem == NULL && lane->config->lanes != KEEL_LANES_SERVED;
}

static void region_announce(keel_lane_t *lane, uint32_t peer, unsigned region)
{
    const keel_own_region_t *own = &lane->own[region];
    region_announcement_t out = {.region = region,
                                 .flags = (own_is_served(lane, own) ? REGION_SERVED : 0) |
                                          (own->is_device_wanted ? REGION_DEVICE_WANTED : 0),
                                 .agreement = lane->agreement,
                                 .base = (uintptr_t)own->base,
                                 .size = own->size};
    size_t length = sizeof(out.blob);

    if (own->mem != NULL && lane->ops->mem_pack(lane->transport, own->mem, out.blob, &length) == KEEL_OK) {
        out.blob_length = (uint32_t)length;
    }
    (void)keel_lane_control_send(lane, peer, KEEL_CONTROL_REGION, &out, sizeof(out));
}

static int is_in_group(const keel_lane_t *lane, uint32_t peer)
{
    uint32_t i = 0;

    while (i < lane->group_size && lane->group[i] != peer) {
        i++;
    }
    return i < lane->group_size;
}

void keel_lane_regions_announce(keel_lane_t *lane, uint32_t peer)
{
    const int is_member = is_in_group(lane, peer) && !KEEL_PLANT(region_image_unannounced);

    for (unsigned region = 0; region < lane->regions_room; region++) {
        if ((lane->own[region].base != NULL || lane->own[region].is_retired) &&
            (is_member || !region_is_of_group(region))) {
            region_announce(lane, peer, region);
        }
    }
}

void keel_lane_change_group(keel_lane_t *lane, const uint32_t *members, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        const int is_new = !is_in_group(lane, members[i]) && lane->peers[members[i]].is_up;

        for (unsigned region = KEEL_REGION_IMAGE0; is_new && region < KEEL_REGION_LOCKS; region++) {
            if (lane->own[region].base != NULL && !KEEL_PLANT(region_of_new_group)) {
                region_announce(lane, members[i], region);
            }
        }
    }
    keel_lane_set_group(lane, members, size);
}

void keel_lane_region_announce(keel_lane_t *lane, unsigned region)
{
    const int is_of_group = region_is_of_group(region);

    for (uint32_t i = 0; is_of_group && i < lane->group_size; i++) {
        if (lane->peers[lane->group[i]].is_up) {
            region_announce(lane, lane->group[i], region);
        }
    }
    KEEL_EACH_MEMBER_WHILE(r, lane, !is_of_group) {
        if (lane->peers[r].is_up) {
            region_announce(lane, r, region);
        }
    }
}

/* Allocates the memory and fills in its contents. */
static keel_status_t region_memory(keel_lane_t *lane, const keel_region_memory_t *memory, keel_own_region_t *own)
{
    /* one byte at least, so that an empty region exists too */
    keel_status_t status = lane->ops->mem_alloc(lane->transport, memory->bytes > 0 ? memory->bytes : 1, memory->address,
                                                &own->mem, &own->base);

    if (status == KEEL_OK && memory->is_twice && memory->bytes > 0 &&
        !keel_second_make_possible(own->base, memory->bytes)) {
        lane->ops->mem_free(lane->transport, own->mem);
        own->mem = NULL;
        status = KEEL_ERR_NO_MEMORY;
    }
    if (status == KEEL_OK && memory->contents != NULL && memory->bytes > 0) {
        memcpy(own->base, memory->contents, memory->bytes);
    }
    return status;
}

/* No peer knows the region yet, so no access is lost between the copy and the mapping. */
static keel_status_t region_of_given(keel_lane_t *lane, keel_region_memory_t *memory, keel_own_region_t *own)
{
    const keel_region_memory_t shared = {.bytes = memory->bytes, .contents = memory->given};
    keel_status_t status;

    memory->is_mapped = 0;
    if (lane->config->lanes != KEEL_LANES_SERVED && keel_second_map_is_possible(memory->given, memory->bytes)) {
        status = region_memory(lane, &shared, own);
        if (status != KEEL_OK) {
            return status;
        }
        memory->is_mapped = keel_second_map(own->base, memory->given, memory->bytes);
        if (memory->is_mapped) {
            return KEEL_OK;
        }
        lane->ops->mem_free(lane->transport, own->mem);
    }
    *own = (keel_own_region_t){.base = memory->given, .size = memory->bytes};
    return KEEL_OK;
}

static keel_status_t region_expose(keel_lane_t *lane, unsigned region, keel_own_region_t *own)
{
    const unsigned by = region_lane(region) | (own->is_device_wanted ? KEEL_LANE_ATOMIC : 0);
    uint8_t blob[REGION_BLOB_MAX];
    size_t length = sizeof(blob);
    keel_status_t status;

    if (by == 0 || own->mem == NULL || lane->ops->mem_expose == NULL) {
        return KEEL_OK;
    }
    lane->ops->mem_expose(lane->transport, own->mem, by);
    if (!own->is_device_wanted || lane->ops->atomic == NULL) {
        return KEEL_OK;
    }
    status = lane->ops->mem_pack(lane->transport, own->mem, blob, &length);
    if (status == KEEL_OK) {
        status = lane->ops->key_open(lane->transport, lane->rank, blob, length, (uintptr_t)own->base, &own->key);
    }
    own->key = (status == KEEL_OK) ? own->key : NULL;
    /* there is no such device for any rank */
    return (status == KEEL_ERR_UNSUPPORTED) ? KEEL_OK : status;
}

keel_status_t keel_lane_region_make_of(keel_lane_t *lane, unsigned region, keel_region_memory_t *memory, void **base_p)
{
    keel_own_region_t own = {.size = memory->bytes};
    keel_status_t status = keel_lane_regions_reserve(lane, region);

    if (status == KEEL_OK) {
        keel_lane_region_drop(lane, region);
        status = (memory->given != NULL) ? region_of_given(lane, memory, &own) : region_memory(lane, memory, &own);
    }
    if (status == KEEL_OK) {
        own.is_device_wanted = (uint8_t)memory->is_device_wanted;
        status = region_expose(lane, region, &own);
    }
    if (status != KEEL_OK) {
        if (own.mem != NULL) {
            lane->ops->mem_free(lane->transport, own.mem);
        }
        keel_error(lane->message, "cannot allocate %zu bytes of shared memory: %s", memory->bytes,
                   keel_status_string(status));
        return status;
    }
    pthread_mutex_lock(&lane->lock);
    lane->own[region] = own;
    lane->changes++;
    pthread_mutex_unlock(&lane->lock);
    keel_lane_region_announce(lane, region);
    *base_p = own.base;
    return KEEL_OK;
}

keel_status_t keel_lane_region_make(keel_lane_t *lane, unsigned region, size_t bytes, void *address, void **base_p)
{
    keel_region_memory_t memory = {.bytes = bytes, .address = address};

    return keel_lane_region_make_of(lane, region, &memory, base_p);
}

void keel_lane_region_drop(keel_lane_t *lane, unsigned region)
{
    keel_own_region_t own;

    if (region >= lane->regions_room) {
        return;
    }
    own = lane->own[region];
    pthread_mutex_lock(&lane->lock);
    lane->own[region] = (keel_own_region_t){0};
    lane->changes++;
    pthread_mutex_unlock(&lane->lock);
    if (own.key != NULL) {
        lane->ops->key_close(lane->transport, own.key);
    }
    if (own.mem != NULL) {
        lane->ops->mem_free(lane->transport, own.mem);
    }
}

static void region_close(keel_lane_t *lane, keel_region_t *known)
{
    if (known->is_lent && known->key != NULL && known->kept == NULL) {
        known->kept = known->key;
    } else if (known->key != NULL) {
        lane->ops->key_close(lane->transport, known->key);
    }
    known->key = NULL;
    known->ptr = NULL;
}

/* Ends lending: the program was told that the region is gone. */
static void region_close_lent(keel_lane_t *lane, keel_region_t *known)
{
    known->is_lent = 0;
    region_close(lane, known);
    if (known->kept != NULL) {
        lane->ops->key_close(lane->transport, known->kept);
        known->kept = NULL;
    }
}

/* Maps the successor's memory at the address that the program knows, if possible. */
static void region_replace_key(keel_lane_t *lane, keel_region_t *known)
{
    if (known->kept != NULL && lane->ops->key_replace != NULL &&
        lane->ops->key_replace(lane->transport, known->key, known->kept) == KEEL_OK) {
        known->kept = NULL;
    }
}

void *keel_lane_region_lend(keel_lane_t *lane, uint32_t peer, unsigned region)
{
    keel_region_t *known = &lane->peers[peer].regions[region];

    known->is_lent |= known->ptr != NULL;
    return known->ptr;
}

void keel_lane_region_retire(keel_lane_t *lane, unsigned region)
{
    size_t size = lane->own[region].size;

    keel_lane_region_drop(lane, region);
    lane->own[region].size = size;
    lane->own[region].is_retired = 1;
}

/* Memory exists until its last mapping is closed. */
void keel_lane_regions_close_retired(keel_lane_t *lane, uint32_t peer)
{
    for (unsigned region = KEEL_REGION_WINDOW0; region < lane->regions_room; region++) {
        if (lane->own[region].is_retired) {
            region_close_lent(lane, &lane->peers[peer].regions[region]);
        }
    }
}

void *keel_lane_region_base(keel_lane_t *lane, unsigned region)
{
    return lane->own[region].base;
}

static int region_is_opened(const keel_peer_t *peer, unsigned region)
{
    return (peer->lanes & (KEEL_LANE_PTR | region_lane(region))) != 0;
}

void keel_lane_region_learn(keel_lane_t *lane, const keel_control_in_t *in)
{
    const region_announcement_t *a = (const void *)in->payload;
    keel_peer_t *peer = &lane->peers[in->source];
    keel_region_t *known;
    keel_status_t status;

    if (in->length != sizeof(*a) || a->region >= KEEL_REGION_LAST || a->blob_length > sizeof(a->blob)) {
        keel_error(lane->message, "malformed region announcement from rank %u refused", in->source);
        return;
    }
    if (a->agreement != lane->agreement) {
        if (lane->failure == KEEL_OK) {
            keel_error(
                lane->message,
                "rank %u forms other groups than this one, or one of both has no KEEL_FILE_DIR: KEEL_GROUP_SIZE, "
                "KEEL_TOPO_*, the files they name, and whether KEEL_FILE_DIR is set have to be the same for all ranks",
                in->source);
        }
        keel_lane_fail(lane, KEEL_ERR_GROUPS);
        return;
    }
    status = keel_lane_regions_reserve(lane, a->region);
    if (status != KEEL_OK) {
        keel_lane_fail(lane, status);
        return;
    }
    known = &peer->regions[a->region];
    region_close(lane, known);
    lane->changes++;
    known->base = a->base;
    known->size = a->size;
    known->is_known = 1;
    known->is_served = (a->flags & REGION_SERVED) != 0;
    known->is_device_wanted = (a->flags & REGION_DEVICE_WANTED) != 0;
    known->is_by_device = 0;
    known->incarnation = in->incarnation;
    if (region_is_opened(peer, a->region) && a->blob_length > 0) {
        status = lane->ops->key_open(lane->transport, in->source, a->blob, a->blob_length, a->base, &known->key);
        if (status == KEEL_OK) {
            region_replace_key(lane, known);
            known->is_by_device =
                known->is_device_wanted && lane->ops->atomic != NULL && lane->ops->key_is_atomic(known->key);
            known->ptr = lane->ops->key_ptr(known->key);
            return;
        }
        known->key = NULL;
        if (status == KEEL_ERR_UNSUPPORTED && !(peer->lanes & KEEL_LANE_PTR)) {
            return; /* the peer's service side does all accesses */
        }
        /* else the peer has just died, and the launcher reports it */
        if (status != KEEL_ERR_UNREACHABLE) {
            keel_error(lane->message, "memory of rank %u cannot be mapped: %s", in->source, keel_status_string(status));
            keel_lane_fail(lane, status);
        }
    }
}

void keel_lane_regions_close(keel_lane_t *lane, uint32_t peer)
{
    for (unsigned region = 0; region < lane->regions_room; region++) {
        keel_region_t *known = &lane->peers[peer].regions[region];

        region_close(lane, known);
        known->is_known = 0;
        if (region < KEEL_REGION_WINDOW0) {
            known->size = 0; /* the size of a window outlives its owner */
        }
    }
}

size_t keel_lane_region_size(keel_lane_t *lane, uint32_t peer, unsigned region)
{
    return (peer == lane->rank) ? lane->own[region].size : lane->peers[peer].regions[region].size;
}

int keel_lane_region_is_known(keel_lane_t *lane, uint32_t peer, unsigned region)
{
    const keel_peer_t *p = &lane->peers[peer];
    const keel_region_t *known = &p->regions[region];

    return peer == lane->rank ||
           (known->is_known && (p->mode != KEEL_PEER_LIVE || known->incarnation == p->incarnation));
}

void keel_lane_region_forget(keel_lane_t *lane, unsigned region)
{
    if (region >= lane->regions_room) {
        return;
    }
    KEEL_EACH_RANK(r, lane) {
        region_close_lent(lane, &lane->peers[r].regions[region]);
        lane->peers[r].regions[region] = (keel_region_t){0};
    }
    lane->changes++;
}
