/*
 * The state of teams and contexts, in a window of its own, so that handles stay valid in a
 * replacement and after a rollback. The table's entries are local to a PE; a slot, with flags and
 * places of a team, is the same at all PEs of the team.
 */
#ifndef KEEL_SHMEM_TEAM_STATE_H_
#define KEEL_SHMEM_TEAM_STATE_H_

#include "teams/shmem_set.h"

enum {
    KEEL_SHMEM_TEAMS = 64, /* teams of a PE at one time; bits of a word */
    KEEL_SHMEM_CONTEXTS = 256
};

typedef struct keel_shmem_team {
    int32_t is_used, start, stride;
    uint32_t size, me, slot, serial; /* serial: count of earlier teams in this entry */
    int32_t contexts;                /* contexts requested */
    uint64_t turns[2];
} keel_shmem_team_t;

typedef struct keel_shmem_context {
    int32_t is_used, start, stride;
    uint32_t size, serial;
    uint64_t team; /* handle of the team */
    int64_t options;
} keel_shmem_context_t;

typedef struct keel_shmem_teams {
    uint64_t free_slots; /* one bit per slot */
    keel_shmem_team_t teams[KEEL_SHMEM_TEAMS];
    keel_shmem_context_t contexts[KEEL_SHMEM_CONTEXTS];
    uint64_t flags[]; /* flags of all slots, followed by their places */
} keel_shmem_teams_t;

/* Returns the team; NULL: SHMEM_TEAM_INVALID. Refuses invalid handles. */
keel_shmem_team_t *keel_shmem_team(shmem_team_t team, const char *call);
keel_shmem_teams_t *keel_shmem_teams(void);
/* The words of a slot, all 0 while the slot is free. */
uint64_t *keel_shmem_slot_flags(uint32_t slot);
size_t keel_shmem_slot_words(void);

/* Encodes an entry and its serial number as a handle; 1: the first. */
static inline uint64_t keel_shmem_handle(size_t entry, uint32_t serial)
{
    return 1 + entry + ((uint64_t)serial << 16);
}

#endif
