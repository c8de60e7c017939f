/*
 * The manifest of a complete set: lines of text, the last one with a crc32c of all before.
 *
 *   keel checkpoint 1
 *   generation 120
 *   run 1f2e3d4c
 *   program cg
 *   files 4
 *   file 0 bytes 16778240 crc 0badcafe
 *   ...
 *   end 89abcdef
 */
#ifndef KEEL_FILES_MANIFEST_H_
#define KEEL_FILES_MANIFEST_H_

#include "files/set_dir.h"

#define KEEL_MANIFEST_PROGRAM_MAX 128

typedef struct keel_manifest_file {
    uint64_t bytes;
    uint32_t crc; /* of the whole file */
} keel_manifest_file_t;

typedef struct keel_manifest {
    keel_set_id_t id;
    char program[KEEL_MANIFEST_PROGRAM_MAX]; /* name of the program, without spaces and quotes */
    uint32_t count;                          /* files: ranks with an image */
    keel_manifest_file_t *files;             /* by rank */
} keel_manifest_t;

/* Writes the manifest, which completes the set. Returns 0 or an errno. */
int keel_manifest_write(int set, const keel_manifest_t *manifest);
/* Reads the manifest @a name of a set. Returns 0; release *manifest_p with keel_manifest_release().
 * On failure returns an errno, with the reason in *why_p; EBADMSG: the contents are damaged. */
int keel_manifest_read(int set, const char *name, keel_manifest_t *manifest_p, const char **why_p);
void keel_manifest_release(keel_manifest_t *manifest);
/* Sets the program's name, with spaces and quotes replaced. */
void keel_manifest_set_program(keel_manifest_t *manifest, const char *name);

#endif
