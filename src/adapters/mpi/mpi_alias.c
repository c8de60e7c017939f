#define _GNU_SOURCE /* memfd_create, mremap */
/*
 * A page becomes one of the arena by a second mapping of the arena's page at the program's address. Where the arena is private memory (no
 * other process of the node maps it), both become mappings of a file of their own. The stack may be among the pages, so that is done on
 * another one; and what other threads write there meanwhile would be lost, so they stand still. Pages come back when no window has them. At a rollback all come
 * back before the arena's return and are mapped anew after it, elsewhere, as a replacement's memory may lie otherwise in its pages.
 */
#include "mpi_alias.h"

#include "mpi_arena.h"
#include "mpi_prefix.h"
#include "mpi_still.h"

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
    unsigned uses;   /* pieces that lie in it */
} alias_t;

/*
 * Memory of one window, or what of it lies in one alias; one that was made before the restart point is remembered when it is removed, as a
 * rollback has it again.
 */
typedef struct piece {
    struct piece *next;
    alias_t *alias; /* NULL: not mapped */
    char *address;
    size_t bytes;
    uint64_t id, whole; /* the same in every life: the own one, and that of the whole's first piece */
    uint64_t told;      /* its offset when it was made, in a replacement that of its predecessor */
    uint64_t before;    /* its offset in the image, after a rollback */
    int is_late;        /* made after the restart point */
} piece_t;

static alias_t *aliases;
static piece_t *pieces, **pieces_end = &pieces; /* as they were made */
static uint64_t made;                           /* pieces, in this life */

/* what is done on the other stack: nothing else, and no call that might not be on it */
static struct {
    ucontext_t back, there;
    char stack[64 << 10] __attribute__((aligned(16)));
    char *pages, *block; /* of the program, and of the arena */
    size_t length;
    int is_shared; /* the arena is mapped by others, or may be */
    int is_back;   /* the program's pages become its own again */
    int is_done;
} moving;

static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* the functions are hooked by UCX, which takes locks there, and whose mremap() fails for pages that it does not know */
static int map(char *at, int flags, int fd)
{
    return syscall(SYS_mmap, at, moving.length, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0L) == (long)at;
}

/* by a file for both */
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

/* only what is shared can be mapped a second time */
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
    if (getcontext(&moving.there) == 0) {
        moving.there.uc_stack.ss_sp = moving.stack;
        moving.there.uc_stack.ss_size = sizeof(moving.stack);
        moving.there.uc_link = &moving.back;
        makecontext(&moving.there, move, 0);
        keel_mpi_still_begin();
        swapcontext(&moving.back, &moving.there);
        keel_mpi_still_end();
    }
    if (!moving.is_done) {
        keel_mpi_refuse(call, "this memory cannot be mapped twice: use MPI_Win_allocate or MPI_Alloc_mem");
    }
}

/* the first one that has these pages, or some of them */
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

/* @a block: of the arena, that the pages had before; 0: a new one */
static alias_t *alias_make(char *pages, size_t length, uint64_t block, const char *call)
{
    alias_t *alias = malloc(sizeof(*alias));

    if (alias == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    *alias = (alias_t){.next = aliases, .pages = pages, .length = length, .offset = block};
    if (block == 0) {
        alias->offset = keel_mpi_arena_take_alias(length, page_bytes());
    }
    if (alias->offset == 0) {
        keel_mpi_refuse(call, "no room in the arena: KEELMPI_ARENA says how large it is");
    }
    aliases = alias;
    move_elsewhere(pages, keel_mpi_arena_at(alias->offset), length, 0, call);
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
    keel_mpi_arena_give(alias->offset);
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

static uint64_t offset_of(const piece_t *piece)
{
    return piece->alias->offset + (uint64_t)(piece->address - piece->alias->pages);
}

static void piece_map(piece_t *piece, alias_t *alias)
{
    piece->alias = alias;
    alias->uses++;
    keel_mpi_arena_expose(offset_of(piece), piece->bytes, piece->id);
}

static void piece_unmap(piece_t *piece)
{
    alias_t *alias = piece->alias;

    piece->alias = NULL;
    keel_mpi_arena_hide(piece->id);
    if (--alias->uses == 0) {
        alias_drop(alias);
    }
}

/* with the promise others go on to use the place that the predecessor told them, so a replacement has its pages there from the beginning */
static void piece_map_again(piece_t *piece, char *pages, size_t length, uint64_t offset, const char *call)
{
    const uint64_t block = offset - (uint64_t)(piece->address - pages);
    alias_t *alias = alias_find(pages, length);

    if (block % page_bytes() != 0 ||
        (alias != NULL && (alias->offset + (uint64_t)(pages - alias->pages) != block || pages < alias->pages ||
                           pages + length > alias->pages + alias->length))) {
        keel_mpi_start_anew(call, "in its replacement memory of a window lies otherwise in its pages");
    }
    if (alias == NULL) {
        alias = alias_make(pages, length, block, call);
    }
    piece->alias = alias;
    alias->uses++;
}

static piece_t *piece_add(char *address, size_t bytes, uint64_t whole, const char *call)
{
    piece_t *piece = malloc(sizeof(*piece));

    if (piece == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    *piece = (piece_t){
        .address = address, .bytes = bytes, .id = ++made, .whole = whole, .is_late = keel_mpi.phase == KEEL_MPI_RUNS};
    *pieces_end = piece;
    pieces_end = &piece->next;
    return piece;
}

/* what lies in an alias that is there, or is to be one of its own, up to the next that is */
static piece_t *piece_make(char *address, size_t bytes, uint64_t whole, const char *call)
{
    char *pages = first_page(address), *end = end_page(address, bytes);
    alias_t *alias = alias_find(pages, (size_t)(end - pages));
    piece_t *piece;

    if (alias == NULL || alias->pages > pages) {
        end = (alias != NULL) ? alias->pages : end;
        alias = alias_make(pages, (size_t)(end - pages), 0, call);
    }
    end = alias->pages + alias->length;
    piece = piece_add(address, (address + bytes > end) ? (size_t)(end - address) : bytes, whole, call);
    piece_map(piece, alias);
    piece->told = offset_of(piece);
    return piece;
}

/* cut as it was */
static void piece_make_again(char *address, size_t bytes, uint64_t offset, uint64_t whole, const char *call)
{
    piece_t *piece = piece_add(address, bytes, whole, call);
    char *pages = first_page(address);

    piece->told = offset;
    if (keel_mpi.is_promised) {
        piece_map_again(piece, pages, (size_t)(end_page(address, bytes) - pages), offset, call);
    }
}

uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call)
{
    const uint64_t whole = made + 1;
    uint64_t record[2]; /* of each piece: bytes and offset */

    if (keel_mpi.is_promised && keel_mpi.phase == KEEL_MPI_RECORDS && keel_incarnation(keel_mpi.ctx) > 0) {
        keel_mpi_start_anew(call, "before a checkpoint it is not known whether memory of a window lies where it lay");
    }
    for (size_t at = 0; at < bytes; at += record[0]) {
        if (!keel_mpi_is_replay()) {
            const piece_t *piece = piece_make((char *)address + at, bytes - at, whole, call);

            record[0] = piece->bytes;
            record[1] = piece->told;
        }
        keel_mpi_prefix_result(record, sizeof(record));
        if (keel_mpi_is_replay()) {
            piece_make_again((char *)address + at, record[0], record[1], whole, call);
        }
    }
    return whole;
}

size_t keel_mpi_alias_segments(uint64_t id, keel_mpi_segment_t *segments)
{
    uint64_t at = 0, end = 0; /* in the whole, and in the arena */
    size_t count = 0;

    for (const piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        const uint64_t offset = (piece->alias != NULL) ? offset_of(piece) : piece->told;

        if (piece->whole != id || (piece->alias == NULL && !keel_mpi_is_replay())) {
            continue;
        }
        count += (at == 0 || offset != end) ? 1 : 0;
        if (segments != NULL) {
            keel_mpi_segment_t *segment = &segments[count - 1];

            *segment = (at > 0 && offset == end)
                           ? (keel_mpi_segment_t){segment->at, segment->bytes + piece->bytes, segment->offset, id}
                           : (keel_mpi_segment_t){at, piece->bytes, offset, id};
        }
        at += piece->bytes;
        end = offset + piece->bytes;
    }
    return count;
}

static void pieces_remove(int (*is_to_go)(const piece_t *piece, uint64_t id), uint64_t id)
{
    piece_t **at = &pieces;

    while (*at != NULL) {
        piece_t *piece = *at;

        if (is_to_go(piece, id)) {
            *at = piece->next;
            free(piece);
        } else {
            at = &piece->next;
        }
    }
    pieces_end = at;
}

static int is_of(const piece_t *piece, uint64_t whole)
{
    return piece->whole == whole && (keel_mpi.phase != KEEL_MPI_RUNS || piece->is_late);
}

void keel_mpi_alias_remove(uint64_t id)
{
    for (piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->whole == id && piece->alias != NULL) {
            piece_unmap(piece);
        }
    }
    pieces_remove(is_of, id);
}

int keel_mpi_alias_is_late(void)
{
    for (const piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->is_late) {
            return 1;
        }
    }
    return 0;
}

/* ---- rollbacks ---- */

static int is_late(const piece_t *piece, uint64_t id)
{
    (void)id;
    return piece->is_late;
}

static void unmap(int is_all)
{
    for (piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->alias != NULL && (is_all || piece->is_late)) {
            piece_unmap(piece);
        }
        made -= piece->is_late ? 1 : 0;
    }
    pieces_remove(is_late, 0);
}

void keel_mpi_alias_unmap(void)
{
    unmap(1);
}

void keel_mpi_alias_drop_late(void)
{
    unmap(0);
}

void keel_mpi_alias_check(const char *call)
{
    for (const piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->alias == NULL && keel_mpi_arena_exposed(piece->id) != NULL) {
            keel_mpi_start_anew(call, "memory of a window that was freed since the checkpoint is the program's again");
        }
    }
}

/* maps the pages of all that are to be, those that touch as one, and all pieces that lie there */
static void map_run(const piece_t *first)
{
    char *begin = first_page(first->address), *end = end_page(first->address, first->bytes);
    alias_t *alias;
    int is_larger;

    do {
        is_larger = 0;
        for (const piece_t *piece = pieces; piece != NULL; piece = piece->next) {
            char *from = first_page(piece->address), *to = end_page(piece->address, piece->bytes);

            if (piece->before != 0 && from <= end && to >= begin && (from < begin || to > end)) {
                begin = (from < begin) ? from : begin;
                end = (to > end) ? to : end;
                is_larger = 1;
            }
        }
    } while (is_larger);
    alias = alias_make(begin, (size_t)(end - begin), 0, "KEEL_MPI_RESTART_POINT");
    for (piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->before != 0 && piece->address >= begin && piece->address < end) {
            piece_map(piece, alias);
        }
    }
}

void keel_mpi_alias_map(void)
{
    for (piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        const keel_mpi_exposed_t *exposed = keel_mpi_arena_exposed(piece->id);

        piece->before = (exposed != NULL) ? exposed->offset : 0;
        if (exposed != NULL) {
            memcpy(piece->address, keel_mpi_arena_at(exposed->offset), piece->bytes);
        }
    }
    keel_mpi_arena_give_aliases();
    for (piece_t *piece = pieces; piece != NULL; piece = piece->next) {
        if (piece->before != 0 && piece->alias == NULL) {
            map_run(piece);
        }
    }
}
