/* Decides whether a dead rank is restarted, or the job. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include <runtime/pmix_events.h>

#define RESTARTS_IN_START 2 /* consecutive lives of a rank that end inside keel_init() */

bool job_has_rank(const job_t *job, uint32_t process)
{
    return process < job->options->ranks - job->options->spares || job->ranks[process].has_joined;
}

/* True if no other rank is left to call a spare. */
static bool job_is_last(const job_t *job, uint32_t process)
{
    for (uint32_t other = 0; other < job->options->ranks; other++) {
        if (other != process && job_has_rank(job, other) && job->ranks[other].state != RANK_DEAD) {
            return false;
        }
    }
    return job_has_rank(job, process);
}

void job_count_failed_start(const job_t *job, job_rank_t *state)
{
    if (state->has_started) {
        state->failed_starts = 0;
    } else if (state->incarnation > 0 && !state->is_killed && state->fenced_ns == 0 &&
               !job->nodes[state->node].is_lost) {
        state->failed_starts++;
    }
}

bool job_was_turned_away(const job_t *job, const job_rank_t *state)
{
    return job->is_over && !state->is_over && !state->was_recovered && (state->incarnation > 0 || state->has_joined);
}

bool job_may_go_on(const job_t *job, uint32_t rank)
{
    return job->options->shrink != SHRINK_NO && job->met_ns != 0 && job->finalized_count == 0 && !job->is_over &&
           !job_is_last(job, rank);
}

bool job_goes_on(const job_t *job, uint32_t rank, const char *why)
{
    return job_may_go_on(job, rank) && (job->options->shrink == SHRINK_NOW || job->gone_count > 0 || why != NULL);
}

const char *job_why_no_restart(const job_t *job, uint32_t rank)
{
    const job_rank_t *state = &job->ranks[rank];

    if (job->met_ns == 0) {
        return "before all ranks had met";
    }
    if (job->options->no_restart) {
        return "and is not to be started again";
    }
    /* with spares keelrun starts none itself: the other ranks leave, and keelrun learns that */
    if (job->finalized_count != 0 || (job->is_over && job->options->spares == 0)) {
        return "while the job was leaving: nothing is recovered then";
    }
    if (job->options->shrink != SHRINK_NO && job_is_last(job, rank)) {
        return "and no rank is left to go on";
    }
    if (job->options->spares > 0 && job_is_last(job, rank)) {
        return "and nobody is left to call a spare";
    }
    if (job->options->spares > 0) {
        return job->spares_left == 0 ? "and no spare is left" : NULL;
    }
    if (state->failed_starts >= RESTARTS_IN_START && !job->options->has_restarts) {
        return "inside keel_init, as the one before it (--restarts has it started again all the same)";
    }
    if (state->incarnation >= job->options->restarts) {
        return "once too often (--restarts)";
    }
    return NULL;
}

char *job_setting(const char *payload, size_t length)
{
    const size_t begin = strlen(KEELRUN_START_WITH);
    char *setting, *end;

    if (length <= begin || memcmp(payload, KEELRUN_START_WITH, begin) != 0) {
        return NULL;
    }
    setting = strndup(payload + begin, length - begin);
    end = (setting == NULL) ? NULL : strchr(setting, '=');
    if (end != NULL) {
        *end = '\0';
        if (*setting != '\0' && getenv(setting) == NULL) {
            *end = '=';
            return setting;
        }
    }
    free(setting);
    return NULL;
}
