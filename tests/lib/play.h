/* Plays a program of plan.h: the phases over any means of access, and the whole as a Keel program
 * that can be killed. */
#ifndef KEEL_TEST_PLAY_H_
#define KEEL_TEST_PLAY_H_

#include "oracle.h"

/* The means of access; statuses are those of Keel. */
typedef struct play_access {
    keel_status_t (*put)(void *arg, const plan_op_t *op, const void *buffer, keel_send_cb_t cb, void *user,
                         keel_req_h *req_p);
    keel_status_t (*get)(void *arg, const plan_op_t *op, void *buffer, keel_send_cb_t cb, void *user,
                         keel_req_h *req_p);
    keel_status_t (*update)(void *arg, const plan_op_t *op, uint64_t operand, uint64_t compare, void *result,
                            keel_send_cb_t cb, void *user, keel_req_h *req_p);
    keel_status_t (*wait)(void *arg, keel_req_h req);
    keel_status_t (*test)(void *arg, keel_req_h req);
    void (*release)(void *arg, keel_req_h req);
    keel_status_t (*progress)(void *arg);
    keel_status_t (*flush)(void *arg, uint32_t rank);
    keel_status_t (*flush_all)(void *arg);
    keel_status_t (*fence)(void *arg);
    void (*compute)(void *arg, uint64_t ns);
    /* Returns 0 to go on. Observations come in the same order in every incarnation. */
    int (*observe)(void *arg, uint32_t phase, unsigned point, uint64_t value, const char *what);
    void *arg;
} play_access_t;

/* The state needed for a restart. */
typedef struct play_state {
    uint64_t phase; /* next phase */
    uint64_t hash;  /* hash of all observations */
    uint64_t random;
} play_state_t;

#define PLAY_HISTORY 64
#define PLAY_MET     UINT32_MAX
#define PLAY_ALL     UINT32_MAX /* every target */

/* An atomic with a fetch counts as put and get, as does a lock. */
enum { PLAY_DID_PUT = 1, PLAY_DID_GET = 2, PLAY_DID_FLUSH = 4 };

typedef struct play {
    const plan_t *plan;
    uint32_t rank;
    const play_access_t *access;
    unsigned char *base[PLAN_WINDOWS_MAX];
    play_state_t state;
    uint64_t history[PLAY_HISTORY]; /* hash at the end of each phase */
    unsigned point;
    unsigned char *scratch; /* PLAN_EPOCH_OPS buffers of PLAN_SLOT_BYTES */
    struct play_pending {
        keel_req_h req;
        unsigned done; /* set by the callback */
        keel_status_t status;
    } pending[PLAN_EPOCH_OPS];
} play_t;

uint64_t play_hash(uint64_t hash, const void *data, size_t length);
void play_fill(void *buffer, size_t length, uint64_t seed);
void play_start(play_t *play, const plan_t *plan, uint32_t rank, const play_access_t *access, void *scratch);
/* Plays a phase without the synchronisation at its end. Returns the error of an access, or
 * KEEL_ERR_CORRUPT if observe() found a difference. */
keel_status_t play_phase(play_t *play);
/* Frees requests left by an error. */
void play_release(play_t *play);

/* ---- as a Keel program ---- */

typedef struct play_host play_host_t;
struct play_host {
    const plan_t *plan;
    const oracle_t *oracle;            /* NULL: no comparison */
    struct locks_journal *locks;       /* locks.h */
    struct races_journal *races;       /* races.h */
    struct mixed_journal *mixed;       /* mixed.h */
    const struct waits_options *waits; /* mailbox.h */
    uint32_t rank;
    const keel_params_t *params;
    /* initialises Keel in the host's way; NULL: keel_init() */
    keel_status_t (*init)(play_host_t *host, keel_context_h *ctx_p);
    void *(*alloc)(size_t bytes, const char *name);
    void (*release)(void *memory);
    void (*compute)(play_host_t *host, uint64_t ns);
    /* called between two calls; may be NULL */
    void (*point)(play_host_t *host);
    /* the rank begins @a phase, or enters finalize if phase == phases of the plan, or has returned
     * from keel_init() if PLAY_MET */
    void (*at)(play_host_t *host, uint32_t phase);
    /* true if the program requests a rollback here; may be NULL */
    int (*asks)(play_host_t *host, uint32_t phase);
    /* programs without a plan: a call to @a target has ended well, PLAY_DID_*; may be NULL */
    void (*did)(play_host_t *host, unsigned what, uint32_t target);
    /* called last before finalize */
    void (*stats)(play_host_t *host, const keel_stats_t *stats);
    /* for a trace of the program's calls; may be NULL */
    void (*note)(play_host_t *host, const char *text);
    /* reports an error; may return */
    void (*flaw)(play_host_t *host, const char *text);
    void *arg;
    /* zeroed pages of the program's own, valid beyond the end of the process; NULL: Keel allocates
     * all windows */
    void *(*given)(size_t bytes);
    /* seed of shared locks of windows around phases (shares.h); 0: none */
    uint64_t shares;
    int has_strides;          /* some puts and gets are of blocks */
    int asks_otherwise;       /* the same words are tested in several ways */
    int has_extents;          /* windows are larger than the plan's slots */
    int has_looks;            /* a replacement queries its memory before the restore */
    int has_restart_point;    /* a rollback jumps there */
    int clears_restart_point; /* except every second rollback */
    int may_be_cut_off;       /* the network may split: KEEL_ERR_ISOLATED is a valid end */
    uint32_t incarnation;
    keel_context_h ctx; /* set by the program while the context exists */
};

static inline keel_status_t play_init(play_host_t *host, keel_context_h *ctx_p)
{
    return (host->init != NULL) ? host->init(host, ctx_p) : keel_init(host->params, ctx_p);
}

/* Reports a successful call to the host. Returns the status unchanged. */
static inline keel_status_t play_did(play_host_t *host, unsigned what, uint32_t target, keel_status_t status)
{
    if (status == KEEL_OK && host->did != NULL) {
        host->did(host, what, target);
    }
    return status;
}

/*
 * Returns KEEL_OK, KEEL_ERR_CATASTROPHIC, KEEL_ERR_STATE in a replacement that came too late (then
 * all others end well), or another error after a report as a flaw.
 */
keel_status_t play_program(play_host_t *host);

#endif
