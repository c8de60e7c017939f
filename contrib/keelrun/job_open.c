/* The state of a job at its start, and its release. */
#include "job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

void job_init(job_t *job, const options_t *options, const int *node_fds)
{
    memset(job, 0, sizeof *job);
    job->options = options;
    job->start_ns = clock_now_ns();
    job->spares_left = options->spares;
    job->ranks = must_allocate(NULL, options->ranks * sizeof *job->ranks);
    memset(job->ranks, 0, options->ranks * sizeof *job->ranks);
    for (uint32_t rank = 0; rank < options->ranks; rank++) {
        job->ranks[rank].node = options_node_of(options, rank);
        job->ranks[rank].pidfd = -1;
    }
    job->nodes = must_allocate(NULL, options->nodes * sizeof *job->nodes);
    memset(job->nodes, 0, options->nodes * sizeof *job->nodes);
    for (uint32_t node = 0; node < options->nodes; node++) {
        channel_open(&job->nodes[node].channel, node_fds[node], false);
        job->nodes[node].heir = node;
    }
}

void job_release(job_t *job)
{
    while (job->fences != NULL) {
        fence_remove(&job->fences, job->fences);
    }
    for (uint32_t node = 0; node < job->options->nodes; node++) {
        channel_close(&job->nodes[node].channel);
    }
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        if (job->ranks[rank].pidfd >= 0) {
            close(job->ranks[rank].pidfd);
        }
    }
    free(job->nodes);
    free(job->ranks);
}
