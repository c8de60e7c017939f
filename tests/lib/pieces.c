/* Draws and accesses pieces. */
#include "pieces.h"

#include "try.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE 4096 /* bytes, at most: the payload of records and messages is slightly smaller */

piece_t piece_draw(keel_random_t *random, uint32_t room)
{
    const uint32_t kind = keel_random_below(random, 8);
    piece_t piece = {0};

    if (kind > 0) {
        piece.length = (kind < 4)    ? 1 + keel_random_below(random, 64)
                       : (kind == 4) ? MESSAGE - 128 + keel_random_below(random, 136)
                                     : 1 + keel_random_below(random, room);
    }
    piece.length = (piece.length < room) ? piece.length : room;
    piece.offset = keel_random_below(random, room - piece.length + 1);
    return piece;
}

void pieces_draw(keel_random_t *random, uint32_t room, pieces_access_t *access)
{
    access->gets = (int)keel_random_chance(random, 600);
    access->puts = !access->gets || keel_random_chance(random, 700);
    access->is_open = (int)keel_random_below(random, 2);
    access->get = piece_draw(random, room);
    access->put = (access->gets && keel_random_chance(random, 700)) ? access->get : piece_draw(random, room);
}

static void pieces_point(const pieces_t *pieces, const char *what, uint32_t rank, const piece_t *piece)
{
    char text[96];

    if (pieces->host->point != NULL) {
        pieces->host->point(pieces->host);
    }
    if (pieces->host->note != NULL) {
        snprintf(text, sizeof(text), "%s %u: %u bytes of a piece at %u", what, rank, piece->length, piece->offset);
        pieces->host->note(pieces->host, text);
    }
}

static keel_status_t pieces_did(const pieces_t *pieces, unsigned what, uint32_t rank, const piece_t *piece,
                                keel_status_t status)
{
    return (piece->length > 0) ? play_did(pieces->host, what, rank, status) : status;
}

static void pieces_local(const pieces_t *pieces, const pieces_access_t *access)
{
    if (access->gets) {
        memcpy(access->to, pieces->own + access->get.offset, access->get.length);
    }
    if (access->puts) {
        memcpy(pieces->own + access->put.offset, access->from, access->put.length);
    }
}

static keel_status_t pieces_put(const pieces_t *pieces, uint32_t rank, const pieces_access_t *access, int is_behind)
{
    if (is_behind) {
        pieces_point(pieces, "fence of what is read from", rank, &access->get);
        TRY(keel_fence(pieces->host->ctx));
    }
    pieces_point(pieces, "put to", rank, &access->put);
    return pieces_did(pieces, PLAY_DID_PUT, rank, &access->put,
                      keel_put(pieces->win, rank, pieces->at + access->put.offset, access->from, access->put.length));
}

keel_status_t pieces_do(const pieces_t *pieces, uint32_t rank, const pieces_access_t *access)
{
    keel_req_h req = NULL;
    keel_status_t status = KEEL_OK;

    if (rank == pieces->host->rank) {
        pieces_local(pieces, access);
        return KEEL_OK;
    }
    if (access->gets) {
        pieces_point(pieces, "get from", rank, &access->get);
        status = keel_get_nbx(pieces->win, rank, pieces->at + access->get.offset, access->to, access->get.length, NULL,
                              &req);
        if (status == KEEL_INPROGRESS && !access->is_open) {
            status = keel_req_wait(req);
            req = NULL;
        }
        if (status != KEEL_INPROGRESS) {
            TRY(pieces_did(pieces, PLAY_DID_GET, rank, &access->get, status));
        }
    }
    if (access->puts) {
        status = pieces_put(pieces, rank, access, req != NULL);
    }
    if (req != NULL && (status == KEEL_OK || status == KEEL_INPROGRESS)) {
        return pieces_did(pieces, PLAY_DID_GET, rank, &access->get, keel_req_wait(req));
    }
    if (req != NULL) {
        keel_req_free(req);
    }
    return status;
}
