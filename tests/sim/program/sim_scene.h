/*
 * One case while it is drawn and played: sim_draw.c draws the scene, sim_case.c plays it,
 * sim_judge.c judges it.
 */
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
    AIM_WAITING,   /* the victim has arrived at a gsync and waits for others there */
    AIM_STRAGGLER, /* the victim has not yet taken the newest generation into use, others have */
    AIM_AHEAD,     /* the victim alone has left a gsync, and has put something */
    AIM_ARRIVING,  /* some ranks have the victim's arrival at a gsync, others do not */
    AIM_OPEN,      /* a put of the victim on the direct lane is under way (check/plant.h) */
    AIM_STORES     /* the victim is between two stores that must stay in order (check/plant.h) */
} aim_t;

typedef struct death {
    uint32_t victim; /* drawn again if this rank cannot be killed */
    int is_chained;  /* delay counts from the previous death; 0: from the phase */
    aim_t aim;
    /* number of tries to find a victim in the aimed state; afterwards any victim is accepted */
    unsigned patience;
    uint32_t rank, phase; /* the entry of this rank into this phase starts the count */
    uint64_t delay;       /* number of steps */
    uint32_t with;        /* number of other group members that die at the same step, if allowed */
    int has_node;         /* all other ranks of the node die too */
    /* the victim hangs for so long, and is killed when a watcher notices; 0: it dies at once */
    uint64_t hang_ns;
} death_t;

typedef struct member {
    play_host_t host;
    keel_status_t status;
    int has_met;      /* keel_init() returned in the first life */
    int is_finishing; /* the rank is inside finalize */
    int was_there;    /* a life of the rank was inside finalize */
    int has_returned;
    int is_storing;      /* the rank is between two stores that must stay in order */
    uint64_t hung_ns;    /* start of the hang; 0: the rank never hung */
    uint64_t lost_ns;    /* time of the last loss; of a rank that hangs: the end of the hang */
    unsigned hung_after; /* number of deaths and hangs of others before the hang */
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
    keel_random_t sizes; /* draws an occasional large job or group */
    int may_be_large;
    plan_options_t plan_options;
    plan_t *plan; /* CASE_GSYNC */
    oracle_t *oracle;
    locks_journal_t *locks; /* CASE_LOCKS */
    races_journal_t *races; /* CASE_RACES */
    mixed_journal_t *mixed; /* CASE_MIXED */
    int has_extents;        /* images contain parts of windows */
    int has_looks;          /* replacements ask for their future memory */
    int has_strides;        /* puts and gets of blocks */
    int has_given;          /* windows over the program's own memory */
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
    int is_served;      /* all lanes are served */
    uint32_t ranks;     /* ranks that run the program */
    uint32_t processes; /* ranks, and the processes that hold parity */
    uint32_t leader;    /* a rank that runs the program */
    uint64_t log_budget;
    size_t getlog_budget, ckpt_budget; /* ckpt_budget 0: none */
    uint32_t soft;                     /* KEEL_OPLOG_SOFT */
    int is_split;                      /* the network splits, without an arbiter; no deaths */
    uint64_t heartbeat_ns;             /* KEEL_HEARTBEAT_TIMEOUT; 0: off */
    /* replacements start on other nodes now and then: direct lanes become served, and vice versa */
    int moves;
    keel_random_t moving;
    int is_dense;
    int is_tight; /* logs with almost no room */
    /* 1 + the only rank with a put log of almost no room; 0: all ranks are alike */
    uint32_t lone_tight;
    int may_roll_back; /* the case has a reason to refuse local recovery */
    /* the only such reason is fetches by atomics of one class, and exactly one rank dies */
    int only_fetches;
    /* a group may lose more members than parity covers before it is armed again */
    int may_overlap;
    uint32_t parities;
    int is_dedicated;
    uint64_t sample_step; /* next check of parity */
    keel_random_t sampling;
    uint64_t check_step; /* next check of the invariants */
    int is_each_step;    /* check the invariants after each step */
    keel_random_t checking;
    invariants_t invariants;
    int has_overlapped;
    death_t death[CASE_DEATHS_MAX];
    unsigned death_count, death_next;
    hunt_t hunt;
    int has_restart_point;
    /* rank that requests rollbacks, first phase, remaining number */
    uint32_t asker, asks_phase, asks_left;
    uint64_t strike_step; /* step of the next death; 0: its moment has not come */
    keel_groups_t groups;
    member_t member[CASE_PROCESSES_MAX];
    case_result_t *result;
} scene_t;

/* Draws the whole case from its seed. A negative limit leaves the value to the seed. */
void scene_draw(scene_t *scene, uint64_t seed, const case_limits_t *limits);
/* Returns the steps after which a drawn case counts as hung; 0: default of the simulator. */
uint64_t scene_step_limit(const scene_t *scene);
/*
 * --varied (sim_varied.c). scene_vary_plan() draws a program of gsyncs, before its plan;
 * scene_vary_settings() draws each rank's settings, when the case is complete.
 */
void scene_vary_plan(scene_t *scene, const case_limits_t *limits);
void scene_vary_settings(scene_t *scene);
/*
 * --harsh (sim_harsh.c). Budgets of logs and the number of deaths are drawn before their use;
 * scene_harden_deaths() adjusts the moments of the drawn deaths.
 */
void scene_harden_logs(scene_t *scene, const case_limits_t *limits);
unsigned scene_harden_count(scene_t *scene);
void scene_harden_deaths(scene_t *scene);
/* AIM_ARRIVING: some ranks of the program have the last arrival of @a rank, others do not. */
int scene_is_arriving(const scene_t *scene, uint32_t rank);
/* Judges a run that has ended (sim_judge.c). */
void scene_judge(scene_t *scene, keel_sim_end_t end);

/* Returns NULL if the rank has no context, or has ended and its memory is gone. */
static inline keel_context_h scene_context(const scene_t *scene, uint32_t rank)
{
    return keel_sim_is_alive(scene->sim, rank) ? scene->member[rank].host.ctx : NULL;
}

#endif
