/* Copies: a list of memory regions, and a buffer with the contents. */
#include "shmem_keep.h"
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdlib.h>
#include <string.h>

typedef struct piece {
    void *address;
    size_t bytes;
} piece_t;

static struct {
    piece_t *regions; /* protected by the program */
    unsigned region_count;
    piece_t *pieces; /* the copied regions */
    unsigned piece_count;
    /* count of the first regions, blocks of the heap at the time of the copy */
    unsigned block_count;
    char *copy;         /* contents of all regions, one after the other */
    unsigned looked_at; /* blocks of the present heap seen in a comparison */
} keep;

void keel_shmem_keep_region(void *address, size_t bytes)
{
    piece_t *grown = realloc(keep.regions, (keep.region_count + 1) * sizeof(*grown));

    if (grown == NULL) {
        keel_shmem_refuse("shmemx_protect", "no memory to remember", bytes);
    }
    keep.regions = grown;
    keep.regions[keep.region_count++] = (piece_t){address, bytes};
}

void keel_shmem_keep_drop(void)
{
    free(keep.pieces);
    free(keep.copy);
    keep.pieces = NULL;
    keep.copy = NULL;
    keep.piece_count = 0;
}

static void block_add(const keel_shmem_block_t *block, void *arg)
{
    (void)arg;
    if (!block->is_table) {
        keep.pieces[keep.piece_count++] = (piece_t){block->begin, block->bytes};
    }
}

static void pieces_list(void)
{
    const keel_shmem_program_t *program = &keel_shmem_globals.program;

    keel_shmem_blocks_each(&keel_shmem.hidden->blocks, block_add, NULL);
    keep.block_count = keep.piece_count;
    for (unsigned i = 0; i < program->count && keel_shmem_globals.are_restored > 0; i++) {
        const keel_shmem_range_t *range = &program->ranges[i];

        if (!range->is_volatile) {
            keep.pieces[keep.piece_count++] = (piece_t){(void *)range->begin, range->end - range->begin};
        }
    }
    for (unsigned i = 0; i < keep.region_count; i++) {
        keep.pieces[keep.piece_count++] = keep.regions[i];
    }
}

/* Copies in either direction. */
static void pieces_copy(int is_back)
{
    char *at = keep.copy;

    for (unsigned i = 0; i < keep.piece_count; i++) {
        const piece_t *piece = &keep.pieces[i];

        memcpy(is_back ? piece->address : at, is_back ? at : piece->address, piece->bytes);
        at += piece->bytes;
    }
}

int keel_shmem_keep_take(void)
{
    size_t bytes = 0;

    keel_shmem_keep_drop();
    keep.pieces = malloc(
        (keel_shmem_blocks_count(&keel_shmem.hidden->blocks) + keel_shmem_globals.program.count + keep.region_count) *
        sizeof(keep.pieces[0]));
    if (keep.pieces == NULL) {
        return 0;
    }
    pieces_list();
    for (unsigned i = 0; i < keep.piece_count; i++) {
        bytes += keep.pieces[i].bytes;
    }
    keep.copy = malloc(bytes + 1);
    if (keep.copy == NULL) {
        keel_shmem_keep_drop();
        return 0;
    }
    pieces_copy(0);
    return 1;
}

static void block_compare(const keel_shmem_block_t *block, void *arg)
{
    int *const is_same = arg;
    const piece_t *piece = &keep.pieces[keep.looked_at];

    if (!block->is_table) {
        *is_same = *is_same && keep.looked_at < keep.block_count && piece->address == block->begin &&
                   piece->bytes == block->bytes;
        keep.looked_at++;
    }
}

int keel_shmem_keep_fits(void)
{
    int is_same = keep.copy != NULL;

    keep.looked_at = 0;
    keel_shmem_blocks_each(&keel_shmem.hidden->blocks, block_compare, &is_same);
    return is_same && keep.looked_at == keep.block_count;
}

void keel_shmem_keep_put_back(void)
{
    pieces_copy(1);
    keel_shmem_keep_drop();
}
