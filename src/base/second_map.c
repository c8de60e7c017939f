/*
 * Uses the system calls directly: UCX replaces the C library's mremap() by a function that refuses
 * pages unknown to it. Only shared memory can be mapped a second time; mremap() fails if a lane's
 * memory is private.
 */
#define _GNU_SOURCE /* mremap's flags, memfd_create, fallocate */
#include "base/second_map.h"

#include <errno.h>
#include <fcntl.h>
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

/* is the whole range covered by readable, writable, private mappings? */
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

int keel_second_unmap(void *memory, size_t bytes)
{
    const long copy =
        syscall(SYS_mmap, NULL, bytes, (long)(PROT_READ | PROT_WRITE), (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);

    if (copy == -1) {
        return 0;
    }
    memcpy((void *)copy, memory, bytes);
    if (syscall(SYS_mremap, copy, bytes, bytes, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), memory) != (long)memory) {
        syscall(SYS_munmap, copy, bytes);
        return 0;
    }
    return 1;
}

static int is_shared(void *memory)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const long again = syscall(SYS_mremap, memory, 0L, page, (long)MREMAP_MAYMOVE, 0L);

    if (again == -1) {
        return 0;
    }
    syscall(SYS_munmap, again, page);
    return 1;
}

/* The private pages are released before shared ones are allocated: the total never exceeds the
 * requested memory. */
static int map_file(void *memory, size_t length, int fd)
{
    int rc;

    if (ftruncate(fd, (off_t)length) != 0 || syscall(SYS_mmap, memory, length, (long)(PROT_READ | PROT_WRITE),
                                                     (long)(MAP_SHARED | MAP_FIXED), (long)fd, 0L) != (long)memory) {
        return 0;
    }
    (void)madvise(memory, length, MADV_DONTFORK);
    do {
        rc = fallocate(fd, 0, 0, (off_t)length);
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

int keel_second_make_possible(void *memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd, is_done;

    if (is_shared(memory)) {
        return 1;
    }
    fd = memfd_create("keel", MFD_CLOEXEC);
    is_done = fd >= 0 && map_file(memory, (bytes + page - 1) / page * page, fd);
    if (fd >= 0) {
        close(fd);
    }
    return is_done;
}
