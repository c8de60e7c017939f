/*
 * Blocks of a heap, against a map of the memory: each lies where there is room, none overlaps
 * another, and freed room is found again.
 */
#include "shmem_blocks.h"

#include "unit.h"

#include <stdint.h>
#include <string.h>

enum { LINE = KEEL_SHMEM_ALIGN, LINES = 4096, MOST = 600, ROUNDS = 40000, MANY = 200000 };

/* The memory under test; the first lines belong to the table. */
typedef struct scene {
    keel_shmem_blocks_t *blocks;
    char *memory;
    size_t bytes;
} scene_t;

typedef struct model {
    unsigned char is_used[LINES];
    struct {
        char *at;
        size_t bytes;
        unsigned char mark;
    } had[MOST];
    unsigned count, looked_at;
    char *last; /* begin of the last block visited */
} model_t;

static scene_t scene_begin(size_t bytes)
{
    scene_t scene = {.bytes = bytes, .memory = aligned_alloc(4096, bytes)};

    ck_assert_ptr_nonnull(scene.memory);
    scene.blocks = (keel_shmem_blocks_t *)(void *)scene.memory;
    keel_shmem_blocks_begin(scene.blocks, scene.memory, sizeof(*scene.blocks), scene.memory + bytes);
    return scene;
}

static void is_empty(const scene_t *scene)
{
    ck_assert_uint_eq(scene->blocks->count, 1);
    ck_assert_uint_eq(scene->blocks->root->room,
                      scene->bytes - ((sizeof(*scene->blocks) + LINE - 1) & ~(size_t)(LINE - 1)));
    ck_assert_ptr_eq(scene->blocks->last, &scene->blocks->first);
}

/* ---- against a map ---- */

static const scene_t *now; /* scene of the callback */

static void mark_used(const keel_shmem_block_t *block, void *arg)
{
    model_t *model = arg;
    const size_t first = (size_t)(block->begin - now->memory) / LINE;
    const size_t end = (size_t)(keel_shmem_block_end(block) - now->memory) / LINE;
    unsigned overlaps = 0; /* one assertion at the end, because each is slow */

    if (block->begin <= model->last || end + block->room / LINE > LINES) {
        ck_abort_msg("a block out of order, or beyond the memory");
    }
    model->last = block->begin;
    for (size_t line = first; line < end; line++) {
        overlaps += model->is_used[line];
        model->is_used[line] = 1;
    }
    if (overlaps > 0) {
        ck_abort_msg("blocks on each other");
    }
    model->looked_at += !block->is_table;
}

static void map_make(const scene_t *scene, model_t *model)
{
    memset(model->is_used, 0, sizeof(model->is_used));
    model->looked_at = 0;
    model->last = NULL;
    now = scene;
    keel_shmem_blocks_each(scene->blocks, mark_used, model);
    ck_assert_uint_eq(model->looked_at, model->count);
}

/* Returns the lowest fit in the map; NULL: none. */
static char *map_fit(const scene_t *scene, const model_t *model, size_t alignment, size_t bytes)
{
    const size_t lines = (bytes + LINE - 1) / LINE;

    for (size_t first = 0, found = 0; first + lines <= LINES; first++, found = 0) {
        if ((uintptr_t)(scene->memory + first * LINE) % alignment != 0) {
            continue;
        }
        while (found < lines && !model->is_used[first + found]) {
            found++;
        }
        if (found == lines) {
            return scene->memory + first * LINE;
        }
    }
    return NULL;
}

static void fill(model_t *model, unsigned i, uint64_t drawn)
{
    model->had[i].mark = (unsigned char)drawn;
    memset(model->had[i].at, (int)model->had[i].mark, model->had[i].bytes);
}

static void check_filled(const model_t *model, unsigned i, size_t bytes)
{
    size_t same = 0;

    for (size_t at = 0; at < bytes; at++) {
        same += (unsigned char)model->had[i].at[at] == model->had[i].mark;
    }
    ck_assert_uint_eq(same, bytes);
}

static void make_one(scene_t *scene, model_t *model, uint64_t drawn)
{
    const size_t alignment = (drawn % 8 == 0) ? (size_t)LINE << (drawn >> 8) % 6 : LINE;
    const size_t bytes = 1 + (drawn >> 16) % (drawn % 16 == 1 ? LINES * LINE / 8 : 700);
    const int needs_piece = scene->blocks->last->used == scene->blocks->last->size;
    const char *const fit = map_fit(scene, model, alignment, bytes);
    char *const made = keel_shmem_blocks_alloc(scene->blocks, alignment, bytes);

    if (made == NULL) { /* the table may have used the last room */
        ck_assert(fit == NULL || needs_piece);
        return;
    }
    ck_assert_uint_eq((uintptr_t)made % alignment, 0);
    /* a larger alignment may choose a larger gap */
    ck_assert(alignment > LINE || made == fit || needs_piece);
    model->had[model->count].at = made;
    model->had[model->count].bytes = bytes;
    fill(model, model->count++, drawn >> 40);
}

static void free_one(scene_t *scene, model_t *model, unsigned i)
{
    keel_shmem_block_t *block = keel_shmem_blocks_find(scene->blocks, model->had[i].at + model->had[i].bytes - 1);

    check_filled(model, i, model->had[i].bytes);
    ck_assert_ptr_eq(block->begin, model->had[i].at);
    ck_assert_uint_eq(block->bytes, model->had[i].bytes);
    ck_assert(!block->is_table);
    keel_shmem_blocks_free(scene->blocks, block);
    block = keel_shmem_blocks_find(scene->blocks, model->had[i].at);
    ck_assert_ptr_ne(block->begin, model->had[i].at);
    model->had[i] = model->had[--model->count];
}

static void resize_one(scene_t *scene, model_t *model, unsigned i, uint64_t drawn)
{
    keel_shmem_block_t *block = keel_shmem_blocks_find(scene->blocks, model->had[i].at);
    const size_t bytes = 1 + drawn % 1500, had = model->had[i].bytes;
    const size_t room = (size_t)(keel_shmem_block_end(block) - block->begin) + block->room;

    ck_assert_int_eq(keel_shmem_blocks_resize(scene->blocks, block, bytes), bytes <= room);
    if (bytes <= room) {
        check_filled(model, i, had < bytes ? had : bytes);
        model->had[i].bytes = bytes;
        fill(model, i, drawn >> 40);
    }
}

START_TEST(blocks_are_apart_and_room_is_found)
{
    uint64_t seed = unit_seed();
    scene_t scene = scene_begin((size_t)LINES * LINE);
    model_t model = {.count = 0};

    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint64_t drawn = unit_random(&seed), what = drawn % 5;
        const int grows = round / 2000 % 2 == 0; /* fills up, then empties */

        map_make(&scene, &model);
        if (model.count < MOST && (model.count == 0 || what < (grows ? 3u : 1u))) {
            make_one(&scene, &model, unit_random(&seed));
        } else if (what == 4) {
            resize_one(&scene, &model, (unsigned)(drawn >> 32) % model.count, unit_random(&seed));
        } else {
            free_one(&scene, &model, (unsigned)(drawn >> 32) % model.count);
        }
    }
    while (model.count > 0) {
        free_one(&scene, &model, model.count / 2);
    }
    is_empty(&scene);
    free(scene.memory);
}
END_TEST

/* ---- many ---- */

static unsigned depth_of(const keel_shmem_block_t *root)
{
    const unsigned left = (root != NULL) ? depth_of(root->left) : 0, right = (root != NULL) ? depth_of(root->right) : 0;

    return (root == NULL) ? 0 : 1 + (left > right ? left : right);
}

/* The heap fills with blocks; every other block is freed and made again. The tree stays shallow. */
START_TEST(there_may_be_many)
{
    scene_t scene = scene_begin((size_t)64 << 20);
    uint64_t seed = unit_seed();
    const size_t all = scene.blocks->root->room;
    char **made = malloc(all / LINE * sizeof(*made)), *one;
    unsigned count = MANY;

    for (unsigned i = 0; i < MANY; i++) {
        made[i] = keel_shmem_blocks_alloc(scene.blocks, 8, 1 + i % LINE);
        ck_assert_ptr_nonnull(made[i]);
    }
    ck_assert_uint_lt(depth_of(scene.blocks->root), 80); /* 40 to 45 seen; 18 if balanced */
    for (unsigned i = 0; i < MANY; i += 2) {
        keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, made[i]));
    }
    for (unsigned i = 0; i < MANY; i += 2) { /* lowest addresses first */
        ck_assert_ptr_eq(keel_shmem_blocks_alloc(scene.blocks, 8, LINE), made[i]);
    }
    while ((one = keel_shmem_blocks_alloc(scene.blocks, 8, 1)) != NULL) {
        made[count++] = one;
    }
    /* Room of a block, of its table entry, and of the unused ends of table pieces. */
    ck_assert_uint_gt(count, all / (LINE + sizeof(keel_shmem_block_t) + 2));
    for (; count > 0; count--) {
        const unsigned i = (unsigned)(unit_random(&seed) % count);

        keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, made[i]));
        made[i] = made[count - 1];
    }
    is_empty(&scene);
    free(made);
    free(scene.memory);
}
END_TEST

/* ---- ends ---- */

START_TEST(all_of_it_can_be_one)
{
    scene_t scene = scene_begin((size_t)LINES * LINE);
    const size_t all = scene.blocks->root->room;
    char *made = keel_shmem_blocks_alloc(scene.blocks, 1, all);

    ck_assert_ptr_nonnull(made);
    ck_assert_ptr_null(keel_shmem_blocks_alloc(scene.blocks, 1, 1));
    keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, made));
    is_empty(&scene);
    ck_assert_ptr_null(keel_shmem_blocks_alloc(scene.blocks, 1, all + 1));
    ck_assert_ptr_null(keel_shmem_blocks_alloc(scene.blocks, 1, SIZE_MAX));
    ck_assert_ptr_null(keel_shmem_blocks_alloc(scene.blocks, (size_t)1 << 30, all));
    ck_assert_ptr_null(keel_shmem_blocks_alloc(scene.blocks, (size_t)1 << 63, 1));
    is_empty(&scene);
    free(scene.memory);
}
END_TEST

/* The highest block takes all remaining room, then many small blocks are allocated below it. */
START_TEST(the_table_needs_no_room_at_the_end)
{
    scene_t scene = scene_begin((size_t)LINES * LINE);
    char *low = keel_shmem_blocks_alloc(scene.blocks, 1, scene.blocks->root->room / 2);
    char *high = keel_shmem_blocks_alloc(scene.blocks, 1, scene.blocks->root->most_room);
    unsigned count = 0;

    ck_assert(low != NULL && high != NULL);
    keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, low));
    while (keel_shmem_blocks_alloc(scene.blocks, 1, 1) != NULL) {
        count++;
    }
    ck_assert_uint_gt(count, LINES / 2 / 2);
    free(scene.memory);
}
END_TEST

/* A copy of the memory, put back at the same address, has the same table and the same blocks. */
START_TEST(an_image_is_the_table)
{
    scene_t scene = scene_begin((size_t)LINES * LINE);
    char *image = malloc(scene.bytes), *first = NULL;
    uint64_t count;

    for (unsigned i = 0; i < 1000; i++) {
        char *made = keel_shmem_blocks_alloc(scene.blocks, 1, 100);

        first = (first == NULL) ? made : first;
    }
    count = scene.blocks->count;
    memcpy(image, scene.memory, scene.bytes);
    for (unsigned i = 0; i < 900; i++) {
        keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, first + (size_t)i * 2 * LINE));
    }
    memcpy(scene.memory, image, scene.bytes);
    ck_assert_uint_eq(scene.blocks->count, count);
    for (unsigned i = 0; i < 1000; i++) {
        keel_shmem_blocks_free(scene.blocks, keel_shmem_blocks_find(scene.blocks, first + (size_t)i * 2 * LINE));
    }
    is_empty(&scene);
    free(image);
    free(scene.memory);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {blocks_are_apart_and_room_is_found, there_may_be_many,     all_of_it_can_be_one,
                                  the_table_needs_no_room_at_the_end, an_image_is_the_table, NULL};

    return unit_run("blocks", tests);
}
