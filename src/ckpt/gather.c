/* Pieces in flight and their reads. */
#include "ckpt/gather.h"

#include "base/memory.h"
#include "ckpt/image.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"

#include <assert.h>

#define GATHER_PIECE 65536 /* maximum bytes of a piece: the piece stays in cache until its use */

typedef struct keel_gather_read {
    keel_gather_t *gather;
    keel_gather_piece_t *piece; /* NULL: the piece was given up */
    struct keel_gather_read *next_free;
    int is_outstanding;
    uint8_t *buffer; /* aligned like images, which suits the codes; points into memory */
    uint8_t memory[GATHER_PIECE + KEEL_IMAGE_ALIGN];
} gather_read_t;

struct keel_gather {
    keel_lane_t *lane;
    unsigned sources_max;
    size_t piece_max; /* bytes: maximum length of one read */
    keel_gather_source_t *sources;
    keel_gather_piece_t *pieces; /* a ring, oldest first */
    unsigned ahead;
    unsigned first, piece_count;
    keel_status_t status;
    uint64_t work;
    int is_destroyed;

    gather_read_t *free_reads;
    unsigned free_count, read_count, outstanding, read_peak;
};

void keel_gather_trim(keel_gather_t *gather)
{
    while (gather->free_reads != NULL) {
        gather_read_t *read = gather->free_reads;

        gather->free_reads = read->next_free;
        gather->free_count--;
        gather->read_count--;
        keel_free(read);
    }
}

size_t keel_gather_peak(const keel_gather_t *gather)
{
    return gather->read_peak * sizeof(gather_read_t);
}

static void gather_free(keel_gather_t *gather)
{
    keel_gather_trim(gather);
    keel_free(gather->pieces);
    keel_free(gather->sources);
    keel_free(gather);
}

keel_status_t keel_gather_create(keel_lane_t *lane, unsigned sources_max, unsigned ahead, keel_gather_t **gather_p)
{
    keel_gather_t *gather = keel_alloc(sizeof *gather, "parity");

    if (gather == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    gather->ahead = ahead;
    gather->pieces = keel_alloc(ahead * sizeof *gather->pieces, "parity pieces");
    gather->sources = keel_alloc((size_t)ahead * sources_max * sizeof *gather->sources, "parity sources");
    if (gather->sources == NULL || gather->pieces == NULL) {
        gather_free(gather);
        return KEEL_ERR_NO_MEMORY;
    }
    gather->lane = lane;
    gather->sources_max = sources_max;
    gather->piece_max = GATHER_PIECE;
    if (lane->ops->max_data < GATHER_PIECE) {
        gather->piece_max = lane->ops->max_data / KEEL_IMAGE_ALIGN * KEEL_IMAGE_ALIGN;
    }
    assert(gather->piece_max > 0);
    for (size_t i = 0; i < gather->ahead; i++) {
        gather->pieces[i].sources = gather->sources + i * sources_max;
    }
    *gather_p = gather;
    return KEEL_OK;
}

size_t keel_gather_piece_max(const keel_gather_t *gather)
{
    return gather->piece_max;
}

unsigned keel_gather_count(const keel_gather_t *gather)
{
    return gather->piece_count;
}

unsigned keel_gather_outstanding(const keel_gather_t *gather)
{
    return gather->outstanding;
}

keel_status_t keel_gather_status(const keel_gather_t *gather)
{
    return gather->status;
}

uint64_t keel_gather_work(const keel_gather_t *gather)
{
    return gather->work;
}

/* ---- reads ---- */

static void gather_read_release(gather_read_t *read)
{
    keel_gather_t *gather = read->gather;

    read->piece = NULL;
    read->next_free = gather->free_reads;
    gather->free_reads = read;
    gather->free_count++;
}

static gather_read_t *gather_read_take(keel_gather_t *gather)
{
    gather_read_t *read = gather->free_reads;

    if (read != NULL) {
        gather->free_reads = read->next_free;
        gather->free_count--;
        return read;
    }
    assert(gather->read_count < gather->ahead * gather->sources_max);
    read = keel_alloc(sizeof *read, "parity read");
    if (read != NULL) {
        read->gather = gather;
        read->buffer = read->memory + (-(uintptr_t)read->memory & (KEEL_IMAGE_ALIGN - 1));
        gather->read_count++;
        gather->read_peak = gather->read_count > gather->read_peak ? gather->read_count : gather->read_peak;
    }
    return read;
}

/* Gives up all pieces in flight. Outstanding reads end later. */
static void gather_give_up(keel_gather_t *gather, keel_status_t status)
{
    for (unsigned i = 0; i < gather->piece_count; i++) {
        keel_gather_piece_t *piece = &gather->pieces[(gather->first + i) % gather->ahead];

        for (unsigned j = 0; j < piece->source_count; j++) {
            gather_read_t *read = piece->sources[j].read;

            if (read != NULL && read->is_outstanding) {
                read->piece = NULL;
            } else if (read != NULL) {
                gather_read_release(read);
            }
            piece->sources[j].read = NULL;
        }
    }
    gather->piece_count = 0;
    gather->status = status;
    gather->work++;
}

static void gather_read_done(void *arg, keel_status_t status)
{
    gather_read_t *read = arg;
    keel_gather_t *gather = read->gather;

    assert(read->is_outstanding);
    read->is_outstanding = 0;
    gather->outstanding--;
    if (read->piece == NULL) {
        gather_read_release(read);
        if (gather->is_destroyed && gather->outstanding == 0) {
            gather_free(gather);
        }
        return;
    }
    read->piece->outstanding--;
    if (status != KEEL_OK) {
        gather_give_up(gather, status);
    }
}

void keel_gather_reset(keel_gather_t *gather)
{
    gather_give_up(gather, KEEL_OK);
}

void keel_gather_destroy(keel_gather_t *gather)
{
    if (gather == NULL) {
        return;
    }
    gather_give_up(gather, KEEL_OK);
    gather->is_destroyed = 1;
    if (gather->outstanding == 0) {
        gather_free(gather);
    }
}

/* ---- pieces ---- */

keel_gather_piece_t *keel_gather_next(keel_gather_t *gather)
{
    const unsigned available = gather->ahead * gather->sources_max - gather->read_count + gather->free_count;
    keel_gather_piece_t *piece = &gather->pieces[(gather->first + gather->piece_count) % gather->ahead];

    if (gather->piece_count == gather->ahead || available < gather->sources_max || gather->status != KEEL_OK) {
        return NULL;
    }
    *piece = (keel_gather_piece_t){.sources = piece->sources};
    return piece;
}

/* Checks the range against the peer's region, since sizes come from other ranks. */
static keel_status_t gather_source_check(keel_gather_t *gather, const keel_gather_source_t *source)
{
    const uint64_t size = keel_lane_region_size(gather->lane, source->rank, source->region);

    if (size == 0) {
        return KEEL_ERR_UNREACHABLE;
    }
    return source->offset <= size && source->length <= size - source->offset ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static void gather_source_start(keel_gather_t *gather, keel_gather_piece_t *piece, keel_gather_source_t *source)
{
    keel_status_t status = gather_source_check(gather, source);
    gather_read_t *read;

    if (status != KEEL_OK) {
        gather_give_up(gather, status);
        return;
    }
    if (keel_access_at(gather->lane, source->rank, source->region) != NULL) {
        return;
    }
    read = gather_read_take(gather);
    if (read == NULL) {
        gather_give_up(gather, KEEL_ERR_NO_MEMORY);
        return;
    }
    read->piece = piece;
    read->is_outstanding = 1;
    source->read = read;
    piece->outstanding++;
    gather->outstanding++;
    status = keel_lane_read(gather->lane, source->rank, source->region, source->offset, read->buffer, source->length,
                            gather_read_done, read);
    if (status != KEEL_INPROGRESS) {
        gather_read_done(read, status);
    }
}

void keel_gather_begin(keel_gather_t *gather)
{
    keel_gather_piece_t *piece = &gather->pieces[(gather->first + gather->piece_count) % gather->ahead];
    const uint64_t work = gather->work;

    assert(gather->piece_count < gather->ahead && piece->source_count <= gather->sources_max);
    gather->piece_count++;
    for (unsigned i = 0; i < piece->source_count; i++) {
        piece->sources[i].read = NULL;
    }
    for (unsigned i = 0; i < piece->source_count && gather->work == work; i++) {
        gather_source_start(gather, piece, &piece->sources[i]);
    }
}

static keel_status_t gather_source_find(keel_gather_t *gather, keel_gather_source_t *source)
{
    keel_status_t status;

    if (source->read != NULL) {
        source->data = source->read->buffer;
        return KEEL_OK;
    }
    status = gather_source_check(gather, source);
    if (status != KEEL_OK) {
        return status;
    }
    source->data = keel_access_at(gather->lane, source->rank, source->region);
    if (source->data == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    source->data += source->offset;
    return KEEL_OK;
}

keel_gather_piece_t *keel_gather_ready(keel_gather_t *gather)
{
    keel_gather_piece_t *piece = &gather->pieces[gather->first];

    if (gather->piece_count == 0 || piece->outstanding > 0) {
        return NULL;
    }
    for (unsigned i = 0; i < piece->source_count; i++) {
        const keel_status_t status = gather_source_find(gather, &piece->sources[i]);

        if (status != KEEL_OK) {
            gather_give_up(gather, status);
            return NULL;
        }
    }
    return piece;
}

void keel_gather_done(keel_gather_t *gather)
{
    keel_gather_piece_t *piece = &gather->pieces[gather->first];

    for (unsigned i = 0; i < piece->source_count; i++) {
        if (piece->sources[i].read != NULL) {
            gather_read_release(piece->sources[i].read);
        }
    }
    gather->first = (gather->first + 1) % gather->ahead;
    gather->piece_count--;
}
