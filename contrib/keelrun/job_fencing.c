/*
 * The master as arbiter of silent ranks. The master can see whether a process is stopped, and can
 * kill; so a suspect is either killed, and then dead like any other, or left alone.
 *
 * A stopped suspect is killed on any accusation. A running suspect that has not greeted a
 * replacement is left alone, and the accusation of the replacement is no vote: it has no data yet
 * that others need. Otherwise a running suspect is killed if the accuser hears more than half of
 * the job: then the accuser is not isolated. If the accuser hears less, the larger part of the job
 * will accuse, too; if that does not happen (two nodes, one rank each), the accuser that hears most
 * is right, on the lowest node among equals: one part of the job remains. A running suspect accused
 * from another node restarts on yet another node, since its network may be broken. If it is not the
 * first such suspect of its node, the whole node goes. The remaining ranks of a node show whether
 * its network works: if none of them was missed for some multiple of the silence, the node is as
 * good as any other.
 *
 * A process that is to be killed for silence, or a node that does not start or reap a rank in time,
 * is examined first: a process that waits for a core, or got little time since the last look, may
 * live until the next accusation, a bounded number of times per silence.
 */
#include "job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>

#include <transport.h>

#include "report.h"

/* a node that has not reaped a dead rank by then hangs */
#define FENCING_REAP_NS (2 * 1000000000ull)
/* accusations needed if the accuser does not hear more than half of the job */
#define FENCING_REPEATS 2
#define FENCING_QUIET   4 /* silences; a silent rank is accused after one, and again after each */

/*
 * True if a process that is to be killed only waits for a core. The first thread of a node starts
 * ranks and reaps them.
 */
static bool fencing_is_starved(pid_t pid, const char *thread, keel_reprieve_t *last, const suspicion_t *suspicion)
{
    keel_sight_t sight;

    (void)keel_process_see(pid, thread, &sight);
    return keel_starved_is_reprieved(last, &sight, suspicion->repeats, suspicion->silence_ns);
}

/*
 * True if a rank on another node accuses any rank, too, and is to be believed instead. An accuser
 * repeats its accusation at most one silence later.
 */
static bool fencing_is_outvoted(const job_t *job, uint32_t accuser)
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

        if (state->node == node && state->state == RANK_RUNNING && state->is_accuser &&
            fencing_is_outvoted(job, rank)) {
            return true;
        }
    }
    return false;
}

static bool fencing_has_witness(const job_t *job, uint32_t node)
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
           (state->suspected_ns != 0 && (clock_now_ns() - state->suspected_ns < FENCING_QUIET * state->silence_ns ||
                                         !fencing_has_witness(job, node)));
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

static void fencing_kill(job_rank_t *state)
{
    state->is_killed = true;
    state->fenced_ns = clock_now_ns();
    pidfd_send_signal(state->pidfd, SIGKILL, NULL, 0); /* also kills a stopped process */
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
    fencing_kill(state);
}

static void fence_judge(job_t *job, uint32_t suspect, const suspicion_t *suspicion, char process)
{
    const job_rank_t *state = &job->ranks[suspect];
    keel_reprieve_t *last = &job->ranks[suspicion->accuser].reprieve;

    if (process != 'T' && fencing_is_starved(state->pid, KEEL_SERVICE_THREAD, last, suspicion)) {
        report_verbose(
            "rank %u incarnation %u may live until it is accused again: rank %u does not hear it, and it waits for "
            "a core (%u of %u)",
            suspect, state->incarnation, suspicion->accuser, last->given, KEEL_REPRIEVES_MAX);
        return;
    }
    fence_rank(job, suspicion, suspect, process);
}

/*
 * Handles a rank that accuses itself: its network device has failed. The rank restarts on another
 * node, if there is one, as do other ranks of the node with the same report.
 */
static void fencing_on_own_report(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];

    report_verbose("rank %u incarnation %u killed: it says that it reaches nobody from its node", rank,
                   state->incarnation);
    job->nodes[state->node].has_failed = true;
    state->must_move = true;
    fencing_kill(state);
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
        return; /* already dead, or younger than the silence */
    }
    if (state->state == RANK_STARTING) {
        if (!fencing_is_starved(job->nodes[state->node].pid, NULL, &own->reprieve, suspicion)) {
            fence_kill_node(job, state->node);
        }
        return;
    }
    if (state->state != RANK_RUNNING || state->has_exited) {
        return;
    }
    if (accuser == suspect) {
        fencing_on_own_report(job, suspect);
        return;
    }
    (void)keel_process_see(state->pid, NULL, &sight);
    if (is_any && sight.state != 'T') {
        /* the rank has not greeted a replacement: ranks that know it can judge */
        return;
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
        (own->doubts >= FENCING_REPEATS && !job_is_suspect(job, own->node) && !fencing_is_outvoted(job, accuser))) {
        fence_judge(job, suspect, suspicion, sight.state);
    } else {
        report_verbose("rank %u hears %u of %u ranks and not rank %u: waiting for others", accuser, suspicion->heard,
                       suspicion->live, suspect);
    }
}

static uint64_t fencing_look_ns(const job_rank_t *state)
{
    return state->fenced_ns + (1 + state->fencing_looks) * FENCING_REAP_NS;
}

uint64_t job_next_fencing_ns(const job_t *job)
{
    uint64_t next = UINT64_MAX;

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *state = &job->ranks[rank];

        if (state->fenced_ns != 0 && fencing_look_ns(state) < next) {
            next = fencing_look_ns(state);
        }
    }
    return next;
}

/*
 * True if the node of a killed rank has had its time to report the death. The node gets more time,
 * a bounded number of times, while the rank is still ending, which takes long with much memory, and
 * once if the node has reaped the rank but PMIx has not noticed.
 */
static bool fencing_is_node_late(const job_t *job, job_rank_t *state)
{
    const pid_t node = job->nodes[state->node].pid;
    struct pollfd end = {.fd = state->pidfd, .events = POLLIN};
    const bool is_ending = poll(&end, 1, 0) == 0;
    const unsigned looks = state->fencing_looks++;
    keel_sight_t sight;

    (void)keel_process_see(node, NULL, &sight);
    if (looks >= KEEL_REPRIEVES_MAX) {
        return true;
    }
    return !is_ending &&
           !keel_starved_is_reprieved(&state->reprieve, &sight, looks, clock_now_ns() - state->fenced_ns) &&
           (sight.state == 'T' || looks > 0 || pidfd_send_signal(state->pidfd, 0, NULL, 0) == 0);
}

void job_check_fencing(job_t *job)
{
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        job_rank_t *state = &job->ranks[rank];

        if (state->fenced_ns == 0 || clock_now_ns() < fencing_look_ns(state)) {
            continue;
        }
        if (state->state != RANK_RUNNING || state->has_exited || job->nodes[state->node].is_lost) {
            state->fenced_ns = 0;
        } else if (fencing_is_node_late(job, state)) {
            state->fenced_ns = 0;
            fence_kill_node(job, state->node);
        }
    }
}
