/*
 * Image of a process: header, then its windows, then its protected regions, each padded to
 * KEEL_IMAGE_ALIGN, in one slot of registered memory that group members read. Each part has a
 * crc32c, computed when the image is written and verified when it is read back.
 */
#ifndef KEEL_CKPT_IMAGE_H_
#define KEEL_CKPT_IMAGE_H_

#include <keel/status.h>

#include <stddef.h>
#include <stdint.h>

#define KEEL_IMAGE_ALIGN   64
#define KEEL_IMAGE_MAGIC   0x4b45454c494d4731ull /* KEELIMG1 */
#define KEEL_IMAGE_VERSION 7

/* Kinds of parts, in the order of an image. ATTACHED: parts of windows that are memory of the
 * program. LOCKS: locks that the process holds and locks at the process that others hold. An
 * image omits these two kinds if they are empty. */
typedef enum { KEEL_PART_WINDOW, KEEL_PART_PROTECTED, KEEL_PART_ATTACHED, KEEL_PART_LOCKS } keel_part_kind_t;

/* memory that belongs to the image */
typedef struct keel_part {
    keel_part_kind_t kind;
    uint32_t id;
    void *base;
    uint64_t length; /* bytes */
    uint64_t where;  /* offset of the memory in the window */
} keel_part_t;

/* Steps of keel_restore() ahead of the program's next step. */
typedef enum {
    KEEL_RESUME_BEHIND, /* nothing: the call that took the image has returned */
    /* the second gsync of keel_checkpoint(), or of a stop in keel_safe_point() */
    KEEL_RESUME_SECOND,
    /* the second gsync of a stop, then the keel_gsync() that the stop interrupted */
    KEEL_RESUME_GSYNC,
    /* the second gsync of a stop, then the keel_checkpoint() that the stop interrupted */
    KEEL_RESUME_CHECKPOINT
} keel_resume_t;

/* data of the image besides memory */
typedef struct keel_image_meta {
    uint32_t generation; /* number of the gsync of the image */
    uint32_t layout;     /* digest of the windows that exist, with their sizes */
    uint32_t rank;
    uint32_t rollbacks;
    uint32_t window_calls; /* collective window calls made before the image */
    uint32_t resume;       /* keel_resume_t */
    uint64_t sync_counter; /* SC: critical sections opened at this process */
} keel_image_meta_t;

/* Bytes of an image of these parts, a multiple of KEEL_IMAGE_ALIGN. All functions take parts in
 * the order of the image; images of equal parts have equal layout. @a why_p may be NULL
 * everywhere. */
size_t keel_image_size(const keel_part_t *parts, unsigned count);
/* copies the parts to @a slot (at least keel_image_size() bytes) and writes the header last */
void keel_image_write(void *slot, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count);
/* Checks magic, version, lengths, and the crc of the header and of every part. On
 * KEEL_ERR_CORRUPT *why_p is a constant text. */
keel_status_t keel_image_check(const void *slot, size_t slot_size, keel_image_meta_t *meta_p, const char **why_p);
/* the last part of @a kind in a checked image, NULL if there is none */
const void *keel_image_last_part(const void *slot, keel_part_kind_t kind, uint64_t *length_p);
/* Reads descriptions of the first @a most parts, without their memory, and the number of all
 * parts. KEEL_ERR_CORRUPT as above. */
keel_status_t keel_image_table(const void *slot, size_t slot_size, keel_part_t *parts, unsigned most, unsigned *count_p,
                               const char **why_p);
/* the meta data of a checked image */
keel_image_meta_t keel_image_meta(const void *slot);
/* Location in a checked image of a range of a window. One part must contain the range; NULL:
 * none does. */
const void *keel_image_find(const void *slot, uint32_t id, uint64_t where, uint64_t length);
/* Copies the parts back and compares each crc on the way. KEEL_ERR_STATE if the image has other
 * parts (kind, id, where, length, order) than requested; nothing is written then.
 * KEEL_ERR_CORRUPT may be found while copying: where a partial copy does harm, call
 * keel_image_check() first. */
keel_status_t keel_image_read(const void *slot, size_t slot_size, const keel_part_t *parts, unsigned count,
                              const char **why_p);

#endif
