/* Decodes images by Gaussian elimination over all chunks of a stripe. */
#include "sim_parity.h"

#include "sim_case.h"

#include "code/rs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX CASE_PROCESSES_MAX /* a group may be the whole job */

typedef struct holder {
    const uint8_t *image, *share; /* NULL: not there, or assumed lost */
    const uint8_t *truth;         /* the image, if it exists although assumed lost */
    int is_missing;
} holder_t;

typedef struct scheme {
    uint32_t size, parities, data;
    int is_dedicated;
    uint64_t chunk;
    const uint64_t *sizes;
    holder_t holder[MEMBERS_MAX];
} scheme_t;

static keel_stripes_t scheme_stripes(const scheme_t *scheme)
{
    return (keel_stripes_t){.size = scheme->size, .parities = scheme->parities, .is_dedicated = scheme->is_dedicated};
}

static uint8_t product[256][256], inverse[256];

static void products_make(void)
{
    if (product[1][1] != 0) {
        return;
    }
    for (unsigned a = 0; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            const uint8_t byte = (uint8_t)a;

            product[a][b] = 0;
            keel_rs_add_reference(&product[a][b], &byte, (uint8_t)b, 1);
            inverse[a] = (product[a][b] == 1) ? (uint8_t)b : inverse[a];
        }
    }
}

/*
 * Returns the weight of data chunk @a column in the chunk at a place: a row of the generator
 * matrix.
 */
static uint8_t generator(const scheme_t *scheme, uint32_t place, uint32_t column)
{
    return (place < scheme->data) ? place == column
                                  : keel_rs_coefficient(scheme->data, scheme->parities, place - scheme->data, column);
}

/*
 * Computes weights by place, so that the weighted sum of the chunks in @a places (as many as data)
 * is data chunk @a wanted.
 */
static int solve(const scheme_t *scheme, const uint32_t *places, uint32_t wanted, uint8_t *weights)
{
    /* a row for each data chunk, a column for each place, and the right side */
    uint8_t m[MEMBERS_MAX][MEMBERS_MAX + 1];
    const uint32_t n = scheme->data;

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            m[i][j] = generator(scheme, places[j], i);
        }
        m[i][n] = i == wanted;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pivot = i;

        while (pivot < n && m[pivot][i] == 0) {
            pivot++;
        }
        if (pivot == n) {
            return 0;
        }
        for (uint32_t j = 0; j <= n; j++) {
            const uint8_t swap = m[i][j];

            m[i][j] = m[pivot][j];
            m[pivot][j] = swap;
        }
        for (uint32_t j = n + 1; j-- > i;) {
            m[i][j] = product[m[i][j]][inverse[m[i][i]]];
        }
        for (uint32_t r = 0; r < n; r++) {
            const uint8_t factor = m[r][i];

            for (uint32_t j = i; r != i && factor != 0 && j <= n; j++) {
                m[r][j] ^= product[m[i][j]][factor];
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        weights[i] = m[i][n];
    }
    return 1;
}

/* Decodes chunk @a number of the member's image. */
static int decode_chunk(const scheme_t *scheme, uint32_t member, uint32_t number, uint8_t *output, uint64_t length)
{
    const keel_stripes_t stripes = scheme_stripes(scheme);
    const uint32_t wanted = keel_stripes_image_place(&stripes, member, number);
    const uint32_t stripe = keel_stripes_stripe(&stripes, member, wanted);
    uint32_t places[MEMBERS_MAX], count = 0;
    uint8_t weights[MEMBERS_MAX];

    for (uint32_t place = 0; place < scheme->size && count < scheme->data; place++) {
        const holder_t *holder = &scheme->holder[keel_stripes_member(&stripes, stripe, place)];

        if (((place < scheme->data) ? holder->image : holder->share) != NULL) {
            places[count++] = place;
        }
    }
    if (count < scheme->data || !solve(scheme, places, wanted, weights)) {
        return 0;
    }
    memset(output, 0, length);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t source = keel_stripes_member(&stripes, stripe, places[i]);
        const int is_data = places[i] < scheme->data;
        const uint64_t offset = keel_stripes_number(&stripes, places[i]) * scheme->chunk;
        const uint8_t *from = is_data ? scheme->holder[source].image : scheme->holder[source].share;
        const uint64_t end = is_data ? scheme->sizes[source] : keel_stripes_share_chunks(&stripes) * scheme->chunk;

        for (uint64_t at = 0; at < length && offset + at < end; at++) {
            output[at] ^= product[from[offset + at]][weights[i]];
        }
    }
    return 1;
}

static int decode_check(parity_check_t *check, const scheme_t *scheme, uint32_t member, uint32_t rank,
                        uint32_t generation)
{
    const uint64_t size = scheme->sizes[member];
    const char *why = "it has too few sources";
    uint8_t *image = malloc(size + 1);
    keel_image_meta_t meta = {0};
    int is_right = image != NULL;

    for (uint64_t at = 0; at < size && is_right; at += scheme->chunk) {
        const uint64_t left = size - at;

        is_right = decode_chunk(scheme, member, (uint32_t)(at / scheme->chunk), image + at,
                                left < scheme->chunk ? left : scheme->chunk);
    }
    if (is_right && scheme->holder[member].truth != NULL && memcmp(image, scheme->holder[member].truth, size) != 0) {
        is_right = 0;
        why = "it is not the one in the slot";
    }
    is_right = is_right && keel_image_check(image, size, &meta, &why) == KEEL_OK;
    if (is_right && (meta.rank != rank || meta.generation != generation)) {
        is_right = 0;
        why = "it is another";
    }
    if (!is_right) {
        snprintf(check->flaw, sizeof check->flaw, "the image of rank %u, generation %u, cannot be decoded: %s", rank,
                 generation, why);
    }
    check->decoded++;
    free(image);
    return is_right;
}

/* Returns the member's part of the set with this number, or NULL. */
static const keel_images_t *set_find(const keel_image_set_t *set, uint32_t number)
{
    if (set->used.number == number) {
        return &set->used;
    }
    return (set->making.number == number && keel_image_set_is_safe(set)) ? &set->making : NULL;
}

static int holder_find(parity_check_t *check, uint32_t rank, uint32_t generation, holder_t *holder, uint64_t *sizes)
{
    const keel_context_h ctx = check->ctx[rank];
    const keel_images_t *images;

    *holder = (holder_t){.is_missing = 1};
    if (ctx == NULL || keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH) {
        return 1;
    }
    images = set_find(&ctx->ckpt.set, generation);
    if (images == NULL) {
        snprintf(check->flaw, sizeof check->flaw, "rank %u lacks generation %u, which is in use", rank, generation);
        return 0;
    }
    holder->is_missing = images == &ctx->ckpt.set.used && !keel_image_set_is_armed(&ctx->ckpt.set);
    holder->truth = ctx->lane.own[KEEL_REGION_IMAGE0 + images->share_slot].base;
    holder->image = holder->truth;
    holder->share = ctx->lane.own[KEEL_REGION_PARITY0 + images->share_slot].base;
    for (uint32_t i = 0; i < ctx->ckpt.group.size; i++) {
        sizes[i] = images->members[i].size;
    }
    return 1;
}

static int group_decode(parity_check_t *check, scheme_t *scheme, const uint32_t *members, const uint32_t *positions);

static int group_check(parity_check_t *check, uint32_t group, uint32_t generation)
{
    const uint32_t *members = check->groups->members[group];
    scheme_t scheme = {
        .size = check->groups->size[group], .parities = check->parities, .is_dedicated = check->is_dedicated};
    uint32_t positions[MEMBERS_MAX], found = 0;
    uint64_t sizes[MEMBERS_MAX];

    scheme.sizes = sizes;
    scheme.data = scheme.size - scheme.parities;
    for (uint32_t i = 0; i < scheme.size; i++) {
        if (!holder_find(check, members[i], generation, &scheme.holder[i], sizes)) {
            return 0;
        }
        found += scheme.holder[i].share != NULL || scheme.holder[i].truth != NULL;
        positions[i] = generation;
    }
    return found == 0 || group_decode(check, &scheme, members, positions);
}

/* Assumes that more members are lost, and decodes the images of all lost members. */
static int group_decode(parity_check_t *check, scheme_t *scheme, const uint32_t *members, const uint32_t *positions)
{
    uint32_t missing = 0, tries, member;
    keel_stripes_t stripes;

    for (member = 0; member < scheme->size; member++) {
        missing += scheme->holder[member].is_missing;
    }
    if (missing > scheme->parities) {
        return 1; /* more losses than parity covers */
    }
    for (tries = keel_random_below(check->random, 2 * scheme->size); tries > 0 && missing < scheme->parities; tries--) {
        member = keel_random_below(check->random, scheme->size);
        missing += !scheme->holder[member].is_missing;
        scheme->holder[member].is_missing = 1;
    }
    stripes = scheme_stripes(scheme);
    scheme->chunk = keel_stripes_chunk(&stripes, scheme->sizes);
    for (member = 0; member < scheme->size; member++) {
        if (scheme->holder[member].is_missing) {
            scheme->holder[member].image = scheme->holder[member].share = NULL;
        }
    }
    for (member = 0; member < scheme->size; member++) {
        if (scheme->holder[member].is_missing && keel_stripes_has_image(&stripes, member) &&
            scheme->sizes[member] > 0 && !decode_check(check, scheme, member, members[member], positions[member])) {
            return 0;
        }
    }
    return 1;
}

/* ---- demand images ---- */

static int is_settled(const parity_check_t *check, uint32_t rank)
{
    return check->ctx[rank] != NULL && keel_recovery_state(&check->ctx[rank]->rec) != KEEL_RANK_FRESH;
}

/*
 * A position by which a rank trims, or from which a replacement would begin: every member of the
 * group has its part of the images.
 */
static int demand_check(parity_check_t *check, uint32_t group, uint32_t generation)
{
    const uint32_t *members = check->groups->members[group];
    scheme_t scheme = {
        .size = check->groups->size[group], .parities = check->parities, .is_dedicated = check->is_dedicated};
    uint32_t number = 0, positions[MEMBERS_MAX];
    uint64_t sizes[MEMBERS_MAX];

    for (uint32_t x = 0; x < check->ranks; x++) {
        for (uint32_t i = 0; is_settled(check, x) && i < scheme.size; i++) {
            number = keel_larger(number, check->ctx[x]->demand.starts[members[i]].position);
        }
    }
    if (number <= generation) {
        return 1;
    }
    scheme.data = scheme.size - scheme.parities;
    scheme.sizes = sizes;
    for (uint32_t i = 0; i < scheme.size; i++) {
        const keel_context_h ctx = check->ctx[members[i]];
        const keel_images_t *set;

        scheme.holder[i] = (holder_t){.is_missing = 1};
        if (!is_settled(check, members[i])) {
            continue;
        }
        set = set_find(&ctx->demand.set, number);
        if (set == NULL) {
            snprintf(check->flaw, sizeof check->flaw, "rank %u has no part of the images of position %u", members[i],
                     number);
            return 0;
        }
        for (uint32_t k = 0; k < scheme.size; k++) {
            sizes[k] = set->members[k].size;
            positions[k] = set->members[k].position != 0 ? set->members[k].position : generation;
        }
        scheme.holder[i].is_missing = (set == &ctx->demand.set.used) && !keel_image_set_is_armed(&ctx->demand.set);
        scheme.holder[i].truth = ctx->lane.own[KEEL_REGION_IMAGE0 + set->members[i].slot].base;
        scheme.holder[i].image = (set->members[i].size > 0) ? scheme.holder[i].truth : (const uint8_t *)"";
        scheme.holder[i].share = ctx->lane.own[KEEL_REGION_PARITY0 + set->share_slot].base;
    }
    return group_decode(check, &scheme, members, positions);
}

/* A rollback is under way: a rank that knows of it has no demand images any more. */
static int is_rolling(const parity_check_t *check)
{
    uint32_t rollback = UINT32_MAX;

    for (uint32_t r = 0; r < check->ranks; r++) {
        const keel_context_h ctx = check->ctx[r];

        if (ctx == NULL) {
            continue;
        }
        if (ctx->rec.roll != KEEL_ROLL_NONE || ctx->rec.fatal != KEEL_OK ||
            (rollback != UINT32_MAX && rollback != ctx->rec.roll_target)) {
            return 1;
        }
        rollback = ctx->rec.roll_target;
    }
    return 0;
}

int parity_check(parity_check_t *check)
{
    uint32_t generation = 0;

    products_make();
    for (uint32_t r = 0; r < check->ranks; r++) {
        if (check->ctx[r] != NULL && keel_recovery_state(&check->ctx[r]->rec) != KEEL_RANK_FRESH &&
            check->ctx[r]->ckpt.set.used.number > generation) {
            generation = check->ctx[r]->ckpt.set.used.number;
        }
    }
    for (uint32_t g = 0; generation > 0 && g < check->groups->count; g++) {
        if (!group_check(check, g, generation)) {
            return 0;
        }
    }
    for (uint32_t g = 0; !is_rolling(check) && g < check->groups->count; g++) {
        if (!demand_check(check, g, generation)) {
            return 0;
        }
    }
    return 1;
}
