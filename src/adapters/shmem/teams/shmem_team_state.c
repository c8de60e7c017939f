#include "teams/shmem_team_state.h"

static uint32_t rounds(void)
{
    return keel_shmem_set_rounds(keel_shmem.pes);
}

size_t keel_shmem_slot_words(void)
{
    const size_t line = KEEL_SHMEM_ALIGN / sizeof(uint64_t);

    return (keel_shmem_set_words(rounds(), 1) + line - 1) / line * line;
}

static size_t places_offset(void)
{
    const size_t end =
        offsetof(keel_shmem_teams_t, flags) + KEEL_SHMEM_TEAMS * keel_shmem_slot_words() * sizeof(uint64_t);

    return (end + KEEL_SHMEM_ALIGN - 1) / KEEL_SHMEM_ALIGN * KEEL_SHMEM_ALIGN;
}

static size_t slot_places(void)
{
    return (size_t)2 * (rounds() + 1) * KEEL_SHMEM_CHUNK;
}

keel_shmem_teams_t *keel_shmem_teams(void)
{
    return keel_shmem.teams;
}

uint64_t *keel_shmem_slot_flags(uint32_t slot)
{
    return keel_shmem.teams->flags + slot * keel_shmem_slot_words();
}

static void team_make(unsigned entry, int start, uint32_t size, uint32_t me)
{
    keel_shmem.teams->teams[entry] =
        (keel_shmem_team_t){.is_used = 1, .start = start, .stride = 1, .size = size, .me = me, .slot = entry};
    keel_shmem.teams->free_slots &= ~((uint64_t)1 << entry);
}

void keel_shmem_teams_alloc(const char *call)
{
    const size_t bytes = places_offset() + KEEL_SHMEM_TEAMS * slot_places();
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_NAME, .name = "teams"};

    keel_shmem_end(keel_win_alloc(keel_shmem.ctx, bytes, &params, &keel_shmem.teams_win), call);
    keel_shmem.teams = keel_win_base(keel_shmem.teams_win);
}

void keel_shmem_teams_begin(void)
{
    keel_shmem.teams->free_slots = UINT64_MAX;
    team_make(0, 0, keel_shmem.pes, keel_shmem.pe);
    team_make(1, (int)keel_shmem.pe, 1, 0);
    keel_shmem.teams->contexts[0] =
        (keel_shmem_context_t){.is_used = 1, .stride = 1, .size = keel_shmem.pes, .team = 1};
}

/*
 * Makes the team of PEs with shared memory. Members of a team are at regular distances, and all
 * must find the same team: so it consists of adjacent PEs with mapped memory.
 */
void keel_shmem_teams_share(const char *call)
{
    int first = (int)keel_shmem.pe, last = first;

    while (first > 0 && keel_shmem_pointer(keel_shmem.teams, first - 1, call) != NULL) {
        first--;
    }
    while (last + 1 < (int)keel_shmem.pes && keel_shmem_pointer(keel_shmem.teams, last + 1, call) != NULL) {
        last++;
    }
    team_make(1, first, (uint32_t)(last - first + 1), (uint32_t)((int)keel_shmem.pe - first));
}

int keel_shmem_teams_place(const void *address, size_t bytes, keel_shmem_place_t *place_p)
{
    const uintptr_t base = (uintptr_t)keel_shmem.teams;
    const size_t size = keel_win_size(keel_shmem.teams_win, keel_shmem.pe);

    if ((uintptr_t)address < base || bytes > size || (uintptr_t)address - base > size - bytes) {
        return 0;
    }
    *place_p = (keel_shmem_place_t){keel_shmem.teams_win, (uintptr_t)address - base};
    return 1;
}

/* Announces the extents for images: between collectives, places hold no data. */
keel_status_t keel_shmem_teams_extents(void)
{
    const keel_extent_t extent = {.length = places_offset()};

    return keel_win_extents(keel_shmem.teams_win, &extent, 1);
}

keel_shmem_team_t *keel_shmem_team(shmem_team_t team, const char *call)
{
    const uint64_t handle = (uintptr_t)team;
    const size_t entry = (size_t)(handle - 1) & 0xffff;

    (void)keel_shmem_begin(call);
    if (team == SHMEM_TEAM_INVALID) {
        return NULL;
    }
    if (entry >= KEEL_SHMEM_TEAMS || !keel_shmem.teams->teams[entry].is_used ||
        keel_shmem_handle(entry, keel_shmem.teams->teams[entry].serial) != handle) {
        keel_shmem_refuse(call, "not a team", handle);
    }
    return &keel_shmem.teams->teams[entry];
}

int keel_shmem_team_set(shmem_team_t team, const char *call, keel_shmem_set_t *set_p)
{
    keel_shmem_team_t *entry = keel_shmem_team(team, call);

    if (entry == NULL) {
        return 0;
    }
    *set_p = (keel_shmem_set_t){
        .call = call,
        .start = entry->start,
        .stride = entry->stride,
        .size = entry->size,
        .me = entry->me,
        .rounds = rounds(),
        .flags = keel_shmem_slot_flags(entry->slot),
        .turns = entry->turns,
        .places = (char *)keel_shmem.teams + places_offset() + entry->slot * slot_places(),
        .place_bytes = KEEL_SHMEM_CHUNK,
    };
    return 1;
}
