/*
 * The library allocates the memory of an image and of its parity on first use: for two coordinated
 * checkpoints, and for two demand checkpoints of a rank with full logs. So the warm-up takes two of
 * both. Puts fill the logs, in each round with as many bytes as a step; if as many bytes as the
 * timed run will put cause no image, the timed run will cause none either.
 */
#include "ft_warmup.h"

enum { IMAGES = 2, ROUNDS_MAX = 256, PIECE = 256 << 10 };

/*
 * State of a rank's demand images: none; none, and its log holds as many bytes as the timed run
 * will put; some; all.
 */
typedef enum { DEMAND_NONE, DEMAND_NEVER, DEMAND_SOME, DEMAND_ALL } demand_t;

/* Bytes that a step's two transposes put to other ranks. */
static size_t put_bytes(const ft_t *ft)
{
    const size_t bytes = ft->local * sizeof *ft->spectrum;

    return bytes - bytes / ft->p1 + bytes - bytes / ft->p2;
}

static keel_status_t own_demand(const ft_t *ft, ft_warmup_t *warmup, uint64_t *demand_p)
{
    keel_stats_t stats;

    KERNEL_TRY(keel_stats(ft->ctx, &stats, sizeof(stats)));
    if (warmup->rounds == 0) {
        warmup->committed = stats.demand_committed;
    }
    if (stats.demand_checkpoints > 0) {
        *demand_p = (stats.demand_committed >= warmup->committed + IMAGES) ? DEMAND_ALL : DEMAND_SOME;
    } else {
        *demand_p = (stats.put_log_bytes + put_bytes(ft) > warmup->logged * (ft->repeats - ft->warmups)) ? DEMAND_NEVER
                                                                                                         : DEMAND_NONE;
    }
    return KEEL_OK;
}

/* Computes the same answer at all ranks. Their words use the place of the later hashes. */
static keel_status_t is_filled(const ft_t *ft, ft_warmup_t *warmup, int *is_filled_p)
{
    const uint32_t ranks = keel_size(ft->ctx);
    const size_t words = ft_results_bytes(ft) - ranks * sizeof(uint64_t);
    uint64_t demand, most = DEMAND_NONE, least = DEMAND_ALL;
    uint32_t rank;

    KERNEL_TRY(own_demand(ft, warmup, &demand));
    KERNEL_TRY(keel_put(ft->results, 0, words + keel_rank(ft->ctx) * sizeof demand, &demand, sizeof demand));
    KERNEL_TRY(keel_gsync(ft->ctx, 0));
    for (rank = 0; rank < ranks; rank++) {
        KERNEL_TRY(keel_get(ft->results, 0, words + rank * sizeof demand, &demand, sizeof demand));
        most = (demand > most) ? demand : most;
        least = (demand < least) ? demand : least;
    }
    *is_filled_p =
        (least == DEMAND_ALL) || (warmup->rounds >= ROUNDS_MAX) || ((least == DEMAND_NEVER) && (most == DEMAND_NEVER));
    return KEEL_OK;
}

/*
 * Puts to the next rank, so that each rank gets demands of one peer; the next step rewrites the
 * window. Chunks fill a log's segments.
 */
static keel_status_t fill(const ft_t *ft, ft_warmup_t *warmup)
{
    const uint32_t next = (keel_rank(ft->ctx) + 1) % keel_size(ft->ctx);
    const size_t window = ft->local * sizeof *ft->spectrum, piece = (window < PIECE) ? window : PIECE;
    size_t done;

    for (done = 0; done < put_bytes(ft); done += piece) {
        KERNEL_TRY(keel_put(ft->exchange, next, done % window, (const char *)ft->spectrum + done % window, piece));
    }
    warmup->rounds++;
    return keel_gsync(ft->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t fill_logs(const ft_t *ft, ft_warmup_t *warmup)
{
    int is_full;

    if (!warmup->is_logging) {
        return KEEL_OK;
    }
    KERNEL_TRY(is_filled(ft, warmup, &is_full));
    while (!is_full) {
        KERNEL_TRY(fill(ft, warmup));
        KERNEL_TRY(is_filled(ft, warmup, &is_full));
    }
    return KEEL_OK;
}

keel_status_t ft_warmup_end(const ft_t *ft, ft_warmup_t *warmup)
{
    /* gsyncs after which logs are empty */
    enum { CHECKPOINT, FILL, CHECKPOINT_AGAIN, DRAIN, DRAINED = DRAIN + 4 };
    keel_stats_t stats;

    while (warmup->stage < DRAINED) {
        if (warmup->stage == FILL) { /* images are taken during this stage */
            KERNEL_TRY(fill_logs(ft, warmup));
        }
        switch (warmup->stage++) {
        case FILL:
            break;
        case CHECKPOINT:
            KERNEL_TRY(keel_stats(ft->ctx, &stats, sizeof(stats)));
            warmup->is_logging = (stats.put_log_peak != 0);
            warmup->logged = stats.put_log_bytes;
            KERNEL_TRY(keel_checkpoint(ft->ctx));
            break;
        case CHECKPOINT_AGAIN:
            KERNEL_TRY(keel_checkpoint(ft->ctx));
            break;
        default:
            KERNEL_TRY(keel_gsync(ft->ctx, KEEL_GSYNC_SAFE));
        }
    }
    return KEEL_OK;
}
