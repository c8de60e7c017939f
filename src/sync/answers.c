/*
 * Answers.
 *
 * An answer is a determinant: the program may do anything by it, and only the process that was answered knows it. So it is a record
 * in the get log of another rank before anything else that this process does can be seen: an access of others' memory or, by a call,
 * of its own, or an arrival (epoch/wait). A replacement that finds no record of an answer is beyond its predecessor's death, for nobody
 * has gone on by what came after it: then it takes the rest of what others put, and is answered anew. Which rank holds a record
 * does not matter, as long as there is one: answers are numbered, and a replacement looks at what all have sent it. With that rank and
 * this one lost together several are lost, which is a rollback.
 *
 * With an answer goes the clock of all that was done here until then, and this process goes beyond it, as when it waits: what it was
 * shown may be the last of much that others did before. The replacement replays all up to the clock that this process goes on with
 * first (sync/waits): the words are as they were then or newer, and what happens after something that the predecessor did later has a
 * higher clock. An answer is given when all that was begun here of others' puts is done, so that what is open has been seen by nobody.
 *
 * A program that polls is given the same answer many times: one record, with how often. It may be about other words each time, and
 * these may have been put anew: but only as long as nobody did anything here under a higher clock than that one, for then all that there is
 * to be seen has been replayed with the first of them.
 *
 * Records stay with one holder until they are settled, which settles that one; and one is complete when those before it are, or
 * a replacement of the holder would not be given it again.
 */
#include "sync/answers.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_log_replay.h"
#include "peer/access.h"
#include "sync/sync.h"

/* phases have numbers of their own, and a rollback leaves nothing to be settled */
static keel_answers_t *answers_of(keel_sync_t *sync)
{
    keel_answers_t *answers = &sync->answers;
    const uint64_t phase = (uint64_t)sync->lane->rollback << 32 | sync->phase;

    if (answers->phase != phase &&
        !(KEEL_PLANT(answers_kept_over_rollback) && (uint32_t)answers->phase == sync->phase)) {
        *answers = (keel_answers_t){.phase = phase, .holder = KEEL_RANK_NONE};
    }
    return answers;
}

static uint64_t answer_where(const keel_answers_t *answers)
{
    return keel_where(answers->number, KEEL_RECORD_LOCAL_READ, 0);
}

/* ---- a replacement ---- */

keel_status_t keel_answers_next(keel_sync_t *sync, keel_get_log_t *gets, const keel_record_local_read_t **answer_p,
                                int *is_first_p)
{
    keel_answers_t *answers = answers_of(sync);
    const keel_get_record_t *record = NULL;
    const keel_record_local_read_t *answer;
    keel_status_t status;

    *is_first_p = answers->left == 0;
    if (answers->left == 0) {
        status = keel_get_log_take_determinant(gets, answer_where(answers), &record);
        if (status != KEEL_OK) {
            return status;
        }
        answer = (const void *)(record + 1);
        if (record->length < sizeof(*answer) || record->length != keel_answer_length(answer->words) ||
            answer->times == 0) {
            return KEEL_ERR_CORRUPT;
        }
        KEEL_REACHED(answer_recorded);
        answers->number++;
        answers->replayed = answer;
        answers->left = answer->times;
    }
    answers->left--;
    *answer_p = answers->replayed;
    return KEEL_OK;
}

int keel_answers_are_left(keel_sync_t *sync)
{
    return answers_of(sync)->left > 0;
}

/* what it says of that look; none of a program that looked less often before */
static int answer_has_look(const keel_record_local_read_t *answer, uint64_t look)
{
    return answer->words == 0 && look >= answer->clock && look - answer->clock < answer->times;
}

keel_status_t keel_answers_look_again(keel_sync_t *sync, keel_get_log_t *gets, uint64_t look, int *is_first_p)
{
    const keel_answers_t *answers = answers_of(sync);
    const keel_record_local_read_t *answer = answers->replayed;
    const keel_get_record_t *record;
    keel_status_t status;

    if (answers->left == 0) {
        record = keel_get_log_find_determinant(gets, answer_where(answers));
        if (record == NULL || record->length != sizeof(*answer) || !answer_has_look((const void *)(record + 1), look)) {
            return KEEL_OK;
        }
    } else if (!answer_has_look(answer, look)) {
        return KEEL_ERR_CORRUPT;
    }
    status = keel_answers_next(sync, gets, &answer, is_first_p);
    return (status == KEEL_OK) ? KEEL_INPROGRESS : KEEL_ERR_CORRUPT;
}

/* ---- who is answered ---- */

uint64_t keel_answers_look(keel_sync_t *sync)
{
    return answers_of(sync)->looks++;
}

int keel_answers_repeat_look(keel_sync_t *sync, uint64_t look)
{
    const keel_record_local_read_t *last = keel_answers_last(sync);

    if (last == NULL || last->words != 0 || last->clock + last->times != look) {
        return 0;
    }
    keel_answers_repeat(sync);
    return 1;
}

const keel_record_local_read_t *keel_answers_last(keel_sync_t *sync)
{
    const keel_answers_t *answers = answers_of(sync);

    return (answers->open != NULL) ? (const void *)(answers->open + 1) : NULL;
}

void keel_answers_repeat(keel_sync_t *sync)
{
    ((keel_record_local_read_t *)(void *)(sync->answers.open + 1))->times++;
}

/* another rank that can hold records now; one whose memory is mapped, if there is any, for that takes no message */
static uint32_t answers_holder(const keel_lane_t *lane)
{
    uint32_t served = KEEL_RANK_NONE;

    for (uint32_t i = 1; i < lane->programs; i++) {
        const uint32_t r = (lane->rank + i) % lane->programs;

        if (lane->peers[r].mode != KEEL_PEER_LIVE) {
            continue;
        }
        if (keel_access_is_stored(lane, r)) {
            return r;
        }
        served = (served == KEEL_RANK_NONE) ? r : served;
    }
    return served;
}

int keel_answers_find_holder(keel_sync_t *sync, uint32_t *holder_p)
{
    keel_answers_t *answers = answers_of(sync);
    const keel_lane_t *lane = sync->lane;

    if (lane->programs > 1 && (!answers->is_unsettled || KEEL_PLANT(answer_moves)) &&
        (answers->holder == KEEL_RANK_NONE || answers->changes != lane->changes ||
         lane->peers[answers->holder].mode != KEEL_PEER_LIVE)) {
        answers->changes = lane->changes;
        answers->holder = answers_holder(lane);
    }
    *holder_p = answers->holder;
    return lane->programs == 1 || answers->holder != KEEL_RANK_NONE;
}

keel_record_local_read_t *keel_answers_open(keel_sync_t *sync, keel_get_log_t *gets, size_t length)
{
    keel_answers_t *answers = answers_of(sync);
    keel_get_record_t *record;
    uint32_t index;

    keel_get_log_end_replay(gets, answers->holder);
    record = keel_get_log_reserve(gets, answers->holder, answer_where(answers), (uint32_t)length, &index);
    answers->open = record;
    answers->number++;
    answers->is_unsettled = 1;
    return (record != NULL) ? (void *)(record + 1) : NULL;
}

keel_status_t keel_answers_close(keel_sync_t *sync, keel_get_log_t *gets, uint32_t *holder_p)
{
    keel_answers_t *answers = answers_of(sync);
    keel_get_record_t *record = answers->open;

    *holder_p = answers->holder;
    if (record == NULL) {
        return KEEL_OK;
    }
    if (sync->lane->peers[answers->holder].mode != KEEL_PEER_LIVE) {
        return KEEL_INPROGRESS; /* what is complete here goes to a replacement with the rest, and only once */
    }
    answers->open = NULL;
    record->reserved = KEEL_GET_COMPLETE;
    return keel_get_log_send_record(gets, answers->holder, record);
}

void keel_answers_settled(keel_sync_t *sync, uint32_t number)
{
    keel_answers_t *answers = answers_of(sync);

    answers->is_unsettled &= answers->number != number;
}
