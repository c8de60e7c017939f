/*
 * dlopen() of the whole process. Calls by profiling names (PMPI_) from objects loaded after
 * MPI_Init() reach this library, too (mpi_profiling.h). The linker searches the directories of the
 * calling object for a file without a slash. The calling object is this library now, so dlopen()
 * searches the directories of its own caller.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr, dlinfo */
#include "mpi_profiling.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*dlopen_t)(const char *file, int mode);

static dlopen_t next_dlopen(void)
{
    static dlopen_t next;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    }
    return next;
}

/* Returns the directories that the linker searches for the object at an address, or NULL. To be
 * freed. */
static Dl_serinfo *directories_of(const void *caller)
{
    Dl_serinfo size, *all = NULL;
    Dl_info info;
    struct link_map *map = NULL;
    void *object;

    if (dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) {
        return NULL;
    }
    object = next_dlopen()(map->l_name[0] != '\0' ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL) {
        return NULL;
    }
    if (dlinfo(object, RTLD_DI_SERINFOSIZE, &size) == 0) {
        all = malloc(size.dls_size);
    }
    if (all != NULL && (dlinfo(object, RTLD_DI_SERINFOSIZE, all) != 0 || dlinfo(object, RTLD_DI_SERINFO, all) != 0)) {
        free(all);
        all = NULL;
    }
    (void)dlclose(object);
    return all;
}

static void *open_for(const void *caller, const char *file, int mode)
{
    void *object = next_dlopen()(file, mode | RTLD_NOLOAD);
    Dl_serinfo *all;
    char path[PATH_MAX];

    if (object != NULL || (mode & RTLD_NOLOAD)) { /* loaded: the name will do */
        return object;
    }
    all = directories_of(caller);
    for (unsigned i = 0; all != NULL && object == NULL && i < all->dls_cnt; i++) {
        if (snprintf(path, sizeof(path), "%s/%s", all->dls_serpath[i].dls_name, file) < (int)sizeof(path) &&
            access(path, R_OK) == 0) {
            object = next_dlopen()(path, mode);
        }
    }
    free(all);
    return (object != NULL) ? object : next_dlopen()(file, mode);
}

void *dlopen(const char *file, int mode)
{
    void *object = (file == NULL || strchr(file, '/') != NULL) ? next_dlopen()(file, mode)
                                                               : open_for(__builtin_return_address(0), file, mode);

    if (object != NULL && file != NULL && !(mode & RTLD_NOLOAD)) {
        keel_mpi_profiling_redirect();
    }
    return object;
}
