/*
 * What some programs that mix do besides with their puts and gets (mixed.h): pieces of any place and size are put, whole, in blocks at
 * regular distances, as lists or with a signal; what a rank has put in this phase it gets back, and what any rank had put by the end of
 * the phase before, anyone gets. All that is got, and all memory at the end, is compared with what the seed says.
 */
#ifndef KEEL_TEST_MIXED_PIECES_H_
#define KEEL_TEST_MIXED_PIECES_H_

#include "mixed_draw.h"

/* Of each source a rank has two rooms: one is written in even phases, the other one in odd ones. */
typedef struct mixed_pieces {
    play_host_t *host;
    const mixed_options_t *options;
    keel_win_h win;
    /* of the host: what a room should be, which bytes of it were put in this phase, and a buffer */
    unsigned char *memory;
} mixed_pieces_t;

/* bytes of a room */
uint32_t mixed_pieces_room(const mixed_options_t *options);
/* memory, once a process, and the window, in every life; host and options are there */
void pieces_begin(mixed_pieces_t *pieces);
keel_status_t pieces_open(mixed_pieces_t *pieces);
void pieces_finish(mixed_pieces_t *pieces);
/* an act of @a step that puts, and one that gets */
keel_status_t pieces_put(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act);
keel_status_t pieces_get(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act);
/* a step ends: what of the window belongs to images */
keel_status_t pieces_say_extents(const mixed_pieces_t *pieces, uint64_t step);
/* own memory when all have ended */
keel_status_t pieces_judge(mixed_pieces_t *pieces);

#endif
