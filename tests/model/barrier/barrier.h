/*
 * Model of a gsync of O(log n) messages with deaths and replacements: the design behind "A
 * hundred thousand ranks".
 *
 * An arrival word carries the smallest gsync number of the ranks behind the word, absolute and
 * tagged by an epoch, a function of the view; node leaders disseminate words to the leaders at
 * distance 2^j. Reports and decisions travel on a binomial tree. A replacement is told, in the
 * decision, the list of the ranks with records of the predecessor; only ranks on the list send
 * records. The node of each rank is part of the view: a replacement may start elsewhere.
 */
#ifndef KEEL_TEST_MODEL_BARRIER_H_
#define KEEL_TEST_MODEL_BARRIER_H_

#include "sim/random.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS_MAX  12
#define ROUNDS_MAX 4 /* of dissemination */
#define PHASES     6 /* of each program */
#define CELLS      4 /* memory of a rank, in words */
#define LIVES_MAX  16
/* records of a pair of ranks: a cell is put, or got, at most twice a phase */
#define RECORDS_MAX (PHASES * CELLS * 2)
#define STEPS_MAX   400000

/* _(rule, text): the rules of the protocol; the omission of each must be refuted (--without) */
#define BARRIER_RULES(_)                                                                     \
    _(epoch, "a word counts in its own epoch alone")                                         \
    _(epoch_of_view, "the epoch is a function of the view, not counted by the coordinator")  \
    _(placement_of_view, "leaders and partners are a function of the view")                  \
    _(no_hole, "a rank arrives when all that it logged in the phase is in place")            \
    _(join, "a first access to a re-executing rank is announced to that rank")               \
    _(two_slots, "the flags of two successive gsyncs are kept apart")                        \
    _(retell, "words are announced again in each epoch")                                     \
    _(rearrive, "an arrival is judged again in each epoch")                                  \
    _(pairs, "ranks that re-execute together wait for each other")                           \
    _(frozen_stay, "no rank leaves a gsync between the news of a death and the decision")    \
    _(reports_by_view, "only reports of one view are combined")                              \
    _(decision_by_view, "a decision is taken up only in the view that it is of")             \
    _(captured, "the parity that an arrival announces is that of the moment of the arrival") \
    _(front_state, "a rank at the front announces that state, not the number of the front")  \
    _(fresh_forget, "a fresh process drops the records of a peer that has died since")       \
    _(hand_once, "puts that were done live are not handed over again")                       \
    _(dead_behind, "a dead rank is behind, also for a re-executing rank")                    \
    _(keep_positions, "a decision does not clear positions that were announced before")      \
    _(keep_words, "a decision does not clear words that were announced before")              \
    _(accepted_front, "a report contains the front that the rank accepted")                  \
    _(list, "a replacement waits for the ranks that touched its predecessor")                \
    _(smallest, "a word carries the smallest number of the ranks behind it")

enum {
#define BARRIER_RULE(name, text) RULE_##name,
    BARRIER_RULES(BARRIER_RULE)
#undef BARRIER_RULE
        RULES
};

typedef enum { ACCESS_STORE, ACCESS_LOAD, ACCESS_PUT, ACCESS_GET } access_kind_t;

typedef struct access {
    access_kind_t kind;
    int target, cell;
} access_t;

#define ACCESSES_MAX (RANKS_MAX * CELLS * 2)

/* accesses of a rank in a phase, and the digest after each access in a run without failures */
typedef struct phase_plan {
    int accesses;
    access_t access[ACCESSES_MAX];
    uint32_t digest[ACCESSES_MAX];
    uint32_t first_digest;
} phase_plan_t;

typedef struct plan {
    int ranks;
    phase_plan_t phase[PHASES + 1][RANKS_MAX];
    int is_checkpoint[PHASES + 1];     /* gsync n takes a generation */
    uint32_t memory[RANKS_MAX][CELLS]; /* at the end */
} plan_t;

typedef struct put_record {
    int phase, cell, incarnation; /* of the target with the put in place; -1: none */
    uint32_t value;
} put_record_t;

typedef struct get_record {
    int phase, idx;
    uint32_t value;
} get_record_t;

typedef struct put_log {
    int count;
    put_record_t record[RECORDS_MAX];
} put_log_t;

typedef struct get_log {
    int count;
    get_record_t record[RECORDS_MAX];
} get_log_t;

typedef struct word {
    uint64_t epoch;
    int number;        /* all ranks behind the word have arrived at the gsync */
    int copied;        /* ... have copied the image of the generation: second barrier */
    int rollback;      /* ... stage of a rollback: 4 * number + 1 (drained) or + 2 (restored) */
    uint32_t flags[2]; /* by parity of the gsync number: combined by or */
    int parity[2];     /* combined by min: newest generation with complete parity */
} word_t;

/* senders and receivers of words in a view */
typedef struct topology {
    int leader[RANKS_MAX]; /* of the node of each rank */
    int leaders, rounds;
    int by_place[RANKS_MAX]; /* leaders, in order */
    int place[RANKS_MAX];    /* of a leader in by_place */
} topology_t;

typedef enum { FRONT, REEXECUTING, FRESH } state_t;
typedef enum { LIVE, BEHIND, AHEAD } standing_t;

/* a rank's report of its own state */
typedef struct entry {
    int is_there, position, front, rollbacks, generation, is_rolling;
    state_t state;
    uint64_t epoch;
    uint32_t touched; /* ranks with records at the reporter */
} entry_t;

typedef struct report {
    uint64_t view;
    entry_t entry[RANKS_MAX];
} report_t;

typedef struct decision {
    uint64_t view, epoch;
    int incarnation[RANKS_MAX], position[RANKS_MAX];
    int is_rollback, front, generation, rollbacks;
    state_t state[RANKS_MAX];
    uint32_t list[RANKS_MAX];
} decision_t;

typedef enum {
    MESSAGE_PUT,
    MESSAGE_GET,
    MESSAGE_VALUE,
    MESSAGE_WORD,
    MESSAGE_REPORT,
    MESSAGE_DECISION,
    MESSAGE_POSITION,
    MESSAGE_HANDED,
    MESSAGE_JOIN,
    MESSAGE_RECORDS
} message_type_t;

/* slot of a word at the receiver */
typedef enum { SLOT_ROUND, SLOT_MEMBER, SLOT_RESULT } slot_kind_t;

typedef struct message {
    struct message *next;
    message_type_t type;
    int incarnation; /* of the receiver */
    int rollbacks;
    int phase, idx, cell, is_front;
    uint32_t value;
    word_t word;
    slot_kind_t slot;
    const report_t *report;
    const decision_t *decision;
    const get_log_t *logged, *own; /* gets by the receiver, and gets of the receiver's memory */
} message_t;

typedef struct queue {
    message_t *first, *last;
} queue_t;

/* state of a process about a peer */
typedef struct peer {
    int incarnation, is_up;
    standing_t standing;
    int told;       /* announced position, -1: none */
    int told_front; /* the peer announced to be at the front */
    int handed_to;  /* we handed over the phases below */
    int handed;     /* the peer handed over the phases below */
    int joined, gave_records;
    put_log_t puts;   /* by us to the peer */
    get_log_t served; /* gets by the peer of our memory */
    get_log_t gets;   /* gets by us of the peer's memory */
    word_t member, told_member;
    queue_t queue;
    const report_t *report;
} peer_t;

typedef struct process {
    int rank, incarnation, node, is_alive, is_done;
    int news; /* number of events seen */
    uint32_t memory[CELLS], digest;
    int phase, next, gets; /* place in the program */
    int in_gsync, has_arrived, awaits_value, in_second;
    state_t state;
    int is_frozen, has_reported, has_sent_report, has_decision;
    int front, rollbacks, generation, making, has_parity;
    int is_rolling, roll_stage, roll_number, roll_generation;
    uint64_t epoch;
    topology_t topology;
    word_t own, result, told_result, told_leader;
    word_t slot[ROUNDS_MAX], told_round[ROUNDS_MAX];
    uint32_t list, late, returning; /* bits: on the list, joined since, lost or re-executing */
    peer_t peer[RANKS_MAX];
} process_t;

typedef struct image {
    int is_there, has_parity;
    uint32_t memory[CELLS], digest;
} image_t;

typedef struct event {
    int is_join, rank, incarnation;
} event_t;

#define EVENTS_MAX (2 * RANKS_MAX * LIVES_MAX)

/* a decision taken up by some rank */
typedef struct agreed {
    uint64_t view;
    int front, is_rollback;
} agreed_t;

typedef struct left {
    uint64_t epoch;
    int number, parity;
    uint32_t flags;
} left_t;

typedef struct barrier_options {
    uint64_t base;
    long runs;
    int ranks;  /* 0: drawn */
    int deaths; /* -1: drawn */
    int hunt;   /* deaths aim at 1: the coordinator, 2: the same, cut off, 3: givers of records */
    int nodes;  /* words go by node leaders */
    int is_shown;
    int without; /* the omitted rule, -1: none */
} barrier_options_t;

typedef struct counts {
    long runs, deaths, decisions, rollbacks, recovered, released, joins, holes, generations, steps, moved, flawed;
} counts_t;

typedef struct world {
    const barrier_options_t *options;
    plan_t plan;
    keel_random_t random;
    int ranks, nodes;
    process_t *process[RANKS_MAX][LIVES_MAX];
    process_t *current[RANKS_MAX];
    event_t event[EVENTS_MAX];
    int events;
    int lost[RANKS_MAX], losts; /* ranks to be replaced */
    long kill_at[16], step, weather_until;
    int kills, next_kill, rollback_chance;
    int run_weight, message_weight, news_weight;
    int speed[RANKS_MAX];
    int aims, aimed_rank, is_missed;
    long aimed_step;
    process_t *hunted;
    image_t image[PHASES + 1][RANKS_MAX];
    agreed_t *agreed;
    left_t *left;
    int agreeds, lefts;
    void *allocated; /* chain of blocks, freed with the world */
    counts_t counts;
    jmp_buf on_flaw;
    char flaw[400];
} world_t;

/* barrier_plan.c */
void plan_draw(plan_t *plan, keel_random_t *random, int ranks);
uint32_t digest_mix(uint32_t a, uint32_t b);

/* barrier_world.c */
world_t *world_create(const barrier_options_t *options, uint64_t seed);
void world_destroy(world_t *world);
void world_run(world_t *world);
void *world_alloc(world_t *world, size_t size);
int is_kept(const world_t *world, int rule);
void trace(const world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flaw(world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void world_aim(world_t *world, int rank, uint32_t steps);
process_t *process_create(world_t *world, int rank, int incarnation, int node);
process_t *process_reached(world_t *world, const process_t *from, int rank);

/* barrier_messages.c */
message_t *message_send(world_t *world, process_t *from, int to, message_type_t type);
int message_is_deliverable(world_t *world, const process_t *from, int to);
void message_deliver(world_t *world, process_t *from, int to);
void queue_drop(queue_t *queue);
void queue_cut(queue_t *queue, keel_random_t *random);

/* barrier_words.c */
void topology_build(world_t *world, process_t *process);
void word_take(world_t *world, process_t *process, slot_kind_t kind, int idx, const word_t *word);
word_t word_combined(world_t *world, process_t *process);
void words_announce(world_t *world, process_t *process);

/* barrier_view.c */
int view_is_complete(const world_t *world, const process_t *process);
int process_position(const process_t *process);
void view_learn(world_t *world, process_t *process);
void view_report(world_t *world, process_t *process);
void view_combine(world_t *world, process_t *process);
void view_adopt(world_t *world, process_t *process, const decision_t *decision);

/* barrier_replay.c */
void position_announce(world_t *world, process_t *process, int to);
void position_announce_to_list(world_t *world, process_t *process);
void put_issue(world_t *world, process_t *process, int to, put_record_t *record);
void peer_judge(world_t *world, process_t *process, int to);
void join_announce(world_t *world, process_t *process, int to);
int process_has_hole(world_t *world, process_t *process);
int pairs_are_over(world_t *world, const process_t *process, int number);
int get_log_add(get_log_t *log, get_record_t record);

/* barrier_process.c */
void process_step(world_t *world, process_t *process);
void process_load(world_t *world, process_t *process, int generation);
void process_commit(world_t *world, process_t *process, int generation);
void process_encode(world_t *world, process_t *process);

#endif
