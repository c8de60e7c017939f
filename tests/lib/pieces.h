/*
 * Pieces of a window: bytes of drawn places and sizes, from none to several messages of the
 * simulator. A piece may be got and then put while the get is outstanding, with a fence between.
 */
#ifndef KEEL_TEST_PIECES_H_
#define KEEL_TEST_PIECES_H_

#include "play.h"
#include "sim/random.h"

#define PIECES_ROOM_MAX 12800

typedef struct piece {
    uint32_t offset, length;
} piece_t;

/* The place of pieces in every rank's window. */
typedef struct pieces {
    play_host_t *host;
    keel_win_h win;
    size_t at;
    unsigned char *own;
} pieces_t;

typedef struct pieces_access {
    int gets, puts;
    int is_open; /* the put does not wait for the get, but is fenced */
    piece_t get, put;
    void *to;
    const void *from;
} pieces_access_t;

piece_t piece_draw(keel_random_t *random, uint32_t room);
/* Draws places and sizes in @a room bytes. The caller provides the buffers. */
void pieces_draw(keel_random_t *random, uint32_t room, pieces_access_t *access);
/* Makes both accesses, completes the get, and reports both to the host. */
keel_status_t pieces_do(const pieces_t *pieces, uint32_t rank, const pieces_access_t *access);

#endif
