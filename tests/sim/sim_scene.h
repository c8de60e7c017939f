/* One case while it is drawn and played: what sim_draw.c draws and sim_case.c plays and judges. */
#ifndef KEEL_SIM_SCENE_H_
#define KEEL_SIM_SCENE_H_

#include "sim_case.h"
#include "sim_hunt.h"
#include "sim_invariants.h"

#include "locks.h"
#include "mailbox.h"
#include "mixed.h"
#include "races.h"
#include "engine/context.h"

#define CASE_ENV_MAX  20
#define CASE_ENV_TEXT 64

typedef enum {
    AIM_ANY,
    AIM_WAITING,   /* it has arrived at a gsync and waits for others there */
    AIM_STRAGGLER, /* it has not taken the newest generation into use, others have */
    AIM_AHEAD,     /* it has left a gsync that nobody else has left, and put something */
    AIM_ARRIVING,  /* its arrival at a gsync has come to some and not to others */
    AIM_OPEN,      /* a put of it on the direct lane is under way (check/plant.h) */
    AIM_STORES     /* it is between two stores whose order matters (the same) */
} aim_t;

typedef struct death {
    uint32_t victim; /* drawn again when it cannot be had */
    int is_chained;  /* counted from the death before, else from the phase */
    aim_t aim;
    unsigned patience;    /* so many tries to have the victim that it is aimed at; then any will do */
    uint32_t rank, phase; /* whose entering which phase starts the count */
    uint64_t delay;       /* steps */
    uint32_t with;        /* so many more of its group die at the same step, if they may */
    int has_node;         /* and all of its node */
    uint64_t hang_ns;     /* it hangs for so long, and is killed when that is noticed; 0: it dies at once */
} death_t;

typedef struct member {
    play_host_t host;
    keel_status_t status;
    int has_met;      /* keel_init() returned in the first life */
    int is_finishing; /* inside finalize */
    int was_there;    /* one of its lives was */
    int has_returned;
    int is_storing;      /* it is between two stores whose order matters */
    uint64_t hung_ns;    /* since when it hangs; 0: it never did */
    uint64_t lost_ns;    /* when it was lost last; of one that hangs, when that ends by itself */
    unsigned hung_after; /* so many deaths and hangs of others */
    keel_stats_t stats;
} member_t;

/* settings of one rank */
typedef struct scene_own {
    keel_params_t params;
    const char *env[CASE_ENV_MAX];
    char text[5][CASE_ENV_TEXT];
    unsigned count;
    uint64_t log_budget;
    size_t getlog_budget;
} scene_own_t;

typedef struct scene {
    keel_random_t random;
    keel_random_t sizes; /* now and then the job or a group is large */
    int may_be_large;
    plan_options_t plan_options;
    plan_t *plan; /* CASE_GSYNC */
    oracle_t *oracle;
    locks_journal_t *locks; /* CASE_LOCKS */
    races_journal_t *races; /* CASE_RACES */
    mixed_journal_t *mixed; /* CASE_MIXED */
    int has_extents;        /* of windows, in images */
    int has_looks;          /* replacements ask what their memory will be */
    int has_strides;        /* puts and gets of blocks */
    int has_given;          /* windows over memory of the program's own */
    waits_options_t waits;  /* CASE_WAITS */
    uint64_t shares;        /* play_host_t */
    int has_atomics;
    int is_wide, is_varied, is_harsh; /* case_limits_t */
    keel_random_t hardening;
    keel_random_t varying;
    scene_own_t own[CASE_PROCESSES_MAX];
    keel_sim_t *sim;
    keel_params_t params;
    struct keel_drivers drivers;
    const char *env[CASE_ENV_MAX];
    char env_text[CASE_ENV_MAX][CASE_ENV_TEXT];
    unsigned env_count;
    uint32_t node[CASE_PROCESSES_MAX];
    keel_sim_direct_t direct;
    int is_served;      /* all lanes */
    uint32_t ranks;     /* that run the program, */
    uint32_t processes; /* and with those that hold parity */
    uint64_t log_budget;
    size_t getlog_budget, ckpt_budget; /* the latter 0: none */
    uint32_t soft;                     /* KEEL_OPLOG_SOFT */
    int is_split;                      /* instead of deaths the network falls apart, and there is no arbiter */
    uint64_t heartbeat_ns;             /* KEEL_HEARTBEAT_TIMEOUT; 0: off */
    int moves; /* replacements come up on other nodes now and then: what was direct is served, and the other way round */
    keel_random_t moving;
    int is_dense;
    int is_tight;        /* logs that hold almost nothing */
    uint32_t lone_tight; /* 1 + the only rank whose put log does; 0: all ranks are alike */
    int may_roll_back;   /* something in the case can refuse local recovery */
    int only_fetches;    /* and that is what atomics of one class fetch, where one rank alone dies */
    int may_overlap;     /* more deaths in a group before it is armed again than parity covers */
    uint32_t parities;
    int is_dedicated;
    uint64_t sample_step; /* when parity is looked at next */
    keel_random_t sampling;
    uint64_t check_step; /* when the invariants are, */
    int is_each_step;    /* or always */
    keel_random_t checking;
    invariants_t invariants;
    int has_overlapped;
    death_t death[CASE_DEATHS_MAX];
    unsigned death_count, death_next;
    hunt_t hunt;
    int has_restart_point;
    uint32_t asker, asks_phase, asks_left; /* who asks for a rollback, when, how often in all */
    uint64_t strike_step;                  /* when the next one is due; 0: its moment has not come */
    keel_groups_t groups;
    member_t member[CASE_PROCESSES_MAX];
    case_result_t *result;
} scene_t;

/* everything about the case, from its seed; a negative limit leaves it to the seed */
void scene_draw(scene_t *scene, uint64_t seed, const case_limits_t *limits);
/* of one that was drawn: after so many it counts as hung; 0: the simulator's own */
uint64_t scene_step_limit(const scene_t *scene);
/* --varied (sim_varied.c): a program of gsyncs, before its plan; each rank's settings, when all is drawn */
void scene_vary_plan(scene_t *scene, const case_limits_t *limits);
void scene_vary_settings(scene_t *scene);
/* --harsh (sim_harsh.c): budgets of logs and how many die, before they are taken up; when those die that are drawn */
void scene_harden_logs(scene_t *scene, const case_limits_t *limits);
unsigned scene_harden_count(scene_t *scene);
void scene_harden_deaths(scene_t *scene);
/* AIM_ARRIVING: its last arrival has come to some that run the program, and not to others */
int scene_is_arriving(const scene_t *scene, uint32_t rank);
/* of a run that has ended (sim_judge.c) */
void scene_judge(scene_t *scene, keel_sim_end_t end);

/* NULL: it has none, or has ended and its memory is gone */
static inline keel_context_h scene_context(const scene_t *scene, uint32_t rank)
{
    return keel_sim_is_alive(scene->sim, rank) ? scene->member[rank].host.ctx : NULL;
}

#endif
