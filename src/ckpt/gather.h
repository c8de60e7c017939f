/*
 * Brings parts of other processes' regions here, piece by piece, a few pieces ahead. Mapped memory
 * is used in place; the rest is read into buffers.
 *
 * Safety. Reads write into buffers of their own, never into the caller's results. A read belongs to
 * a piece until the caller is done with the piece. When all pieces are given up first, the read
 * belongs to no piece (piece == NULL). A read becomes free only when it is no longer outstanding.
 * The object lives until its last outstanding read has ended. An error or a call, also from inside
 * keel_lane_read(), gives up pieces and raises the work number; loops compare the number to see
 * that their piece is gone. Pointers into mapped memory are looked up just before their use and
 * never kept, since a peer may die between two steps.
 */
#ifndef KEEL_CKPT_GATHER_H_
#define KEEL_CKPT_GATHER_H_

#include "peer/peer.h"

#define KEEL_GATHER_STREAM 4   /* pieces in flight */
#define KEEL_GATHER_BULK   256 /* pieces in flight if time matters more than memory */

typedef struct keel_gather keel_gather_t;

typedef struct keel_gather_source {
    uint32_t rank;
    unsigned region;
    uint64_t offset;
    size_t length; /* at most the length of the piece */
    /* for the caller's use */
    uint32_t member;
    uint8_t coefficient;
    /* location of the bytes, set when the piece is ready */
    const uint8_t *data;
    struct keel_gather_read *read; /* NULL: the source is mapped here */
} keel_gather_source_t;

typedef struct keel_gather_piece {
    size_t length;       /* at most keel_gather_piece_max() */
    uint8_t *target;     /* for the caller's use */
    const uint8_t *base; /* for the caller's use */
    unsigned source_count;
    keel_gather_source_t *sources; /* room for sources_max of keel_gather_create() */
    unsigned outstanding;          /* reads in flight */
} keel_gather_piece_t;

/* @param ahead  maximum number of pieces in flight */
keel_status_t keel_gather_create(keel_lane_t *lane, unsigned sources_max, unsigned ahead, keel_gather_t **gather_p);
/* Allowed while reads are outstanding: their memory stays until the last one has ended. NULL: no
 * effect. */
void keel_gather_destroy(keel_gather_t *gather);
size_t keel_gather_piece_max(const keel_gather_t *gather); /* bytes */
/* maximum bytes of buffers used until now */
size_t keel_gather_peak(const keel_gather_t *gather);
/* frees buffers that no read needs */
void keel_gather_trim(keel_gather_t *gather);

/* Returns an empty piece for the caller to fill in, then call keel_gather_begin(). NULL: the
 * limit of pieces is reached, or reads of abandoned pieces still hold the buffers. */
keel_gather_piece_t *keel_gather_next(keel_gather_t *gather);
void keel_gather_begin(keel_gather_t *gather);
/* the oldest piece if all its sources are here, else NULL */
keel_gather_piece_t *keel_gather_ready(keel_gather_t *gather);
void keel_gather_done(keel_gather_t *gather); /* releases the piece of keel_gather_ready() */
unsigned keel_gather_count(const keel_gather_t *gather);
/* number of reads that have not ended, also of pieces that were given up */
unsigned keel_gather_outstanding(const keel_gather_t *gather);

/* Gives up all pieces and clears the error. Each read checks its range against the peer's
 * region: KEEL_ERR_CORRUPT if the region is too short, KEEL_ERR_UNREACHABLE if the region is
 * unknown or its mapping is gone. An error gives up all pieces, too. */
void keel_gather_reset(keel_gather_t *gather);
/* KEEL_OK, or the error since the last reset */
keel_status_t keel_gather_status(const keel_gather_t *gather);
/* grows whenever pieces are given up */
uint64_t keel_gather_work(const keel_gather_t *gather);

#endif
