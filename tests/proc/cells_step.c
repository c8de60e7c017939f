/* A step of a program of cells.h. */
#include "cells.h"
#include "try.h"

#include <stddef.h>

uint64_t cells_sources(const cells_job_t *job)
{
    uint64_t sources = 0;

    for (uint32_t rank = 0; rank < CELLS_RANKS; rank++) {
        sources += (uint64_t)cells_is_source(job, rank);
    }
    return sources;
}

keel_status_t cells_open(cells_job_t *job)
{
    const uint32_t members[] = {0, 1, 2};

    TRY(keel_win_alloc(job->ctx, sizeof(cells_memory_t), NULL, &job->win));
    TRY(keel_protect(job->ctx, 1, &job->step, sizeof(job->step)));
    TRY(keel_protect(job->ctx, 2, &job->sum, sizeof(job->sum)));
    if (job->rank > CELLS_TARGET) {
        return KEEL_OK;
    }
    return keel_group_create(job->win, offsetof(cells_memory_t, group), CELLS_PIECE, members, 3, &job->group);
}

static keel_status_t access_part(cells_job_t *job, const cells_kind_t *kind, uint64_t part)
{
    if (job->targets[job->rank] < CELLS_RANKS) {
        TRY(kind->access(job, job->targets[job->rank], part));
    }
    for (uint32_t source = 0; source < CELLS_RANKS && kind->await != NULL; source++) {
        if (cells_is_source(job, source)) {
            TRY(kind->await(job, source, part));
        }
    }
    return KEEL_OK;
}

keel_status_t cells_step(cells_job_t *job, const cells_kind_t *kind, int saves,
                         void (*between)(void *arg, cells_job_t *job, uint64_t part), void *arg)
{
    cells_memory_t *own = keel_win_base(job->win);

    if (!kind->has_no_gsync) {
        for (unsigned i = 0; i < CELLS_WORDS; i++) {
            own->own[i] = cells_value(job->rank, job->step, i % CELLS_PARTS);
        }
        TRY(keel_gsync(job->ctx, 0));
    }
    for (uint64_t part = 0; part < CELLS_PARTS; part++) {
        TRY(access_part(job, kind, part));
        between(arg, job, part);
    }
    job->step++;
    if (saves) {
        return keel_checkpoint(job->ctx);
    }
    return kind->has_no_gsync ? KEEL_OK : keel_gsync(job->ctx, 0);
}

int cells_is_right(const cells_job_t *job, const cells_kind_t *kind)
{
    const uint64_t sources = cells_sources(job);

    return sources == 0 || kind->is_right(job, keel_win_base(job->win), sources);
}
