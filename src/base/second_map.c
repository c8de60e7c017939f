/*
 * By the system calls themselves: UCX puts its own mremap() in place of the C library's, and that refuses pages it does not know. Only
 * shared memory can be mapped a second time; where a lane's is private, mremap() says so.
 */
#define _GNU_SOURCE /* mremap's flags */
#include "base/second_map.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_whole_pages(const void *memory, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return bytes > 0 && (uintptr_t)memory % page == 0 && bytes % page == 0;
}

/* readable, writable, private mappings of all of it, in the order of their addresses */
static int is_private(uintptr_t from, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long begin, stop;
    char line[512], access[8];

    while (maps != NULL && from < end && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &stop, access) != 3 || stop <= from) {
            continue;
        }
        if (begin > from || strcmp(access, "rw-p") != 0) {
            break;
        }
        from = stop;
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return from >= end;
}

int keel_second_map_is_possible(const void *memory, size_t bytes)
{
    return is_whole_pages(memory, bytes) && is_private((uintptr_t)memory, (uintptr_t)memory + bytes);
}

int keel_second_map(void *shared, void *memory, size_t bytes)
{
    return syscall(SYS_mremap, shared, 0L, bytes, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), memory) == (long)memory;
}

void keel_second_unmap(void *memory, size_t bytes)
{
    const long copy =
        syscall(SYS_mmap, NULL, bytes, (long)(PROT_READ | PROT_WRITE), (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);

    if (copy == -1) {
        return;
    }
    memcpy((void *)copy, memory, bytes);
    if (syscall(SYS_mremap, copy, bytes, bytes, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), memory) != (long)memory) {
        syscall(SYS_munmap, copy, bytes);
    }
}
