/*
 * Nodes of restarted ranks. keelrun knows no groups, so it cannot know which node would keep the
 * guarantee of a group. All ranks of a lost node go to the same node, the emptiest: an empty node
 * is as good as the lost one, and otherwise one node with too many members of a group is better
 * than several.
 */
#include "job.h"

uint32_t job_count_on_node(const job_t *job, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        count += job->ranks[rank].node == node && job->ranks[rank].state != RANK_LEFT;
    }
    return count;
}

static bool job_can_take_ranks(const job_t *job, uint32_t node)
{
    return !job->nodes[node].is_lost && !job->nodes[node].has_failed && !job_is_suspect(job, node);
}

/*
 * Picks the node with the fewest ranks, among equals the next after @a lost; returns @a lost if
 * there is none. A node that may be isolated itself is the last choice.
 */
static uint32_t job_choose_heir(const job_t *job, uint32_t lost)
{
    uint32_t heir = lost, fewest = UINT32_MAX;

    for (uint32_t step = 1; step < job->options->nodes; step++) {
        const uint32_t node = (lost + step) % job->options->nodes,
                       doubt = job_is_doubtful(job, node) ? job->options->ranks : 0;
        const uint32_t count = job_count_on_node(job, node) + doubt;

        if (job_can_take_ranks(job, node) && count < fewest) {
            heir = node;
            fewest = count;
        }
    }
    return heir;
}

bool job_move_rank(job_t *job, job_rank_t *state)
{
    job_node_t *lost = &job->nodes[state->node];

    if (lost->heir == state->node || !job_can_take_ranks(job, lost->heir)) {
        lost->heir = job_choose_heir(job, state->node);
    }
    if (lost->heir == state->node) {
        return !lost->is_lost && !lost->has_failed;
    }
    state->node = lost->heir;
    return true;
}
