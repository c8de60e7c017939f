/* Ranks and nodes of a job: starts, deaths, joins, exits. */
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_common.h>

#include <base/limit_hint.h>
#include <runtime/pmix_events.h>

#include "report.h"

static void job_broadcast(job_t *job, message_type_t type, uint32_t rank, uint32_t incarnation, const char *payload,
                          size_t length)
{
    message_t message = {.type = type, .rank = rank, .incarnation = incarnation};

    for (uint32_t node = 0; node < job->options->nodes; node++) {
        channel_send(&job->nodes[node].channel, &message, payload, length);
    }
}

void job_end(job_t *job, int status, const char *format, ...)
{
    va_list arguments;
    char reason[512];

    if (job->is_ending) {
        return;
    }
    if (format != NULL) {
        va_start(arguments, format);
        vsnprintf(reason, sizeof reason, format, arguments);
        va_end(arguments);
        report("%s", reason);
    }
    job->is_ending = true;
    job->status = status;
    job_broadcast(job, MESSAGE_QUIT, 0, 0, NULL, 0);
}

void job_cancel_restart(job_t *job, int status)
{
    if (job->status == KEELRUN_STATUS_AGAIN) {
        job->status = status;
    }
    job->is_unmet = false;
    free(job->setting);
    job->setting = NULL;
}

/* ---- starting ---- */

static void job_start_rank(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];
    message_t message = {.type = MESSAGE_START,
                         .rank = rank,
                         .incarnation = state->incarnation,
                         .value = job_count_on_node(job, state->node)};

    state->state = RANK_STARTING;
    state->is_connected = state->is_over = state->is_stopped = state->is_finalized = state->is_killed =
        state->is_accuser = false;
    state->has_joined = state->has_started = state->was_recovered = false;
    state->fenced_ns = 0;
    state->fencing_looks = 0;
    state->started_ns = clock_now_ns();
    channel_send(&job->nodes[state->node].channel, &message, NULL, 0);
}

static void job_on_hello(job_t *job, uint32_t node, const message_t *message, const char *payload)
{
    int error = (int)message->value; /* below 0: no errno */
    char hint[KEEL_LIMIT_HINT_MAX];

    if (error != 0) {
        bool is_netns = job->options->netns && memcmp(payload, "network", 7) == 0;

        job_end(job, is_netns ? KEELRUN_STATUS_NO_NETNS : KEELRUN_STATUS_FAILED, "node %u: %.*s%s%s%s", node,
                (int)message->length, payload, error > 0 ? ": " : "", error > 0 ? strerror(error) : "",
                keel_limit_hint(error > 0 ? error : 0, hint));
        return;
    }
    job->nodes[node].pid = (pid_t)message->cookie;
    job->nodes[node].is_ready = true;
    job->ready_count++;
    if (job->ready_count == job->options->nodes) {
        report_verbose("%u node%s ready", job->ready_count, job->ready_count == 1 ? "" : "s");
        for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
            job_start_rank(job, rank);
        }
    }
}

static void job_on_started(job_t *job, job_rank_t *state, const message_t *message)
{
    char hint[KEEL_LIMIT_HINT_MAX];

    state->state = RANK_RUNNING;
    state->pid = (pid_t)message->value;
    /* the process waits at the gate, so the pid is valid */
    state->pidfd = pidfd_open((pid_t)message->value, 0);
    /* otherwise the process has ended, and the node reports the end next */
    if (state->pidfd < 0 && errno != ESRCH) {
        job_end(job, KEELRUN_STATUS_FAILED, "rank %u: pidfd_open: %s%s", message->rank, strerror(errno),
                keel_limit_hint(errno, hint));
        return;
    }
    report_verbose("rank %u incarnation %u started on node %u, pid %lld", message->rank, message->incarnation,
                   state->node, (long long)message->value);
    job_fire_kills(job);
}

static void job_on_not_started(job_t *job, const message_t *message, const char *payload)
{
    int error = (int)message->value;
    bool is_lack = error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM;
    int status = is_lack           ? KEELRUN_STATUS_FAILED
                 : error == ENOENT ? KEELRUN_STATUS_NOT_FOUND
                                   : KEELRUN_STATUS_NOT_EXECUTABLE;
    char hint[KEEL_LIMIT_HINT_MAX];

    job_end(job, status, "rank %u: %.*s: %s%s", message->rank, (int)message->length, payload, strerror(error),
            keel_limit_hint(error, hint));
}

/* ---- ending ---- */

static void job_fail_fences(job_t *job)
{
    while (job->fences != NULL) {
        fence_t *fence = job->fences;

        for (uint32_t node = 0; node < job->options->nodes; node++) {
            message_t message = {
                .type = MESSAGE_FENCE_DONE, .value = PMIX_ERR_LOST_CONNECTION, .cookie = fence->cookies[node]};

            if (fence->has_come[node]) {
                channel_send(&job->nodes[node].channel, &message, NULL, 0);
            }
        }
        fence_remove(&job->fences, fence);
    }
}

/* Declares the dead rank gone, for good. */
static void job_shrink(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];

    job->has_death = true;
    job_fail_fences(job);
    job_broadcast(job, MESSAGE_DEATH, rank, state->incarnation, NULL, 0);
    job_broadcast(job, MESSAGE_GONE, rank, state->incarnation, NULL, 0);
    state->state = RANK_DEAD;
    state->is_gone = true;
    job->gone_count++;
    job->left_count++;
    report_verbose("rank %u is gone: the other ranks go on", rank);
}

static void job_on_death(job_t *job, uint32_t rank, int signal_number)
{
    job_rank_t *state = &job->ranks[rank];
    const char *why;

    job_count_failed_start(job, state);
    why = job_why_no_restart(job, rank);
    report_verbose("rank %u incarnation %u died: signal %d", rank, state->incarnation, signal_number);
    job->last_death.rank = rank;
    job->last_death.incarnation = state->incarnation;
    job->last_death.signal = signal_number;
    if (job_goes_on(job, rank, why)) {
        job_shrink(job, rank);
        return;
    }
    if (why != NULL) {
        job->is_unmet = job->met_ns == 0 && !job->options->no_restart;
        job_end(job, 128 + signal_number, "rank %u (incarnation %u) was killed by signal %d (%s) %s", rank,
                state->incarnation, signal_number, strsignal(signal_number), why);
        return;
    }
    if (job->options->spares == 0 &&
        (job->nodes[state->node].is_lost || job->nodes[state->node].has_failed || state->must_move) &&
        !job_move_rank(job, state)) {
        if (job_may_go_on(job, rank)) {
            job_shrink(job, rank);
            return;
        }
        job_end(job, 128 + signal_number, "rank %u has no node left to run on%s", rank,
                job->nodes[state->node].has_failed ? ": from its own it reaches nobody" : "");
        return;
    }
    state->must_move = false;
    job->has_death = true;
    job_fail_fences(job);
    job_broadcast(job, MESSAGE_DEATH, rank, state->incarnation, NULL, 0);
    if (job->options->spares > 0) {
        if (job_has_rank(job, rank)) {
            job->absent_count++;
            job->absent_signal = signal_number;
        }
        job->spares_left--;
        state->state = RANK_DEAD;
        job->left_count++;
        return;
    }
    state->incarnation++;
    job_start_rank(job, rank);
}

static void job_on_over(job_t *job, job_rank_t *state)
{
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_over; rank++) {
        job_rank_t *other = &job->ranks[rank];

        other->was_recovered = other->has_started && (other->incarnation > 0 || other->has_joined);
    }
    state->is_over = job->is_over = true;
}

static void job_on_finalized(job_t *job, job_rank_t *state)
{
    if (!state->is_finalized) {
        state->is_finalized = true;
        job->finalized_count++;
    }
}

static void job_on_left(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];

    /* after the last gsync the rank has left, even if the exit message from PMIx was lost */
    if (state->is_over) {
        job_on_finalized(job, state);
    }
    if (!state->is_finalized && job->connected_count != 0) {
        job_end(job, KEELRUN_STATUS_FAILED, "rank %u (incarnation %u) exited without leaving the job", rank,
                state->incarnation);
        return;
    }
    state->state = RANK_LEFT;
    job->left_count++;
    report_verbose("rank %u incarnation %u left", rank, state->incarnation);
    if (state->is_finalized) {
        job_broadcast(job, MESSAGE_EXIT, rank, state->incarnation, NULL, 0);
    }
    if (job->left_count < job->options->ranks) {
        return;
    }
    if (job->absent_count > 0) {
        job_end(
            job, 128 + job->absent_signal,
            "%u ranks, the last by signal %d (%s), were killed while the job was leaving: nothing is recovered then",
            job->absent_count, job->absent_signal, strsignal(job->absent_signal));
    }
    job_end(job, 0, NULL);
}

static void job_on_exited(job_t *job, uint32_t rank, int status)
{
    job_rank_t *state = &job->ranks[rank];

    close(state->pidfd);
    state->pidfd = -1;
    if (WIFSIGNALED(status)) {
        job_on_death(job, rank, WTERMSIG(status));
    } else if (job_was_turned_away(job, state)) { /* for any exit status of the program */
        job_end(job, 128 + job->last_death.signal,
                "rank %u (incarnation %u) was killed by signal %d (%s) while the job was leaving: nothing is recovered "
                "then",
                job->last_death.rank, job->last_death.incarnation, job->last_death.signal,
                strsignal(job->last_death.signal));
    } else if (WEXITSTATUS(status) != 0) {
        job_end(job, WEXITSTATUS(status), "rank %u (incarnation %u) exited with status %d", rank, state->incarnation,
                WEXITSTATUS(status));
    } else {
        job_on_left(job, rank);
    }
}

bool job_note_ends(job_t *job)
{
    bool has_any = false;

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        job->ranks[rank].is_exit_due = job->ranks[rank].has_exited;
        has_any |= job->ranks[rank].has_exited;
    }
    return has_any;
}

static void job_take_end(job_t *job, uint32_t rank)
{
    job_rank_t *state = &job->ranks[rank];

    state->has_exited = state->is_exit_due = false;
    job_on_exited(job, rank, state->exit_status);
}

/* Deaths first: other ranks may have failed because of them. */
void job_take_ends(job_t *job)
{
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        if (job->ranks[rank].is_exit_due && WIFSIGNALED(job->ranks[rank].exit_status)) {
            job_take_end(job, rank);
        }
    }
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        if (job->ranks[rank].is_exit_due) {
            job_take_end(job, rank);
        }
    }
}

void job_on_node_lost(job_t *job, uint32_t node)
{
    char hint[KEEL_LIMIT_HINT_MAX];

    channel_close(&job->nodes[node].channel);
    job->nodes[node].is_lost = true;
    if (job->is_ending) {
        return;
    }
    report_verbose("node %u is lost", node);
    if (job->ready_count < job->options->nodes) {
        job_end(job, KEELRUN_STATUS_FAILED, "node %u could not be started: its process is gone%s", node,
                keel_limit_hint(0, hint));
        return;
    }
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        job_rank_t *state = &job->ranks[rank];

        if (state->node == node && state->state == RANK_RUNNING && !state->has_exited) {
            /* the parent death signal is on the way, too */
            pidfd_send_signal(state->pidfd, SIGKILL, NULL, 0);
            state->state = RANK_ORPHANED;
        }
    }
    for (uint32_t rank = 0; rank < job->options->ranks && !job->is_ending; rank++) {
        if (job->ranks[rank].node == node && job->ranks[rank].state == RANK_STARTING) {
            job_on_death(job, rank, SIGKILL); /* a process at its gate can no longer pass */
        }
    }
}

void job_on_orphan_ended(job_t *job, uint32_t rank)
{
    close(job->ranks[rank].pidfd);
    job->ranks[rank].pidfd = -1;
    job_on_death(job, rank, SIGKILL);
}

/* ---- messages of ranks ---- */

/* A replacement repeats the message after its keel_init(). */
static void job_on_met(job_t *job, job_rank_t *state)
{
    state->has_started = true;
    if (state->has_met) {
        return;
    }
    state->has_met = true;
    job->met_count++;
    if (job->met_count == job->options->ranks) {
        job->met_ns = clock_now_ns();
        report_verbose("all ranks have met");
        job_fire_kills(job);
    }
}

/*
 * Announces a join. A replacement that joins after exits of other ranks, or after ranks are gone,
 * has missed the news, so these are announced again.
 */
static void job_on_join(job_t *job, const message_t *message, const char *payload)
{
    job_rank_t *state = &job->ranks[message->rank];
    message_t join = *message;

    if (!state->has_joined && message->rank != (uint32_t)message->value) {
        job->absent_count--;
        state->has_started = false; /* the start as a spare does not count */
        report_verbose("spare %u is rank %lld", message->rank, (long long)message->value);
    }
    if (!state->has_joined) {
        report_verbose("rank %lld incarnation %u joined", (long long)message->value, message->incarnation);
    }
    state->has_joined = true;
    for (uint32_t node = 0; node < job->options->nodes; node++) {
        channel_send(&job->nodes[node].channel, &join, payload, message->length);
    }
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        if (job->ranks[rank].state == RANK_LEFT && job->ranks[rank].is_finalized) {
            job_broadcast(job, MESSAGE_EXIT, rank, job->ranks[rank].incarnation, NULL, 0);
        }
        if (job->ranks[rank].is_gone) {
            job_broadcast(job, MESSAGE_DEATH, rank, job->ranks[rank].incarnation, NULL, 0);
            job_broadcast(job, MESSAGE_GONE, rank, job->ranks[rank].incarnation, NULL, 0);
        }
    }
}

static void job_pass_on(job_t *job, const message_t *message, const char *payload)
{
    message_t copy = *message;

    for (uint32_t node = 0; node < job->options->nodes; node++) {
        channel_send(&job->nodes[node].channel, &copy, payload, message->length);
    }
}

static void job_on_fence(job_t *job, uint32_t node, const message_t *message, const char *payload)
{
    fence_t *fence = fence_add(&job->fences, job->options->nodes, node, message->cookie, payload, message->length);

    if (fence == NULL) {
        return;
    }
    if (job->has_death) {
        job_fail_fences(job);
        return;
    }
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        if (fence_has_rank(fence, rank) && !fence->has_come[job->ranks[rank].node]) {
            return;
        }
    }
    for (uint32_t i = 0; i < job->options->nodes; i++) {
        message_t done = {.type = MESSAGE_FENCE_DONE, .value = PMIX_SUCCESS, .cookie = fence->cookies[i]};

        if (fence->has_come[i]) {
            channel_send(&job->nodes[i].channel, &done, fence->data, fence->length);
        }
    }
    fence_remove(&job->fences, fence);
}

static void job_on_abort(job_t *job, const message_t *message, const char *payload)
{
    int status = (int)message->value & 0xff;

    if (status == KEELRUN_STATUS_AGAIN) {
        job->setting = job_setting(payload, message->length);
    }
    if (status == 0) {
        report_verbose("rank %u ends the job: %.*s", message->rank, (int)message->length, payload);
        job_end(job, 0, NULL);
    } else {
        job_end(job, status, "rank %u ends the job: %.*s", message->rank, (int)message->length, payload);
    }
}

static void job_on_connected(job_t *job, job_rank_t *state)
{
    if (!state->is_connected) {
        state->is_connected = true;
        job->connected_count++;
    }
}

static void job_on_unwritten(job_t *job, int error)
{
    if (!job->is_unwritten) {
        job->is_unwritten = true;
        report("what the ranks print cannot be written: %s", strerror(error));
    }
}

void job_on_message(job_t *job, uint32_t node, const message_t *message, const char *payload)
{
    job_rank_t *state = &job->ranks[message->rank];
    suspicion_t suspicion;

    if (message->type == MESSAGE_UNWRITTEN) { /* nodes write output until they leave */
        job_on_unwritten(job, (int)message->value);
    }
    if (job->is_ending) {
        return;
    }
    switch (message->type) {
    case MESSAGE_HELLO:
        job_on_hello(job, node, message, payload);
        break;
    case MESSAGE_STARTED:
        job_on_started(job, state, message);
        break;
    case MESSAGE_NOT_STARTED:
        job_on_not_started(job, message, payload);
        break;
    case MESSAGE_CONNECTED:
        job_on_connected(job, state);
        break;
    case MESSAGE_MET:
        job_on_met(job, state);
        break;
    case MESSAGE_OVER:
        job_on_over(job, state);
        break;
    case MESSAGE_FINALIZED:
        job_on_finalized(job, state);
        break;
    case MESSAGE_EXITED:
        state->has_exited = true;
        state->exit_status = (int)message->value;
        break;
    case MESSAGE_ABORT:
        job_on_abort(job, message, payload);
        break;
    case MESSAGE_MARKER:
        job_fire_marked(job, (size_t)message->value);
        break;
    case MESSAGE_SUSPECT:
        memcpy(&suspicion, payload, sizeof suspicion); /* the payload may be unaligned */
        job_on_suspicion(job, message, &suspicion);
        break;
    case MESSAGE_FENCE:
        job_on_fence(job, node, message, payload);
        break;
    case MESSAGE_CALL:
    case MESSAGE_NEED:
        job_pass_on(job, message, payload);
        break;
    case MESSAGE_JOIN:
        job_on_join(job, message, payload);
        break;
    default:
        break; /* the node runs the same program and sends nothing else */
    }
}
