/*
 * Requests for demand images (ckpt/demand) when the own logs pass KEEL_OPLOG_SOFT, and trimming by
 * images in use [F 6.2]. Logs are checked once a gsync, because no image covers an unfinished
 * phase. The largest part decides: records towards a rank need that rank's image, own reads need
 * the own image, and records of a source need the source's image. A log with lost records also
 * requests an image, to become complete again, and repeats the request ever more rarely.
 */
#ifndef KEEL_RECOVERY_TRIM_H_
#define KEEL_RECOVERY_TRIM_H_

#include "ckpt/demand.h"
#include "oplog/get_log.h"
#include "oplog/put_log.h"

typedef struct keel_recovery keel_recovery_t;

typedef struct keel_trim_request {
    uint32_t number; /* gsync of the last request; 0: none */
    uint32_t gap;    /* gsyncs before the request is repeated */
} keel_trim_request_t;

typedef struct keel_trim {
    keel_trim_request_t *requests; /* by rank */
    /* ranks asked in this gsync: the arrival waits until they have the message */
    uint32_t awaited[3];
    unsigned awaited_count;
    uint64_t asked;
} keel_trim_t;

keel_status_t keel_trim_init(keel_recovery_t *rec);
void keel_trim_release(keel_recovery_t *rec);
/* Before the arrival at gsync @a number: sends requests that are due. */
void keel_trim_request(keel_recovery_t *rec, uint32_t number);
/* True if the requests have arrived. */
int keel_trim_requests_arrived(const keel_recovery_t *rec);
void keel_trim_receive(void *arg, const keel_control_in_t *in);
/* keel_demand_set_callback(); @a arg: the recovery. */
void keel_trim_image(void *arg, uint32_t rank, uint32_t position);
/* An image of @a rank is copied at the begin of the phase: logs that were off start again. */
void keel_trim_resume(keel_recovery_t *rec, uint32_t rank);
/* A replacement that begins at a demand image has no logs of earlier phases, and cannot hand
 * over to a rank behind it. */
void keel_trim_begin_at(keel_recovery_t *rec, uint32_t position);

#endif
