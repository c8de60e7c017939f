/* The draws of a program that mixes, from the seed, for the program and its judge. */
#ifndef KEEL_TEST_MIXED_DRAW_H_
#define KEEL_TEST_MIXED_DRAW_H_

#include "mixed.h"

typedef enum { ACT_SECTION, ACT_READING, ACT_PUT, ACT_ADD, ACT_GET, ACT_LAST } mixed_act_kind_t;

/* An act of a rank, done once in a step. */
typedef struct mixed_act {
    mixed_act_kind_t kind;
    uint32_t target;
    uint64_t value;
    int fetches;
} mixed_act_t;

typedef struct mixed_kind {
    int is_epoch; /* all ranks hold a reading epoch from gsync to gsync */
    int waits, ends_with_gsync, ends_with_checkpoint, is_safe;
} mixed_kind_t;

typedef enum { SIGNAL_SECTION, SIGNAL_ATOMIC, SIGNAL_WAIT, SIGNAL_LAST } mixed_signal_t;

/* A first rank puts a word and signals a second rank, and the second rank then puts the same word.
 * Only the signal orders the two puts. */
typedef struct mixed_relay {
    int is_due;
    mixed_signal_t signal;
    uint32_t rank[2], at;
    int is_locked[2], is_signal_locked;
    uint64_t value[2];
} mixed_relay_t;

/* All acts of a rank, in order. */
typedef struct mixed_walk {
    const mixed_options_t *options;
    uint32_t rank;
    /* the current act, after mixed_walk_next() */
    mixed_act_t act;
    uint64_t step, phase; /* phase: number of gsyncs and checkpoints of all ranks before the act */
    unsigned index;       /* index of the act in the step */
    /* internal state of the walk */
    mixed_act_t acts[MIXED_EACH];
    unsigned count, next;
    uint64_t steps, before;
} mixed_walk_t;

/* The additional ways of a program, and whether its gets are polls if the program polls. */
unsigned mixed_draw_besides(uint64_t seed);
int mixed_gets_poll(uint64_t seed);
/* Keeps only ways determined by the logs, and sets the program's declarations: waits, or critical
 * sections and gsyncs. */
void mixed_keep(mixed_options_t *options, keel_params_t *params);
mixed_kind_t mixed_step_kind(const mixed_options_t *options, uint64_t step);
mixed_relay_t mixed_step_relay(const mixed_options_t *options, uint64_t step);
/* Returns the number of acts. */
unsigned mixed_step_acts(const mixed_options_t *options, uint64_t step, uint32_t rank, mixed_act_t *acts);
/* Moves on to the next act. Returns 0 after the last. */
int mixed_walk_next(mixed_walk_t *walk);
/* The walk of @a rank, positioned at @a act of @a step. */
mixed_walk_t mixed_walk_to(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act);
int mixed_is_put(const mixed_act_t *act);
/* True if the same rank has put to the same words in this phase. Such puts have no order. */
int mixed_puts_again(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act);
/* True if the access needs no lock: the program has bare accesses, and the act is no section or
 * reading. */
int mixed_is_bare(const mixed_options_t *options, const mixed_act_t *act);
/* True if the addition is made in the other window. */
int mixed_is_device(const mixed_options_t *options, const mixed_act_t *act);
/* True if the access with this value is made by calls without log records. */
int mixed_is_other(const mixed_options_t *options, uint64_t value);
/* True if the access is made by an unusual call with log records. */
int mixed_is_varied(const mixed_options_t *options, uint64_t value);
/* Puts that are tested; additions made in part by callbacks, and the values that the callbacks
 * add. */
int mixed_is_tested(const mixed_options_t *options, const mixed_act_t *act);
int mixed_is_called(const mixed_options_t *options, const mixed_act_t *act);
uint64_t mixed_called_value(uint64_t value);
/* True if @a rank has memory of a further window. mixed_further_of(): a further window with memory
 * at the target, for a put, or MIXED_FURTHER. */
int mixed_has_further(const mixed_options_t *options, unsigned window, uint32_t rank);
unsigned mixed_further_of(const mixed_options_t *options, const mixed_act_t *act);
/* Offsets of the words of each source. */
uint64_t mixed_flag_at(uint32_t rank);
uint64_t mixed_slot_at(uint32_t rank);
uint64_t mixed_note_at(uint32_t rank);

#endif
