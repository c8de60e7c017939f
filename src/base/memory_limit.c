/* Limits of control groups: files of the own group, and of the groups around it. Unreadable
 * files impose no limit. */
#include "base/memory_limit.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PART_UNIT ((size_t)2 << 20) /* a huge page */

enum {
    PARTS = 512, /* fraction of the available memory taken at a time */
    KEPT = 64    /* fraction of it left to the program and the kernel */
};

static size_t limit_read(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long bytes;
    int n;

    if (file == NULL) {
        return SIZE_MAX;
    }
    n = fscanf(file, "%llu", &bytes); /* "max" is no number */
    fclose(file);
    return (n == 1) ? (size_t)bytes : SIZE_MAX;
}

/* the number after @a name and a blank, or a colon and blanks; 0: none */
static size_t number_of(const char *path, const char *name)
{
    unsigned long long value = 0;
    char line[256];
    FILE *file = fopen(path, "re");
    const size_t length = strlen(name);

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, length) == 0 && (line[length] == ' ' || line[length] == ':') &&
            sscanf(line + length + 1, "%llu", &value) == 1) {
            break;
        }
        value = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return (size_t)value;
}

/* file names of a control group, by version */
typedef struct group_files {
    const char *limit, *usage;
    /* words of memory.stat: caches that the kernel reclaims before it kills */
    const char *caches[2];
} group_files_t;

static const group_files_t first_version = {.limit = "memory.limit_in_bytes",
                                            .usage = "memory.usage_in_bytes",
                                            .caches = {"total_inactive_file", "total_active_file"}};
static const group_files_t second_version = {
    .limit = "memory.max", .usage = "memory.current", .caches = {"inactive_file", "active_file"}};

/* limit of a group; with @a is_free, the part not in use */
static size_t group_bytes(const char *folder, const group_files_t *files, int is_free)
{
    char path[2 * PATH_MAX + 64];
    size_t limit, usage, caches = 0;

    snprintf(path, sizeof(path), "%s/%s", folder, files->limit);
    limit = limit_read(path);
    if (!is_free || limit == SIZE_MAX) {
        return limit;
    }
    snprintf(path, sizeof(path), "%s/%s", folder, files->usage);
    usage = limit_read(path);
    if (usage == SIZE_MAX) {
        return SIZE_MAX;
    }
    snprintf(path, sizeof(path), "%s/memory.stat", folder);
    for (unsigned i = 0; i < sizeof(files->caches) / sizeof(files->caches[0]); i++) {
        caches += number_of(path, files->caches[i]);
    }
    usage -= (caches < usage) ? caches : usage;
    return (usage < limit) ? limit - usage : 0;
}

/* minimum over the group at @a path and all groups around it; @a path is shortened */
static size_t limit_of_groups(const char *top, char *path, const group_files_t *files, int is_free)
{
    size_t least = SIZE_MAX, bytes;
    char folder[2 * PATH_MAX];
    char *slash;

    for (;;) {
        snprintf(folder, sizeof(folder), "%s%s", top, path);
        bytes = group_bytes(folder, files, is_free);
        least = (bytes < least) ? bytes : least;
        slash = strrchr(path, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

static int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (; list != NULL; list = strchr(list, ',')) {
        list += (*list == ',');
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

/* a line of /proc/self/cgroup: number:controllers:path, without controllers in version 2 */
static size_t limit_of_line(const char *root, char *line, int is_free)
{
    char *controllers = strchr(line, ':'), *path, top[PATH_MAX];

    path = (controllers != NULL) ? strchr(++controllers, ':') : NULL;
    if (path == NULL) {
        return SIZE_MAX;
    }
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    if (*controllers == '\0') {
        snprintf(top, sizeof(top), "%s/sys/fs/cgroup", root);
        return limit_of_groups(top, path, &second_version, is_free);
    }
    if (has_word(controllers, "memory")) {
        snprintf(top, sizeof(top), "%s/sys/fs/cgroup/memory", root);
        return limit_of_groups(top, path, &first_version, is_free);
    }
    return SIZE_MAX;
}

int keel_memory_is_lazy(const char *root)
{
    char path[PATH_MAX];
    struct rlimit space;

    snprintf(path, sizeof(path), "%s/proc/sys/vm/overcommit_memory", root);
    return limit_read(path) != 2 && (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY);
}

static size_t limit_of_all_groups(const char *root, int is_free)
{
    size_t least = SIZE_MAX, bytes;
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    while (file != NULL && fgets(path, sizeof(path), file) != NULL) {
        bytes = limit_of_line(root, path, is_free);
        least = (bytes < least) ? bytes : least;
    }
    if (file != NULL) {
        fclose(file);
    }
    return least;
}

size_t keel_memory_limit(const char *root)
{
    const size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    const size_t groups = limit_of_all_groups(root, 0);

    return (machine < groups) ? machine : groups;
}

size_t keel_memory_available(const char *root)
{
    size_t kib, groups;
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    kib = number_of(path, "MemAvailable") + number_of(path, "SwapFree");
    groups = limit_of_all_groups(root, 1);
    return (kib > 0 && kib < groups / 1024) ? kib * 1024 : groups;
}

size_t keel_memory_part(size_t left, size_t *available_p)
{
    const size_t available = keel_memory_available("");
    const size_t part = (available / PARTS + PART_UNIT) & ~(PART_UNIT - 1);

    *available_p = available;
    if (left > available - available / KEPT) {
        return 0;
    }
    return (part < left) ? part : left;
}
