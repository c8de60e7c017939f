/*
 * Brings parts of other processes' regions here, piece by piece, a few pieces ahead: what is mapped is used where it lies,
 * the rest is read into buffers.
 *
 * Safety. Reads write into buffers of their own, never into what the caller makes of them. A read belongs to a piece until
 * the caller is done with it, or to nobody (piece == NULL) once all was given up before; it becomes free only when it is no
 * longer outstanding. The object lives until its last outstanding read has ended. Whatever gives up (an error, a call,
 * also from inside keel_lane_read()) raises the work number, by which loops see that their piece is gone. Pointers into
 * mapped memory are asked for just before their use and never kept: a peer may die between two steps.
 */
#ifndef KEEL_CKPT_GATHER_H_
#define KEEL_CKPT_GATHER_H_

#include "peer/peer.h"

#define KEEL_GATHER_STREAM 4   /* pieces under way; */
#define KEEL_GATHER_BULK   256 /* the same where time counts more than memory */

typedef struct keel_gather keel_gather_t;

typedef struct keel_gather_source {
    uint32_t rank;
    unsigned region;
    uint64_t offset;
    size_t length; /* at most the piece's */
    /* the caller's */
    uint32_t member;
    uint8_t coefficient;
    /* where it is, when the piece is ready */
    const uint8_t *data;
    struct keel_gather_read *read; /* NULL: mapped here */
} keel_gather_source_t;

typedef struct keel_gather_piece {
    size_t length;       /* at most keel_gather_piece_max() */
    uint8_t *target;     /* the caller's, */
    const uint8_t *base; /* as is this */
    unsigned source_count;
    keel_gather_source_t *sources; /* room for as many as keel_gather_create() was told */
    unsigned outstanding;          /* reads */
} keel_gather_piece_t;

/* @a ahead: pieces under way at most */
keel_status_t keel_gather_create(keel_lane_t *lane, unsigned sources_max, unsigned ahead, keel_gather_t **gather_p);
/* allowed while reads are outstanding: what they need stays until the last one has ended; NULL: nothing */
void keel_gather_destroy(keel_gather_t *gather);
size_t keel_gather_piece_max(const keel_gather_t *gather); /* bytes */
size_t keel_gather_peak(const keel_gather_t *gather);      /* bytes of buffers, at most so far */
/* buffers that no read needs are given back */
void keel_gather_trim(keel_gather_t *gather);

/* an empty piece for the caller to fill in, then keel_gather_begin(); NULL: there are as many as may be, or buffers are still
 * held by reads of what was given up */
keel_gather_piece_t *keel_gather_next(keel_gather_t *gather);
void keel_gather_begin(keel_gather_t *gather);
/* the oldest piece once all that it needs is here, else NULL */
keel_gather_piece_t *keel_gather_ready(keel_gather_t *gather);
void keel_gather_done(keel_gather_t *gather); /* with that one */
unsigned keel_gather_count(const keel_gather_t *gather);

/* gives up all pieces; a new start. Sizes are checked against the peers' regions as they are read: KEEL_ERR_CORRUPT when
 * one is too short, KEEL_ERR_UNREACHABLE when it is not known or its mapping is gone. An error gives up by itself. */
void keel_gather_reset(keel_gather_t *gather);
keel_status_t keel_gather_status(const keel_gather_t *gather); /* KEEL_OK, or the error since the last reset */
uint64_t keel_gather_work(const keel_gather_t *gather);        /* grows whenever pieces are given up */

#endif
