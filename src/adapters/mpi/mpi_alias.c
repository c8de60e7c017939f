#define _GNU_SOURCE /* memfd_create, mremap */
/*
 * A page becomes one of the arena by a second mapping of the arena's page at the program's address. Where the arena is private memory (no
 * other process of the node maps it), both become mappings of a file of their own. The stack may be among the pages, so that is done on
 * another one; and what other threads write there meanwhile would be lost, so they stand still. Pages come back when no window has them.
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

/* memory of one window */
typedef struct piece {
    struct piece *next;
    alias_t *alias;
    char *address;
    size_t bytes;
    int is_late; /* made behind the restart point */
} piece_t;

static alias_t *aliases;
static piece_t *pieces;

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

/* one that has these pages, or some of them */
static alias_t *alias_find(const char *pages, size_t length)
{
    for (alias_t *alias = aliases; alias != NULL; alias = alias->next) {
        if (pages < alias->pages + alias->length && alias->pages < pages + length) {
            return alias;
        }
    }
    return NULL;
}

static alias_t *alias_make(char *pages, size_t length, const char *call)
{
    alias_t *alias = malloc(sizeof(*alias));

    if (alias == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    *alias = (alias_t){.next = aliases, .pages = pages, .length = length};
    alias->offset = keel_mpi_arena_take(length, page_bytes(), 1, call);
    aliases = alias;
    move_elsewhere(pages, keel_mpi_arena_at(alias->offset), length, 0, call);
    return alias;
}

static uint64_t piece_make(alias_t *alias, void *address, size_t bytes, const char *call)
{
    const uint64_t offset = alias->offset + (uint64_t)((char *)address - alias->pages);
    piece_t *piece = malloc(sizeof(*piece));

    if (piece == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    *piece = (piece_t){pieces, alias, address, bytes, keel_mpi.phase == KEEL_MPI_RUNS};
    pieces = piece;
    alias->uses++;
    keel_mpi_arena_expose(offset, bytes);
    return offset;
}

uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call)
{
    const uintptr_t page = page_bytes(), at = (uintptr_t)address;
    char *pages = (char *)address - at % page;
    const size_t length = (at % page + bytes + page - 1) / page * page;
    alias_t *alias;
    uint64_t before = at % page;

    if (keel_mpi_arena_has(address, bytes)) {
        return keel_mpi_arena_offset(address);
    }
    keel_mpi_prefix_result(&before, sizeof(before));
    if (before != at % page) {
        keel_mpi_start_anew(call, "its replacement has a window's memory at another place of a page");
    }
    alias = alias_find(pages, length);
    if (alias == NULL) {
        alias = alias_make(pages, length, call);
    } else if (pages < alias->pages || pages + length > alias->pages + alias->length) {
        keel_mpi_refuse(call,
                        "this memory shares a page with that of another window, and goes beyond it: use MPI_Alloc_mem, "
                        "or make the larger window first");
    }
    return piece_make(alias, address, bytes, call);
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

static void piece_drop(piece_t **at)
{
    piece_t *piece = *at;

    *at = piece->next;
    if (--piece->alias->uses == 0) {
        alias_drop(piece->alias);
    }
    free(piece);
}

void keel_mpi_alias_remove(void *address, size_t bytes)
{
    for (piece_t **at = &pieces; *at != NULL; at = &(*at)->next) {
        const piece_t *piece = *at;

        if (piece->address == address && piece->bytes == bytes) {
            keel_mpi_arena_hide(piece->alias->offset + (uint64_t)(piece->address - piece->alias->pages), bytes);
            if (keel_mpi.phase != KEEL_MPI_RUNS || piece->is_late) {
                piece_drop(at);
            }
            return;
        }
    }
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

void keel_mpi_alias_drop_late(void)
{
    piece_t **at = &pieces;

    while (*at != NULL) {
        if ((*at)->is_late) {
            piece_drop(at);
        } else {
            at = &(*at)->next;
        }
    }
}
