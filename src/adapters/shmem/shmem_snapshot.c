/* Copies: a list of memory regions, and a buffer with the contents. */
#include "shmem_snapshot.h"
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdlib.h>
#include <string.h>

typedef struct range {
    void *address;
    size_t bytes;
} range_t;

static struct {
    range_t *regions; /* protected by the program */
    unsigned region_count;
    range_t *saved; /* the copied regions */
    unsigned saved_count;
    /* count of the first regions, blocks of the heap at the time of the copy */
    unsigned block_count;
    char *copy;        /* contents of all regions, one after the other */
    unsigned compared; /* blocks of the present heap seen in a comparison */
} snapshot;

void keel_shmem_snapshot_add(void *address, size_t bytes)
{
    range_t *grown = realloc(snapshot.regions, (snapshot.region_count + 1) * sizeof(*grown));

    if (grown == NULL) {
        keel_shmem_refuse("shmemx_protect", "no memory to remember", bytes);
    }
    snapshot.regions = grown;
    snapshot.regions[snapshot.region_count++] = (range_t){address, bytes};
}

void keel_shmem_snapshot_drop(void)
{
    free(snapshot.saved);
    free(snapshot.copy);
    snapshot.saved = NULL;
    snapshot.copy = NULL;
    snapshot.saved_count = 0;
}

static void block_add(const keel_shmem_block_t *block, void *arg)
{
    (void)arg;
    if (!block->is_table) {
        snapshot.saved[snapshot.saved_count++] = (range_t){block->begin, block->bytes};
    }
}

static void saved_list(void)
{
    const keel_shmem_program_t *program = &keel_shmem_globals.program;

    keel_shmem_blocks_each(&keel_shmem.hidden->blocks, block_add, NULL);
    snapshot.block_count = snapshot.saved_count;
    for (unsigned i = 0; i < program->count && keel_shmem_globals.are_restored > 0; i++) {
        const keel_shmem_range_t *range = &program->ranges[i];

        if (!range->is_volatile) {
            snapshot.saved[snapshot.saved_count++] = (range_t){(void *)range->begin, range->end - range->begin};
        }
    }
    for (unsigned i = 0; i < snapshot.region_count; i++) {
        snapshot.saved[snapshot.saved_count++] = snapshot.regions[i];
    }
}

/* Copies in either direction. */
static void saved_copy(int is_back)
{
    char *at = snapshot.copy;

    for (unsigned i = 0; i < snapshot.saved_count; i++) {
        const range_t *range = &snapshot.saved[i];

        memcpy(is_back ? range->address : at, is_back ? at : range->address, range->bytes);
        at += range->bytes;
    }
}

int keel_shmem_snapshot_take(void)
{
    size_t bytes = 0;

    keel_shmem_snapshot_drop();
    snapshot.saved = malloc((keel_shmem_blocks_count(&keel_shmem.hidden->blocks) + keel_shmem_globals.program.count +
                             snapshot.region_count) *
                            sizeof(snapshot.saved[0]));
    if (snapshot.saved == NULL) {
        return 0;
    }
    saved_list();
    for (unsigned i = 0; i < snapshot.saved_count; i++) {
        bytes += snapshot.saved[i].bytes;
    }
    snapshot.copy = malloc(bytes + 1);
    if (snapshot.copy == NULL) {
        keel_shmem_snapshot_drop();
        return 0;
    }
    saved_copy(0);
    return 1;
}

static void block_compare(const keel_shmem_block_t *block, void *arg)
{
    int *const is_same = arg;
    const range_t *range = &snapshot.saved[snapshot.compared];

    if (!block->is_table) {
        *is_same = *is_same && snapshot.compared < snapshot.block_count && range->address == block->begin &&
                   range->bytes == block->bytes;
        snapshot.compared++;
    }
}

int keel_shmem_snapshot_fits(void)
{
    int is_same = snapshot.copy != NULL;

    snapshot.compared = 0;
    keel_shmem_blocks_each(&keel_shmem.hidden->blocks, block_compare, &is_same);
    return is_same && snapshot.compared == snapshot.block_count;
}

void keel_shmem_snapshot_restore(void)
{
    saved_copy(1);
    keel_shmem_snapshot_drop();
}
