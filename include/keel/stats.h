/*
 * Keel: statistics of a process. Part of <keel/keel.h>; its conventions hold.
 */
#ifndef KEEL_STATS_H_
#define KEEL_STATS_H_

#include <keel/def.h>
#include <keel/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counts of this process since keel_init(). New fields come at the end: the caller passes its
 *  size. */
typedef struct keel_stats {
    /** calls; atomics include accumulates of up to four elements that Keel issues as atomics */
    uint64_t puts, gets, atomics, gsyncs;
    /** bytes */
    uint64_t put_bytes, get_bytes;
    /** bytes held now, and at most */
    uint64_t put_log_bytes, put_log_peak;
    /** bytes held now, and at most */
    uint64_t get_log_bytes, get_log_peak;
    /** how often logging towards a target stopped, or records of gets were lost with the target */
    uint64_t log_overflows;
    /** committed, and given up because of a death */
    uint64_t checkpoints, checkpoint_aborts;
    /** size of the newest image, bytes */
    uint64_t checkpoint_bytes;
    /** newest checkpoint: time of the copy, and time until committed */
    uint64_t checkpoint_copy_ns, checkpoint_safe_ns;
    /** newest checkpoint: comparing and parity, done in slices in calls of Keel after the copy;
     *  includes work that a recovery repeats before the next checkpoint */
    uint64_t checkpoint_work_ns;
    /** gsync number of the newest committed image, 0: program start; in a replacement before
     *  keel_restore(), of the image to restore */
    uint64_t generation;
    /** deaths known to this process; local recoveries and rollbacks */
    uint64_t deaths, recoveries, rollbacks;
    /** records handed over to replacements; gets answered from records */
    uint64_t replayed_puts, replayed_gets;
    /** image bytes rebuilt from the group by this process */
    uint64_t rebuilt_bytes;
    /** nanoseconds of this process's own recovery: start-up, agreement, rebuild, restore,
     *  replay */
    uint64_t recovery_ns[5];
    /** bytes of other members' images read to compute own parity, and bytes spared because
     *  nothing had changed */
    uint64_t parity_bytes, parity_spared_bytes;
    /** rollbacks for atomics that may or may not have taken effect */
    uint64_t rollbacks_in_doubt;
    /** rollbacks because a replacement's re-execution differed from the records */
    uint64_t differences;
    /** calls of keel_lock() and keel_lock_all() */
    uint64_t locks;
    /** records of critical sections replayed by this process as a replacement */
    uint64_t replayed_sections;
    /** announcements of the host's network devices that may precede a failure */
    uint64_t device_hints;
    /** how often this process found its neighbour silent for KEEL_HEARTBEAT_TIMEOUT */
    uint64_t suspicions;
    /** suspicions after which the neighbour was heard again before it was dead */
    uint64_t false_suspicions;
    /** images that this process took because logs were full, those of them taken into use, and
     *  requests to others or itself for such images */
    uint64_t demand_checkpoints, demand_committed, demands;
    /** how often this process was restored from such an image */
    uint64_t demand_recoveries;
    /** the newest share of parity, from the moment that the images are there; peak bytes of
     *  buffers for parity (KEEL_CKPT_TRANSFER). The buffers are not part of KEEL_CKPT_SIZE. For
     *  groups of k ranks and m parities they have at most (k - m) * 512 KiB, or 32 MiB in
     *  bulk. */
    uint64_t transfer_ns, transfer_peak_bytes;
    /** bytes of images and parity held now; at most KEEL_CKPT_SIZE */
    uint64_t checkpoint_memory;
    /** newest checkpoint: parity's share of checkpoint_work_ns, and the bytes read and written in
     *  this share */
    uint64_t checkpoint_parity_ns, checkpoint_parity_bytes;
    /** if keel_restarted() is true: window calls still to repeat before keel_restore() */
    uint64_t window_calls_due;
    /** checkpoints in files: completed, given up, and not written because the previous one was
     *  still being written; counted by rank 0 */
    uint64_t file_checkpoints, file_failures, file_skips;
    /** bytes of images that this process wrote to files */
    uint64_t file_bytes;
    /** stores: versions made; bytes pushed to holders, all copies counted */
    uint64_t store_submits, store_push_bytes;
    /** loads begun, also of counts and sizes, and their bytes */
    uint64_t store_loads, store_load_bytes;
    /** copies of ranges that this process got back from other holders, and reads that found no
     *  copy left */
    uint64_t store_refills, store_losses;
} keel_stats_t;

/**
 * Fills in the statistics of this process. Local: makes no progress, and a death has no effect on
 * the call.
 * @param [out] stats_p  at most @a size bytes are written. A program compiled with an older
 *                       stats.h gets the fields of its own; fields unknown to this library are 0.
 * @param [in]  size     sizeof(*stats_p) where the caller was compiled.
 * @return KEEL_ERR_INVALID_PARAM: @a stats_p is NULL, or @a size is 0 or no multiple of 8.
 */
KEEL_API keel_status_t keel_stats(keel_context_h ctx, keel_stats_t *stats_p, size_t size);

#ifdef __cplusplus
}
#endif
#endif
