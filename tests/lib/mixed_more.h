/*
 * What some programs that mix do besides (mixed.h): words are polled, at others and in own memory; requests are tested until they
 * are complete; there are further windows, of which some ranks have nothing, and of which images have parts; accesses are issued
 * from callbacks.
 */
#ifndef KEEL_TEST_MIXED_MORE_H_
#define KEEL_TEST_MIXED_MORE_H_

#include "mixed_draw.h"

/* an access to one rank whose callback issues another one, whose callback issues the last */
typedef struct mixed_call {
    struct mixed_more *more;
    uint32_t target;
    uint64_t value, found;
    int is_open;
    int is_issuing; /* the first access has yet to return, which it does not where a rollback jumps: no callback is due then */
} mixed_call_t;

typedef struct mixed_more {
    play_host_t *host;
    const mixed_options_t *options;
    keel_win_h win; /* the one that all programs have */
    keel_win_h further[MIXED_FURTHER], called;
    mixed_call_t call[MIXED_RANKS_MAX];
} mixed_more_t;

/* windows, in every life; more->win is there */
keel_status_t more_open(mixed_more_t *more);
/* the steps begin, at first or after a rollback, or end: no callback is due any more */
keel_status_t more_check(mixed_more_t *more);
/* a step ends: what of the windows belongs to images */
keel_status_t more_say_extents(const mixed_more_t *more, uint64_t step);
/* until the word at @a offset of @a rank's memory is @a said, or more */
keel_status_t more_poll(const mixed_more_t *more, uint32_t rank, uint64_t offset, uint64_t said);
/* a put, and what it put is got back: each until a test says that it is complete */
keel_status_t more_put_tested(const mixed_more_t *more, uint32_t target, uint64_t offset, uint64_t value);
/* to a further window that the target has memory of */
keel_status_t more_put(const mixed_more_t *more, const mixed_act_t *act);
/* adds @a act's value to a word at @a offset, and by callbacks another one, behind a put */
keel_status_t more_call(mixed_more_t *more, const mixed_act_t *act, uint64_t offset);
/* what its memory is at the end */
void more_end(const mixed_more_t *more, mixed_further_t *end);

#endif
