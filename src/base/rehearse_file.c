/* Lines of a rehearsal: read line by line, written a step at a time. */
#include "base/rehearse_file.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 128 /* of text */

int keel_rehearse_add(keel_rehearse_lines_t *lines, const keel_rehearse_line_t *line)
{
    if (lines->count == lines->capacity) {
        const size_t capacity = 2 * lines->capacity + 64;
        keel_rehearse_line_t *grown = keel_realloc(lines->all, capacity * sizeof(*grown), "rehearsal");

        if (grown == NULL) {
            return 0;
        }
        lines->all = grown;
        lines->capacity = capacity;
    }
    lines->all[lines->count++] = *line;
    return 1;
}

int keel_rehearse_write(int fd, const keel_rehearse_lines_t *lines)
{
    char *text = keel_alloc(lines->count * LINE_MAX_BYTES + 1, "rehearsal");
    size_t length = 0, done = 0;
    ssize_t count;

    if (text == NULL) {
        return 0;
    }
    for (size_t i = 0; i < lines->count; i++) {
        const keel_rehearse_line_t *l = &lines->all[i];

        length += (size_t)snprintf(text + length, LINE_MAX_BYTES, "%c %u %u %u %u %" PRIu64 " %" PRIu64 " %08x\n",
                                   l->kind, l->incarnation, l->rollback, l->phase, l->id, l->amount, l->bytes, l->crc);
    }
    while ((done < length) && ((count = write(fd, text + done, length - done)) > 0)) {
        done += (size_t)count;
    }
    keel_free(text);
    return done == length;
}

int keel_rehearse_read(int fd, uint32_t incarnation, keel_rehearse_lines_t *lines)
{
    const int copy = dup(fd);
    FILE *file = (copy < 0) ? NULL : fdopen(copy, "r");
    char text[LINE_MAX_BYTES];
    int is_read = 1;

    if (file == NULL) {
        if (copy >= 0) {
            close(copy);
        }
        return 0;
    }
    rewind(file);
    while (is_read && fgets(text, sizeof(text), file) != NULL) {
        keel_rehearse_line_t l;

        /* a process killed during a write leaves part of a line */
        if (sscanf(text, "%c %u %u %u %u %" SCNu64 " %" SCNu64 " %x", &l.kind, &l.incarnation, &l.rollback, &l.phase,
                   &l.id, &l.amount, &l.bytes, &l.crc) == 8 &&
            l.incarnation < incarnation) {
            is_read = keel_rehearse_add(lines, &l);
        }
    }
    fclose(file);
    return is_read;
}

static int ends_step(char kind)
{
    return strchr("acmksd", kind) != NULL;
}

size_t keel_rehearse_step(const keel_rehearse_lines_t *lines, size_t end)
{
    size_t first = end;

    while (first > 0 && !ends_step(lines->all[first - 1].kind) &&
           lines->all[first - 1].incarnation == lines->all[end].incarnation) {
        first--;
    }
    return first;
}
