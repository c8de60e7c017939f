/* Reads the sets in a folder of checkpoints and verifies their files. */
#ifndef KEEL_TOOLS_FILES_CHECK_H_
#define KEEL_TOOLS_FILES_CHECK_H_

#include "ckpt/image.h"
#include "files/manifest.h"

#include <time.h>

typedef enum {
    SET_COMPLETE,
    SET_ENDED,     /* of an ended job */
    SET_INCOMPLETE /* being written, or left by a lost job */
} set_state_t;

/* A set with the contents of a readable manifest. */
typedef struct set_info {
    keel_set_id_t id;
    set_state_t state;
    int has_manifest; /* readable */
    keel_manifest_t manifest;
    uint64_t bytes; /* of all files by the manifest */
    time_t written; /* time of the manifest; 0: none */
} set_info_t;

/* Describes all sets, the newest first. Returns 0 or an errno. */
int sets_read(int dir, set_info_t **sets_p, unsigned *count_p);
void sets_release(set_info_t *sets, unsigned count);
const char *set_state_name(set_state_t state);

/* The defect of a file; the empty string: none. */
typedef struct file_result {
    char wrong[160];
    keel_image_meta_t meta;
    unsigned windows, regions; /* parts of the image: of windows, and protected ones */
    uint64_t window_bytes, region_bytes;
} file_result_t;

/* Verifies the file of a rank by the crc of the manifest and the crcs of the image. */
void file_check(int dir, const set_info_t *set, uint32_t rank, file_result_t *result_p);

#endif
