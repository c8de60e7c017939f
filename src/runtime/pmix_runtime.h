/* The object of the runtime over PMIx, shared by its files alone. */
#ifndef KEEL_RUNTIME_PMIX_RUNTIME_H_
#define KEEL_RUNTIME_PMIX_RUNTIME_H_

#include <runtime_ops.h>

#include <pmix.h>
#include <stdatomic.h> /* event_queue.h */

#include "fabric.h"
#include "pmix_output.h"
#include "event_queue.h"
#include "pmix_spare.h"
#include "process.h"
#include "starved.h"

/* time for the launcher to end the job; afterwards the process ends by itself */
#define KEEL_PMIX_ABORT_WAIT_MS 10000

typedef struct keel_pmix_address {
    void *data;
    size_t length;
} keel_pmix_address_t;

struct keel_runtime_pmix {
    keel_runtime_t base;
    pmix_proc_t process; /* name of this process for the launcher */
    pmix_proc_t job;     /* name within the job; differs for a spawned process */
    uint32_t holder;     /* number among the launcher's processes; spares follow the ranks */
    uint32_t spare;      /* number of a spawned spare */
    int is_alone;        /* no launcher: PMIx is not in use */
    int is_keelrun;      /* events have keelrun's keys */
    int does_restart;    /* the launcher starts replacements by itself */
    uint32_t job_size;   /* processes of the launcher: ranks and spares */
    keel_pmix_spares_t spares;
    keel_process_t *processes; /* processes of the launcher on this node; NULL: not needed */
    keel_reprieve_t accused;   /* the last accusation by this process */
    keel_pmix_output_t output;
    size_t handler;
    keel_event_queue_t queue;
    keel_fabric_t *fabric; /* NULL: not watched */
    unsigned polls;
    keel_pmix_address_t *addresses; /* by rank; first life only */
};

/* ---- pmix.c ---- */
void keel_pmix_complain(const keel_runtime_pmix_t *runtime, const char *what, pmix_status_t status);
pmix_status_t keel_pmix_get(const keel_runtime_pmix_t *runtime, pmix_rank_t rank, const char *key,
                            pmix_value_t **value_p);
void keel_pmix_read_place(keel_runtime_t *base);
int keel_pmix_is_spare(const keel_runtime_pmix_t *runtime);
void keel_pmix_abort(keel_runtime_t *base, int status, const char *reason);

/* ---- pmix_singleton.c ---- */
keel_status_t keel_pmix_open_singleton(keel_runtime_pmix_t *runtime);

/* ---- pmix_event.c: events from and to the launcher ---- */
/* Returns once the launcher's server knows that this process listens. */
keel_status_t keel_pmix_register_events(keel_runtime_pmix_t *runtime);
pmix_status_t keel_pmix_send_met(const keel_runtime_pmix_t *runtime);
keel_status_t keel_pmix_send_join(keel_runtime_pmix_t *runtime, const void *address, size_t length);
/* Announces a list of uint64_t. */
void keel_pmix_send_need(keel_runtime_pmix_t *runtime, const uint64_t *bytes, size_t length);
/* @a holder: the launcher's process in question */
void keel_pmix_send_event(keel_runtime_pmix_t *runtime, pmix_status_t code, uint32_t rank, uint32_t incarnation,
                          uint32_t holder);

/* ---- pmix_suspect.c ---- */
keel_status_t keel_pmix_suspect(keel_runtime_t *base, const keel_suspicion_t *suspicion);
/*
 * Ends a silent spare before another takes its place. Returns 1 if the spare is gone, or if nothing
 * can be known of it; 0: not yet.
 */
int keel_pmix_end_spare(keel_runtime_pmix_t *runtime, uint32_t holder, uint64_t silence_ns);

/* Processes of this node: PMIx's thread adds joining processes, the thread inside Keel looks. */
keel_status_t keel_pmix_processes_init(keel_runtime_pmix_t *runtime);
void keel_pmix_add_process(keel_runtime_pmix_t *runtime, uint32_t holder, const keel_process_t *process);
int keel_pmix_find_process(const keel_runtime_pmix_t *runtime, uint32_t holder, keel_process_t *process_p);
void keel_pmix_replace(keel_runtime_t *base, uint32_t rank, uint32_t incarnation);

/* ---- pmix_address.c ---- */
keel_status_t keel_pmix_announce(keel_runtime_t *base, const void *address, size_t length);
keel_status_t keel_pmix_lookup(keel_runtime_t *base, uint32_t rank, void **address_p, size_t *length_p);
pmix_status_t keel_pmix_publish(const char *key, const void *data, size_t length);
void keel_pmix_addresses_release(keel_runtime_pmix_t *runtime);

#endif
