/*
 * Teams. The PEs of the parent decide by a reduction over free slots whether a team can be made,
 * and in which slot. A slot is free at a PE once the PE has left the call that destroyed the slot's
 * last team, so no put of that team is still on its way to the PE.
 */
#include "teams/shmem_reduce.h"
#include "teams/shmem_team_state.h"
#include "shmemx.h"

typedef struct {
    int start, stride; /* in the parent */
    uint32_t size;
    const shmem_team_config_t *config;
    long mask;
} part_t;

/*
 * Barrier of all PEs by single looks. A gsync would block Keel for other threads of this process,
 * which remote PEs may wait for.
 */
static void barrier_by_looks(const char *call)
{
    keel_shmem_set_t world;

    keel_shmem_quiet(call);
    if (keel_shmem_team_set(SHMEM_TEAM_WORLD, call, &world)) {
        keel_shmem_set_sync(&world);
    }
}

void keel_shmem_barrier_of_world(const char *call)
{
    if (keel_shmem_begin(call)) {
        return;
    }
    if (keel_shmem_is_threaded) {
        barrier_by_looks(call);
    } else {
        keel_shmem_end(keel_gsync(keel_shmem.ctx, 0), call);
    }
}

KEEL_SHMEM_DEFINE(void, barrier_all, (void))
{
    keel_shmem_barrier_of_world(KEEL_SHMEM_CALL);
}

KEEL_SHMEM_DEFINE(void, sync_all, (void))
{
    keel_shmem_barrier_of_world(KEEL_SHMEM_CALL);
}

KEEL_SHMEM_DEFINE(int, team_sync, (shmem_team_t team))
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, KEEL_SHMEM_CALL, &set)) {
        return -1;
    }
    if (team == SHMEM_TEAM_WORLD) { /* as shmem_sync_all() */
        keel_shmem_barrier_of_world(KEEL_SHMEM_CALL);
    } else if (!keel_shmem_begin(KEEL_SHMEM_CALL)) {
        keel_shmem_set_sync(&set);
    }
    return 0;
}

/* ---- members of a team ---- */

KEEL_SHMEM_DEFINE(int, team_my_pe, (shmem_team_t team))
{
    const keel_shmem_team_t *entry = keel_shmem_team(team, KEEL_SHMEM_CALL);

    return (entry != NULL) ? (int)entry->me : -1;
}

KEEL_SHMEM_DEFINE(int, team_n_pes, (shmem_team_t team))
{
    const keel_shmem_team_t *entry = keel_shmem_team(team, KEEL_SHMEM_CALL);

    return (entry != NULL) ? (int)entry->size : -1;
}

/* The number of a PE in the set; -1: not a member. */
static int number_in(int start, int stride, uint32_t size, int pe)
{
    int i;

    if (stride == 0) {
        return (pe == start) ? 0 : -1;
    }
    i = (pe - start) / stride;
    return (i >= 0 && (uint32_t)i < size && start + i * stride == pe) ? i : -1;
}

KEEL_SHMEM_DEFINE(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
{
    const keel_shmem_team_t *from = keel_shmem_team(src_team, KEEL_SHMEM_CALL);
    const keel_shmem_team_t *to = keel_shmem_team(dest_team, KEEL_SHMEM_CALL);

    if (from == NULL || to == NULL || src_pe < 0 || (uint32_t)src_pe >= from->size) {
        return -1;
    }
    return number_in(to->start, to->stride, to->size, from->start + src_pe * from->stride);
}

KEEL_SHMEM_DEFINE(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
{
    const keel_shmem_team_t *entry = keel_shmem_team(team, KEEL_SHMEM_CALL);

    if (entry == NULL) {
        return -1;
    }
    if (config_mask & SHMEM_TEAM_NUM_CONTEXTS) {
        config->num_contexts = entry->contexts;
    }
    return 0;
}

void *shmemx_team_ptr(shmem_team_t team, const void *dest, int pe)
{
    const int world = pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);

    return (world >= 0) ? pshmem_ptr(dest, world) : NULL;
}

/* ---- making and destroying ---- */

/*
 * Slots free at all PEs of the parent. A replacement before its restart point does not ask: its
 * slots will be restored, and the entry is its predecessor's.
 */
static uint64_t slots_free(keel_shmem_set_t *parent)
{
    uint64_t slots = keel_shmem_teams()->free_slots;

    if (!keel_shmem_begin(parent->call)) {
        keel_shmem_reduce_and(parent, &slots);
    }
    return slots;
}

static shmem_team_t team_make(const keel_shmem_set_t *parent, const part_t *part, uint32_t slot)
{
    keel_shmem_teams_t *teams = keel_shmem_teams();
    const int me = number_in(part->start, part->stride, part->size, (int)parent->me);
    unsigned i = 0;

    if (me < 0) {
        return SHMEM_TEAM_INVALID;
    }
    while (teams->teams[i].is_used) { /* as many entries as slots exist */
        i++;
    }
    teams->teams[i] = (keel_shmem_team_t){
        .is_used = 1,
        .start = parent->start + part->start * parent->stride,
        .stride = parent->stride * part->stride,
        .size = part->size,
        .me = (uint32_t)me,
        .slot = slot,
        .serial = teams->teams[i].serial,
        .contexts = (part->mask & SHMEM_TEAM_NUM_CONTEXTS && part->config != NULL) ? part->config->num_contexts : 0,
    };
    teams->free_slots &= ~((uint64_t)1 << slot);
    return (shmem_team_t)(uintptr_t)keel_shmem_handle(i, teams->teams[i].serial);
}

static int is_part(const keel_shmem_set_t *parent, int start, int stride, int size)
{
    const int64_t last = start + ((int64_t)size - 1) * stride;

    return size > 0 && (stride != 0 || size == 1) && start >= 0 && (uint32_t)start < parent->size && last >= 0 &&
           last < parent->size;
}

KEEL_SHMEM_DEFINE(int, team_split_strided,
                  (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                   long config_mask, shmem_team_t *new_team))
{
    const part_t part = {start, stride, (uint32_t)size, config, config_mask};
    keel_shmem_set_t parent;
    uint64_t slots;

    *new_team = SHMEM_TEAM_INVALID;
    if (!keel_shmem_team_set(parent_team, KEEL_SHMEM_CALL, &parent) || !is_part(&parent, start, stride, size)) {
        return -1;
    }
    slots = slots_free(&parent);
    if (slots == 0) {
        return -1;
    }
    *new_team = team_make(&parent, &part, (uint32_t)__builtin_ctzll(slots));
    return 0;
}

KEEL_SHMEM_DEFINE(int, team_split_2d,
                  (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                   shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                   shmem_team_t *yaxis_team))
{
    keel_shmem_set_t parent;
    uint64_t slots;
    uint32_t range, x, y;

    *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
    if (!keel_shmem_team_set(parent_team, KEEL_SHMEM_CALL, &parent) || xrange <= 0) {
        return -1;
    }
    range = ((uint32_t)xrange < parent.size) ? (uint32_t)xrange : parent.size;
    x = parent.me % range;
    y = parent.me / range;
    slots = slots_free(&parent);
    if ((slots & (slots - 1)) == 0) { /* fewer than two */
        return -1;
    }
    const uint32_t rest = parent.size - y * range;
    const part_t xpart = {(int)(y * range), 1, rest < range ? rest : range, xaxis_config, xaxis_mask};
    const part_t ypart = {(int)x, (int)range, (parent.size - x + range - 1) / range, yaxis_config, yaxis_mask};

    *xaxis_team = team_make(&parent, &xpart, (uint32_t)__builtin_ctzll(slots));
    *yaxis_team = team_make(&parent, &ypart, (uint32_t)__builtin_ctzll(slots & (slots - 1)));
    return 0;
}

static void contexts_destroy(shmem_team_t team)
{
    keel_shmem_context_t *contexts = keel_shmem_teams()->contexts;

    for (unsigned i = 0; i < KEEL_SHMEM_CONTEXTS; i++) {
        if (contexts[i].is_used && contexts[i].team == (uintptr_t)team) {
            contexts[i].is_used = 0;
            contexts[i].serial++;
        }
    }
}

KEEL_SHMEM_DEFINE(void, team_destroy, (shmem_team_t team))
{
    keel_shmem_team_t *entry = keel_shmem_team(team, KEEL_SHMEM_CALL);
    keel_shmem_set_t set;

    if (entry == NULL) {
        return;
    }
    if (team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED) {
        keel_shmem_refuse(KEEL_SHMEM_CALL, "this team is there for good", (uintptr_t)team);
    }
    keel_shmem_quiet(KEEL_SHMEM_CALL);
    if (!keel_shmem_begin(KEEL_SHMEM_CALL)) { /* afterwards all flags from other PEs have arrived */
        (void)keel_shmem_team_set(team, KEEL_SHMEM_CALL, &set);
        keel_shmem_set_sync(&set);
    }
    contexts_destroy(team);
    memset(keel_shmem_slot_flags(entry->slot), 0, keel_shmem_slot_words() * sizeof(uint64_t));
    keel_shmem_teams()->free_slots |= (uint64_t)1 << entry->slot;
    entry->is_used = 0;
    entry->serial++;
}
