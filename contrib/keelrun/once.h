/*
 * What a stream of a rank has had, so that what the rank writes again, when a death takes it back, is dropped: --output once. The library
 * marks in the stream where an image was taken, and that one was restored (runtime/pmix_output.h).
 */
#ifndef KEELRUN_ONCE_H_
#define KEELRUN_ONCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ONCE_BYTES_MAX ((size_t)16 << 20) /* that are remembered of a stream: of older ones nothing is dropped */

typedef struct once once_t;

once_t *once_create(void);
void once_destroy(once_t *once);

/* a process begins to write; what the one before it had not ended a line of is gone */
void once_begin(once_t *once);
/* where the next whole mark is, and how long; @a length when there is none */
size_t once_find_mark(const char *data, size_t length, size_t *mark_length_p);
/* what of a line is ahead of it belongs to what was taken back: it is written again as a whole */
bool once_mark_cuts(const once_t *once, const char *mark, size_t length);
void once_take_mark(once_t *once, const char *mark, size_t length);
/* A piece: a line, or what is between marks. Whether it is to be passed on. *expected_p: NULL, or, once in a process's turn, what was there
 * in its place before, without an end. */
bool once_take(once_t *once, const char *piece, size_t length, const char **expected_p, size_t *expected_length_p);
/* a process has ended amid this line, which a later one writes as a whole */
void once_take_rest(once_t *once, const char *rest, size_t length);
/* NULL: there is none */
const char *once_rest(const once_t *once, size_t *length_p);

#endif
