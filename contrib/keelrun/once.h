/*
 * Filter of a rank's output stream for --output once: drops output that the rank repeats after a
 * death. The library marks images and restores in the stream (runtime/pmix_output.h).
 */
#ifndef KEELRUN_ONCE_H_
#define KEELRUN_ONCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes remembered per stream: repeats of older output are not dropped */
#define ONCE_BYTES_MAX ((size_t)16 << 20)

typedef struct once once_t;

once_t *once_create(void);
void once_destroy(once_t *once);

/* A new process begins to write; an unfinished line of its predecessor is dropped. */
void once_begin(once_t *once);
/* Position and length of the next whole mark; @a length if there is none. */
size_t once_find_mark(const char *data, size_t length, size_t *mark_length_p);
/*
 * True if the text of the line before the mark was rolled back: the line will be written again as a
 * whole.
 */
bool once_mark_cuts(const once_t *once, const char *mark, size_t length);
void once_take_mark(once_t *once, const char *mark, size_t length);
/*
 * Takes a piece: a line, or the text between marks. Returns whether to pass it on. *expected_p:
 * NULL, or, once in a process's turn, the earlier piece at this position, not zero-terminated.
 */
bool once_take(once_t *once, const char *piece, size_t length, const char **expected_p, size_t *expected_length_p);
/* A process ended within this line; its successor writes the whole line. */
void once_take_unfinished(once_t *once, const char *rest, size_t length);
/* NULL: no such line. */
const char *once_unfinished(const once_t *once, size_t *length_p);

#endif
