/* Sums of all ranks at the end of a job with deaths. */
#include "recovery/outcome/outcome_sums.h"
#include "base/outcome_text.h"
#include "recovery/recovery.h"

#include "peer/control.h"
#include "peer/members.h"

/* KEEL_CONTROL_FINISHED */
typedef struct sums_message {
    uint64_t log_peak, log_most;
    uint64_t checkpoints;
} sums_message_t;

static sums_message_t outcome_sums(const keel_recovery_t *rec)
{
    const keel_segment_pool_t *pool = rec->puts->pool;

    return (sums_message_t){.log_peak = (uint64_t)pool->peak * pool->segment_size,
                            .log_most = rec->outcome.log_most,
                            .checkpoints = keel_outcome_checkpoints(rec)};
}

void keel_outcome_set_log_most(keel_recovery_t *rec, uint64_t bytes)
{
    rec->outcome.log_most = bytes;
}

void keel_outcome_finish(keel_recovery_t *rec)
{
    const sums_message_t sums = outcome_sums(rec);

    (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_FINISHED, &sums, sizeof(sums));
}

void keel_outcome_receive_finished(keel_recovery_t *rec, const keel_control_in_t *in)
{
    const sums_message_t *sums = (const void *)in->payload;
    keel_outcome_rank_t *of;

    if (rec->outcome.ranks == NULL) {
        return;
    }
    of = &rec->outcome.ranks[in->source];
    of->is_finished = 1;
    if (in->length == sizeof(*sums)) {
        of->log_peak = sums->log_peak;
        of->log_most = sums->log_most;
        of->checkpoints = (uint32_t)sums->checkpoints;
    }
}

static uint64_t outcome_deaths(const keel_recovery_t *rec)
{
    uint64_t deaths = 0;

    KEEL_EACH_RANK(r, rec->lane) {
        deaths += keel_rank_deaths(rec->lane, r);
    }
    return deaths;
}

int keel_outcome_awaits(const keel_recovery_t *rec, uint32_t rank)
{
    return keel_lane_is_leader(rec->lane) && rank != rec->lane->leader && rank < rec->lane->programs &&
           outcome_deaths(rec) > 0 && !rec->outcome.ranks[rank].is_finished;
}

void keel_outcome_end(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;
    const sums_message_t own = outcome_sums(rec);
    keel_outcome_sums_t sums = {.checkpoints = own.checkpoints, .log_peak = own.log_peak, .log_most = own.log_most};
    char text[KEEL_OUTCOME_MAX];

    KEEL_EACH_RANK(r, rec->lane) {
        const keel_outcome_rank_t *of = &o->ranks[r];

        sums.deaths += o->printed[r];
        sums.checkpoints = (of->checkpoints > sums.checkpoints) ? of->checkpoints : sums.checkpoints;
        if (of->log_peak > sums.log_peak) {
            sums.log_peak = of->log_peak;
            sums.log_most = of->log_most;
        }
    }
    sums.deaths -= o->unborn;
    sums.gone = rec->lane->gone;
    sums.local = o->counts.local;
    sums.rollbacks = o->counts.rollbacks;
    if (sums.deaths > 0 && rec->lane->config->rehearse == NULL) {
        keel_outcome_write_sums(&sums, text, sizeof(text));
        keel_notice(rec->message, "%s", text);
    }
}
