/*
 * When this process's logs pass KEEL_OPLOG_SOFT, who is asked for an image (ckpt/demand), and what is trimmed when one is in
 * use [F 6.2]. Looked at once a gsync: no image could cover a phase that is not over. The largest part decides: what is
 * logged towards a rank needs that rank's image, what this process itself read needs its own, what a source logged here
 * needs the source's. A log that lost records asks too, so that it becomes complete again, ever more rarely while it does not.
 */
#ifndef KEEL_RECOVERY_TRIM_H_
#define KEEL_RECOVERY_TRIM_H_

#include "ckpt/demand.h"
#include "oplog/get_log.h"
#include "oplog/put_log.h"

typedef struct keel_recovery keel_recovery_t;

typedef struct keel_trim_request {
    uint32_t number; /* an image at this gsync or later was asked for; 0: not yet */
    uint32_t gap;    /* gsyncs before it is asked for again */
} keel_trim_request_t;

typedef struct keel_trim {
    keel_trim_request_t *requests; /* by rank */
    uint32_t awaited[3];           /* whom this gsync asks: it arrives when they have the message */
    unsigned awaited_count;
    uint64_t asked;
} keel_trim_t;

keel_status_t keel_trim_init(keel_recovery_t *rec);
void keel_trim_release(keel_recovery_t *rec);
/* before the arrival at gsync @a number: asks whoever is due */
void keel_trim_request(keel_recovery_t *rec, uint32_t number);
/* the messages are there */
int keel_trim_requests_arrived(const keel_recovery_t *rec);
void keel_trim_receive(void *arg, const keel_control_in_t *in);
/* keel_demand_set_callback(); arg is the recovery */
void keel_trim_image(void *arg, uint32_t rank, uint32_t position);
/* an image of this rank is being copied at the begin of this phase: logs that were off begin anew */
void keel_trim_resume(keel_recovery_t *rec, uint32_t rank);
/* a replacement that begins at a demand image has no logs of before: who is behind it cannot be served from them */
void keel_trim_begin_at(keel_recovery_t *rec, uint32_t position);

#endif
