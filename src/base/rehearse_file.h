/* What the processes of a rehearsal (rehearsal/rehearse) leave behind: one file of lines a rank, to which they append. */
#ifndef KEEL_BASE_REHEARSE_FILE_H_
#define KEEL_BASE_REHEARSE_FILE_H_

#include <stddef.h>
#include <stdint.h>

typedef enum {
    KEEL_REHEARSE_PUTS = 'p',      /* id: target; amount: records */
    KEEL_REHEARSE_LOST = 'l',      /* id: target: of its log, so nobody can tell */
    KEEL_REHEARSE_PROTECTED = 'r', /* id: the region's */
    KEEL_REHEARSE_WINDOW = 'w',    /* id: the window's */
    KEEL_REHEARSE_ARRIVED = 'a',   /* ends what is written before an arrival, */
    KEEL_REHEARSE_LEFT = 'm',      /* and after it */
    KEEL_REHEARSE_CHECKSUM = 'c',  /* this rank holds parity and does nothing else */
    KEEL_REHEARSE_KILLED = 'k',    /* this process ends here */
    KEEL_REHEARSE_SAME = 's',      /* the phase was compared */
    KEEL_REHEARSE_DIFFERENT = 'd'
} keel_rehearse_kind_t;

typedef struct keel_rehearse_line {
    char kind;
    uint32_t incarnation, rollback, phase, id;
    uint64_t amount, bytes;
    uint32_t crc;
} keel_rehearse_line_t;

typedef struct keel_rehearse_lines {
    keel_rehearse_line_t *all;
    size_t count, capacity;
} keel_rehearse_lines_t;

/* 0: out of memory */
int keel_rehearse_add(keel_rehearse_lines_t *lines, const keel_rehearse_line_t *line);
/* appends to the file */
int keel_rehearse_write(int fd, const keel_rehearse_lines_t *lines);
/* what earlier incarnations wrote */
int keel_rehearse_read(int fd, uint32_t incarnation, keel_rehearse_lines_t *lines);
/* those of the step that line @a end ends: from the line that is returned on */
size_t keel_rehearse_step(const keel_rehearse_lines_t *lines, size_t end);

#endif
