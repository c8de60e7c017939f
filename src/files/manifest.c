/* Manifests of sets. */
#include "files/manifest.h"

#include "base/crc.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST_MAX   ((size_t)256 << 20) /* bytes of a manifest that are read */
#define MANIFEST_FIRST "keel checkpoint 1\n"

void keel_manifest_set_program(keel_manifest_t *manifest, const char *name)
{
    snprintf(manifest->program, sizeof(manifest->program), "%s", name);
    for (char *c = manifest->program; *c != '\0'; c++) {
        *c = (*c <= ' ' || *c == '"' || *c == '\\') ? '_' : *c;
    }
}

typedef struct text {
    char *at;
    size_t length;
} text_t;

static int write_text(void *arg, int file)
{
    const text_t *text = arg;

    return keel_set_write_all(file, text->at, text->length);
}

static int verify_text(void *arg, int file)
{
    const text_t *text = arg;
    char *again = keel_alloc(text->length, "manifest");
    int error = (again != NULL) ? keel_set_read_all(file, again, text->length) : ENOMEM;

    if (error == 0 && memcmp(again, text->at, text->length) != 0) {
        error = EBADMSG;
    }
    keel_free(again);
    return error;
}

int keel_manifest_write(int set, const keel_manifest_t *manifest)
{
    text_t text = {.at = NULL};
    const keel_set_contents_t contents = {.write = write_text, .verify = verify_text, .arg = &text};
    FILE *stream = open_memstream(&text.at, &text.length);
    int error;

    if (stream == NULL) {
        return ENOMEM;
    }
    fprintf(stream, MANIFEST_FIRST "generation %" PRIu32 "\nrun %08" PRIx32 "\nprogram %s\nfiles %" PRIu32 "\n",
            manifest->id.generation, manifest->id.run, manifest->program, manifest->count);
    for (uint32_t r = 0; r < manifest->count; r++) {
        fprintf(stream, "file %" PRIu32 " bytes %" PRIu64 " crc %08" PRIx32 "\n", r, manifest->files[r].bytes,
                manifest->files[r].crc);
    }
    fflush(stream);
    fprintf(stream, "end %08" PRIx32 "\n", keel_crc(0, text.at, text.length));
    error = (fclose(stream) != 0) ? ENOMEM : keel_set_write_file(set, KEEL_FILES_MANIFEST, &contents);
    free(text.at);
    return error;
}

/* Reads a whole file; a zero byte follows. */
static int read_whole(int set, const char *name, char **text_p, size_t *length_p)
{
    const int file = openat(set, name, O_RDONLY | O_CLOEXEC);
    struct stat about;
    char *text;
    int error = 0;

    if (file < 0) {
        return errno;
    }
    if (fstat(file, &about) != 0) {
        error = errno;
    } else if ((uint64_t)about.st_size > MANIFEST_MAX) {
        error = EFBIG;
    }
    if (error != 0) {
        close(file);
        return error;
    }
    text = keel_alloc((size_t)about.st_size + 1, "manifest");
    error = (text != NULL) ? keel_set_read_all(file, text, (size_t)about.st_size) : ENOMEM;
    close(file);
    if (error != 0) {
        keel_free(text);
        return error;
    }
    *text_p = text;
    *length_p = (size_t)about.st_size;
    return 0;
}

/* Checks the last line, which sums all before; cuts it off. */
static int check_end(char *text, size_t length)
{
    const size_t last = strlen("end 00000000\n");
    char line[16];

    if (length < last) {
        return 0;
    }
    snprintf(line, sizeof(line), "end %08" PRIx32 "\n", keel_crc(0, text, length - last));
    if (memcmp(text + length - last, line, last) != 0) {
        return 0;
    }
    text[length - last] = '\0';
    return 1;
}

/* Each line is cut off first: sscanf() computes the length of the text at each call. */
static int parse_files(char *at, keel_manifest_t *m)
{
    for (uint32_t r = 0; r < m->count; r++) {
        char *end = strchr(at, '\n');
        uint32_t rank;
        int used = 0;

        if (end == NULL) {
            return 0;
        }
        *end = '\0';
        if (sscanf(at, "file %" SCNu32 " bytes %" SCNu64 " crc %" SCNx32 "%n", &rank, &m->files[r].bytes,
                   &m->files[r].crc, &used) != 3 ||
            used != end - at || rank != r) {
            return 0;
        }
        at = end + 1;
    }
    return *at == '\0';
}

static int parse(char *text, size_t length, keel_manifest_t *m)
{
    int used = 0;

    if (strlen(text) != length || !check_end(text, length)) {
        return 0;
    }
    if (sscanf(text, MANIFEST_FIRST "generation %" SCNu32 "\nrun %" SCNx32 "\nprogram %127s\nfiles %" SCNu32 "\n%n",
               &m->id.generation, &m->id.run, m->program, &m->count, &used) != 4 ||
        used == 0 || m->count == 0 || m->count > length) {
        return 0;
    }
    m->files = keel_alloc(m->count * sizeof(*m->files), "manifest");
    return m->files != NULL && parse_files(text + used, m);
}

int keel_manifest_read(int set, const char *name, keel_manifest_t *manifest_p, const char **why_p)
{
    char *text = NULL;
    size_t length = 0;
    int error = read_whole(set, name, &text, &length);

    *why_p = (error != 0) ? strerror(error) : NULL;
    if (error != 0) {
        return error;
    }
    *manifest_p = (keel_manifest_t){.count = 0};
    if (!parse(text, length, manifest_p)) {
        keel_manifest_release(manifest_p);
        *why_p = "the manifest is damaged";
        error = EBADMSG;
    }
    keel_free(text);
    return error;
}

void keel_manifest_release(keel_manifest_t *manifest)
{
    keel_free(manifest->files);
    manifest->files = NULL;
}
