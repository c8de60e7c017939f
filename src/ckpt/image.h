/*
 * Image of a process: header, then its windows, then its protected regions, each padded to KEEL_IMAGE_ALIGN, in one
 * slot of registered memory that group members read. crc32c per part when written and when read back.
 */
#ifndef KEEL_CKPT_IMAGE_H_
#define KEEL_CKPT_IMAGE_H_

#include <keel/status.h>

#include <stddef.h>
#include <stdint.h>

#define KEEL_IMAGE_ALIGN   64
#define KEEL_IMAGE_MAGIC   0x4b45454c494d4731ull /* KEELIMG1 */
#define KEEL_IMAGE_VERSION 7

/* In this order. ATTACHED: what of windows is at memory of the program's, too; LOCKS: what the process has locked, and who has locked
 * it; no image has these when nothing is */
typedef enum { KEEL_PART_WINDOW, KEEL_PART_PROTECTED, KEEL_PART_ATTACHED, KEEL_PART_LOCKS } keel_part_kind_t;

/* one piece of memory that belongs to the image */
typedef struct keel_part {
    keel_part_kind_t kind;
    uint32_t id;
    void *base;
    uint64_t length; /* bytes */
    uint64_t where;  /* offset of these in the window */
} keel_part_t;

/* What keel_restore() has to do ahead of the program's next step. */
typedef enum {
    KEEL_RESUME_BEHIND,    /* nothing: the call in which the image was taken is over */
    KEEL_RESUME_SECOND,    /* the second gsync of keel_checkpoint(), or of a stop in keel_safe_point() */
    KEEL_RESUME_GSYNC,     /* that of a stop, then the keel_gsync() that the stop interrupted */
    KEEL_RESUME_CHECKPOINT /* likewise, the keel_checkpoint() */
} keel_resume_t;

/* what the image says of itself besides memory */
typedef struct keel_image_meta {
    uint64_t generation; /* gsync number it was taken at */
    uint32_t rank;
    uint32_t rollbacks;
    uint32_t window_calls; /* collective window calls made before it */
    uint32_t resume;       /* keel_resume_t */
    uint64_t sync_counter; /* SC: critical sections at this process */
} keel_image_meta_t;

/* All parts in the order given; images of the same parts have the same layout. @a why_p may be NULL. */

/* bytes of an image of these parts, a multiple of KEEL_IMAGE_ALIGN */
size_t keel_image_size(const keel_part_t *parts, unsigned count);
/* copies the parts to @a slot (at least keel_image_size() bytes); header written last */
void keel_image_write(void *slot, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count);
/* checks magic, version, lengths, crc of header and of every part; KEEL_ERR_CORRUPT tells through @a why_p (constant text) */
keel_status_t keel_image_check(const void *slot, size_t slot_size, keel_image_meta_t *meta_p, const char **why_p);
/* the last part of that kind, NULL when there is none, of a checked image */
const void *keel_image_last_part(const void *slot, keel_part_kind_t kind, uint64_t *length_p);
/* the first @a most parts of an image, without their memory, and how many there are; KEEL_ERR_CORRUPT as above */
keel_status_t keel_image_table(const void *slot, size_t slot_size, keel_part_t *parts, unsigned most, unsigned *count_p,
                               const char **why_p);
/* where the image has these bytes of a window: of one piece of it; NULL: nowhere. Of a checked image. */
const void *keel_image_find(const void *slot, uint32_t id, uint64_t where, uint64_t length);
/* copies the parts back, comparing crc on the way; KEEL_ERR_STATE when the image has other parts (kind, id, where, length, order)
 * than asked for; nothing is written then. KEEL_ERR_CORRUPT may be found while copying: check before where that matters. */
keel_status_t keel_image_read(const void *slot, size_t slot_size, const keel_part_t *parts, unsigned count,
                              const char **why_p);

#endif
