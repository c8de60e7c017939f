/* What the seed of a program that mixes says: for the program and its judge. */
#ifndef KEEL_TEST_MIXED_DRAW_H_
#define KEEL_TEST_MIXED_DRAW_H_

#include "mixed.h"

typedef enum { ACT_SECTION, ACT_READING, ACT_PUT, ACT_ADD, ACT_GET, ACT_LAST } mixed_act_kind_t;

/* what a rank does once in a step */
typedef struct mixed_act {
    mixed_act_kind_t kind;
    uint32_t target;
    uint64_t value;
    int fetches;
} mixed_act_t;

typedef struct mixed_kind {
    int is_epoch; /* all ranks, from one gsync to another */
    int waits, ends_with_gsync, ends_with_checkpoint, is_safe;
} mixed_kind_t;

typedef enum { SIGNAL_SECTION, SIGNAL_ATOMIC, SIGNAL_WAIT, SIGNAL_LAST } mixed_signal_t;

/* one rank puts a word, and tells another, which puts it then: an order that only the signal gives */
typedef struct mixed_relay {
    int is_due;
    mixed_signal_t signal;
    uint32_t rank[2], at;
    int is_locked[2], is_signal_locked;
    uint64_t value[2];
} mixed_relay_t;

/* all acts of a rank, in their order */
typedef struct mixed_walk {
    const mixed_options_t *options;
    uint32_t rank;
    /* what mixed_walk_next() came to */
    mixed_act_t act;
    uint64_t step, phase; /* so many gsyncs and checkpoints of all ranks are before it */
    unsigned index;       /* in its step */
    /* its own */
    mixed_act_t acts[MIXED_EACH];
    unsigned count, next;
    uint64_t steps, before;
} mixed_walk_t;

/* what a program does besides, and whether its gets are polls where it polls */
unsigned mixed_draw_besides(uint64_t seed);
int mixed_gets_poll(uint64_t seed);
/* Leaves those ways of which the logs determine what a program does, which says so: it waits, or has critical sections and gsyncs. */
void mixed_keep(mixed_options_t *options, keel_params_t *params);
mixed_kind_t mixed_step_kind(const mixed_options_t *options, uint64_t step);
mixed_relay_t mixed_step_relay(const mixed_options_t *options, uint64_t step);
/* how many acts */
unsigned mixed_step_acts(const mixed_options_t *options, uint64_t step, uint32_t rank, mixed_act_t *acts);
/* to the next act; 0: there is none */
int mixed_walk_next(mixed_walk_t *walk);
/* the walk of @a rank, which has come to @a act of @a step */
mixed_walk_t mixed_walk_to(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act);
int mixed_is_put(const mixed_act_t *act);
/* the same rank has put to the same words in this phase: such puts are in no order */
int mixed_puts_again(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act);
/* an access on its own, where all are to have a lock */
int mixed_is_bare(const mixed_options_t *options, const mixed_act_t *act);
/* what is added is added in the other window */
int mixed_is_device(const mixed_options_t *options, const mixed_act_t *act);
/* whether what has this value is done by calls that no log has */
int mixed_is_other(const mixed_options_t *options, uint64_t value);
/* whether it is done by another call than usual, one that logs have */
int mixed_is_varied(const mixed_options_t *options, uint64_t value);
/* what is put is tested; what is added is added in part by callbacks, and what these add */
int mixed_is_tested(const mixed_options_t *options, const mixed_act_t *act);
int mixed_is_called(const mixed_options_t *options, const mixed_act_t *act);
uint64_t mixed_called_value(uint64_t value);
/* whether @a rank has memory of a further window; to which of those that the target has something is put, or MIXED_FURTHER */
int mixed_has_further(const mixed_options_t *options, unsigned window, uint32_t rank);
unsigned mixed_further_of(const mixed_options_t *options, const mixed_act_t *act);
/* where words of each source are */
uint64_t mixed_flag_at(uint32_t rank);
uint64_t mixed_slot_at(uint32_t rank);
uint64_t mixed_note_at(uint32_t rank);

#endif
