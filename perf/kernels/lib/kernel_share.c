#include "kernel_share.h"

#include <stdlib.h>

int kernel_living_init(kernel_living_t *living, keel_context_h ctx)
{
    uint32_t rank;

    living->count = keel_size(ctx);
    living->place = keel_rank(ctx);
    living->ranks = calloc(living->count, sizeof *living->ranks);
    if (living->ranks == NULL) {
        return -1;
    }
    for (rank = 0; rank < living->count; rank++) {
        living->ranks[rank] = rank;
    }
    return 0;
}

void kernel_living_cleanup(kernel_living_t *living)
{
    free(living->ranks);
}

kernel_range_t kernel_share_at(uint64_t items, uint32_t place, uint32_t count)
{
    const uint64_t first = items * place / count;

    return (kernel_range_t){first, items * (place + 1) / count - first};
}

kernel_range_t kernel_share_own(uint64_t items, const kernel_living_t *living)
{
    return kernel_share_at(items, living->place, living->count);
}

unsigned kernel_share_parts(uint64_t items, uint32_t ranks, kernel_range_t range, keel_store_part_t **parts_p)
{
    const uint64_t end = range.first + range.count;
    unsigned count = 0;
    uint32_t rank;

    *parts_p = calloc(ranks, sizeof **parts_p);
    for (rank = 0; (*parts_p != NULL) && (rank < ranks); rank++) {
        const kernel_range_t there = kernel_share_at(items, rank, ranks);
        const uint64_t first = (there.first > range.first) ? there.first : range.first;
        const uint64_t last = (there.first + there.count < end) ? there.first + there.count : end;

        if (first < last) {
            (*parts_p)[count++] =
                (keel_store_part_t){.rank = rank, .first = first - there.first, .count = last - first};
        }
    }
    return count;
}

keel_status_t kernel_share_load(keel_store_h store, uint64_t items, uint32_t ranks, kernel_range_t range, size_t bytes,
                                void *buffer, double *seconds_p)
{
    const double begun = kernel_now_s();
    keel_store_part_t *parts;
    const unsigned count = kernel_share_parts(items, ranks, range, &parts);
    char *at = buffer;
    keel_status_t status;
    unsigned i;

    if (parts == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (i = 0; i < count; i++) {
        parts[i].buffer = at;
        at += parts[i].count * bytes;
    }
    status = (count > 0) ? keel_store_load(store, parts, count) : KEEL_OK;
    free(parts);
    *seconds_p += kernel_now_s() - begun;
    return status;
}
