/*
 * What is kept of teams and contexts, in a window of its own, so that handles are what they were in a replacement and after a rollback. An
 * entry of a table is the caller's affair; a slot, flags and places of a team, is the same one at all its PEs.
 */
#ifndef KEEL_SHMEM_TEAM_STATE_H_
#define KEEL_SHMEM_TEAM_STATE_H_

#include "shmem_set.h"

enum {
    KEEL_SHMEM_TEAMS = 64, /* of a PE at one time; bits of a word */
    KEEL_SHMEM_CONTEXTS = 256
};

typedef struct keel_shmem_team {
    int32_t is_used, start, stride;
    uint32_t size, me, slot, serial; /* serial: how many teams had this entry before */
    int32_t contexts;                /* asked for */
    uint64_t turns[2];
} keel_shmem_team_t;

typedef struct keel_shmem_context {
    int32_t is_used, start, stride;
    uint32_t size, serial;
    uint64_t team; /* the handle */
    int64_t options;
} keel_shmem_context_t;

typedef struct keel_shmem_teams {
    uint64_t free_slots; /* a bit each */
    keel_shmem_team_t teams[KEEL_SHMEM_TEAMS];
    keel_shmem_context_t contexts[KEEL_SHMEM_CONTEXTS];
    uint64_t flags[]; /* of all slots; after them their places */
} keel_shmem_teams_t;

/* NULL: SHMEM_TEAM_INVALID; refuses what is no team */
keel_shmem_team_t *keel_shmem_team(shmem_team_t team, const char *call);
keel_shmem_teams_t *keel_shmem_teams(void);
/* the words of a slot, which are 0 while it is free */
uint64_t *keel_shmem_slot_flags(uint32_t slot);
size_t keel_shmem_slot_words(void);

/* a number that says which entry, and which of those that it had; 1: the first */
static inline uint64_t keel_shmem_handle(size_t entry, uint32_t serial)
{
    return 1 + entry + ((uint64_t)serial << 16);
}

#endif
