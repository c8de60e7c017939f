/*
 * A list of pieces with a position: at the end while the rank writes new output. A rolled back rank
 * returns to the mark of the restored image. From then on, a piece equal to the next in the list is
 * dropped; a piece equal to a later entry skips the pieces between; any other piece is new: it is
 * passed on and inserted at the position.
 */
#include "once.h"

#include <stdlib.h>
#include <string.h>

#include <check/plant.h>
#include <runtime/pmix_output.h>

#include "channel.h"

enum {
    /* images that may be restored: the newest, the one before, and those of single ranks */
    ONCE_MARKS = 4,
    ONCE_AHEAD = 1000 /* pieces that may be skipped */
};

typedef struct piece {
    char *data;
    size_t length;
} piece_t;

typedef struct mark {
    uint32_t number;
    size_t at;
} mark_t;

struct once {
    piece_t *pieces;
    size_t count, room, next, bytes;
    size_t start;             /* position of the program's start */
    mark_t marks[ONCE_MARKS]; /* oldest first */
    unsigned mark_count;
    bool is_new;      /* a replacement before its restore */
    bool is_reported; /* a difference was reported in this turn */
    piece_t rest;
};

once_t *once_create(void)
{
    once_t *once = must_allocate(NULL, sizeof *once);

    memset(once, 0, sizeof *once);
    return once;
}

void once_destroy(once_t *once)
{
    for (size_t i = 0; i < once->count; i++) {
        free(once->pieces[i].data);
    }
    free(once->pieces);
    free(once->rest.data);
    free(once);
}

void once_begin(once_t *once)
{
    once->is_new = once->count > 0 || once->mark_count > 0;
    once->is_reported = false;
    once->next = 0;
    free(once->rest.data);
    once->rest = (piece_t){0};
}

/* ---- marks ---- */

/*
 * Parses a mark, such as s12 or r12. Returns the length with beginning and end, 0 if there is no
 * mark.
 */
static size_t mark_read(const char *mark, size_t length, char *kind_p, uint32_t *number_p)
{
    const size_t begin = strlen(KEELRUN_MARK_BEGIN), end = strlen(KEELRUN_MARK_END);
    char text[KEELRUN_MARK_LENGTH + 1], *rest;
    size_t used;

    length = length < KEELRUN_MARK_LENGTH ? length : KEELRUN_MARK_LENGTH;
    memcpy(text, mark, length);
    text[length] = '\0';
    if (length <= begin + 1 || (text[begin] != KEELRUN_MARK_SAVED && text[begin] != KEELRUN_MARK_BACK)) {
        return 0;
    }
    *kind_p = text[begin];
    *number_p = (uint32_t)strtoul(text + begin + 1, &rest, 10);
    used = (size_t)(rest - text);
    return (used > begin + 1 && strncmp(rest, KEELRUN_MARK_END, end) == 0) ? used + end : 0;
}

size_t once_find_mark(const char *data, size_t length, size_t *mark_length_p)
{
    const char *end = data + length, *from = data, *mark;
    uint32_t number;
    char kind;

    *mark_length_p = 0;
    while ((mark = memmem(from, (size_t)(end - from), KEELRUN_MARK_BEGIN, strlen(KEELRUN_MARK_BEGIN))) != NULL) {
        *mark_length_p = mark_read(mark, (size_t)(end - mark), &kind, &number);
        if (*mark_length_p != 0) {
            return (size_t)(mark - data);
        }
        from = mark + 1;
    }
    return length;
}

/* Notes an image at the rank's position and forgets the oldest. */
static void mark_set(once_t *once, uint32_t number)
{
    unsigned i = 0;

    if (number == 0) {
        once->start = once->next;
        return;
    }
    while (i < once->mark_count && once->marks[i].number != number) {
        i++;
    }
    if (i == ONCE_MARKS) {
        memmove(&once->marks[0], &once->marks[1], (ONCE_MARKS - 1) * sizeof once->marks[0]);
        i--;
    } else if (i == once->mark_count) {
        once->mark_count++;
    }
    once->marks[i] = (mark_t){number, once->next};
}

static void mark_go_back(once_t *once, uint32_t number)
{
    size_t at = once->count;

    for (unsigned i = 0; i < once->mark_count; i++) {
        at = once->marks[i].number == number ? once->marks[i].at : at;
    }
    /* a replacement has written all pieces before that point by now, or begins behind it */
    if (number == 0) {
        at = once->is_new ? once->next : once->start;
    }
    once->next = KEEL_PLANT(once_printed_again) ? once->count : at;
    once->is_new = false;
    once->is_reported = false;
}

bool once_mark_cuts(const once_t *once, const char *mark, size_t length)
{
    uint32_t number;
    char kind;

    return mark_read(mark, length, &kind, &number) != 0 && kind == KEELRUN_MARK_BACK && !once->is_new;
}

void once_take_mark(once_t *once, const char *mark, size_t length)
{
    uint32_t number;
    char kind;

    if (mark_read(mark, length, &kind, &number) == 0) {
        return;
    }
    if (kind == KEELRUN_MARK_SAVED) {
        mark_set(once, number);
    } else {
        mark_go_back(once, number);
    }
}

/* ---- pieces ---- */

/*
 * Forgets the pieces between the program's first part, which every replacement repeats, and the
 * oldest image: no process returns there.
 */
static void pieces_forget(once_t *once)
{
    const size_t from = once->start;
    size_t to = once->count;

    if (once->next < once->count) {
        return;
    }
    for (unsigned i = 0; i < once->mark_count; i++) {
        to = once->marks[i].at < to ? once->marks[i].at : to;
    }
    if (once->mark_count == 0 || to <= from) { /* no piece can be forgotten, so all are */
        once->mark_count = 0;
        to = once->count;
    }
    for (size_t i = from; i < to; i++) {
        once->bytes -= once->pieces[i].length;
        free(once->pieces[i].data);
    }
    memmove(&once->pieces[from], &once->pieces[to], (once->count - to) * sizeof once->pieces[0]);
    for (unsigned i = 0; i < once->mark_count; i++) {
        once->marks[i].at -= to - from;
    }
    once->count -= to - from;
    once->next = once->count;
}

static void piece_insert(once_t *once, const char *data, size_t length)
{
    piece_t *piece;

    if (once->bytes + length > ONCE_BYTES_MAX) {
        pieces_forget(once);
    }
    if (once->count == once->room) {
        once->room = 2 * once->room + 64;
        once->pieces = must_allocate(once->pieces, once->room * sizeof once->pieces[0]);
    }
    piece = &once->pieces[once->next];
    memmove(piece + 1, piece, (once->count - once->next) * sizeof *piece);
    *piece = (piece_t){must_allocate(NULL, length + 1), length};
    memcpy(piece->data, data, length);
    for (unsigned i = 0; i < once->mark_count; i++) {
        once->marks[i].at += once->marks[i].at > once->next;
    }
    once->count++;
    once->next++;
    once->bytes += length;
}

bool once_take(once_t *once, const char *piece, size_t length, const char **expected_p, size_t *expected_length_p)
{
    const size_t end = once->count - once->next > ONCE_AHEAD ? once->next + ONCE_AHEAD : once->count;

    *expected_p = NULL;
    for (size_t i = once->next; i < end; i++) {
        const piece_t *known = &once->pieces[i];

        if (known->length == length && memcmp(known->data, piece, length) == 0) {
            once->next = i + 1;
            return false;
        }
    }
    if (once->next < once->count && !once->is_reported) {
        once->is_reported = true;
        *expected_p = once->pieces[once->next].data;
        *expected_length_p = once->pieces[once->next].length;
    }
    piece_insert(once, piece, length);
    return true;
}

void once_take_unfinished(once_t *once, const char *rest, size_t length)
{
    free(once->rest.data);
    once->rest = (piece_t){must_allocate(NULL, length + 1), length};
    memcpy(once->rest.data, rest, length);
}

const char *once_unfinished(const once_t *once, size_t *length_p)
{
    *length_p = once->rest.length;
    return once->rest.data;
}
