/* Shared memory segments: made, identified, attached. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "ucp_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

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

/*
 * The kernel promises more than it has and kills who takes it, so ask first. An estimate: it cannot see what others take
 * at the same moment, nor the limit of a control group.
 */
static int is_available(size_t bytes)
{
    unsigned long long kib, sum = 0;
    char line[128];
    FILE *file;

    file = fopen("/proc/meminfo", "re");
    if (file == NULL) {
        return 1;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if ((sscanf(line, "MemAvailable: %llu", &kib) == 1) || (sscanf(line, "SwapFree: %llu", &kib) == 1)) {
            sum += kib;
        }
    }
    fclose(file);
    return bytes / 1024 < sum;
}

/* fallocate takes the pages from the kernel now: a lack of memory is an error here, not a SIGBUS at the first access */
static keel_status_t memory_file(size_t bytes, int *fd_p)
{
    int fd, ret;

    fd = memfd_create("keel", MFD_CLOEXEC);
    if (fd < 0) {
        return (errno == ENOMEM) ? KEEL_ERR_NO_MEMORY : KEEL_ERR_IO;
    }
    do {
        ret = fallocate(fd, 0, 0, (off_t)bytes);
    } while ((ret != 0) && (errno == EINTR));
    if (ret != 0) {
        close(fd);
        return KEEL_ERR_NO_MEMORY;
    }
    *fd_p = fd;
    return KEEL_OK;
}

keel_status_t keel_ucp_segment_make(size_t bytes, void *address, int is_shared, keel_ucp_segment_t *segment)
{
    const size_t length = page_round(bytes);
    const int fixed = (address != NULL) ? MAP_FIXED_NOREPLACE : 0;
    int fd = -1;
    keel_status_t status;
    void *base;

    if ((bytes == 0) || (length < bytes) || ((uintptr_t)address != page_round((uintptr_t)address))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if (!is_available(length)) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (is_shared) {
        status = memory_file(length, &fd);
        if (status != KEEL_OK) {
            return status;
        }
    }
    base = mmap(address, length, PROT_READ | PROT_WRITE, fixed | (is_shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS),
                fd, 0);
    if (base == MAP_FAILED) {
        goto err_close;
    }
    if ((address != NULL) && (base != address)) { /* a kernel before 4.17 takes the address for a hint */
        goto err_unmap;
    }
    fault_in(base, length);
    segment->fd = fd;
    segment->base = base;
    segment->bytes = length;
    return KEEL_OK;

err_unmap:
    munmap(base, length);
err_close:
    if (fd >= 0) {
        close(fd);
    }
    return KEEL_ERR_NO_MEMORY;
}

void keel_ucp_segment_drop(keel_ucp_segment_t *segment)
{
    munmap(segment->base, segment->bytes);
    if (segment->fd >= 0) {
        close(segment->fd);
    }
    segment->base = NULL;
    segment->fd = -1;
}

keel_status_t keel_ucp_segment_identify(const keel_ucp_segment_t *segment, keel_ucp_segment_id_t *id)
{
    struct stat file;

    if (segment->fd < 0) {
        *id = (keel_ucp_segment_id_t){0};
        return KEEL_OK;
    }
    if (fstat(segment->fd, &file) != 0) {
        return KEEL_ERR_IO;
    }
    *id = (keel_ucp_segment_id_t){.pid = (uint32_t)getpid(),
                                  .fd = (uint32_t)segment->fd,
                                  .dev = file.st_dev,
                                  .ino = file.st_ino,
                                  .bytes = segment->bytes};
    return KEEL_OK;
}

keel_status_t keel_ucp_segment_attach(const keel_ucp_segment_id_t *id, void **base_p)
{
    char path[64];
    struct stat file;
    void *base;
    int fd;

    if (id->pid == 0) {
        return KEEL_ERR_UNREACHABLE;
    }
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", id->pid, id->fd);
    /* stat first: a number that now means something else, a tape say, must not be opened */
    if ((stat(path, &file) != 0) || !S_ISREG(file.st_mode) || (file.st_dev != id->dev) || (file.st_ino != id->ino)) {
        return KEEL_ERR_UNREACHABLE;
    }
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return KEEL_ERR_UNREACHABLE;
    }
    if ((fstat(fd, &file) != 0) || (file.st_dev != id->dev) || (file.st_ino != id->ino) ||
        ((uint64_t)file.st_size != id->bytes)) {
        close(fd);
        return KEEL_ERR_UNREACHABLE;
    }
    base = mmap(NULL, id->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    if (base == MAP_FAILED) {
        return KEEL_ERR_NO_MEMORY;
    }
    *base_p = base;
    return KEEL_OK;
}

void keel_ucp_segment_detach(void *base, size_t bytes)
{
    munmap(base, bytes);
}
