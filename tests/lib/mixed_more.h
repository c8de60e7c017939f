/*
 * Additional accesses of some programs that mix (mixed.h): words are polled, at other ranks and in
 * own memory; requests are tested until they are complete; further windows are empty at some ranks,
 * and in part outside of images; accesses are issued from callbacks.
 */
#ifndef KEEL_TEST_MIXED_MORE_H_
#define KEEL_TEST_MIXED_MORE_H_

#include "mixed_draw.h"

/* An access to a rank. The callback issues a second access, and the callback of the second issues
 * the last. */
typedef struct mixed_call {
    struct mixed_more *more;
    uint32_t target;
    uint64_t value, found;
    int is_open;
    /* The first access has not returned. After a rollback by a jump it never returns; then no
     * callback is pending. */
    int is_issuing;
} mixed_call_t;

typedef struct mixed_more {
    play_host_t *host;
    const mixed_options_t *options;
    keel_win_h win; /* the window of all programs */
    keel_win_h further[MIXED_FURTHER], called;
    mixed_call_t call[MIXED_RANKS_MAX];
} mixed_more_t;

/* Allocates the windows, in every incarnation. Precondition: more->win is set. */
keel_status_t more_open(mixed_more_t *more);
/* Call before the steps begin, at first or after a rollback, and after they end: no callback is
 * pending any more. */
keel_status_t more_check(mixed_more_t *more);
/* Call at the end of a step: sets the parts of the windows that belong to images. */
keel_status_t more_say_extents(const mixed_more_t *more, uint64_t step);
/* Polls until the word at @a offset of @a rank's memory is @a said or more. */
keel_status_t more_poll(const mixed_more_t *more, uint32_t rank, uint64_t offset, uint64_t said);
/* Puts a word and gets it back. Each access is tested until complete. */
keel_status_t more_put_tested(const mixed_more_t *more, uint32_t target, uint64_t offset, uint64_t value);
/* Puts to a further window with memory at the target. */
keel_status_t more_put(const mixed_more_t *more, const mixed_act_t *act);
/* Adds @a act's value to the word at @a offset; callbacks add a second value, after a put. */
keel_status_t more_call(mixed_more_t *more, const mixed_act_t *act, uint64_t offset);
/* Copies the memory of the further windows at the end. */
void more_end(const mixed_more_t *more, mixed_further_t *end);

#endif
