/*
 * What a program is told about its own memory in a phase (protocol.md, Waits inside a phase): whether some words compare as it asks,
 * which of them do, and what they hold. Nothing but the order in which others came to it decides that, so a replacement has to be told
 * the same. And that a request of its own is in progress (engine/request).
 */
#ifndef KEEL_SYNC_ANSWERS_H_
#define KEEL_SYNC_ANSWERS_H_

#include "oplog/get_log.h"

typedef struct keel_answers {
    uint64_t phase;          /* and rollback: of which all of this is */
    uint32_t number;         /* of the next one */
    uint64_t looks;          /* at requests */
    uint32_t holder;         /* whose get log has them; KEEL_RANK_NONE: none was chosen */
    uint64_t changes;        /* of the lane, when it was */
    int is_unsettled;        /* some have to be at their holder, or used, before anything else is done */
    keel_get_record_t *open; /* the last, which may be given again; NULL: it is complete */
    const keel_record_local_read_t *replayed; /* a replacement's, which is to be given so many times more */
    uint64_t left;
} keel_answers_t;

struct keel_sync;

/* bytes of an answer about so many words, and where it says what each held, and then, by bits, which were as asked */
static inline size_t keel_answer_length(unsigned count)
{
    return sizeof(keel_record_local_read_t) + (count + ((size_t)count + 63) / 64) * sizeof(uint64_t);
}
static inline uint64_t *keel_answer_seen(const keel_record_local_read_t *answer)
{
    return (uint64_t *)(uintptr_t)(answer + 1);
}

/* Replacement: what its predecessor was told the next time: KEEL_OK, *is_first_p: not the same as before; KEEL_INPROGRESS: nothing that anybody
 * knows of; KEEL_ERR_CORRUPT: it did something else then. */
keel_status_t keel_answers_next(struct keel_sync *sync, keel_get_log_t *gets, const keel_record_local_read_t **answer_p,
                                int *is_first_p);
/* and it was told more than was asked for, before it did anything else */
int keel_answers_are_left(struct keel_sync *sync);

/* the program looks at a request: the number of the look */
uint64_t keel_answers_look(struct keel_sync *sync);
/* Replacement: its predecessor was told then that the request was in progress: KEEL_INPROGRESS, *is_first_p as above; KEEL_OK: nobody knows that it was;
 * KEEL_ERR_CORRUPT: it did something else then. */
keel_status_t keel_answers_look_again(struct keel_sync *sync, keel_get_log_t *gets, uint64_t look, int *is_first_p);
/* so was this process at the look before, and nothing else since: it is, once more */
int keel_answers_repeat_look(struct keel_sync *sync, uint64_t look);

/* the last one that was given, which may be given again; NULL: there is none */
const keel_record_local_read_t *keel_answers_last(struct keel_sync *sync);
/* it is */
void keel_answers_repeat(struct keel_sync *sync);
/* some rank can hold answers now, or has some that are unsettled; KEEL_RANK_NONE with true: there is no other rank */
int keel_answers_find_holder(struct keel_sync *sync, uint32_t *holder_p);
/* another one: what was there of the last is closed. NULL: no log has room for it */
keel_record_local_read_t *keel_answers_open(struct keel_sync *sync, keel_get_log_t *gets, size_t length);

/* whether anything is to be settled before others can see what the program does next */
static inline int keel_answers_are_unsettled(const keel_answers_t *answers)
{
    return answers->is_unsettled || answers->left > 0;
}
/* the last one is not given again: it goes to its holder, KEEL_RANK_NONE: nobody, when that one is live. KEEL_INPROGRESS: it is not */
keel_status_t keel_answers_close(struct keel_sync *sync, keel_get_log_t *gets, uint32_t *holder_p);
/* all that were given before that one have been settled */
void keel_answers_settled(struct keel_sync *sync, uint32_t number);
static inline uint32_t keel_answers_number(const keel_answers_t *answers)
{
    return answers->number;
}

#endif
