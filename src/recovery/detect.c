/*
 * Detection of processes that hang, are stopped, or cannot be reached (protocol/detection.md).
 *
 * A process inside Keel probes one neighbour, the next rank that is up. The neighbour's service
 * thread answers while the program computes. So detection costs one message an interval and rank.
 * Up to three more ranks are watched in the cases that follow: the state is that of four peers. If
 * the next rank is absent, the start of its replacement is watched for. A peer with a broken
 * connection is probed beside the neighbour: connections may break and recover without end, and the
 * count of the neighbour's silence has to last. While the neighbour is a new replacement, the next
 * rank that is not new is probed, too: a replacement cannot probe ranks before their greeting, and
 * a computing rank sends none. No process probes while computing. A computing process delays the
 * others anyway, so a death found after its return delays the job by no more than the timeout. In
 * turn, silence counts only while the watcher looks, in steps of bounded length: a process that was
 * stopped, or had no core for a while, has not listened and accuses no peer for that time.
 *
 * Bound. From its hang to the accusation a rank has half a timeout until the next probe, one until
 * the neighbour probes all ranks (three with a broken connection, six for a replacement that has to
 * start), and one for their replies. The sum is at most 4.5 timeouts, or 7 for a replacement, if a
 * watcher inside Keel looks 64 times in a timeout or more often. After the loss of a watcher the
 * count starts again. The launcher's time to kill comes on top, and the time granted to a suspect
 * that seems to lack only a core (runtime/starved). Such a suspect is accused again after a
 * timeout, or two without a majority of replies, up to eight times.
 *
 * Safety. A suspicion is no death. Before an accusation the watcher asks all ranks, and goes on
 * when more than half of all ranks have replied, or after a timeout; the accusation says how many
 * did, so an isolated process finds out here. The runtime then kills the suspect, and reports the
 * death once the process is gone, as for any death: the view knows one kind of death. The process
 * is gone before a decision, which keeps memory on the direct lane safe, where stores cannot be
 * refused. A process that wakes up before the kill is still a member, and afterwards there is none.
 * A wrong suspicion costs one more death, but never memory.
 *
 * If no runtime can kill (KEEL_ERR_UNSUPPORTED; never on one node, so there is no direct lane
 * between the two ranks), ranks that hear more than half of all ranks declare the silent ranks
 * dead, and all other ranks end. Dead ranks count as silent, however certain the death: their
 * replacements may exist already, known to the other part alone. Later messages of a declared rank
 * are refused by incarnation.
 */
#include "recovery/detect.h"
#include "recovery/recovery_status.h"
#include "recovery/recovery.h"
#include "recovery/view.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"

#include <string.h>

/* rounds of probing all ranks before the process takes itself for cut off */
#define ISOLATED_ROUNDS 3
/* Timeouts that a watched process may be silent. */
#define PATIENCE_NEIGHBOUR 1
/* broken connection: its own neighbour is first, and the launcher before that */
#define PATIENCE_BROKEN 3
/* a live rank greets a replacement, unless it computes: the runtime checks */
#define PATIENCE_GREETING 3
#define PATIENCE_START    6 /* a replacement has to start */

keel_status_t keel_detect_init(keel_recovery_t *rec)
{
    const keel_config_t *config = rec->lane->config;
    keel_detect_t *detect = &rec->detect;

    if (config->heartbeat_interval_s > 0 && config->heartbeat_timeout_s > 0) {
        detect->timeout_ns = (uint64_t)(config->heartbeat_timeout_s * 1e9);
        detect->interval_ns = (uint64_t)(config->heartbeat_interval_s * 1e9);
        if (detect->interval_ns > detect->timeout_ns / 2) {
            detect->interval_ns = detect->timeout_ns / 2;
        }
    }
    detect->now_ns = keel_recovery_now(rec);
    detect->neighbour.rank = detect->established.rank = rec->lane->rank;
    detect->broken.rank = detect->absent.rank = rec->lane->rank;
    detect->asked = keel_alloc(rec->lane->size * sizeof(*detect->asked), "heartbeats");
    return (detect->asked == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

void keel_detect_release(keel_recovery_t *rec)
{
    keel_free(rec->detect.asked);
}

/* ---- choice of the watched ranks ---- */

/* The next rank that is up. */
static uint32_t next_up(const keel_lane_t *lane)
{
    KEEL_EACH_MEMBER_AFTER_OWN(r, lane) {
        if (lane->peers[r].is_up) {
            return r;
        }
    }
    return lane->rank;
}

/* A new process cannot probe ranks before their greeting, and such a rank may be computing. So
 * the next rank that is not new is watched, too. */
static uint32_t next_established(const keel_recovery_t *rec)
{
    const keel_lane_t *lane = rec->lane;
    const uint32_t rank = next_up(lane);

    if (rank == lane->rank || rec->peer_states[rank].state != KEEL_RANK_FRESH) {
        return lane->rank;
    }
    KEEL_EACH_MEMBER_AFTER_OWN(r, lane) {
        if (lane->peers[r].is_up && rec->peer_states[r].state != KEEL_RANK_FRESH) {
            return r;
        }
    }
    return lane->rank;
}

/* Another rank with a broken connection, which cannot answer. A watched rank stays watched in
 * spite of other connections that break and recover. */
static uint32_t next_broken(const keel_recovery_t *rec)
{
    const keel_lane_t *lane = rec->lane;
    const keel_detect_t *detect = &rec->detect;
    uint32_t broken = lane->rank;

    if (lane->broken == 0) {
        return lane->rank;
    }
    KEEL_EACH_MEMBER_AFTER_OWN(r, lane) {
        if (lane->peers[r].is_up && lane->peers[r].is_broken && r != detect->neighbour.rank &&
            r != detect->established.rank && (broken == lane->rank || r == detect->broken.rank)) {
            broken = r;
        }
    }
    return broken;
}

/* The next rank if it is not up. Each run of absent ranks has a live rank before it, which
 * watches the first of them. */
static uint32_t next_absent(const keel_lane_t *lane)
{
    const uint32_t next = keel_member_after(lane, lane->rank);

    return lane->peers[next].is_up ? lane->rank : next;
}

static void watch_choose(keel_recovery_t *rec, keel_watch_t *watch, uint32_t rank, int is_absent)
{
    const keel_peer_t *peer = &rec->lane->peers[rank];

    if (watch->rank == rank && watch->incarnation == peer->incarnation &&
        !(KEEL_PLANT(detect_silence_forgotten) && watch == &rec->detect.neighbour &&
          rec->detect.broken.rank != rec->lane->rank)) {
        return;
    }
    *watch = (keel_watch_t){.rank = rank,
                            .incarnation = peer->incarnation,
                            .is_absent = (uint8_t)is_absent,
                            .acked = peer->acked,
                            .heard_ns = rec->detect.clock_ns,
                            .probed_ns = rec->detect.clock_ns};
}

/* ---- replies ---- */

static void ask_everyone(keel_recovery_t *rec, keel_watch_t *watch)
{
    keel_lane_t *lane = rec->lane;

    KEEL_EACH_MEMBER(r, lane) {
        const keel_peer_t *peer = &lane->peers[r];

        /* a rank that comes up later has to be probed before its reply counts */
        rec->detect.asked[r] = UINT64_MAX;
        if (!peer->is_up || r == watch->rank) {
            continue;
        }
        (void)keel_lane_send_probe(lane, r);
        rec->detect.asked[r] = peer->sent;
    }
    watch->stage = KEEL_WATCH_ASKING;
    watch->stage_ns = rec->detect.clock_ns;
}

static void count_replies(const keel_recovery_t *rec, const keel_watch_t *watch, keel_suspicion_t *suspicion)
{
    suspicion->heard = suspicion->live = 1;
    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_peer_t *peer = &rec->lane->peers[r];

        if (peer->is_up) {
            suspicion->live++;
            suspicion->heard += (r != watch->rank && peer->acked >= rec->detect.asked[r]);
        }
    }
}

static int is_majority(uint32_t heard, uint32_t of)
{
    return 2 * heard > of;
}

/* ---- consequences ---- */

/* Handles a death that no runtime reports: the neighbour, or the rank that found it, announces
 * it. */
static void declare_dead(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation, int is_announced)
{
    const uint32_t who[2] = {rank, incarnation};
    keel_runtime_t *runtime = rec->lane->runtime;

    keel_view_death(rec, rank, incarnation);
    if (is_announced) {
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_DECLARED, who, sizeof(who));
    }
    runtime->ops->replace(runtime, rank, incarnation);
}

/* No runtime arbitrates: the part with more than half of the ranks goes on. Dead ranks count,
 * since their replacements may be in the other part. */
static void decide_without_runtime(keel_recovery_t *rec, keel_watch_t *watch, const keel_suspicion_t *suspicion)
{
    /* Ranks may be slow to answer, or to start if only replacements are missing, and a process
     * that ends does not come back. */
    const unsigned rounds =
        is_majority(suspicion->heard, suspicion->live) ? ISOLATED_ROUNDS + PATIENCE_START : ISOLATED_ROUNDS;

    if (watch->is_absent) {
        return; /* the rank is known to be dead, and no replacement comes */
    }
    if (is_majority(suspicion->heard, keel_member_count(rec->lane))) {
        declare_dead(rec, watch->rank, watch->incarnation, 1);
        return;
    }
    if (++watch->rounds >= rounds) {
        keel_error(rec->message, "of %u ranks this one hears %u: it is cut off and ends, the larger part goes on",
                   keel_member_count(rec->lane), suspicion->heard);
        rec->fatal = KEEL_ERR_ISOLATED;
    }
}

void keel_detect_receive_declared(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    uint32_t who[2];

    if (in->length != sizeof(who)) {
        keel_error(rec->message, "malformed declaration from rank %u refused", in->source);
        return;
    }
    memcpy(who, in->payload, sizeof(who));
    if (who[0] < rec->lane->size && who[0] != rec->lane->rank && who[1] >= rec->lane->peers[who[0]].incarnation) {
        declare_dead(rec, who[0], who[1], 0);
    }
}

/* True if a process of the rank was known here before. A replacement does not know the
 * incarnation of absent ranks. */
static int has_been_up(const keel_recovery_t *rec, uint32_t rank)
{
    return rec->lane->incarnation == 0 || rec->lane->peers[rank].was_up;
}

static void accuse(keel_recovery_t *rec, keel_watch_t *watch, keel_suspicion_t *suspicion)
{
    keel_runtime_t *runtime = rec->lane->runtime;

    suspicion->is_absent = watch->is_absent;
    suspicion->rank = watch->rank;
    suspicion->incarnation = has_been_up(rec, watch->rank) ? watch->incarnation : KEEL_INCARNATION_ANY;
    suspicion->silence_ns = rec->detect.clock_ns - watch->heard_ns;
    suspicion->repeats = KEEL_PLANT(detect_repeats_uncounted) ? 0 : watch->accusations;
    watch->accusations++;
    watch->stage = KEEL_WATCH_ACCUSED;
    watch->stage_ns = rec->detect.clock_ns;
    keel_warn(rec->message, "rank %u incarnation %u is silent for %.3f s; this rank hears %u of %u live ones",
              watch->rank, watch->incarnation, (double)suspicion->silence_ns * 1e-9, suspicion->heard, suspicion->live);
    switch (runtime->ops->suspect(runtime, suspicion)) {
    case KEEL_ERR_UNREACHABLE:
        declare_dead(rec, watch->rank, watch->incarnation, 1);
        break;
    case KEEL_ERR_UNSUPPORTED:
        decide_without_runtime(rec, watch, suspicion);
        break;
    default:
        break;
    }
}

static void watch_replied(keel_recovery_t *rec, keel_watch_t *watch)
{
    keel_peer_t *peer = &rec->lane->peers[watch->rank];

    if (watch->stage != KEEL_WATCH_HEARING) {
        rec->detect.false_suspicions++;
        watch->stage = KEEL_WATCH_HEARING;
    }
    keel_lane_peer_answers(rec->lane, watch->rank);
    watch->rounds = 0;
    watch->accusations = KEEL_PLANT(detect_repeats_kept) ? watch->accusations : 0;
    watch->acked = peer->acked;
    watch->heard_ns = rec->detect.clock_ns;
}

static void watch_listen(keel_recovery_t *rec, keel_watch_t *watch)
{
    const keel_peer_t *peer = &rec->lane->peers[watch->rank];
    const int is_answered = peer->acked != watch->acked;
    keel_detect_t *detect = &rec->detect;

    if (is_answered || (peer->sent == peer->acked && !peer->is_broken)) {
        watch_replied(rec, watch); /* all probes are answered */
    }
    /* No probe in the step of a reply: a flush waits for a step with all requests answered. */
    if (!is_answered && peer->sent == peer->acked && detect->clock_ns - watch->probed_ns >= detect->interval_ns) {
        watch->probed_ns = detect->clock_ns;
        (void)keel_lane_send_probe(rec->lane, watch->rank);
    }
}

static uint64_t patience(const keel_recovery_t *rec, const keel_watch_t *watch)
{
    const uint64_t timeout = rec->detect.timeout_ns;

    if (watch->is_absent) {
        return timeout * (has_been_up(rec, watch->rank) ? PATIENCE_START : PATIENCE_GREETING);
    }
    return timeout * (rec->lane->peers[watch->rank].is_broken ? PATIENCE_BROKEN : PATIENCE_NEIGHBOUR);
}

static void watch_step(keel_recovery_t *rec, keel_watch_t *watch)
{
    keel_detect_t *detect = &rec->detect;
    keel_suspicion_t suspicion;

    if (watch->rank == rec->lane->rank || rec->fatal == KEEL_ERR_ISOLATED) {
        return;
    }
    if (!watch->is_absent) {
        watch_listen(rec, watch);
    }
    switch (watch->stage) {
    case KEEL_WATCH_HEARING:
        if (detect->clock_ns - watch->heard_ns >= patience(rec, watch)) {
            detect->suspicions++;
            ask_everyone(rec, watch);
        }
        break;
    case KEEL_WATCH_ASKING:
        count_replies(rec, watch, &suspicion);
        if (is_majority(suspicion.heard, keel_member_count(rec->lane)) ||
            detect->clock_ns - watch->stage_ns >= detect->timeout_ns) {
            accuse(rec, watch, &suspicion);
        }
        break;
    case KEEL_WATCH_ACCUSED:
        if (detect->clock_ns - watch->stage_ns >= detect->timeout_ns) {
            ask_everyone(rec, watch);
        }
        break;
    }
}

/* A connection broke, and no launcher reports the reason. The process may be gone, which is
 * visible on the same node: all connected ranks notice, and the neighbour tells the others. */
static void look_at_broken(keel_recovery_t *rec)
{
    keel_lane_t *lane = rec->lane;

    KEEL_EACH_MEMBER_AFTER_OWN(r, lane) {
        const keel_suspicion_t suspicion = {.rank = r, .incarnation = lane->peers[r].incarnation};

        if (lane->peers[r].is_up && lane->peers[r].is_broken &&
            lane->runtime->ops->suspect(lane->runtime, &suspicion) == KEEL_ERR_UNREACHABLE) {
            declare_dead(rec, r, suspicion.incarnation, r == next_up(lane) || r == rec->detect.neighbour.rank);
        }
    }
}

void keel_detect_step(keel_recovery_t *rec)
{
    keel_detect_t *detect = &rec->detect;
    keel_watch_t *const watches[] = {&detect->neighbour, &detect->established, &detect->broken, &detect->absent};
    /* a longer gap between two steps counts as this */
    const uint64_t longest = detect->timeout_ns / KEEL_LOOKS_A_TIMEOUT;
    /* a leaving rank needs no replacements, but waits until all live ranks know its reason */
    const int is_leaving = keel_recovery_is_finished(rec) || rec->fatal != KEEL_OK;
    uint64_t now, passed;

    if (detect->timeout_ns == 0 || rec->fatal == KEEL_ERR_ISOLATED) {
        return;
    }
    now = keel_recovery_now(rec);
    passed = now - detect->now_ns;
    detect->now_ns = now;
    detect->clock_ns += (passed < longest) ? passed : longest;
    if (rec->lane->broken > 0 && rec->lane->runtime->lacks_death_events && !is_leaving &&
        detect->clock_ns - detect->looked_ns >= detect->timeout_ns / KEEL_LOOKS_A_TIMEOUT) {
        detect->looked_ns = detect->clock_ns;
        look_at_broken(rec);
    }
    watch_choose(rec, &detect->neighbour, next_up(rec->lane), 0);
    watch_choose(rec, &detect->established, next_established(rec), 0);
    watch_choose(rec, &detect->broken, next_broken(rec), 0);
    watch_choose(rec, &detect->absent, is_leaving ? rec->lane->rank : next_absent(rec->lane), 1);
    for (unsigned i = 0; i < sizeof(watches) / sizeof(*watches); i++) {
        watch_step(rec, watches[i]);
        if (watches[i]->stage != KEEL_WATCH_HEARING) {
            /* one suspect at a time: the arbiter counts accusations by accuser and suspect */
            break;
        }
    }
}
