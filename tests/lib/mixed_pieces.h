/*
 * Additional puts and gets of some programs that mix (mixed.h): pieces of any place and size are
 * put, whole, in blocks at regular distances, as lists or with a signal. A rank gets back the
 * pieces that it put in this phase, and any rank gets the pieces that any rank had put by the end
 * of the previous phase. All bytes got, and all memory at the end, are compared with the seed's
 * draws.
 */
#ifndef KEEL_TEST_MIXED_PIECES_H_
#define KEEL_TEST_MIXED_PIECES_H_

#include "mixed_draw.h"

/* A rank has two rooms for each source: the first is written in even phases, the second in odd
 * phases. */
typedef struct mixed_pieces {
    play_host_t *host;
    const mixed_options_t *options;
    keel_win_h win;
    /* of the host: expected room, bytes of the room put in this phase, and a buffer */
    unsigned char *memory;
} mixed_pieces_t;

/* Bytes of a room. */
uint32_t mixed_pieces_room(const mixed_options_t *options);
/* Allocates memory once a process, and the window in every incarnation. Precondition: host and
 * options are set. */
void pieces_begin(mixed_pieces_t *pieces);
keel_status_t pieces_open(mixed_pieces_t *pieces);
void pieces_finish(mixed_pieces_t *pieces);
/* The pieces of an act of @a step that puts, and of an act that gets. */
keel_status_t pieces_put(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act);
keel_status_t pieces_get(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act);
/* Call at the end of a step: sets the parts of the window that belong to images. */
keel_status_t pieces_say_extents(const mixed_pieces_t *pieces, uint64_t step);
/* Checks own memory after all ranks have ended. */
keel_status_t pieces_judge(mixed_pieces_t *pieces);

#endif
