/*
 * Reed-Solomon: kernels against their references over alignments and tails; every loss covered by
 * parity is decoded.
 */
#include "code/rs.h"

#include "unit.h"

#include <isa-l/erasure_code.h>
#include <string.h>

#define SOURCE_MAX 70
#define ROOM       ((size_t)1 << 18)
#define SLACK      ((size_t)128) /* guard on both sides, and room for offsets */
#define CHUNK      ((size_t)100)

static unsigned char *buffers[SOURCE_MAX + 1];
static unsigned char expected[ROOM];

static void setup_buffers(uint64_t *state, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        buffers[i] = aligned_alloc(64, ROOM + 3 * SLACK);
        for (size_t j = 0; j + sizeof(uint64_t) <= ROOM + 3 * SLACK; j += sizeof(uint64_t)) {
            const uint64_t word = unit_random(state);

            memcpy(buffers[i] + j, &word, sizeof word);
        }
    }
}

static void free_buffers(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        free(buffers[i]);
    }
}

/* buffers[0] is the target; @a offset of each buffer. The drawn coefficients include 0 and 1. */
static void combine_and_check(uint64_t *state, unsigned count, const size_t *offset, size_t length, int is_adding)
{
    unsigned char *target = buffers[0] + SLACK + offset[0];
    unsigned char before[SLACK], after[SLACK];
    const void *sources[SOURCE_MAX];
    uint8_t coefficients[SOURCE_MAX];

    for (unsigned i = 0; i < count; i++) {
        const uint8_t draw = (uint8_t)unit_random(state);

        sources[i] = buffers[i + 1] + SLACK + offset[i + 1];
        coefficients[i] = (draw < 64) ? draw % 2 : draw;
    }
    memcpy(before, target - SLACK, SLACK);
    memcpy(after, target + length, SLACK);
    if (is_adding) {
        memcpy(expected, target, length);
        keel_rs_add_reference(expected, sources[0], coefficients[0], length);
        keel_rs_add(target, sources[0], coefficients[0], length);
    } else {
        keel_rs_combine_reference(expected, sources, coefficients, count, length);
        keel_rs_combine(target, sources, coefficients, count, length);
    }
    ck_assert_msg(memcmp(target, expected, length) == 0, "count %u length %zu adding %d", count, length, is_adding);
    ck_assert_mem_eq(target - SLACK, before, SLACK);
    ck_assert_mem_eq(target + length, after, SLACK);
}

START_TEST(every_alignment_and_tail_equals_the_reference)
{
    uint64_t state = unit_seed();
    size_t offset[4];

    setup_buffers(&state, 4);
    for (unsigned count = 0; count <= 3; count++) {
        for (size_t align = 0; align < 64; align++) {
            for (size_t length = 0; length < 200; length++) {
                for (unsigned i = 0; i < 4; i++) {
                    offset[i] = (i == 0) ? align : (length % 2) ? align : (align * 7 + i) % 64;
                }
                combine_and_check(&state, count, offset, length, 0);
                combine_and_check(&state, 1, offset, length, 1);
            }
        }
    }
    free_buffers(4);
}
END_TEST

START_TEST(random_shapes_equal_the_reference)
{
    uint64_t state = unit_seed();
    size_t offset[SOURCE_MAX + 1];

    setup_buffers(&state, SOURCE_MAX + 1);
    for (unsigned n = 0; n < 300; n++) {
        const unsigned count = (unsigned)(1 + unit_random(&state) % ((n % 8 == 0) ? SOURCE_MAX : 8));
        const size_t length = unit_random(&state) % ((n % 16 == 0 && count <= 8) ? ROOM - 64 : 5000);

        for (unsigned i = 0; i <= count; i++) {
            offset[i] = unit_random(&state) & ((n % 3 == 0) ? 63 : 0);
        }
        combine_and_check(&state, count, offset, length, n % 5 == 0);
    }
    free_buffers(SOURCE_MAX + 1);
}
END_TEST

START_TEST(coefficients_are_the_cauchy_matrix_and_ones_for_one_parity)
{
    static uint8_t matrix[KEEL_RS_CHUNKS_MAX * KEEL_RS_CHUNKS_MAX];

    for (unsigned parities = 1; parities <= KEEL_RS_PARITIES_MAX; parities++) {
        for (unsigned data = 1; data + parities <= KEEL_RS_CHUNKS_MAX; data++) {
            gf_gen_cauchy1_matrix(matrix, (int)(data + parities), (int)data);
            for (unsigned row = 0; row < parities; row++) {
                for (unsigned column = 0; column < data; column++) {
                    if (keel_rs_coefficient(data, parities, row, column) !=
                        ((parities == 1) ? 1 : matrix[(data + row) * data + column])) {
                        ck_abort_msg("%u data, %u parities: row %u column %u", data, parities, row, column);
                    }
                }
            }
        }
    }
}
END_TEST

/*
 * Proves that any m chunks of any stripe may be lost. A loss is decoded by inverting a square part
 * of the coefficients: the rows of the remaining parity chunks, and the columns of lost data
 * chunks. If coefficient (r, c) is 1 / (x_r + y_c) and all x and y are distinct, the determinant of
 * a part is the product of (x_i - x_j) (y_j - y_i) over i < j, divided by the product of all x_i +
 * y_j (Cauchy), and so not 0.
 */
START_TEST(every_square_part_of_the_coefficients_is_invertible)
{
    for (unsigned parities = 2; parities <= KEEL_RS_PARITIES_MAX; parities++) {
        for (unsigned data = 1; data + parities <= KEEL_RS_CHUNKS_MAX; data++) {
            for (unsigned row = 0; row < parities; row++) {
                for (unsigned column = 0; column < data; column++) {
                    /* below 256: all distinct */
                    const uint8_t x = (uint8_t)(data + row), y = (uint8_t)column;
                    const uint8_t sum = x ^ y;
                    uint8_t product = 0;

                    keel_rs_add_reference(&product, &sum, keel_rs_coefficient(data, parities, row, column), 1);
                    if (product != 1) { /* a passing assertion costs a system call */
                        ck_abort_msg("%u data, %u parities: row %u column %u", data, parities, row, column);
                    }
                }
            }
        }
    }
}
END_TEST

/* Makes one byte a chunk: data, and parity by the reference. */
static void make_bytes(uint64_t *state, unsigned data, unsigned parities, uint8_t *bytes)
{
    for (unsigned i = 0; i < data; i++) {
        bytes[i] = (uint8_t)unit_random(state);
    }
    for (unsigned row = 0; row < parities; row++) {
        bytes[data + row] = 0;
        for (unsigned i = 0; i < data; i++) {
            keel_rs_add_reference(&bytes[data + row], &bytes[i], keel_rs_coefficient(data, parities, row, i), 1);
        }
    }
}

/* Loses m chunks: the first, the last, or any. */
static void lose_chunks(uint64_t *state, unsigned places, unsigned parities, unsigned pattern, uint8_t *is_there)
{
    memset(is_there, 1, places);
    for (unsigned lost = 0; lost < parities;) {
        const unsigned place = (pattern == 0)   ? lost
                               : (pattern == 1) ? places - 1 - lost
                                                : (unsigned)(unit_random(state) % places);

        lost += is_there[place];
        is_there[place] = 0;
    }
}

/* Returns 1 if the wanted chunk is the sum of the remaining chunks, and of no others. */
static int is_decoded(unsigned data, unsigned parities, unsigned wanted, const uint8_t *bytes, const uint8_t *is_there)
{
    uint8_t coefficients[KEEL_RS_CHUNKS_MAX], found = 0;

    if (keel_rs_solve(data, parities, wanted, is_there, coefficients) != KEEL_OK) {
        return 0;
    }
    for (unsigned i = 0; i < data + parities; i++) {
        if (!is_there[i] && coefficients[i] != 0) {
            return 0;
        }
        keel_rs_add_reference(&found, &bytes[i], coefficients[i], 1);
    }
    return found == bytes[wanted];
}

START_TEST(stripes_of_every_size_are_decoded)
{
    uint64_t state = unit_seed();
    uint8_t bytes[KEEL_RS_CHUNKS_MAX], is_there[KEEL_RS_CHUNKS_MAX];

    for (unsigned parities = 1; parities <= KEEL_RS_PARITIES_MAX; parities++) {
        for (unsigned data = 1; data + parities <= KEEL_RS_CHUNKS_MAX; data++) {
            const unsigned places = data + parities;

            make_bytes(&state, data, parities, bytes);
            for (unsigned pattern = 0; pattern < 3; pattern++) {
                lose_chunks(&state, places, parities, pattern, is_there);
                for (unsigned wanted = 0; wanted < places; wanted++) {
                    if (!is_there[wanted] && !is_decoded(data, parities, wanted, bytes, is_there)) {
                        ck_abort_msg("%u data, %u parities: chunk %u", data, parities, wanted);
                    }
                }
            }
        }
    }
}
END_TEST

/* Makes the chunks of one stripe: random data, and parity by the references alone. */
static void make_stripe(uint64_t *state, unsigned data, unsigned parities, uint8_t (*chunks)[CHUNK])
{
    const void *sources[SOURCE_MAX];
    uint8_t coefficients[SOURCE_MAX];

    for (unsigned i = 0; i < data; i++) {
        sources[i] = chunks[i];
        for (size_t j = 0; j < CHUNK; j++) {
            chunks[i][j] = (uint8_t)unit_random(state);
        }
    }
    for (unsigned row = 0; row < parities; row++) {
        for (unsigned i = 0; i < data; i++) {
            coefficients[i] = keel_rs_coefficient(data, parities, row, i);
        }
        keel_rs_combine_reference(chunks[data + row], sources, coefficients, data, CHUNK);
    }
}

/* Decodes each lost chunk from the remaining chunks alone. */
static void check_loss(unsigned data, unsigned parities, uint8_t (*chunks)[CHUNK], const uint8_t *is_there)
{
    const unsigned places = data + parities;
    const void *sources[SOURCE_MAX];
    uint8_t coefficients[SOURCE_MAX], found[CHUNK];

    for (unsigned wanted = 0; wanted < places; wanted++) {
        unsigned used = 0;

        if (is_there[wanted]) {
            continue;
        }
        ck_assert_int_eq(keel_rs_solve(data, parities, wanted, is_there, coefficients), KEEL_OK);
        for (unsigned i = 0; i < places; i++) {
            sources[i] = chunks[i];
            used += coefficients[i] != 0;
            ck_assert(is_there[i] || coefficients[i] == 0);
        }
        ck_assert_uint_le(used, data);
        keel_rs_combine(found, sources, coefficients, places, CHUNK);
        ck_assert_mem_eq(found, chunks[wanted], CHUNK);
    }
}

START_TEST(every_loss_of_up_to_m_chunks_is_decoded)
{
    uint64_t state = unit_seed();
    uint8_t chunks[SOURCE_MAX][CHUNK], is_there[SOURCE_MAX];

    for (unsigned parities = 1; parities <= KEEL_RS_PARITIES_MAX; parities++) {
        /* bounds the time to seconds */
        for (unsigned data = 1; data <= ((parities <= 3) ? 12 : 5); data++) {
            const unsigned places = data + parities;

            make_stripe(&state, data, parities, chunks);
            for (unsigned lost = 0; lost < (1u << places); lost++) {
                if ((unsigned)__builtin_popcount(lost) > parities) {
                    continue;
                }
                for (unsigned i = 0; i < places; i++) {
                    is_there[i] = !(lost >> i & 1);
                }
                check_loss(data, parities, chunks, is_there);
            }
        }
    }
}
END_TEST

START_TEST(more_losses_than_parities_are_refused)
{
    uint8_t coefficients[SOURCE_MAX], is_there[SOURCE_MAX];

    for (unsigned parities = 1; parities <= KEEL_RS_PARITIES_MAX; parities++) {
        memset(is_there, 1, sizeof is_there);
        memset(is_there, 0, parities + 1);
        ck_assert_int_eq(keel_rs_solve(6, parities, 0, is_there, coefficients), KEEL_ERR_UNREACHABLE);
        is_there[0] = 1; /* the wanted chunk is not its own source */
        ck_assert_int_eq(keel_rs_solve(6, parities, 0, is_there, coefficients), KEEL_ERR_UNREACHABLE);
    }
    memset(is_there, 1, sizeof is_there);
    ck_assert_int_eq(keel_rs_solve(6, 2, 8, is_there, coefficients), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_rs_solve(0, 2, 0, is_there, coefficients), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_rs_solve(6, 0, 0, is_there, coefficients), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_rs_solve(6, KEEL_RS_PARITIES_MAX + 1, 0, is_there, coefficients), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_rs_solve(254, 2, 0, is_there, coefficients), KEEL_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(parity_updated_by_a_difference_is_parity_of_the_new_data)
{
    uint64_t state = unit_seed();
    uint8_t old[SOURCE_MAX][CHUNK], new[SOURCE_MAX][CHUNK];

    for (unsigned n = 0; n < 200; n++) {
        const unsigned parities = 1 + n % KEEL_RS_PARITIES_MAX;
        const unsigned data = (unsigned)(1 + unit_random(&state) % 20);

        make_stripe(&state, data, parities, old);
        make_stripe(&state, data, parities, new);
        for (unsigned row = 0; row < parities; row++) {
            for (unsigned column = 0; column < data; column++) {
                const uint8_t coefficient = keel_rs_coefficient(data, parities, row, column);

                keel_rs_add(old[data + row], old[column], coefficient, CHUNK);
                keel_rs_add(old[data + row], new[column], coefficient, CHUNK);
            }
            ck_assert_mem_eq(old[data + row], new[data + row], CHUNK);
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_alignment_and_tail_equals_the_reference,
                                  random_shapes_equal_the_reference,
                                  coefficients_are_the_cauchy_matrix_and_ones_for_one_parity,
                                  every_square_part_of_the_coefficients_is_invertible,
                                  stripes_of_every_size_are_decoded,
                                  every_loss_of_up_to_m_chunks_is_decoded,
                                  more_losses_than_parities_are_refused,
                                  parity_updated_by_a_difference_is_parity_of_the_new_data,
                                  NULL};

    return unit_run("rs", tests);
}
