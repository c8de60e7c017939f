#define _GNU_SOURCE /* memfd_create, mremap */
/*
 * An alias is a second mapping of the arena's pages at the program's address. If the arena is
 * private (no other process maps it), both become mappings of a new file. The stack may be among
 * the pages, so move() runs on another stack; other threads are stopped, since their writes would
 * be lost. Pages without a window return to the program. A rollback returns all pages before the
 * arena is restored and maps them elsewhere after, as a replacement's pages may differ.
 */
#include "rma/mpi_alias.h"

#include "life/mpi_startup.h"
#include "life/mpi_stop_world.h"
#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct alias {
    struct alias *next;
    char *pages;
    size_t length;
    uint64_t offset; /* of a block of the arena */
    unsigned uses;   /* parts in this alias */
} alias_t;

/* The part of a region in one alias. */
typedef struct part {
    size_t at, bytes;      /* offset in the region */
    alias_t *alias;        /* NULL: not mapped */
    uint64_t image_offset; /* first offset in the arena; a replacement keeps the predecessor's */
} part_t;

/* Memory of a window. Regions made before the restart point stay listed for rollbacks. */
typedef struct region {
    struct region *next;
    char *address;
    size_t bytes;
    uint64_t id; /* the same in every life */
    part_t *parts;
    size_t count;
    int is_late; /* made after the restart point */
    int is_back; /* during a rollback: the image has the region */
} region_t;

static alias_t *aliases;
static region_t *regions, **regions_end = &regions; /* in order of creation */
static uint64_t made;                               /* regions made in this life */

/* Arguments of move(), which must not call code that needs the program's own stack. */
static struct {
    ucontext_t back, there;
    char stack[64 << 10] __attribute__((aligned(16)));
    char *pages, *block; /* of the program, and of the arena */
    size_t length;
    int is_shared; /* other processes map the arena, or may do so */
    int is_back;   /* the pages return to the program */
    int is_done;
} moving;

static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* UCX hooks these functions: hooks take locks, and mremap() fails for pages unknown to UCX. */
static int map(char *at, int flags, int fd)
{
    return syscall(SYS_mmap, at, moving.length, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0L) == (long)at;
}

/* Maps one new file at both places. */
static int map_file(void)
{
    const int fd = memfd_create("keel-mpi", MFD_CLOEXEC);
    int is_done = 0;

    if (fd >= 0 && ftruncate(fd, (off_t)moving.length) == 0 &&
        pwrite(fd, moving.pages, moving.length, 0) == (ssize_t)moving.length && map(moving.block, MAP_SHARED, fd)) {
        is_done = map(moving.pages, MAP_SHARED, fd);
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_done;
}

static int map_again(void)
{
    memcpy(moving.block, moving.pages, moving.length);
    return syscall(SYS_mremap, moving.block, 0L, moving.length, (long)(MREMAP_MAYMOVE | MREMAP_FIXED), moving.pages) ==
           (long)moving.pages;
}

static int map_back(void)
{
    if (!map(moving.pages, MAP_PRIVATE | MAP_ANONYMOUS, -1)) {
        return 0;
    }
    memcpy(moving.pages, moving.block, moving.length);
    return moving.is_shared || map(moving.block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void move(void)
{
    moving.is_done = moving.is_back ? map_back() : moving.is_shared ? map_again() : map_file();
}

/* Only shared memory can be mapped a second time. */
static int arena_is_shared(void)
{
    const size_t page = page_bytes();
    const long again = syscall(SYS_mremap, keel_mpi.hidden, 0L, page, (long)MREMAP_MAYMOVE, 0L);

    if (again >= 0) {
        syscall(SYS_munmap, again, page);
    }
    return again >= 0;
}

static void move_elsewhere(char *pages, char *block, size_t length, int is_back, const char *call)
{
    moving.pages = pages;
    moving.block = block;
    moving.length = length;
    moving.is_back = is_back;
    moving.is_shared = arena_is_shared();
    moving.is_done = 0;
    if (getcontext(&moving.there) == 0) {
        moving.there.uc_stack.ss_sp = moving.stack;
        moving.there.uc_stack.ss_size = sizeof(moving.stack);
        moving.there.uc_link = &moving.back;
        makecontext(&moving.there, move, 0);
        (void)(keel_mpi_stop_world_begin(KEEL_MPI_STOP_MS) && swapcontext(&moving.back, &moving.there));
        keel_mpi_stop_world_end();
    }
    if (!moving.is_done) {
        keel_mpi_fatal(call, "cannot map this memory twice, or stop a thread: use MPI_Win_allocate or MPI_Alloc_mem");
    }
}

/* The first alias that overlaps the pages. */
static alias_t *alias_find(const char *pages, size_t length)
{
    alias_t *first = NULL;

    for (alias_t *alias = aliases; alias != NULL; alias = alias->next) {
        if (pages < alias->pages + alias->length && alias->pages < pages + length &&
            (first == NULL || alias->pages < first->pages)) {
            first = alias;
        }
    }
    return first;
}

/* @a block: the pages' former block of the arena; 0: a new one. NULL: no room. */
static alias_t *alias_try(char *pages, size_t length, uint64_t block, const char *call)
{
    const uint64_t offset = (block != 0) ? block : keel_mpi_arena_alloc_alias(length, page_bytes());
    alias_t *alias = (offset != 0) ? malloc(sizeof(*alias)) : NULL;

    if (offset == 0) {
        return NULL;
    }
    if (alias == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *alias = (alias_t){.next = aliases, .pages = pages, .length = length, .offset = offset};
    aliases = alias;
    move_elsewhere(pages, keel_mpi_arena_at(alias->offset), length, 0, call);
    return alias;
}

/* Halves the number of pages until the arena has room for a block. */
static alias_t *alias_make(char *pages, size_t length, const char *call)
{
    alias_t *alias;

    while ((alias = alias_try(pages, length, 0, call)) == NULL) {
        if (length == page_bytes()) {
            keel_mpi_fatal(call, "no room in the arena: KEELMPI_ARENA says how large it is");
        }
        length = (length / page_bytes() + 1) / 2 * page_bytes();
    }
    return alias;
}

static void alias_drop(alias_t *alias)
{
    alias_t **at = &aliases;

    while (*at != alias) {
        at = &(*at)->next;
    }
    *at = alias->next;
    move_elsewhere(alias->pages, keel_mpi_arena_at(alias->offset), alias->length, 1, "MPI_Win_free");
    keel_mpi_arena_free(alias->offset);
    free(alias);
}

static char *first_page(const char *address)
{
    return (char *)((uintptr_t)address / page_bytes() * page_bytes());
}

static char *end_page(const char *address, size_t bytes)
{
    return first_page(address + bytes + page_bytes() - 1);
}

/* ---- parts ---- */

static uint64_t offset_of(const region_t *region, const part_t *part)
{
    return part->alias->offset + (uint64_t)(region->address + part->at - part->alias->pages);
}

static part_t *part_add(region_t *region, size_t at, size_t bytes, const char *call)
{
    part_t *parts = realloc(region->parts, (region->count + 1) * sizeof(*parts));

    if (parts == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    region->parts = parts;
    parts[region->count] = (part_t){.at = at, .bytes = bytes};
    return &parts[region->count++];
}

/* Makes the part at this offset, in an existing alias or in a new one up to the next alias. */
static part_t *part_make(region_t *region, size_t at, const char *call)
{
    char *address = region->address + at, *pages = first_page(address), *end = end_page(address, region->bytes - at);
    alias_t *alias = alias_find(pages, (size_t)(end - pages));
    part_t *part;
    size_t some;

    if (alias == NULL || alias->pages > pages) {
        end = (alias != NULL) ? alias->pages : end;
        alias = alias_make(pages, (size_t)(end - pages), call);
    }
    some = (size_t)(alias->pages + alias->length - address);
    part = part_add(region, at, some < region->bytes - at ? some : region->bytes - at, call);
    part->alias = alias;
    part->image_offset = offset_of(region, part);
    alias->uses++;
    keel_mpi_arena_expose(part->image_offset, part->bytes, region->id, at);
    return part;
}

/* In deterministic mode a replacement uses the predecessor's place at once, as others do. */
static void part_map_again(const region_t *region, part_t *part, const char *call)
{
    char *address = region->address + part->at, *pages = first_page(address), *end = end_page(address, part->bytes);
    const uint64_t block = part->image_offset - (uint64_t)(address - pages);
    alias_t *alias = alias_find(pages, (size_t)(end - pages));

    if (block % page_bytes() != 0 || (alias != NULL && (alias->offset + (uint64_t)(pages - alias->pages) != block ||
                                                        pages < alias->pages || end > alias->pages + alias->length))) {
        keel_mpi_relaunch(call, "in its replacement memory of a window lies otherwise in its pages");
    }
    if (alias == NULL) {
        alias = alias_try(pages, (size_t)(end - pages), block, call);
    }
    part->alias = alias;
    alias->uses++;
}

/* ---- regions ---- */

static int is_mapped(const region_t *region)
{
    return region->count > 0 && region->parts[0].alias != NULL;
}

static void region_map(region_t *region, const char *call)
{
    region->count = 0;
    for (size_t at = 0; at < region->bytes;) {
        at += part_make(region, at, call)->bytes;
    }
}

static void region_unmap(region_t *region)
{
    if (is_mapped(region)) { /* else the image's ranges belong to another life */
        keel_mpi_arena_hide(region->id);
    }
    for (size_t i = 0; i < region->count; i++) {
        alias_t *alias = region->parts[i].alias;

        region->parts[i].alias = NULL;
        if (alias != NULL && --alias->uses == 0) {
            alias_drop(alias);
        }
    }
}

static void region_remove(region_t *region)
{
    region_t **at = &regions;

    while (*at != region) {
        at = &(*at)->next;
    }
    *at = region->next;
    regions_end = (region->next == NULL) ? at : regions_end;
    free(region->parts);
    free(region);
}

static region_t *region_find(uint64_t id)
{
    region_t *region = regions;

    while (region != NULL && region->id != id) {
        region = region->next;
    }
    return region;
}

static region_t *region_make(char *address, size_t bytes, const char *call)
{
    region_t *region = malloc(sizeof(*region));

    if (region == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *region = (region_t){.address = address, .bytes = bytes, .id = ++made, .is_late = keel_mpi.phase == KEEL_MPI_RUNS};
    *regions_end = region;
    regions_end = &region->next;
    return region;
}

uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call)
{
    region_t *region;
    uint64_t record[2]; /* of each part: bytes and offset */

    if (keel_mpi.is_deterministic_mode && keel_mpi.phase == KEEL_MPI_RECORDS && keel_incarnation(keel_mpi.ctx) > 0) {
        keel_mpi_relaunch(call, "before a checkpoint it is not known whether memory of a window lies where it lay");
    }
    region = region_make(address, bytes, call);
    for (size_t at = 0; at < bytes; at += record[0]) {
        if (!keel_mpi_is_replaying()) {
            const part_t *part = part_make(region, at, call);

            record[0] = part->bytes;
            record[1] = part->image_offset;
        }
        keel_mpi_startup_result(record, sizeof(record));
        if (keel_mpi_is_replaying()) { /* divided as in the predecessor */
            part_t *part = part_add(region, at, record[0], call);

            part->image_offset = record[1];
            if (keel_mpi.is_deterministic_mode) {
                part_map_again(region, part, call);
            }
        }
    }
    return region->id;
}

size_t keel_mpi_alias_segments(uint64_t id, keel_mpi_segment_t *segments)
{
    const region_t *region = region_find(id);
    uint64_t end = 0; /* in the arena */
    size_t count = 0;

    if (region == NULL || (!is_mapped(region) && !keel_mpi_is_replaying())) {
        return 0;
    }
    for (size_t i = 0; i < region->count; i++) {
        const part_t *part = &region->parts[i];
        const uint64_t offset = (part->alias != NULL) ? offset_of(region, part) : part->image_offset;
        const int is_next = i > 0 && offset == end;

        count += !is_next;
        if (segments != NULL) {
            keel_mpi_segment_t *segment = &segments[count - 1];

            *segment = is_next ? (keel_mpi_segment_t){segment->at, segment->bytes + part->bytes, segment->offset, id, 0}
                               : (keel_mpi_segment_t){part->at, part->bytes, offset, id, 0};
            segment->seal = keel_mpi_segment_seal(segment);
        }
        end = offset + part->bytes;
    }
    return count;
}

void keel_mpi_alias_remove(uint64_t id)
{
    region_t *region = region_find(id);

    if (region != NULL) {
        region_unmap(region);
        if (keel_mpi.phase != KEEL_MPI_RUNS || region->is_late) {
            region_remove(region);
        }
    }
}

int keel_mpi_alias_is_late(void)
{
    for (const region_t *region = regions; region != NULL; region = region->next) {
        if (region->is_late) {
            return 1;
        }
    }
    return 0;
}

/* ---- rollbacks ---- */

static void drop_late(void)
{
    region_t *region = regions, *next;

    for (; region != NULL; region = next) {
        next = region->next;
        if (region->is_late) {
            region_unmap(region);
            region_remove(region);
            made--;
        }
    }
}

void keel_mpi_alias_unmap(void)
{
    for (region_t *region = regions; region != NULL; region = region->next) {
        region_unmap(region);
    }
    drop_late();
}

void keel_mpi_alias_drop_late(void)
{
    drop_late();
    for (region_t *region = regions; region != NULL; region = region->next) {
        if (is_mapped(region) && keel_mpi_arena_exposed(region->id, NULL) == NULL) {
            region_unmap(region);
        }
    }
}

void keel_mpi_alias_check(const char *call)
{
    for (const region_t *region = regions; region != NULL; region = region->next) {
        if (!is_mapped(region) && keel_mpi_arena_exposed(region->id, NULL) != NULL) {
            keel_mpi_relaunch(call, "memory of a window that was freed since the checkpoint is the program's again");
        }
    }
}

/* Maps adjacent regions as a single alias, hence a single segment, if the arena has room. */
static void map_run(const region_t *first)
{
    char *begin = first_page(first->address), *end = end_page(first->address, first->bytes);
    int is_larger;

    do {
        is_larger = 0;
        for (const region_t *region = regions; region != NULL; region = region->next) {
            char *from = first_page(region->address), *to = end_page(region->address, region->bytes);

            if (region->is_back && from <= end && to >= begin && (from < begin || to > end)) {
                begin = (from < begin) ? from : begin;
                end = (to > end) ? to : end;
                is_larger = 1;
            }
        }
    } while (is_larger);
    if (alias_find(begin, (size_t)(end - begin)) == NULL) {
        (void)alias_try(begin, (size_t)(end - begin), 0, "KEEL_MPI_RESTART_POINT");
    }
}

void keel_mpi_alias_map(void)
{
    for (region_t *region = regions; region != NULL; region = region->next) {
        const keel_mpi_exposed_t *exposed = NULL;

        region->is_back = 0;
        while ((exposed = keel_mpi_arena_exposed(region->id, exposed)) != NULL) {
            memcpy(region->address + exposed->at, keel_mpi_arena_at(exposed->offset), exposed->length);
            region->is_back = 1;
        }
    }
    keel_mpi_arena_free_aliases();
    for (region_t *region = regions; region != NULL; region = region->next) {
        if (region->is_back) {
            map_run(region);
            region_map(region, "KEEL_MPI_RESTART_POINT");
        }
    }
}
