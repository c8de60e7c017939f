/* Makes the group and its work. */
#include "ckpt_world.h"

#include "code/rs.h"

#include <check.h>
#include <string.h>

uint64_t world_image_size(uint64_t *random)
{
    switch (ckpt_below(random, 8)) {
    case 0:
        return 0;
    case 1:
        return 1 + ckpt_below(random, 100);
    case 2:
        return PIECE * (1 + ckpt_below(random, 4));
    case 3:
        return 64 * ckpt_below(random, 20000);
    case 4:
        return ckpt_below(random, 3000000);
    default:
        return ckpt_below(random, 400000);
    }
}

/* functions of ISA-L, by the linker's --wrap */
void __real_ec_encode_data(int length, int count, int rows, unsigned char *tables, unsigned char **from,
                           unsigned char **to);
void __real_ec_encode_data_update(int length, int count, int rows, int index, unsigned char *tables,
                                  unsigned char *from, unsigned char **to);
void __wrap_ec_encode_data(int length, int count, int rows, unsigned char *tables, unsigned char **from,
                           unsigned char **to);
void __wrap_ec_encode_data_update(int length, int count, int rows, int index, unsigned char *tables,
                                  unsigned char *from, unsigned char **to);

static uint64_t products;

void __wrap_ec_encode_data(int length, int count, int rows, unsigned char *tables, unsigned char **from,
                           unsigned char **to)
{
    products++;
    __real_ec_encode_data(length, count, rows, tables, from, to);
}

void __wrap_ec_encode_data_update(int length, int count, int rows, int index, unsigned char *tables,
                                  unsigned char *from, unsigned char **to)
{
    products++;
    __real_ec_encode_data_update(length, count, rows, index, tables, from, to);
}

void world_check_products(const world_t *w)
{
    int is_full = 1; /* members without an image need no products */

    for (uint32_t i = 0; i < w->size; i++) {
        is_full &= w->image_sizes[i] > 0;
    }
    if (w->parities == 1) {
        ck_assert_uint_eq(products, w->products);
    } else if (is_full) {
        ck_assert_uint_gt(products, w->products);
    }
}

/* Slots are larger than images and hold noise behind an image, so that no code may take the noise
 * for zeros. */
static void world_region(world_t *w, uint32_t rank, unsigned region, uint64_t size)
{
    fake_region_t *r = &w->lane.regions[rank][region];

    r->size = size + ckpt_below(&w->random, 200);
    r->memory = malloc(r->size + (r->size == 0));
    ckpt_fill(&w->random, r->memory, r->size);
}

keel_parity_group_t world_group(const world_t *w, uint32_t index)
{
    return (keel_parity_group_t){
        .members = w->ranks, .size = w->size, .index = index, .parities = w->parities, .is_dedicated = w->is_dedicated};
}

static void world_init_group(world_t *w, uint64_t seed, keel_parity_group_t group,
                             uint64_t (*image_size)(uint64_t *random))
{
    static const size_t max_reads[] = {4096, 16384, 60000, 1 << 20};

    memset(w, 0, sizeof *w);
    w->random = seed;
    fake_lane_init(&w->lane, seed + 1, max_reads[ckpt_below(&w->random, 4)]);
    w->lane.at_once_percent = (unsigned)ckpt_below(&w->random, 3) * 30;
    w->lane.inside_percent = (unsigned)ckpt_below(&w->random, 3) * 30;
    w->products = products;
    w->size = group.size;
    w->parities = group.parities;
    w->is_dedicated = group.is_dedicated;
    memset(w->has, KEEL_PARITY_HAS_ALL, sizeof w->has);
    w->slot = (unsigned)ckpt_below(&w->random, 2);
    const uint32_t mostly = (uint32_t)ckpt_below(&w->random, 3); /* all mapped, none, mixed */
    for (uint32_t i = 0; i < w->size; i++) {
        w->ranks[i] = (i * 7 + 5) % FAKE_RANKS; /* a rank is not an index */
        w->lane.is_mapped[w->ranks[i]] = mostly == 0 || (mostly == 2 && ckpt_below(&w->random, 2));
        w->image_sizes[i] = (group.is_dedicated && i < group.parities) ? 0 : image_size(&w->random);
        world_region(w, w->ranks[i], KEEL_REGION_IMAGE0 + w->slot, w->image_sizes[i]);
        w->images[i] = w->lane.regions[w->ranks[i]][KEEL_REGION_IMAGE0 + w->slot].memory;
    }
    group = world_group(w, 0);
    w->share_size = keel_parity_share_size(&group, w->image_sizes);
    for (uint32_t i = 0; i < w->size; i++) {
        world_region(w, w->ranks[i], KEEL_REGION_PARITY0 + w->slot, w->share_size);
        w->shares[i] = w->lane.regions[w->ranks[i]][KEEL_REGION_PARITY0 + w->slot].memory;
    }
}

void world_init_sized(world_t *w, uint64_t seed, uint32_t group_size, uint32_t parities,
                      uint64_t (*image_size)(uint64_t *random))
{
    world_init_group(w, seed, (keel_parity_group_t){.size = group_size, .parities = parities}, image_size);
}

void world_init_dedicated(world_t *w, uint64_t seed, uint32_t group_size, uint32_t parities,
                          uint64_t (*image_size)(uint64_t *random))
{
    world_init_group(w, seed, (keel_parity_group_t){.size = group_size, .parities = parities, .is_dedicated = 1},
                     image_size);
}

void world_init(world_t *w, uint64_t seed)
{
    uint64_t random = seed;
    const uint32_t size = 2 + (uint32_t)ckpt_below(&random, GROUP_MAX - 1);
    /* work grows with the square */
    const uint32_t some = ckpt_below(&random, 16) > 0 ? 3 : KEEL_RS_PARITIES_MAX;
    const uint32_t most = (size - 1 < some) ? size - 1 : some;

    world_init_sized(w, seed, size, 1 + (uint32_t)ckpt_below(&random, most), world_image_size);
}

void world_free(world_t *w)
{
    ck_assert_uint_eq(w->lane.pending_count, 0);
    for (uint32_t i = 0; i < w->size; i++) {
        free(w->images[i]);
        free(w->shares[i]);
    }
}

keel_parity_t *world_parity(world_t *w, uint32_t index)
{
    const keel_parity_group_t group = world_group(w, index);
    keel_parity_t *parity;

    ck_assert_int_eq(keel_parity_create(&w->lane.lane, &group, &parity), KEEL_OK);
    return parity;
}

keel_parity_work_t world_work(const world_t *w, void *output)
{
    return (keel_parity_work_t){.slot = w->slot, .image_sizes = w->image_sizes, .has = w->has, .output = output};
}

keel_status_t world_begin_share(const world_t *w, keel_parity_t *parity, uint8_t *share)
{
    const keel_parity_work_t work = world_work(w, share);

    return keel_parity_encode(parity, &work);
}

keel_status_t world_begin_image(const world_t *w, keel_parity_t *parity, uint8_t *image)
{
    const keel_parity_work_t work = world_work(w, image);

    return keel_parity_rebuild(parity, &work);
}

keel_status_t world_run(world_t *w, keel_parity_t *parity)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        const keel_status_t status = keel_parity_step(parity);

        if (status != KEEL_INPROGRESS) {
            return status;
        }
        fake_lane_progress(&w->lane, (unsigned)ckpt_below(&w->random, 8));
    }
    ck_abort_msg("parity work does not end");
    return KEEL_ERR_STATE;
}

void world_encode(world_t *w)
{
    for (uint32_t i = 0; i < w->size; i++) {
        keel_parity_t *parity = world_parity(w, i);

        ck_assert_int_eq(world_begin_share(w, parity, w->shares[i]), KEEL_OK);
        ck_assert_int_eq(world_run(w, parity), KEEL_OK);
        keel_parity_destroy(parity);
    }
}

uint8_t *world_output(world_t *w, size_t length)
{
    uint8_t *memory = malloc(length + 64);

    ckpt_fill(&w->random, memory, length);
    memset(memory + length, 0xee, 64);
    return memory;
}

void world_check(const uint8_t *memory, const uint8_t *expected, size_t length)
{
    ck_assert_int_eq(memcmp(memory, expected, length), 0);
    for (int i = 0; i < 64; i++) {
        ck_assert_uint_eq(memory[length + i], 0xee);
    }
}
