/* The engine's loop; see progress.h. */
#include "engine/progress.h"

#include "ckpt/parity.h"
#include "peer/control.h"
#include "recovery/logs/log_pressure.h"
#include "recovery/recover.h"
#include "recovery/recovery_status.h"

/* A sleep takes a part of the wait so far. So an event that wakes no process delays the wait by no
 * more than that part. Detection looks as often. */
#define SLEEP_PART   4
#define SLEEP_MIN_US 50
#define SLEEP_MAX_US 1000

void keel_progress_init(keel_progress_t *progress, keel_lane_t *lane, keel_ckpt_t *ckpt, keel_demand_t *demand,
                        keel_recovery_t *rec)
{
    *progress = (keel_progress_t){.lane = lane, .ckpt = ckpt, .demand = demand, .rec = rec};
}

void keel_progress_run(keel_progress_t *progress)
{
    (void)keel_lane_progress(progress->lane);
    keel_recovery_events(progress->rec);
    keel_lane_control_dispatch(progress->lane);
    keel_recovery_step(progress->rec);
    keel_ckpt_step(progress->ckpt);
    keel_demand_step(progress->demand);
    keel_log_pressure_step(progress->rec);
}

/* Changes if a round did a part of an image or of its parity: the next part is due at once. */
static uint64_t progress_work(const keel_progress_t *progress)
{
    const keel_image_set_t *ckpt = &progress->ckpt->set, *demand = &progress->demand->set;
    uint64_t work = ckpt->compared + demand->compared;

    work += (ckpt->parity != NULL) ? keel_parity_bytes_moved(ckpt->parity) : 0;
    return work + ((demand->parity != NULL) ? keel_parity_bytes_moved(demand->parity) : 0);
}

static unsigned progress_sleep_us(const keel_progress_t *progress, uint64_t now)
{
    const uint64_t sleep_us = (now - progress->wait_ns) / (1000 * SLEEP_PART);

    return (sleep_us < SLEEP_MIN_US) ? SLEEP_MIN_US : (sleep_us > SLEEP_MAX_US) ? SLEEP_MAX_US : (unsigned)sleep_us;
}

void keel_progress_wait(keel_progress_t *progress, unsigned *rounds)
{
    const keel_lane_t *lane = progress->lane;
    const uint64_t work = progress_work(progress);
    uint64_t now;

    keel_progress_run(progress);
    if (keel_lane_progress_caller(lane)) { /* polls: the caller's messages cannot wake a sleep */
        lane->ops->wait(lane->transport, 0, 0, 0);
        return;
    }
    if (progress_work(progress) != work) {
        lane->ops->wait(lane->transport, 0, 0, 0); /* other processes may want the core */
        return;
    }
    now = keel_recovery_now(progress->rec);
    if (++*rounds == 1) {
        progress->wait_ns = now;
    }
    lane->ops->wait(lane->transport, *rounds, progress_sleep_us(progress, now), keel_lane_is_answer_due(lane));
}

static void loop_run(void *arg)
{
    keel_progress_run(arg);
}

static void loop_wait(void *arg, unsigned *rounds)
{
    keel_progress_wait(arg, rounds);
}

keel_recovery_loop_t keel_progress_loop(keel_progress_t *progress)
{
    return (keel_recovery_loop_t){.run = loop_run, .wait = loop_wait, .arg = progress};
}
