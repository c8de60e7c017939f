/* Copies: a list of memory, and one piece that has what was there. */
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
    piece_t *pieces; /* of what was taken */
    unsigned piece_count;
    char *copy;            /* of all of them, one after the other */
    keel_extent_t *blocks; /* of the heap then */
    uint64_t block_count;
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
    free(keep.blocks);
    keep.pieces = NULL;
    keep.copy = NULL;
    keep.blocks = NULL;
    keep.piece_count = 0;
}

static void pieces_list(void)
{
    const keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    const keel_shmem_program_t *program = &keel_shmem_globals.program;

    for (uint64_t i = 0; i < hidden->block_count; i++) {
        keep.pieces[keep.piece_count++] =
            (piece_t){(char *)keel_shmem.hidden + hidden->blocks[i].offset, hidden->blocks[i].length};
    }
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

/* either way */
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
    const keel_shmem_hidden_t *hidden = keel_shmem.hidden;
    size_t bytes = 0;

    keel_shmem_keep_drop();
    keep.pieces = malloc((hidden->block_count + keel_shmem_globals.program.count + keep.region_count + 1) *
                         sizeof(keep.pieces[0]));
    keep.blocks = malloc((hidden->block_count + 1) * sizeof(keep.blocks[0]));
    if (keep.pieces == NULL || keep.blocks == NULL) {
        keel_shmem_keep_drop();
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
    keep.block_count = hidden->block_count;
    memcpy(keep.blocks, hidden->blocks, hidden->block_count * sizeof(keep.blocks[0]));
    pieces_copy(0);
    return 1;
}

int keel_shmem_keep_fits(void)
{
    const keel_shmem_hidden_t *hidden = keel_shmem.hidden;

    return keep.copy != NULL && keep.block_count == hidden->block_count &&
           memcmp(keep.blocks, hidden->blocks, hidden->block_count * sizeof(keep.blocks[0])) == 0;
}

void keel_shmem_keep_put_back(void)
{
    pieces_copy(1);
    keel_shmem_keep_drop();
}
