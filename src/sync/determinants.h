/*
 * Determinants of a phase (protocol/determinants.md): facts that the program learned and
 * that only the order of other ranks' effects decided, so a replacement must learn the same. One
 * sequence has the results of tests and waits about words of own memory, and of looks at own
 * requests; another has the values polled at other ranks.
 */
#ifndef KEEL_SYNC_DETERMINANTS_H_
#define KEEL_SYNC_DETERMINANTS_H_

#include "oplog/get_log.h"

typedef struct keel_determinants {
    uint64_t phase;       /* phase and rollback number of the other fields */
    uint32_t number;      /* of the next determinant */
    uint32_t holder;      /* rank with the records in its get log; KEEL_RANK_NONE: none chosen */
    uint32_t incarnation; /* of the holder of a polled value */
    uint64_t changes;     /* the lane's count of changes at the choice of the holder */
    uint64_t looks;       /* number of looks at requests */
    /* a determinant must be stable, or replayed, before the next effect that others can see */
    int is_unstable;
    keel_get_record_t *open;           /* of the last determinant; NULL: it cannot be repeated */
    const keel_get_record_t *replayed; /* replacement: the current record */
    uint64_t remaining;                /* replacement: how often it is still to be returned */
} keel_determinants_t;

struct keel_sync;

/* The length of a result about @a count words. */
static inline size_t keel_result_length(unsigned count)
{
    return sizeof(keel_record_local_read_t) + (count + ((size_t)count + 63) / 64) * sizeof(uint64_t);
}
/* The values of the words, followed by one bit a word: the condition was met. */
static inline uint64_t *keel_result_values(const keel_record_local_read_t *answer)
{
    return (uint64_t *)(uintptr_t)(answer + 1);
}

/* ---- one sequence ---- */

/* @a d, emptied if it is of an earlier phase or of before a rollback. */
keel_determinants_t *keel_determinants_of(struct keel_sync *sync, keel_determinants_t *d);
/* A new determinant; the record @a open lies at incarnation @a incarnation of @a holder once the
 * determinant is stable. */
void keel_determinants_open(keel_determinants_t *d, uint32_t holder, uint32_t incarnation, keel_get_record_t *open);
/*
 * Completes the record of the last determinant and gives it to a live holder. KEEL_INPROGRESS: the
 * holder is not live. *holder_p: KEEL_RANK_NONE if there is no holder.
 */
keel_status_t keel_determinants_close(struct keel_sync *sync, keel_determinants_t *d, keel_get_log_t *gets,
                                      uint32_t *holder_p);
/* All determinants before @a number are stable. */
static inline void keel_determinants_set_stable(keel_determinants_t *d, uint32_t number)
{
    d->is_unstable &= d->number != number;
}
/* Replacement: begins to replay @a record, which counts @a times times. */
void keel_determinants_replay(keel_determinants_t *d, uint32_t holder, const keel_get_record_t *record, uint64_t times);
/* Replacement: one replay of the current record. */
static inline void keel_determinants_count_replay(keel_determinants_t *d)
{
    d->is_unstable = --d->remaining > 0;
}

/* ---- results ---- */

/*
 * Replacement: the next result of the predecessor. KEEL_OK, *is_first_p: 0 if it repeats the one
 * before. KEEL_INPROGRESS: no rank has a record. KEEL_ERR_CORRUPT: the predecessor did something
 * else.
 */
keel_status_t keel_results_replay_next(struct keel_sync *sync, keel_get_log_t *gets,
                                       const keel_record_local_read_t **answer_p, int *is_first_p);

/* Counts a look of the program at a request. Returns the number of the look. */
uint64_t keel_results_count_look(struct keel_sync *sync);
/*
 * Replacement: KEEL_INPROGRESS if the predecessor found the request in progress at this look;
 * *is_first_p as above. KEEL_OK: no rank has a record. KEEL_ERR_CORRUPT: the predecessor did
 * something else.
 */
keel_status_t keel_results_replay_look(struct keel_sync *sync, keel_get_log_t *gets, uint64_t look, int *is_first_p);
/* Adds a look to the last result, if that is of the look before. Returns 0 if not. */
int keel_results_repeat_look(struct keel_sync *sync, uint64_t look);

/* The last result, NULL if none can be repeated; repeats it. */
const keel_record_local_read_t *keel_results_last(struct keel_sync *sync);
void keel_results_repeat(struct keel_sync *sync);
/*
 * Chooses a live rank for results to come, unless some are unstable. Returns 0 if there is none;
 * *holder_p: KEEL_RANK_NONE if this rank is the only one.
 */
int keel_results_find_holder(struct keel_sync *sync, uint32_t *holder_p);
/* A new result of @a length bytes; the last one must be closed. NULL: no log has room. */
keel_record_local_read_t *keel_results_open(struct keel_sync *sync, keel_get_log_t *gets, size_t length);

#endif
