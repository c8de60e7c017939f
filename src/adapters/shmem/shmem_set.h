/*
 * A set of PEs that carry out a collective: a team's, or an active set. It has flags in symmetric memory, the same place at each of its PEs.
 *
 * Each flag has one writer: the PE at a fixed distance, which the flag's kind and round say. A team's flags hold the turn of the last
 * step that used them, and turns only grow; so a PE may be any number of steps ahead of the one that it puts to. The flags of an
 * active set are 0 or 1, for its work array has to be as it was afterwards: who waits takes the 1 back. There nobody leaves before the
 * readers of what it put, so that work arrays may be used again at once.
 *
 * In a team of few PEs each puts to each of the others what it would tell them by way of others else: more puts, but one wait after the
 * other's, so that PEs that share a core need it once.
 *
 * Heads and places, where other than flags is put, are read after their flag and may be written by the next step. Of a team there are two sets
 * of them, which alternate: keel_shmem_set_begin_whole() is for steps that end at a PE only when all PEs have begun them, so that
 * who begins the next but one knows that everybody is done with this one.
 */
#ifndef KEEL_SHMEM_SET_H_
#define KEEL_SHMEM_SET_H_

#include "shmem_state.h"

enum {
    KEEL_SHMEM_ROUNDS_MOST = 24, /* 2^24 PEs */
    KEEL_SHMEM_HEAD = 3,         /* words */
    KEEL_SHMEM_CHUNK = 2048,     /* bytes of a team's place */
    KEEL_SHMEM_FEW = 8,          /* PEs of a team, who put to each other */
    KEEL_SHMEM_LITTLE = 256      /* bytes of each of these; a place has room for all */
};

typedef struct keel_shmem_set {
    const char *call;
    int start, stride;  /* PEs of the world */
    uint32_t size, me;  /* me: the caller's number in the set */
    uint32_t rounds;    /* that the flags are for: 2^rounds >= size */
    uint64_t *flags;    /* keel_shmem_set_words() of them */
    uint64_t *turns;    /* a team's: its last turn, and how many steps used heads or places; NULL: an active set */
    uint64_t turn;      /* of this step */
    char *places;       /* rounds + 1, twice; of a reduction */
    size_t place_bytes; /* of each; a multiple of the element's size */
} keel_shmem_set_t;

typedef enum {
    KEEL_SHMEM_FORWARD, /* from me - 2^round, around the set */
    KEEL_SHMEM_SCAN,    /* from me - 2^round */
    KEEL_SHMEM_PAIR,    /* from me ^ 2^round */
    KEEL_SHMEM_UP,      /* from me + 2^round, when an active set meets */
    KEEL_SHMEM_ACK,     /* of an active set: from me + 2^round, around the set, or, of a reduction, me ^ 2^round */
    KEEL_SHMEM_KINDS
} keel_shmem_kind_t;

/* after the rounds of all kinds */
typedef enum {
    KEEL_SHMEM_DOWN,
    KEEL_SHMEM_FOLD_IN,
    KEEL_SHMEM_FOLD_OUT,
    KEEL_SHMEM_FOLD_ACK,
    KEEL_SHMEM_SINGLES
} keel_shmem_single_t;

static inline size_t keel_shmem_set_words(uint32_t rounds, int is_team)
{
    return KEEL_SHMEM_KINDS * rounds + KEEL_SHMEM_SINGLES + (size_t)KEEL_SHMEM_HEAD * rounds * (is_team ? 2 : 1) +
           (is_team ? KEEL_SHMEM_FEW : 0);
}

static inline uint64_t *keel_shmem_set_flag(const keel_shmem_set_t *set, keel_shmem_kind_t kind, uint32_t round)
{
    return set->flags + kind * set->rounds + round;
}

static inline uint64_t *keel_shmem_set_single(const keel_shmem_set_t *set, keel_shmem_single_t single)
{
    return set->flags + KEEL_SHMEM_KINDS * set->rounds + single;
}

/* a team's, behind all others: from PE @a i of it, when they are few */
static inline uint64_t *keel_shmem_set_flag_of(const keel_shmem_set_t *set, uint32_t i)
{
    return set->flags + keel_shmem_set_words(set->rounds, 1) - KEEL_SHMEM_FEW + i;
}

static inline int keel_shmem_set_is_few(const keel_shmem_set_t *set)
{
    return set->turns != NULL && set->size <= KEEL_SHMEM_FEW;
}

/* of flags for so many PEs; 1 at least */
static inline uint32_t keel_shmem_set_rounds(uint32_t pes)
{
    uint32_t rounds = 1;

    while (((uint64_t)1 << rounds) < pes) {
        rounds++;
    }
    return rounds;
}

/* the world's number */
static inline int keel_shmem_set_pe(const keel_shmem_set_t *set, uint32_t i)
{
    return set->start + (int)i * set->stride;
}

/* refuses a result that is not symmetric as a whole */
void keel_shmem_set_check(const keel_shmem_set_t *set, const void *dest, size_t bytes);

/* a step: what is signalled from here on is of it */
void keel_shmem_set_begin(keel_shmem_set_t *set);
/* the same for one that uses heads or places */
void keel_shmem_set_begin_whole(keel_shmem_set_t *set);
uint64_t *keel_shmem_set_head(const keel_shmem_set_t *set, uint32_t round);
char *keel_shmem_set_place(const keel_shmem_set_t *set, uint32_t round);

/* puts to a PE of the set; at the flag's sight what was put there before is there */
void keel_shmem_set_put(const keel_shmem_set_t *set, uint32_t to, void *dest, const void *source, size_t bytes);
void keel_shmem_set_signal(const keel_shmem_set_t *set, uint32_t to, uint64_t *flag);
void keel_shmem_set_await(const keel_shmem_set_t *set, uint64_t *flag);
/* of few: to all others, and from all others */
void keel_shmem_set_signal_all(const keel_shmem_set_t *set);
void keel_shmem_set_await_all(const keel_shmem_set_t *set);
/* returns when all PEs of the set are in it */
void keel_shmem_set_sync(keel_shmem_set_t *set);

/* shmem_team_state.c: 0: there is no team */
int keel_shmem_team_set(shmem_team_t team, const char *call, keel_shmem_set_t *set_p);

#endif
