/* Shared memory segments: creation, identification, attachment. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "shm_segment.h"

#include "base/memory_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#define HUGE_PAGE       ((size_t)2 << 20)
#define POPULATED_BYTES ((size_t)256 << 10) /* of a segment that attach() maps whole */

static size_t page_round(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) & ~(page - 1);
}

static void fault_in(void *base, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t offset;

    if (madvise(base, bytes, MADV_POPULATE_WRITE) == 0) {
        return;
    }
    for (offset = 0; offset < bytes; offset += page) {
        ((volatile char *)base)[offset] = 0;
    }
}

/* an empty file; its pages are allocated after mapping */
static keel_status_t memory_file(size_t bytes, int *fd_p)
{
    int fd;

    fd = memfd_create("keel", MFD_CLOEXEC);
    if (fd < 0) {
        return (errno == ENOMEM) ? KEEL_ERR_NO_MEMORY : KEEL_ERR_IO;
    }
    if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) { /* memory files are created writable for everybody */
        close(fd);
        return KEEL_ERR_IO;
    }
    if (ftruncate(fd, (off_t)bytes) != 0) {
        close(fd);
        return KEEL_ERR_NO_MEMORY;
    }
    *fd_p = fd;
    return KEEL_OK;
}

/*
 * Requests huge pages where possible, whatever the kernel's setting for shared memory: clearing and
 * mapping 4 KiB pages takes three times as long, and so does unmapping. One page of each huge page
 * must exist first; pwrite() reports a lack of memory. Optional: without huge pages, or before
 * Linux 6.1, small pages follow.
 */
static void make_huge(int fd, char *base, size_t from, size_t length)
{
    size_t offset;

    for (offset = 0; offset + HUGE_PAGE <= length; offset += HUGE_PAGE) {
        if (pwrite(fd, "", 1, (off_t)(from + offset)) != 1) {
            return;
        }
    }
    if (offset > 0) {
        (void)madvise(base + from, offset, MADV_COLLAPSE);
    }
}

/* fallocate() takes the pages from the kernel now: a lack of memory is an error here, not a
 * SIGBUS at the first access */
static keel_status_t take_pages(int fd, char *base, size_t from, size_t length)
{
    int ret;

    if (fd >= 0) {
        make_huge(fd, base, from, length);
        do {
            ret = fallocate(fd, 0, (off_t)from, (off_t)length);
        } while ((ret != 0) && (errno == EINTR));
        if (ret != 0) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    fault_in(base + from, length);
    return KEEL_OK;
}

static keel_status_t take_memory(keel_shm_segment_t *segment, size_t *available_p)
{
    keel_status_t status = KEEL_OK;
    size_t taken = 0, available, part;

    while (taken < segment->bytes && status == KEEL_OK) {
        part = keel_memory_part(segment->bytes - taken, &available);
        if (part == 0) {
            *available_p = available;
            return KEEL_ERR_NO_MEMORY;
        }
        status = take_pages(segment->fd, segment->base, taken, part);
        taken += part;
    }
    return status;
}

/* Maps a file, or private memory without one, at @a address or where huge pages fit. */
static void *map_at(size_t length, void *address, int fd, int flags)
{
    const size_t slack = (length >= HUGE_PAGE) ? HUGE_PAGE : 0;
    char *room, *start;
    void *base;

    flags |= (fd >= 0) ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (address != NULL) {
        return mmap(address, length, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (slack == 0) {
        return mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, 0);
    }
    room = mmap(NULL, length + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        return MAP_FAILED;
    }
    start = room + (-(uintptr_t)room & (HUGE_PAGE - 1));
    base = mmap(start, length, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
    if (base == MAP_FAILED) {
        munmap(room, length + slack);
        return MAP_FAILED;
    }
    if (start > room) {
        munmap(room, (size_t)(start - room));
    }
    munmap(start + length, (size_t)(room + slack - start));
    return base;
}

/* A child of fork() does not inherit shared memory: it would write the memory of its parent and
 * of other ranks. */
static void *map(size_t length, void *address, int fd, int flags)
{
    void *base = map_at(length, address, fd, flags);

    if ((base != MAP_FAILED) && (fd >= 0)) {
        (void)madvise(base, length, MADV_DONTFORK);
    }
    return base;
}

keel_status_t keel_shm_segment_make(size_t bytes, void *address, int is_shared, keel_shm_segment_t *segment,
                                    size_t *available_p)
{
    const size_t length = page_round(bytes);
    keel_shm_segment_t made = {.fd = -1, .bytes = length};
    keel_status_t status;

    *available_p = SIZE_MAX;
    if ((bytes == 0) || (length < bytes) || ((uintptr_t)address != page_round((uintptr_t)address))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (is_shared) {
        status = memory_file(length, &made.fd);
        if (status != KEEL_OK) {
            return status;
        }
    }
    made.base = map(length, address, made.fd, 0);
    if (made.base == MAP_FAILED) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_close;
    }
    /* kernels before 4.17 take the address as a hint */
    if ((address != NULL) && (made.base != address)) {
        status = KEEL_ERR_NO_MEMORY;
        goto err_unmap;
    }
    if (!is_shared) {
        (void)madvise(made.base, length, MADV_HUGEPAGE);
    }
    status = take_memory(&made, available_p);
    if (status != KEEL_OK) {
        goto err_unmap;
    }
    *segment = made;
    return KEEL_OK;

err_unmap:
    munmap(made.base, length);
err_close:
    if (made.fd >= 0) {
        close(made.fd);
    }
    return status;
}

void keel_shm_segment_drop(keel_shm_segment_t *segment)
{
    munmap(segment->base, segment->bytes);
    if (segment->fd >= 0) {
        close(segment->fd);
    }
    segment->base = NULL;
    segment->fd = -1;
}

/* Maps the file a second time. mremap() is not used: UCX replaces the C library's function by
 * one that ignores the address. */
static keel_status_t move(keel_shm_segment_t *segment, void *address)
{
    void *base = map(segment->bytes, address, segment->fd, MAP_POPULATE);

    if (base == MAP_FAILED) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (base != address) {
        munmap(base, segment->bytes);
        return KEEL_ERR_NO_MEMORY;
    }
    munmap(segment->base, segment->bytes);
    segment->base = base;
    return KEEL_OK;
}

keel_status_t keel_shm_segment_adapt(keel_shm_segment_t *segment, size_t bytes, void *address)
{
    const size_t length = page_round(bytes);

    if ((segment->fd < 0) && ((address != NULL) || (length != segment->bytes))) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if (length < segment->bytes) {
        if (ftruncate(segment->fd, (off_t)length) != 0) {
            return KEEL_ERR_IO;
        }
        munmap((char *)segment->base + length, segment->bytes - length);
        segment->bytes = length;
    }
    return (address != NULL) ? move(segment, address) : KEEL_OK;
}

keel_status_t keel_shm_segment_identify(const keel_shm_segment_t *segment, keel_shm_segment_id_t *id)
{
    struct stat file;

    if (segment->fd < 0) {
        *id = (keel_shm_segment_id_t){0};
        return KEEL_OK;
    }
    if (fstat(segment->fd, &file) != 0) {
        return KEEL_ERR_IO;
    }
    *id = (keel_shm_segment_id_t){.pid = (uint32_t)getpid(),
                                  .fd = (uint32_t)segment->fd,
                                  .dev = file.st_dev,
                                  .ino = file.st_ino,
                                  .bytes = segment->bytes};
    return KEEL_OK;
}

keel_status_t keel_shm_segment_attach(const keel_shm_segment_id_t *id, void **base_p)
{
    char path[64];
    struct stat file;
    void *base;
    int fd;

    if (id->pid == 0) {
        return KEEL_ERR_UNREACHABLE;
    }
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", id->pid, id->fd);
    /* stat first: the number may now name another file, a tape for example, that must not be
     * opened */
    if ((stat(path, &file) != 0) || !S_ISREG(file.st_mode) || (file.st_dev != id->dev) || (file.st_ino != id->ino)) {
        return KEEL_ERR_UNREACHABLE;
    }
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return (errno == EMFILE || errno == ENFILE || errno == ENOMEM) ? KEEL_ERR_NO_MEMORY : KEEL_ERR_UNREACHABLE;
    }
    if ((fstat(fd, &file) != 0) || (file.st_dev != id->dev) || (file.st_ino != id->ino) || (file.st_uid != geteuid()) ||
        ((uint64_t)file.st_size != id->bytes)) {
        close(fd);
        return KEEL_ERR_UNREACHABLE;
    }
    /* A process maps the memory of all ranks of the node: pages of large segments, as get logs are,
     * enter the page table when touched. */
    base = map(id->bytes, NULL, fd, (id->bytes <= POPULATED_BYTES) ? MAP_POPULATE : 0);
    close(fd);
    if (base == MAP_FAILED) {
        return KEEL_ERR_NO_MEMORY;
    }
    *base_p = base;
    return KEEL_OK;
}

void keel_shm_segment_detach(void *base, size_t bytes)
{
    munmap(base, bytes);
}

/* Uses mremap(), which leaves no moment without a mapping, by the system call, since UCX's
 * function refuses such moves. */
keel_status_t keel_shm_segment_move_over(void *base, size_t bytes, void *place)
{
    const long moved = syscall(SYS_mremap, base, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);

    return (moved == -1) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}
