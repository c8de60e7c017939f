/* Reads and verifies sets. */
#include "files_check.h"

#include "base/crc.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS_MAX 4096 /* parts of an image that are described */

const char *set_state_name(set_state_t state)
{
    static const char *const names[] = {"complete", "ended", "incomplete"};

    return names[state];
}

static const char *manifest_name(set_state_t state)
{
    static const char *const names[] = {KEEL_FILES_MANIFEST, KEEL_FILES_ENDED, NULL};

    return names[state];
}

static int set_read(int dir, set_info_t *set)
{
    const char *why;
    struct stat about;
    int folder, error;

    set->state = SET_COMPLETE;
    while (manifest_name(set->state) != NULL && keel_set_has(dir, set->id, manifest_name(set->state)) == 0) {
        set->state++;
    }
    if (set->state == SET_INCOMPLETE) {
        return 0;
    }
    error = keel_set_open(dir, set->id, 0, &folder);
    if (error != 0) {
        return error;
    }
    if (fstatat(folder, manifest_name(set->state), &about, 0) == 0) {
        set->written = about.st_mtime;
    }
    error = keel_manifest_read(folder, manifest_name(set->state), &set->manifest, &why);
    close(folder);
    set->has_manifest = error == 0;
    for (uint32_t r = 0; set->has_manifest && r < set->manifest.count; r++) {
        set->bytes += set->manifest.files[r].bytes;
    }
    return (error == EBADMSG) ? 0 : error;
}

int sets_read(int dir, set_info_t **sets_p, unsigned *count_p)
{
    keel_set_id_t *ids = NULL;
    set_info_t *sets;
    int error = keel_set_list(dir, &ids, count_p);

    if (error != 0) {
        return error;
    }
    sets = keel_alloc((*count_p + 1) * sizeof(*sets), "sets");
    error = (sets == NULL) ? ENOMEM : 0;
    for (unsigned i = 0; i < *count_p && error == 0; i++) {
        sets[i].id = ids[i];
        error = set_read(dir, &sets[i]);
    }
    keel_free(ids);
    if (error != 0) {
        sets_release(sets, *count_p);
        return error;
    }
    *sets_p = sets;
    return 0;
}

void sets_release(set_info_t *sets, unsigned count)
{
    for (unsigned i = 0; sets != NULL && i < count; i++) {
        keel_manifest_release(&sets[i].manifest);
    }
    keel_free(sets);
}

static void describe(const void *image, size_t bytes, file_result_t *result)
{
    static keel_part_t parts[PARTS_MAX];
    const char *why;
    unsigned count = 0;

    if (keel_image_table(image, bytes, parts, PARTS_MAX, &count, &why) != KEEL_OK) {
        return;
    }
    for (unsigned i = 0; i < count && i < PARTS_MAX; i++) {
        if (parts[i].kind == KEEL_PART_WINDOW) {
            result->windows++;
            result->window_bytes += parts[i].length;
        } else if (parts[i].kind == KEEL_PART_PROTECTED) {
            result->regions++;
            result->region_bytes += parts[i].length;
        }
    }
}

static void check_contents(const set_info_t *set, uint32_t rank, const void *image, file_result_t *result)
{
    const keel_manifest_file_t *file = &set->manifest.files[rank];
    const char *why;

    if (keel_image_check(image, file->bytes, &result->meta, &why) != KEEL_OK) {
        snprintf(result->wrong, sizeof(result->wrong), "%s", why);
    } else if (result->meta.rank != rank || result->meta.generation != set->id.generation) {
        snprintf(result->wrong, sizeof(result->wrong), "image of rank %u of checkpoint %u", result->meta.rank,
                 result->meta.generation);
    } else if (keel_crc(0, image, file->bytes) != file->crc) {
        snprintf(result->wrong, sizeof(result->wrong), "not the file that the manifest describes");
    } else {
        describe(image, file->bytes, result);
    }
}

void file_check(int dir, const set_info_t *set, uint32_t rank, file_result_t *result_p)
{
    const uint64_t bytes = set->manifest.files[rank].bytes;
    char name[KEEL_FILES_NAME_MAX];
    struct stat about;
    void *image;
    int folder, file = -1;

    *result_p = (file_result_t){.wrong = ""};
    if (keel_set_open(dir, set->id, 0, &folder) == 0) {
        keel_set_rank_name(rank, name);
        file = openat(folder, name, O_RDONLY | O_CLOEXEC);
        close(folder);
    }
    if (file < 0 || fstat(file, &about) != 0) {
        snprintf(result_p->wrong, sizeof(result_p->wrong), "%s", strerror(errno));
        if (file >= 0) {
            close(file);
        }
        return;
    }
    if ((uint64_t)about.st_size != bytes) {
        snprintf(result_p->wrong, sizeof(result_p->wrong), "%ld bytes instead of %lu", (long)about.st_size, bytes);
        close(file);
        return;
    }
    image = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (image == MAP_FAILED) {
        snprintf(result_p->wrong, sizeof(result_p->wrong), "%s", strerror(errno));
        return;
    }
    check_contents(set, rank, image, result_p);
    munmap(image, bytes);
}
