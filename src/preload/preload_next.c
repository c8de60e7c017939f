/*
 * The library is not linked with libucp: a program with UCX only in a component opened later would
 * load libucp too early and unload libucp in another order (OSHMEM then ends by SIGSEGV). The
 * search takes place at the first call and includes components with local symbols.
 */
#define _GNU_SOURCE
#include "preload/preload_next.h"

#include "base/message.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__thread unsigned preload_inside[PRELOAD_KINDS] __attribute__((tls_model("initial-exec")));

/* addresses of a loaded file */
typedef struct range {
    uintptr_t first, end;
} range_t;

static range_t range_of_ucx, range_of_self;

typedef struct search {
    uintptr_t address; /* of a function; 0: search by name */
    range_t range;
    char path[4096]; /* of libucp */
} search_t;

static int file_search(struct dl_phdr_info *info, size_t size, void *arg)
{
    search_t *search = arg;
    const char *name = strrchr(info->dlpi_name, '/');
    range_t range = {.first = UINTPTR_MAX, .end = 0};

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t first = info->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD) {
            range.first = first < range.first ? first : range.first;
            range.end = first + part->p_memsz > range.end ? first + part->p_memsz : range.end;
        }
    }
    if (search->address != 0 && search->address - range.first < range.end - range.first) {
        search->range = range;
        return 1;
    }
    /* wheels of Python have libucp-<sum>.so */
    if (search->address == 0 && name != NULL && strncmp(name, "/libucp", strlen("/libucp")) == 0) {
        snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
        return 1;
    }
    return 0;
}

static range_t range_around(const void *function)
{
    search_t search = {.address = (uintptr_t)function};

    (void)dl_iterate_phdr(file_search, &search);
    return search.range;
}

/* in a libucp opened without RTLD_GLOBAL */
static void *next_in_component(const char *name)
{
    search_t search = {.address = 0};
    void *handle, *function = NULL;

    if (dl_iterate_phdr(file_search, &search) != 0) {
        handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL) {
            function = dlsym(handle, name);
            dlclose(handle);
        }
    }
    return function;
}

void *preload_next_if_any(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL) {
        function = next_in_component(name);
    }
    if (function != NULL) {
        range_of_ucx = range_around(function);
        range_of_self = range_around((const void *)preload_next_if_any);
    }
    return function;
}

void *preload_next(const char *name)
{
    void *function = preload_next_if_any(name);
    char line[160];

    if (function == NULL) {
        snprintf(line, sizeof(line), "keel-preload: the program calls %s(), and no UCX in it has that", name);
        keel_message_to_stderr(line);
        _exit(127);
    }
    return function;
}

int preload_is_from_ucx(const void *return_address)
{
    const uintptr_t address = (uintptr_t)return_address;

    return address - range_of_ucx.first < range_of_ucx.end - range_of_ucx.first ||
           address - range_of_self.first < range_of_self.end - range_of_self.first;
}
