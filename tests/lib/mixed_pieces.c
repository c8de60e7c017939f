/* Pieces of any size in programs that mix. */
#include "mixed_pieces.h"

#include "pieces.h"
#include "sim/random.h"
#include "try.h"

#include <stdio.h>
#include <string.h>

enum {
    HEAD = 16, /* bytes of a room: the word that signals set or add to */
    CUTS_MAX = 9,
    BUFFER_ROOMS = 3, /* blocks have slightly wider gaps in the buffer than in the room */
    TAIL = 40         /* bytes after the rooms, outside of all images */
};

typedef enum { CUT_WHOLE, CUT_REQUEST, CUT_BLOCKS, CUT_LIST, CUT_SIGNAL, CUT_WAYS } cut_way_t;

typedef struct cut {
    uint32_t offset, length; /* in the room */
    uint32_t at;             /* in the buffer */
} cut_t;

/* The pieces of an access. */
typedef struct cuts {
    cut_way_t way;
    unsigned count;
    cut_t cut[CUTS_MAX];
    keel_blocks_t blocks; /* for CUT_BLOCKS; the offset is relative to the room */
    uint32_t bytes;       /* bytes of the buffer */
} cuts_t;

/* ---- draws ---- */

/* In small jobs a room is larger than a message of the simulator. */
uint32_t mixed_pieces_room(const mixed_options_t *options)
{
    return (options->ranks <= 4) ? 4800 : (options->ranks <= 16) ? 608 : 112;
}

/* Blocks of a get may overlap in the room, blocks of a put in the buffer. */
static void draw_blocks(keel_random_t *random, uint32_t room, int is_get, cuts_t *cuts)
{
    const uint32_t length = 1 + keel_random_below(random, 17), over = keel_random_below(random, 13);
    const uint32_t less = keel_random_chance(random, 200) ? keel_random_below(random, length + 1) : 0;
    const uint32_t stride = is_get ? length + over - less : length + over;
    const uint32_t apart = is_get ? length + over % 3 : length + over % 3 - less;
    uint32_t count = keel_random_below(random, CUTS_MAX + 1), offset;

    while (count > 1 && (count - 1) * stride + length > room - HEAD) {
        count--;
    }
    offset = HEAD + keel_random_below(random, room - HEAD - ((count > 0) ? (count - 1) * stride + length : 0) + 1);
    cuts->count = count;
    cuts->blocks =
        (keel_blocks_t){.length = length, .count = count, .offset = offset, .stride = stride, .buffer_stride = apart};
    for (uint32_t i = 0; i < count; i++) {
        cuts->cut[i] = (cut_t){.offset = offset + i * stride, .length = length, .at = i * apart};
    }
    cuts->bytes = (count > 0) ? (count - 1) * apart + length : 0;
}

/* Draws separate blocks, some of them empty, sometimes from the last to the first. */
static void draw_list(keel_random_t *random, uint32_t room, cuts_t *cuts)
{
    const unsigned count = 1 + keel_random_below(random, 5), turns = keel_random_below(random, 2);
    uint32_t offset = HEAD;

    cuts->count = count;
    for (unsigned i = 0; i < count; i++) {
        cut_t *cut = &cuts->cut[turns ? count - 1 - i : i];
        const uint32_t space = (room - offset) / (count - i);
        const piece_t piece = (space > 0) ? piece_draw(random, space) : (piece_t){0};

        *cut = (cut_t){.offset = offset + piece.offset, .length = piece.length, .at = cuts->bytes};
        offset += piece.offset + piece.length;
        cuts->bytes += piece.length;
    }
}

static cuts_t draw_cuts(const mixed_pieces_t *pieces, uint64_t value, int is_get)
{
    keel_random_t random = {keel_random_mix(value ^ 0x70696563)};
    const uint32_t room = mixed_pieces_room(pieces->options);
    cuts_t cuts = {.way = (cut_way_t)keel_random_below(&random, CUT_WAYS)};
    piece_t piece;

    if (cuts.way == CUT_BLOCKS) {
        draw_blocks(&random, room, is_get, &cuts);
    } else if (cuts.way == CUT_LIST) {
        draw_list(&random, room, &cuts);
    } else {
        piece = piece_draw(&random, room - HEAD);
        cuts.count = 1;
        cuts.cut[0] = (cut_t){.offset = HEAD + piece.offset, .length = piece.length};
        cuts.bytes = piece.length;
    }
    return cuts;
}

/* True if signals add. All signals of a program do the same. */
static int signals_add(const mixed_pieces_t *pieces)
{
    return (int)(pieces->options->seed >> 16 & 1);
}

/* ---- expected contents of a room ---- */

static unsigned char *want_of(const mixed_pieces_t *pieces)
{
    return pieces->memory;
}

static unsigned char *touched_of(const mixed_pieces_t *pieces)
{
    return pieces->memory + mixed_pieces_room(pieces->options);
}

static unsigned char *buffer_of(const mixed_pieces_t *pieces)
{
    return pieces->memory + 2 * mixed_pieces_room(pieces->options);
}

/* Updates the expected room by the put with this value. The buffer receives the bytes to put. */
static void want_put(const mixed_pieces_t *pieces, uint64_t value)
{
    const cuts_t cuts = draw_cuts(pieces, value, 0);
    unsigned char *want = want_of(pieces);
    uint64_t word;

    play_fill(buffer_of(pieces), cuts.bytes, value);
    for (unsigned i = 0; i < cuts.count; i++) {
        memcpy(want + cuts.cut[i].offset, buffer_of(pieces) + cuts.cut[i].at, cuts.cut[i].length);
    }
    if (cuts.way == CUT_SIGNAL) {
        memcpy(&word, want, sizeof(word));
        word = signals_add(pieces) ? word + value : value;
        memcpy(want, &word, sizeof(word));
    }
}

static void want_touch(const mixed_pieces_t *pieces, uint64_t value)
{
    const cuts_t cuts = draw_cuts(pieces, value, 0);

    for (unsigned i = 0; i < cuts.count; i++) {
        memset(touched_of(pieces) + cuts.cut[i].offset, 1, cuts.cut[i].length);
    }
    touched_of(pieces)[0] |= (cuts.way == CUT_SIGNAL);
}

/* Computes the expected room of @a source at @a target, for the phases with the parity of @a phase:
 * from all puts before @a phase, and those in it before @a last. */
static void want(const mixed_pieces_t *pieces, uint32_t source, uint32_t target, uint64_t phase,
                 const mixed_act_t *last)
{
    mixed_walk_t walk = {.options = pieces->options, .rank = source};

    memset(pieces->memory, 0, 2 * (size_t)mixed_pieces_room(pieces->options));
    while (mixed_walk_next(&walk) && walk.phase <= phase &&
           (walk.phase < phase || (last != NULL && walk.act.value != last->value))) {
        if (mixed_is_put(&walk.act) && walk.act.target == target && walk.phase % 2 == phase % 2) {
            want_put(pieces, walk.act.value);
            if (walk.phase == phase) {
                want_touch(pieces, walk.act.value);
            }
        }
    }
}

/* The offset of a source's room in any rank's window. */
static uint64_t room_at(const mixed_pieces_t *pieces, uint32_t source, uint64_t phase)
{
    return ((phase % 2) * pieces->options->ranks + source) * mixed_pieces_room(pieces->options);
}

static keel_status_t differs(const mixed_pieces_t *pieces, const char *what, uint32_t source, uint32_t target,
                             const cut_t *cut)
{
    char text[160];

    snprintf(text, sizeof(text), "rank %u.%u: %s: of what rank %u put in pieces at rank %u, %u bytes at %u are wrong",
             pieces->host->rank, pieces->host->incarnation, what, source, target, cut->length, cut->offset);
    pieces->host->flaw(pieces->host, text);
    return KEEL_ERR_CORRUPT;
}

/* ---- accesses ---- */

static void list_of(const mixed_pieces_t *pieces, const cuts_t *cuts, uint64_t room, keel_block_t *list)
{
    for (unsigned i = 0; i < cuts->count; i++) {
        list[i] = (keel_block_t){.offset = room + cuts->cut[i].offset,
                                 .length = cuts->cut[i].length,
                                 .buffer = buffer_of(pieces) + cuts->cut[i].at};
    }
}

static keel_status_t wait_for(keel_status_t status, keel_req_h req)
{
    return (status == KEEL_INPROGRESS && req != NULL) ? keel_req_wait(req) : status;
}

static keel_status_t put_cuts(const mixed_pieces_t *pieces, const mixed_act_t *act, const cuts_t *cuts, uint64_t room)
{
    const cut_t *cut = &cuts->cut[0];
    const keel_signal_t signal = {
        .offset = room, .op = signals_add(pieces) ? KEEL_SIGNAL_ADD : KEEL_SIGNAL_SET, .value = act->value};
    keel_blocks_t blocks = cuts->blocks;
    keel_block_t list[CUTS_MAX];
    keel_req_h req = NULL;
    keel_status_t status;

    switch (cuts->way) {
    case CUT_BLOCKS:
        blocks.offset += room;
        return keel_put_strided(pieces->win, act->target, &blocks, buffer_of(pieces));
    case CUT_LIST:
        list_of(pieces, cuts, room, list);
        return keel_put_list(pieces->win, act->target, list, cuts->count);
    case CUT_SIGNAL:
        return keel_put_signal(pieces->win, act->target, room + cut->offset, buffer_of(pieces), cut->length, &signal);
    case CUT_REQUEST:
        status = keel_put_nbx(pieces->win, act->target, room + cut->offset, buffer_of(pieces), cut->length, NULL, &req);
        return wait_for(status, req);
    default:
        return keel_put(pieces->win, act->target, room + cut->offset, buffer_of(pieces), cut->length);
    }
}

static keel_status_t get_cuts(const mixed_pieces_t *pieces, uint32_t target, const cuts_t *cuts, uint64_t room)
{
    const cut_t *cut = &cuts->cut[0];
    keel_blocks_t blocks = cuts->blocks;
    keel_block_t list[CUTS_MAX];
    keel_req_h req = NULL;
    keel_status_t status;

    switch (cuts->way) {
    case CUT_BLOCKS:
        blocks.offset += room;
        return keel_get_strided(pieces->win, target, &blocks, buffer_of(pieces));
    case CUT_LIST:
        list_of(pieces, cuts, room, list);
        return keel_get_list(pieces->win, target, list, cuts->count);
    case CUT_REQUEST:
        status = keel_get_nbx(pieces->win, target, room + cut->offset, buffer_of(pieces), cut->length, NULL, &req);
        return wait_for(status, req);
    default:
        return keel_get(pieces->win, target, room + cut->offset, buffer_of(pieces), cut->length);
    }
}

/* Gets parts of a room and compares them with the expected bytes. */
static keel_status_t get_wanted(const mixed_pieces_t *pieces, const char *what, uint32_t source, uint32_t target,
                                uint64_t phase, uint64_t value)
{
    const cuts_t cuts = draw_cuts(pieces, ~value, 1);

    memset(buffer_of(pieces), 0x5a, cuts.bytes);
    TRY(get_cuts(pieces, target, &cuts, room_at(pieces, source, phase)));
    for (unsigned i = 0; i < cuts.count; i++) {
        const cut_t *cut = &cuts.cut[i];

        if (memcmp(buffer_of(pieces) + cut->at, want_of(pieces) + cut->offset, cut->length) != 0) {
            return differs(pieces, what, source, target, cut);
        }
    }
    return KEEL_OK;
}

/* True if bytes were put before in this epoch: two puts to the same bytes have no order within an
 * epoch. */
static int touches(const mixed_pieces_t *pieces, const cuts_t *cuts)
{
    int touched = cuts->way == CUT_SIGNAL && touched_of(pieces)[0];

    for (unsigned i = 0; i < cuts->count; i++) {
        touched |= memchr(touched_of(pieces) + cuts->cut[i].offset, 1, cuts->cut[i].length) != NULL;
    }
    return touched;
}

keel_status_t pieces_put(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act)
{
    const uint32_t own = pieces->host->rank;
    const cuts_t cuts = draw_cuts(pieces, act->value, 0);
    const uint64_t phase = mixed_walk_to(pieces->options, own, step, act).phase;
    const uint64_t room = room_at(pieces, own, phase);

    want(pieces, own, act->target, phase, act);
    if (touches(pieces, &cuts)) {
        TRY(keel_fence(pieces->host->ctx));
    }
    want_put(pieces, act->value);
    TRY(put_cuts(pieces, act, &cuts, room));
    if (!act->fetches) {
        return KEEL_OK;
    }
    TRY(keel_flush(pieces->host->ctx, act->target));
    return get_wanted(pieces, "got back", own, act->target, phase, act->value);
}

keel_status_t pieces_get(mixed_pieces_t *pieces, uint64_t step, const mixed_act_t *act)
{
    const uint64_t phase = mixed_walk_to(pieces->options, pieces->host->rank, step, act).phase;
    const uint32_t source = (uint32_t)(keel_random_mix(act->value) % pieces->options->ranks);

    if (phase == 0) {
        return KEEL_OK; /* no phase comes before */
    }
    want(pieces, source, act->target, phase + 1, NULL); /* no rank has begun the next phase */
    return get_wanted(pieces, "a phase later", source, act->target, phase + 1, act->value);
}

/* ---- the whole ---- */

static uint64_t bytes_of(const mixed_pieces_t *pieces)
{
    return 2ull * pieces->options->ranks * mixed_pieces_room(pieces->options);
}

keel_status_t pieces_say_extents(const mixed_pieces_t *pieces, uint64_t step)
{
    const uint64_t bytes = bytes_of(pieces), first = 1 + (step * 61) % (bytes / 2 - 1);
    const uint64_t next = bytes - 1 - (step * 97) % (bytes / 2 - 1);
    const keel_extent_t extents[3] = {{0, first}, {first, next - first}, {next, bytes - next}};
    char *base = keel_win_base(pieces->win);

    memset(base + bytes, (int)(step + 5 * pieces->host->incarnation), TAIL);
    return keel_win_extents(pieces->win, extents, 3);
}

keel_status_t pieces_judge(mixed_pieces_t *pieces)
{
    const uint32_t own = pieces->host->rank, room = mixed_pieces_room(pieces->options);
    const unsigned char *base = keel_win_base(pieces->win);
    const cut_t all = {.length = room};

    for (uint32_t source = 0; source < pieces->options->ranks; source++) {
        for (uint64_t half = 0; half < 2; half++) {
            want(pieces, source, own, UINT64_MAX - half, NULL);
            if (memcmp(base + room_at(pieces, source, UINT64_MAX - half), want_of(pieces), room) != 0) {
                return differs(pieces, "at the end", source, own, &all);
            }
        }
    }
    return KEEL_OK;
}

void pieces_begin(mixed_pieces_t *pieces)
{
    pieces->memory =
        pieces->host->alloc((2 + BUFFER_ROOMS) * (size_t)mixed_pieces_room(pieces->options), "mixed pieces");
}

keel_status_t pieces_open(mixed_pieces_t *pieces)
{
    return keel_win_alloc(pieces->host->ctx, bytes_of(pieces) + TAIL, NULL, &pieces->win);
}

void pieces_finish(mixed_pieces_t *pieces)
{
    pieces->host->release(pieces->memory);
}
