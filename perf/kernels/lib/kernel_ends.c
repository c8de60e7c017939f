#include "kernel_ends.h"

keel_status_t kernel_ends_alloc(keel_context_h ctx, keel_win_h *ends_p)
{
    const size_t bytes = keel_size(ctx) * (sizeof(uint64_t) + sizeof(double));

    return keel_win_alloc(ctx, (keel_rank(ctx) == 0) ? bytes : 0, NULL, ends_p);
}

keel_status_t kernel_ends_put(keel_context_h ctx, keel_win_h ends, uint64_t hash, double store_s)
{
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx);

    KERNEL_TRY(keel_put(ends, 0, rank * sizeof hash, &hash, sizeof hash));
    return keel_put(ends, 0, size * sizeof hash + rank * sizeof store_s, &store_s, sizeof store_s);
}

uint64_t kernel_ends_hash(keel_context_h ctx, keel_win_h ends)
{
    return kernel_hash(KERNEL_HASH_START, keel_win_base(ends), keel_size(ctx) * sizeof(uint64_t));
}

double kernel_ends_store_s(keel_context_h ctx, keel_win_h ends)
{
    const uint64_t *const hashes = keel_win_base(ends);
    const double *const seconds = (const double *)(const void *)(hashes + keel_size(ctx));
    double longest = 0;
    uint32_t rank;

    for (rank = 0; rank < keel_size(ctx); rank++) {
        longest = (seconds[rank] > longest) ? seconds[rank] : longest;
    }
    return longest;
}
