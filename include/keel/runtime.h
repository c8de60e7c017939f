/*
 * Keel inside another runtime: a runtime with its own launcher, bootstrap, endpoints and failure
 * detector attaches Keel by a table of callbacks. Neither PMIx nor keelrun takes part.
 *
 * Division of work. The runtime starts processes, detects deaths, starts replacements, and carries
 * the address of each process to the others, mostly a few hundred bytes. Keel opens its own UCP
 * context, workers and one thread beside those of the runtime, logs accesses, keeps checkpoints,
 * and recovers. Keel and the runtime share memory only: a window's memory may also be registered
 * with the runtime's own context.
 *
 * Guarantees that the runtime gives:
 *  - A death is certain: when it is reported, no instruction of that process will run again.
 *  - Every live process receives every death, join and exit, and receives those of one rank in one
 *    order: death of incarnation i, then join of incarnation i + 1. A duplicate is harmless, and so
 *    is a join without the death before it. The order among ranks is free.
 *  - Events may arrive at any time after keel_init_attached() has begun, also inside the callbacks
 *    of the table. A replacement need not receive deaths and joins from before its own start. It
 *    receives all exits.
 *  - Events about the receiver's own rank, those of its predecessors included, are optional: Keel
 *    ignores them. One has a meaning: the death of the receiver's own incarnation. Calls then
 *    return KEEL_ERR_ISOLATED.
 *  - Each dead rank is replaced by one new process: same rank, incarnation one higher, running the
 *    same program from main().
 *  - The job has met when the last call of keel_attach_t.exchange, or announce, has returned in all
 *    ranks. A rank that dies before fails the start. Nothing is computed by then. The runtime ends
 *    the job, or makes the callback return an error in all ranks. keel_init_attached() then returns
 *    this error with everything released, and may be called again.
 *  - A rank that dies later, inside keel_init_attached() too, is reported and replaced like any
 *    other. No rank is in exchange then, so an error there reaches no rank.
 *
 * Keel ends no process: fatal conditions are statuses. keel_attach_t.abort is called by
 * keel_abort(), by a rehearsal that finds a difference, and by a rank that reaches no other rank
 * (KEEL_ERR_ISOLATED if abort returns). With KEEL_FILE_DIR, a rank of a lost job that can start
 * again from files calls abort with KEEL_EXIT_AGAIN (KEEL_ERR_CATASTROPHIC if abort returns). At
 * the end of keel_checkpoint_and_stop() rank 0 calls abort with KEEL_EXIT_STOPPED, or with 143. A
 * rehearsal (KEEL_REHEARSE) also kills its own process.
 *
 * Threads. Keel calls the table from the thread that is inside a call on the context, one callback
 * at a time. Only keel_attach_t.message may also be called from Keel's own thread, beside another
 * callback. Callbacks must not call Keel, except keel_report_death(), keel_report_join() and
 * keel_report_exit(). Those three may be called from any thread, but not from a signal handler.
 */
#ifndef KEEL_PUBLIC_RUNTIME_H_
#define KEEL_PUBLIC_RUNTIME_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A queue of events. Any thread of the runtime fills the queue; one context empties it. A queue
 * serves one call of keel_init_attached(). */
typedef struct keel_events *keel_events_h;

typedef enum keel_attach_event_type {
    KEEL_ATTACH_DEATH, /**< this incarnation is dead; nothing of it will run again */
    KEEL_ATTACH_JOIN,  /**< this incarnation has announced itself; address is set */
    KEEL_ATTACH_EXIT   /**< this incarnation has returned from keel_finalize() */
} keel_attach_event_type_t;

typedef struct keel_attach_event {
    keel_attach_event_type_t type;
    uint32_t rank;
    uint32_t incarnation;
    const void *address; /**< of a join: the bytes that the replacement announced; valid until the
                            next poll() */
    size_t address_length;
} keel_attach_event_t;

/** Keel's longest address, in bytes. */
#define KEEL_ATTACH_ADDRESS_MAX 8192

/** Shortest secret, in bytes. */
#define KEEL_ATTACH_SECRET_MIN 16

/**
 * What a runtime provides. Zero the struct, set struct_size, rank, size, either exchange or
 * announce and lookup, and either poll or events. Everything else is optional. Keel copies the
 * struct. Keel reads node, secret and transport inside keel_init_attached() only; arg and events
 * must outlive the context.
 */
typedef struct keel_attach {
    size_t struct_size; /**< sizeof(keel_attach_t) */
    void *arg;          /**< first argument of each callback */

    uint32_t rank;        /**< of this process, 0 to size - 1 */
    uint32_t size;        /**< number of ranks; the same in all processes and over the whole job */
    uint32_t incarnation; /**< 0: first life; each replacement of a rank has the number of its
                             predecessor plus one */

    /** Node of each rank: an array of size numbers. Ranks with equal numbers share memory and
     * /proc, and fail together with their node. The array is the same in all processes,
     * replacements included, for the whole job. NULL: all ranks share one node. */
    const uint32_t *node;

    /** Authenticates all of Keel's messages: the same bytes in all processes of the job, at least
     * KEEL_ATTACH_SECRET_MIN, not readable by outsiders. NULL: messages carry no authentication,
     * and any program that opens a connection to a rank can end the rank. */
    const void *secret;
    size_t secret_length;

    /** Name of the transport: "ucp" or "verbs". NULL: as KEEL_TRANSPORT says. */
    const char *transport;

    /** Source of events beside, or instead of, poll(). It outlives the context. */
    keel_events_h events;

    /**
     * First life: all-gather. Every rank calls it with the same length; on return, rank r's bytes
     * are at all + r * length. Keel calls it twice. The first call has 8 bytes, the length of the
     * rank's address. The second has 8 bytes more than the longest address of a rank, so at most
     * 8 + KEEL_ATTACH_ADDRESS_MAX. The job has met when the second has returned in all ranks.
     * Replacement: called once, with all NULL; mine is the address that the runtime delivers to
     * every live rank with the join of this incarnation. The call returns without waiting for those
     * ranks.
     * @return KEEL_OK, or an error, which a message names and keel_init_attached() returns.
     */
    keel_status_t (*exchange)(void *arg, const void *mine, void *all, size_t length);

    /** Instead of exchange. First life: publishes the address and waits until all ranks have.
     * Replacement: as exchange with all NULL. */
    keel_status_t (*announce)(void *arg, const void *address, size_t length);
    /** With announce, first life only: copies what @a rank announced to @a address, which has
     * KEEL_ATTACH_ADDRESS_MAX bytes. */
    keel_status_t (*lookup)(void *arg, uint32_t rank, void *address, size_t *length_p);

    /** Fills *event_p and returns 1, or returns 0 when there is no event. Does not block; each call
     * of Keel that waits calls it often. */
    int (*poll)(void *arg, keel_attach_event_t *event_p);

    /**
     * Keel's own messages to this rank go unanswered for silence_ns nanoseconds. The runtime finds
     * out whether the process is gone, and kills a process that cannot answer; the death is
     * reported like any other. Repeated while the silence lasts. @a incarnation is UINT32_MAX when
     * this process never heard from the rank. With the caller's own rank: this process is cut off
     * and must end.
     * @return KEEL_OK: the runtime handles the suspicion. KEEL_ERR_UNREACHABLE: the process
     * is dead, and only the caller reports the death. KEEL_ERR_UNSUPPORTED: the runtime cannot find
     * out; ranks that hear from more than half of the job go on without the suspect. NULL: as if it
     * returned KEEL_OK. The runtime's own detector then finds ranks that hang or are cut off.
     */
    keel_status_t (*suspect)(void *arg, uint32_t rank, uint32_t incarnation, uint64_t silence_ns);
    /** Keel knows of a death that the runtime may have missed: a replacement is needed. Every
     * process calls it. */
    void (*replace)(void *arg, uint32_t rank, uint32_t incarnation);
    /** The job has reached keel_finalize() in all ranks: no rank is replaced any more. */
    void (*finish)(void *arg);
    /** This process has left the job; the runtime reports its exit to all others. Not called by a
     * start that failed before its address was announced. Not needed if the launcher reports the
     * exit of a process with status 0. */
    void (*leave)(void *arg);
    /** keel_abort(): ends all processes of the job with @a status. If it returns, keel_abort() ends
     * the calling process. */
    void (*abort)(void *arg, int status, const char *reason);
    /** Takes a message of Keel, one line without its end. level: 0 error, 1 warning or the outcome
     * of a death, 2 information, 3 debugging. Any thread calls it, and internal locks may be held:
     * it must not block. Messages about a wrong table go to standard error. NULL: all messages go
     * there. */
    void (*message)(void *arg, int level, const char *line);
} keel_attach_t;

/**
 * keel_init() in a runtime of the caller's. Collective over the job. KEEL_* variables are read as
 * keel_init() reads them; KEEL_SPARES and KEEL_SPAWN have no effect. A process may attach again
 * after keel_finalize() or a failed start, with a new queue of events; this is a new job, with
 * incarnations from 0.
 *
 * With KEEL_PARITY=dedicated the call returns KEEL_ERR_CHECKSUM in ranks that held parity, after
 * the other ranks have left.
 *
 * Death: before all ranks have met, as above ("fails the start"); afterwards as for keel_init().
 * @param [in]  runtime  the table; copied.
 * @param [in]  params   as for keel_init(); may be NULL. With KEEL_PARAM_FIELD_PROGRESS Keel
 * progresses the runtime while waiting.
 * @param [out] ctx_p    the context; freed by keel_finalize().
 * @return KEEL_ERR_INVALID_PARAM: a message names the wrong field. KEEL_ERR_STATE: the process has
 * a context, or events served another one. Or the status of a failed callback, or as keel_init().
 */
KEEL_API keel_status_t keel_init_attached(const keel_attach_t *runtime, const keel_params_t *params,
                                          keel_context_h *ctx_p);

/**
 * Makes a queue for keel_attach_t.events. Create it before keel_init_attached() and keep it until
 * keel_finalize() has returned.
 * @param [in]  size      number of ranks of the job.
 * @param [out] events_p  the queue; freed by keel_events_destroy().
 * @return KEEL_ERR_INVALID_PARAM, KEEL_ERR_NO_MEMORY.
 */
KEEL_API keel_status_t keel_events_create(uint32_t size, keel_events_h *events_p);
/** Frees the queue. Precondition: no context uses the queue, and no thread reports to it. NULL is
 * allowed. */
KEEL_API void keel_events_destroy(keel_events_h events);

/**
 * Reports that incarnation @a incarnation of @a rank is dead, from any thread. Duplicates are
 * dropped.
 * @return KEEL_ERR_INVALID_PARAM: there is no such rank. KEEL_ERR_NO_MEMORY: the event is lost.
 */
KEEL_API keel_status_t keel_report_death(keel_events_h events, uint32_t rank, uint32_t incarnation);
/** Reports that a replacement has announced @a address, which is copied. Returns as
 * keel_report_death() does. */
KEEL_API keel_status_t keel_report_join(keel_events_h events, uint32_t rank, uint32_t incarnation, const void *address,
                                        size_t length);
/** Reports that a rank has left the job by keel_finalize(). Returns as keel_report_death() does. */
KEEL_API keel_status_t keel_report_exit(keel_events_h events, uint32_t rank, uint32_t incarnation);

#ifdef __cplusplus
}
#endif

#endif
