/* Records of the processes of a rehearsal (rehearsal/rehearse): a file of lines for each rank,
 * to which its processes append. */
#ifndef KEEL_BASE_REHEARSE_FILE_H_
#define KEEL_BASE_REHEARSE_FILE_H_

#include <stddef.h>
#include <stdint.h>

typedef enum {
    KEEL_REHEARSE_PUTS = 'p',      /* id: target; amount: records */
    KEEL_REHEARSE_LOST = 'l',      /* id: target with an incomplete log, so its puts are unknown */
    KEEL_REHEARSE_PROTECTED = 'r', /* id: region */
    KEEL_REHEARSE_WINDOW = 'w',    /* id: window */
    KEEL_REHEARSE_ARRIVED = 'a',   /* ends the lines before an arrival */
    KEEL_REHEARSE_LEFT = 'm',      /* ends the lines after an arrival */
    KEEL_REHEARSE_CHECKSUM = 'c',  /* the rank holds parity and runs no program */
    KEEL_REHEARSE_KILLED = 'k',    /* the process ends here */
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
/* appends the lines to the file */
int keel_rehearse_write(int fd, const keel_rehearse_lines_t *lines);
/* reads the lines of earlier incarnations */
int keel_rehearse_read(int fd, uint32_t incarnation, keel_rehearse_lines_t *lines);
/* first line of the step that line @a end ends */
size_t keel_rehearse_step(const keel_rehearse_lines_t *lines, size_t end);

#endif
