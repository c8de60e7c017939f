/* Carries out --kill, --stop, --cut-node and similar options. */
#include "job.h"

#include <errno.h>
#include <signal.h>
#include <sys/pidfd.h>

#include "report.h"

static uint64_t job_kill_ns(const job_t *job, const kill_plan_t *plan)
{
    return job->met_ns + (uint64_t)(plan->seconds * 1e9);
}

static bool job_strike_rank(job_t *job, uint32_t rank, const kill_plan_t *plan)
{
    job_rank_t *state = &job->ranks[rank];

    /* a rank under replacement is killed once it runs again */
    if (state->state != RANK_RUNNING || state->is_killed) {
        return false;
    }
    state->is_killed = plan->action == KILL_PLAN_KILL;
    state->is_stopped = !state->is_killed;
    pidfd_send_signal(state->pidfd, plan->action == KILL_PLAN_KILL ? SIGKILL : SIGSTOP, NULL, 0);
    report_verbose("rank %u incarnation %u %s", rank, state->incarnation, kill_plan_verb(plan));
    return true;
}

static bool job_strike_node(job_t *job, uint32_t node, const kill_plan_t *plan)
{
    message_t cut = {.type = MESSAGE_CUT};

    if (job->nodes[node].is_lost) {
        return true; /* the node is lost for good: done */
    }
    report_verbose("node %u %s", node, kill_plan_verb(plan));
    if (plan->action == KILL_PLAN_CUT) {
        channel_send(&job->nodes[node].channel, &cut, NULL, 0);
        return true;
    }
    kill(job->nodes[node].pid, plan->action == KILL_PLAN_KILL ? SIGKILL : SIGSTOP);
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        if (job->ranks[rank].node == node) {
            job_strike_rank(job, rank, plan);
        }
    }
    return true;
}

/* Ends a job of stopped ranks: no rank is left to notice and report. */
static void job_check_stopped(job_t *job)
{
    bool has_stopped = false;

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        const job_rank_t *state = &job->ranks[rank];

        if (job_has_rank(job, rank) && state->state != RANK_DEAD && !state->is_stopped) {
            return;
        }
        has_stopped |= state->is_stopped && state->state == RANK_RUNNING;
    }
    if (has_stopped) {
        job_end(job, KEELRUN_STATUS_FAILED, "all ranks are stopped: nobody is left to find that out");
    }
}

void job_fire_kills(job_t *job)
{
    /* once a rank has left nothing is recovered: a kill would end the job */
    for (size_t i = 0; i < job->options->kill_count && !job->is_ending && job->finalized_count == 0; i++) {
        kill_plan_t *plan = &job->options->kills[i];
        bool is_due =
            plan->marker != NULL ? plan->is_due : job->met_ns != 0 && clock_now_ns() >= job_kill_ns(job, plan);

        if (!plan->is_done && is_due) {
            plan->is_done =
                plan->is_node ? job_strike_node(job, plan->victim, plan) : job_strike_rank(job, plan->victim, plan);
            job_check_stopped(job);
        }
    }
}

void job_fire_marked(job_t *job, size_t kill)
{
    for (size_t i = 0; i < job->options->kill_count; i++) {
        if (kill_plan_is_by_same_line(&job->options->kills[kill], &job->options->kills[i])) {
            job->options->kills[i].is_due = true;
        }
    }
    job_fire_kills(job);
}

uint64_t job_next_kill_ns(const job_t *job)
{
    uint64_t next = UINT64_MAX;

    for (size_t i = 0; i < job->options->kill_count && job->met_ns != 0 && job->finalized_count == 0; i++) {
        const kill_plan_t *plan = &job->options->kills[i];
        uint64_t at = job_kill_ns(job, plan);

        /* a due kill that is not done waits for its rank to run, not for a time */
        if (!plan->is_done && plan->marker == NULL && at > clock_now_ns() && at < next) {
            next = at;
        }
    }
    return next;
}

void job_report_unfired(const job_t *job)
{
    for (size_t i = 0; i < job->options->kill_count; i++) {
        const kill_plan_t *plan = &job->options->kills[i];

        if (!plan->is_done && plan->marker != NULL) {
            report("%s %u was not %s: %s did not write '%s' while it could be", plan->is_node ? "node" : "rank",
                   plan->victim, kill_plan_verb(plan), plan->is_anyones ? "the ranks" : "it", plan->marker);
        } else if (!plan->is_done) {
            report("%s %u was not %s: the job ended before %.3f s", plan->is_node ? "node" : "rank", plan->victim,
                   kill_plan_verb(plan), plan->seconds);
        }
    }
}
