/*
 * What the master does about a rank that others do not hear: it is the arbiter. It can see whether a process is stopped,
 * and it can kill; so a suspect is either killed and then dead like any other, or left alone.
 *
 * A suspect that is stopped is killed, whoever says so. One that runs and has not greeted a replacement is left alone, and the
 * replacement's word is no vote: it has nothing yet that others need. Else one that runs is killed when the accuser hears more
 * than half of the job: then the accuser is not the one that is cut off. When it hears less, the larger part of the job will have
 * its say; if that does not come (two nodes, one rank each), of all accusers the one that hears most is right, on the lowest
 * node among equals: one part of the job is left. A suspect that runs and was accused from another node is started again
 * on yet another node: its network may be what is broken. When it is not the first of its node, the whole node goes. Ranks that
 * stayed on the node show whether it is: when nobody has missed one of them for some times the silence, it is not, and the node is
 * as good as any.
 *
 * Whoever is to be killed for that, or a node that does not start or wait for a rank in time, is looked at first: one that
 * wants a core, or got few since it was looked at last, may live until it is accused again, a bounded number of times a silence.
 */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>

#include <transport.h>

#include "report.h"

#define FENCE_REAP_NS (2 * 1000000000ull) /* a node that has not waited for a dead rank by then hangs */
#define FENCE_REPEATS 2                   /* of an accuser that does not hear more than half of the job */
#define FENCE_QUIET   4                   /* silences; who is not heard is accused after one, and again after each */

/* Whether a process that is to be killed only waits for a core. A node's first thread is the one that starts ranks, and waits for
 * them. */
static bool fence_is_starved(pid_t pid, const char *thread, keel_reprieve_t *last, const suspicion_t *suspicion)
{
    keel_sight_t sight;

    (void)keel_process_see(pid, thread, &sight);
    return keel_starved_is_reprieved(last, &sight, suspicion->repeats, suspicion->silence_ns);
}

/* whether somebody on another node accuses too, whomever, and is the one to be believed; it repeats what it says when it has
 * been silent for as long again, at most */
static bool fence_is_outvoted(const job_t *job, uint32_t accuser)
{
    const job_rank_t *own = &job->ranks[accuser];

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *other = &job->ranks[rank];

        if (!other->is_accuser || other->state != RANK_RUNNING || other->is_killed || other->node == own->node ||
            other->accused_ns + 2 * other->silence_ns < own->accused_ns) {
            continue;
        }
        if (other->heard > own->heard || (other->heard == own->heard && other->node < own->node)) {
            return true;
        }
    }
    return false;
}

bool job_is_doubtful(const job_t *job, uint32_t node)
{
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *state = &job->ranks[rank];

        if (state->node == node && state->state == RANK_RUNNING && state->is_accuser && fence_is_outvoted(job, rank)) {
            return true;
        }
    }
    return false;
}

static bool fence_has_witness(const job_t *job, uint32_t node)
{
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *state = &job->ranks[rank];

        if (state->node == node && state->state == RANK_RUNNING && !state->is_killed &&
            state->started_ns < job->nodes[node].suspected_ns) {
            return true;
        }
    }
    return false;
}

bool job_is_suspect(const job_t *job, uint32_t node)
{
    const job_node_t *state = &job->nodes[node];

    return state->has_failed ||
           (state->suspected_ns != 0 &&
            (clock_now_ns() - state->suspected_ns < FENCE_QUIET * state->silence_ns || !fence_has_witness(job, node)));
}

static void fence_suspect_node(job_t *job, uint32_t node, uint64_t silence_ns)
{
    job_node_t *state = &job->nodes[node];

    state->suspected_ns = clock_now_ns();
    state->silence_ns = (silence_ns > state->silence_ns) ? silence_ns : state->silence_ns;
}

static void fence_kill_node(job_t *job, uint32_t node)
{
    report_verbose("node %u killed: it hangs, or its network is broken", node);
    kill(job->nodes[node].pid, SIGKILL);
}

static void fence_kill(job_rank_t *state)
{
    state->is_killed = true;
    state->fenced_ns = clock_now_ns();
    pidfd_send_signal(state->pidfd, SIGKILL, NULL, 0); /* works on one that is stopped, too */
}

static bool fence_is_distant(const job_t *job, uint32_t accuser, uint32_t suspect, char process)
{
    return job->ranks[accuser].node != job->ranks[suspect].node && process != 'T';
}

static void fence_rank(job_t *job, const suspicion_t *suspicion, uint32_t suspect, char process)
{
    job_rank_t *state = &job->ranks[suspect];
    const bool is_distant = fence_is_distant(job, suspicion->accuser, suspect, process);

    report_verbose("rank %u incarnation %u killed: rank %u does not hear it (state %c)", suspect, state->incarnation,
                   suspicion->accuser, process);
    if (is_distant && job_is_suspect(job, state->node)) {
        fence_kill_node(job, state->node);
    } else if (is_distant) {
        fence_suspect_node(job, state->node, suspicion->silence_ns);
        state->must_move = true;
    }
    fence_kill(state);
}

static void fence_judge(job_t *job, uint32_t suspect, const suspicion_t *suspicion, char process)
{
    const job_rank_t *state = &job->ranks[suspect];
    keel_reprieve_t *last = &job->ranks[suspicion->accuser].reprieve;

    if (process != 'T' && fence_is_starved(state->pid, KEEL_SERVICE_THREAD, last, suspicion)) {
        report_verbose(
            "rank %u incarnation %u may live until it is accused again: rank %u does not hear it, and it waits for "
            "a core (%u of %u)",
            suspect, state->incarnation, suspicion->accuser, last->given, KEEL_REPRIEVES_MAX);
        return;
    }
    fence_rank(job, suspicion, suspect, process);
}

/* Of itself: its network device has failed. It, and others of its node that say the same, go on elsewhere, if there is a place. */
static void fence_own(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];

    report_verbose("rank %u incarnation %u killed: it says that it reaches nobody from its node", rank,
                   state->incarnation);
    job->nodes[state->node].has_failed = true;
    state->must_move = true;
    fence_kill(state);
}

void job_on_suspicion(job_t *job, const message_t *message, const suspicion_t *suspicion)
{
    const uint32_t suspect = message->rank, accuser = suspicion->accuser;
    job_rank_t *state = &job->ranks[suspect], *own = &job->ranks[accuser];
    const bool is_any = message->incarnation == UINT32_MAX;
    const uint64_t now = clock_now_ns();
    keel_sight_t sight;

    if (job->met_ns == 0 || (!is_any && message->incarnation != state->incarnation) || state->is_killed ||
        now - state->started_ns < suspicion->silence_ns) {
        return; /* it is dead already, or too young to be missed that long */
    }
    if (state->state == RANK_STARTING) {
        if (!fence_is_starved(job->nodes[state->node].pid, NULL, &own->reprieve, suspicion)) {
            fence_kill_node(job, state->node);
        }
        return;
    }
    if (state->state != RANK_RUNNING || state->has_exited) {
        return;
    }
    if (accuser == suspect) {
        fence_own(job, suspect);
        return;
    }
    (void)keel_process_see(state->pid, NULL, &sight);
    if (is_any && sight.state != 'T') {
        return; /* it has not greeted a replacement: those who know it can tell whether it computes */
    }
    own->doubts = own->is_accuser && own->accused == suspect ? own->doubts + 1 : 1;
    own->is_accuser = true;
    own->accused = suspect;
    own->heard = suspicion->heard;
    own->accused_ns = now;
    own->silence_ns = suspicion->silence_ns;
    if (fence_is_distant(job, accuser, suspect, sight.state) && job_is_suspect(job, state->node)) {
        fence_suspect_node(job, state->node, suspicion->silence_ns);
    }
    if (sight.state == 'T' || 2 * suspicion->heard > suspicion->live ||
        (own->doubts >= FENCE_REPEATS && !job_is_suspect(job, own->node) && !fence_is_outvoted(job, accuser))) {
        fence_judge(job, suspect, suspicion, sight.state);
    } else {
        report_verbose("rank %u hears %u of %u ranks and not rank %u: waiting for others", accuser, suspicion->heard,
                       suspicion->live, suspect);
    }
}

static uint64_t fence_look_ns(const job_rank_t *state)
{
    return state->fenced_ns + (1 + state->fence_looks) * FENCE_REAP_NS;
}

uint64_t job_next_fence_ns(const job_t *job)
{
    uint64_t next = UINT64_MAX;

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *state = &job->ranks[rank];

        if (state->fenced_ns != 0 && fence_look_ns(state) < next) {
            next = fence_look_ns(state);
        }
    }
    return next;
}

/* Whether the node of a rank that was killed has had its time to say so. It may have more, a bounded number of times, while the
 * rank is still ending, which takes a while with much memory, and once when it has waited for it and PMIx has not. */
static bool fence_is_node_late(const job_t *job, job_rank_t *state)
{
    const pid_t node = job->nodes[state->node].pid;
    struct pollfd end = {.fd = state->pidfd, .events = POLLIN};
    const bool is_ending = poll(&end, 1, 0) == 0;
    const unsigned looks = state->fence_looks++;
    keel_sight_t sight;

    (void)keel_process_see(node, NULL, &sight);
    if (looks >= KEEL_REPRIEVES_MAX) {
        return true;
    }
    return !is_ending &&
           !keel_starved_is_reprieved(&state->reprieve, &sight, looks, clock_now_ns() - state->fenced_ns) &&
           (sight.state == 'T' || looks > 0 || pidfd_send_signal(state->pidfd, 0, NULL, 0) == 0);
}

void job_check_fences(job_t *job)
{
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        job_rank_t *state = &job->ranks[rank];

        if (state->fenced_ns == 0 || clock_now_ns() < fence_look_ns(state)) {
            continue;
        }
        if (state->state != RANK_RUNNING || state->has_exited || job->nodes[state->node].is_lost) {
            state->fenced_ns = 0;
        } else if (fence_is_node_late(job, state)) {
            state->fenced_ns = 0;
            fence_kill_node(job, state->node);
        }
    }
}
