/* Limits of control groups: a group's own file, and those of the groups around it. What cannot be read limits nothing. */
#include "base/memory_limit.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* of the group at @a path and of all around it; @a path is shortened */
static size_t limit_of_groups(const char *top, char *path, const char *name)
{
    size_t least = SIZE_MAX, bytes;
    char file[2 * PATH_MAX];
    char *slash;

    for (;;) {
        snprintf(file, sizeof(file), "%s%s/%s", top, path, name);
        bytes = limit_read(file);
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
static size_t limit_of_line(const char *root, char *line)
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
        return limit_of_groups(top, path, "memory.max");
    }
    if (has_word(controllers, "memory")) {
        snprintf(top, sizeof(top), "%s/sys/fs/cgroup/memory", root);
        return limit_of_groups(top, path, "memory.limit_in_bytes");
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

size_t keel_memory_limit(const char *root)
{
    size_t least = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE), bytes;
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    while (file != NULL && fgets(path, sizeof(path), file) != NULL) {
        bytes = limit_of_line(root, path);
        least = (bytes < least) ? bytes : least;
    }
    if (file != NULL) {
        fclose(file);
    }
    return least;
}
