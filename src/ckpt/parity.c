/* Executes plans: gathers the sources of each piece and combines them. */
#include "ckpt/parity.h"

#include "base/memory.h"
#include "ckpt/gather.h"
#include "ckpt/parity_plan.h"
#include "code/rs.h"

#include <string.h>

/* approximate source bytes combined in one step: pieces are not divided */
#define PARITY_STEP (4 * 65536)

struct keel_parity {
    keel_gather_t *gather;
    keel_plan_t plan;
    uint64_t *bytes_read;        /* by member */
    uint64_t bytes_moved;        /* bytes of reads, of the previous share and of output */
    const void **whole;          /* sources with the full length of a piece */
    uint8_t *whole_coefficients; /* coefficients of the entries of whole */
    int is_active;
    int is_stream;        /* few pieces with permanent buffers */
    keel_status_t status; /* result of the last work */
};

static void parity_free(keel_parity_t *parity)
{
    keel_gather_destroy(parity->gather);
    keel_plan_release(&parity->plan);
    keel_free(parity->bytes_read);
    keel_free(parity->whole);
    keel_free(parity->whole_coefficients);
    keel_free(parity);
}

keel_status_t keel_parity_create(keel_lane_t *lane, const keel_parity_group_t *group, keel_parity_t **parity_p)
{
    const unsigned ahead =
        (lane->config != NULL && lane->config->transfer == KEEL_TRANSFER_BULK) ? KEEL_GATHER_BULK : KEEL_GATHER_STREAM;
    keel_parity_t *parity;

    if (group->size < 2 || group->index >= group->size || group->parities < 1 || group->parities >= group->size ||
        group->parities > KEEL_RS_PARITIES_MAX || (group->parities > 1 && group->size > KEEL_RS_CHUNKS_MAX)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    parity = keel_alloc(sizeof *parity, "parity");
    if (parity == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    parity->bytes_read = keel_alloc(group->size * sizeof *parity->bytes_read, "parity members");
    parity->whole = keel_alloc((group->size + 1) * sizeof *parity->whole, "parity sources");
    parity->whole_coefficients = keel_alloc(group->size + 1, "parity sources");
    if (parity->bytes_read == NULL || parity->whole == NULL || parity->whole_coefficients == NULL ||
        keel_gather_create(lane, group->size - group->parities, ahead, &parity->gather) != KEEL_OK ||
        keel_plan_init(&parity->plan, group, keel_gather_piece_max(parity->gather),
                       lane->ops->max_data / 4 /* a map is sent in one message */) != KEEL_OK) {
        parity_free(parity);
        return KEEL_ERR_NO_MEMORY;
    }
    parity->is_stream = (ahead == KEEL_GATHER_STREAM);
    *parity_p = parity;
    return KEEL_OK;
}

static void parity_end(keel_parity_t *parity, keel_status_t status)
{
    keel_gather_reset(parity->gather);
    if (!parity->is_stream) {
        keel_gather_trim(parity->gather);
    }
    parity->is_active = 0;
    parity->status = status;
}

void keel_parity_cancel(keel_parity_t *parity)
{
    parity_end(parity, KEEL_OK);
}

void keel_parity_destroy(keel_parity_t *parity)
{
    if (parity != NULL) {
        parity_free(parity);
    }
}

/* ---- pieces ---- */

/* begins as many pieces as may be in flight, unless the work ends meanwhile */
static void parity_read_ahead(keel_parity_t *parity)
{
    const uint64_t work = keel_gather_work(parity->gather);

    while (keel_gather_work(parity->gather) == work && !keel_plan_is_done(&parity->plan)) {
        keel_gather_piece_t *piece = keel_gather_next(parity->gather);

        if (piece == NULL) {
            return;
        }
        keel_plan_next(&parity->plan, piece);
        keel_gather_begin(parity->gather);
    }
}

/* combines the sources of full length in one pass, then adds the shorter sources */
static void parity_piece_combine(keel_parity_t *parity, const keel_gather_piece_t *piece)
{
    unsigned whole = 0;

    if (piece->base != NULL) {
        parity->whole_coefficients[whole] = 1;
        parity->whole[whole++] = piece->base;
    }
    for (unsigned i = 0; i < piece->source_count; i++) {
        const keel_gather_source_t *source = &piece->sources[i];

        parity->bytes_read[source->member] += source->length;
        if (source->length == piece->length) {
            parity->whole_coefficients[whole] = source->coefficient;
            parity->whole[whole++] = source->data;
        }
    }
    keel_rs_combine(piece->target, parity->whole, parity->whole_coefficients, whole, piece->length);
    for (unsigned i = 0; i < piece->source_count; i++) {
        const keel_gather_source_t *source = &piece->sources[i];

        if (source->length < piece->length) {
            keel_rs_add(piece->target, source->data, source->coefficient, source->length);
        }
    }
}

/* combines complete pieces in order, up to the bound of a step */
static void parity_combine_ready(keel_parity_t *parity)
{
    const keel_gather_piece_t *piece;
    size_t done = 0, written = 0;

    while (done < PARITY_STEP && (piece = keel_gather_ready(parity->gather)) != NULL) {
        parity_piece_combine(parity, piece);
        done += (piece->base != NULL) ? piece->length : 0;
        for (unsigned i = 0; i < piece->source_count; i++) {
            done += piece->sources[i].length;
        }
        written += piece->length;
        keel_gather_done(parity->gather);
    }
    parity->bytes_moved += done + written;
}

/* ---- work ---- */

keel_changes_shape_t keel_parity_changes_shape(const keel_parity_t *parity, const uint64_t *image_sizes)
{
    return keel_changes_shape(&parity->plan.stripes, image_sizes, parity->plan.piece_max, parity->plan.map_max);
}

size_t keel_parity_share_size(const keel_parity_group_t *group, const uint64_t *image_sizes)
{
    const keel_stripes_t stripes = keel_parity_stripes(group);

    return keel_stripes_has_share(&stripes, group->index)
               ? keel_stripes_share_chunks(&stripes) * keel_stripes_chunk(&stripes, image_sizes)
               : 0;
}

/* ends the work if a read has failed */
static void parity_end_on_error(keel_parity_t *parity)
{
    if (parity->is_active && keel_gather_status(parity->gather) != KEEL_OK) {
        parity_end(parity, keel_gather_status(parity->gather));
    }
}

static keel_status_t parity_begin(keel_parity_t *parity, const keel_parity_work_t *work, int is_rebuild)
{
    keel_status_t status;

    parity_end_on_error(parity);
    if (parity->is_active) {
        return KEEL_ERR_STATE;
    }
    if (work->slot >= KEEL_SLOTS) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_plan_begin(&parity->plan, work, is_rebuild);
    if (status != KEEL_OK) {
        return status;
    }
    memset(parity->bytes_read, 0, parity->plan.stripes.size * sizeof *parity->bytes_read);
    parity->bytes_moved = 0;
    parity_end(parity, KEEL_OK);
    parity->is_active = 1;
    return KEEL_OK;
}

keel_status_t keel_parity_encode(keel_parity_t *parity, const keel_parity_work_t *work)
{
    return parity_begin(parity, work, 0);
}

keel_status_t keel_parity_rebuild(keel_parity_t *parity, const keel_parity_work_t *work)
{
    return parity_begin(parity, work, 1);
}

keel_status_t keel_parity_step(keel_parity_t *parity)
{
    const uint64_t work = keel_gather_work(parity->gather);

    parity_end_on_error(parity);
    if (!parity->is_active) {
        return parity->status;
    }
    parity_read_ahead(parity);
    if (keel_gather_work(parity->gather) == work) {
        parity_combine_ready(parity);
    }
    if (keel_gather_work(parity->gather) == work) {
        parity_read_ahead(parity); /* keeps the network busy until the next step */
    }
    if (keel_gather_work(parity->gather) == work && keel_plan_is_done(&parity->plan) &&
        keel_gather_count(parity->gather) == 0) {
        parity_end(parity, KEEL_OK);
    }
    parity_end_on_error(parity);
    return parity->is_active ? KEEL_INPROGRESS : parity->status;
}

uint64_t keel_parity_bytes_from(const keel_parity_t *parity, uint32_t index)
{
    return index < parity->plan.stripes.size ? parity->bytes_read[index] : 0;
}

uint64_t keel_parity_bytes_spared(const keel_parity_t *parity)
{
    return parity->plan.bytes_spared;
}

uint64_t keel_parity_bytes_moved(const keel_parity_t *parity)
{
    return parity->bytes_moved;
}

size_t keel_parity_buffer_peak(const keel_parity_t *parity)
{
    return keel_gather_peak(parity->gather);
}
