/*
 * A set of PEs that carry out a collective: a team or an active set. The set has flags in symmetric
 * memory, at the same place at each PE.
 *
 * Each flag has one writer: the PE at a fixed distance, given by the flag's kind and round. A
 * team's flags hold the turn of the last step that used them, and turns only grow; so a PE may be
 * any number of steps ahead of the PE that it puts to. The flags of an active set are 0 or 1, since
 * the work array must be left as it was: the waiting PE resets the flag. In an active set no PE
 * leaves before the readers of its data, so work arrays may be reused at once.
 *
 * In a team of few PEs, each PE puts directly to every other PE instead of relaying: more puts, but
 * a single wait, so PEs that share a core need the core once.
 *
 * Heads and places hold data other than flags. The receiver reads them after their flag, and the
 * next step may overwrite them. A team has two sets of heads and places, used alternately:
 * keel_shmem_set_begin_with_places() is for steps that end at a PE only after all PEs have begun
 * them, so a PE that begins the step after next knows that all PEs are done with the present step.
 */
#ifndef KEEL_SHMEM_SET_H_
#define KEEL_SHMEM_SET_H_

#include "shmem_state.h"

enum {
    KEEL_SHMEM_ROUNDS_MAX = 24,    /* 2^24 PEs */
    KEEL_SHMEM_HEAD = 3,           /* words */
    KEEL_SHMEM_CHUNK = 2048,       /* bytes of a place of a team */
    KEEL_SHMEM_DIRECT_PES_MAX = 8, /* PEs of a team in which each puts to each */
    /* bytes from each PE in such a team; a place has room for all */
    KEEL_SHMEM_DIRECT_BYTES_MAX = 256
};

typedef struct keel_shmem_set {
    const char *call;
    int start, stride; /* PEs of the world */
    uint32_t size, me; /* me: the caller's number in the set */
    uint32_t rounds;   /* rounds of the flags: 2^rounds >= size */
    uint64_t *flags;   /* array of keel_shmem_set_words() words */
    /* of a team: last turn, and count of steps with heads or places; NULL: an active set */
    uint64_t *turns;
    uint64_t turn;      /* turn of the current step */
    char *places;       /* two groups of rounds + 1 places, for reductions */
    size_t place_bytes; /* bytes of a place; a multiple of the element's size */
} keel_shmem_set_t;

typedef enum {
    KEEL_SHMEM_FORWARD, /* from me - 2^round, around the set */
    KEEL_SHMEM_SCAN,    /* from me - 2^round */
    KEEL_SHMEM_PAIR,    /* from me ^ 2^round */
    KEEL_SHMEM_UP,      /* from me + 2^round, in the barrier of an active set */
    /* of an active set: from me + 2^round, around the set, or, in a reduction, me ^ 2^round */
    KEEL_SHMEM_ACK,
    KEEL_SHMEM_FLAG_KINDS
} keel_shmem_flag_kind_t;

/* single flags, after the rounds of all kinds */
typedef enum {
    KEEL_SHMEM_DOWN,
    KEEL_SHMEM_FOLD_IN,
    KEEL_SHMEM_FOLD_OUT,
    KEEL_SHMEM_FOLD_ACK,
    KEEL_SHMEM_SINGLES
} keel_shmem_single_t;

static inline size_t keel_shmem_set_words(uint32_t rounds, int is_team)
{
    return KEEL_SHMEM_FLAG_KINDS * rounds + KEEL_SHMEM_SINGLES + (size_t)KEEL_SHMEM_HEAD * rounds * (is_team ? 2 : 1) +
           (is_team ? KEEL_SHMEM_DIRECT_PES_MAX : 0);
}

static inline uint64_t *keel_shmem_set_flag(const keel_shmem_set_t *set, keel_shmem_flag_kind_t kind, uint32_t round)
{
    return set->flags + kind * set->rounds + round;
}

static inline uint64_t *keel_shmem_set_single(const keel_shmem_set_t *set, keel_shmem_single_t single)
{
    return set->flags + KEEL_SHMEM_FLAG_KINDS * set->rounds + single;
}

/* The flag of PE @a i in a team of few, behind all other flags. */
static inline uint64_t *keel_shmem_set_flag_of(const keel_shmem_set_t *set, uint32_t i)
{
    return set->flags + keel_shmem_set_words(set->rounds, 1) - KEEL_SHMEM_DIRECT_PES_MAX + i;
}

static inline int keel_shmem_set_is_direct(const keel_shmem_set_t *set)
{
    return set->turns != NULL && set->size <= KEEL_SHMEM_DIRECT_PES_MAX;
}

/* Rounds of flags for @a pes PEs; at least 1. */
static inline uint32_t keel_shmem_set_rounds(uint32_t pes)
{
    uint32_t rounds = 1;

    while (((uint64_t)1 << rounds) < pes) {
        rounds++;
    }
    return rounds;
}

/* Number in the world of PE @a i of the set. */
static inline int keel_shmem_set_pe(const keel_shmem_set_t *set, uint32_t i)
{
    return set->start + (int)i * set->stride;
}

/* Refuses a result that is not entirely symmetric. */
void keel_shmem_set_check(const keel_shmem_set_t *set, const void *dest, size_t bytes);

/* Begins a step: later signals belong to the step. */
void keel_shmem_set_begin(keel_shmem_set_t *set);
/* Begins a step that uses heads or places. */
void keel_shmem_set_begin_with_places(keel_shmem_set_t *set);
uint64_t *keel_shmem_set_head(const keel_shmem_set_t *set, uint32_t round);
char *keel_shmem_set_place(const keel_shmem_set_t *set, uint32_t round);

/* Puts to a PE of the set. A PE that sees the flag also sees all data put there before. */
void keel_shmem_set_put(const keel_shmem_set_t *set, uint32_t to, void *dest, const void *source, size_t bytes);
void keel_shmem_set_signal(const keel_shmem_set_t *set, uint32_t to, uint64_t *flag);
void keel_shmem_set_await(const keel_shmem_set_t *set, uint64_t *flag);
/* in a team of few: to all others, and from all others */
void keel_shmem_set_signal_all(const keel_shmem_set_t *set);
void keel_shmem_set_await_all(const keel_shmem_set_t *set);
/* Barrier of the set. */
void keel_shmem_set_sync(keel_shmem_set_t *set);

/* shmem_team_state.c. Returns 0 if there is no such team. */
int keel_shmem_team_set(shmem_team_t team, const char *call, keel_shmem_set_t *set_p);

#endif
