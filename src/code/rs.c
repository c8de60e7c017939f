/*
 * The coefficients are those of ISA-L's gf_gen_cauchy1_matrix(). Every square submatrix of a Cauchy
 * matrix is invertible, so any lost chunks, up to the number of parities, are the unique solution
 * of a linear system. Only lost data chunks are unknowns: the system has at most
 * KEEL_RS_PARITIES_MAX, whatever the size of the stripe.
 */
#include "code/rs.h"

#include "base/copy.h"
#include "base/vector.h"
#include "code/xor.h"

#include <isa-l/erasure_code.h>

#include <assert.h>
#include <string.h>

#define RS_SOURCES_MAX 32u /* sources of a pass */
/* bytes of a pass, which stay cached; ISA-L counts in int */
#define RS_BLOCK ((size_t)64 * 1024)
#define RS_TABLE 32u /* bytes of the table for a coefficient */

uint8_t keel_rs_coefficient(unsigned data, unsigned parities, unsigned row, unsigned column)
{
    return (parities == 1) ? 1 : gf_inv((uint8_t)((data + row) ^ column));
}

/* ---- solving ---- */

/* lost data chunks of the stripe, and an equal number of parity chunks that replace them */
typedef struct rs_missing {
    unsigned count;
    unsigned column[KEEL_RS_PARITIES_MAX];
    unsigned row[KEEL_RS_PARITIES_MAX];
} rs_missing_t;

static keel_status_t rs_find_missing(unsigned data, unsigned parities, unsigned wanted, const uint8_t *is_there,
                                     rs_missing_t *missing)
{
    unsigned rows = 0;

    missing->count = 0;
    for (unsigned column = 0; column < data; column++) {
        if (is_there[column] && column != wanted) {
            continue;
        }
        if (missing->count == parities) {
            return KEEL_ERR_UNREACHABLE;
        }
        missing->column[missing->count++] = column;
    }
    for (unsigned row = 0; row < parities && rows < missing->count; row++) {
        if (is_there[data + row] && data + row != wanted) {
            missing->row[rows++] = row;
        }
    }
    return (rows == missing->count) ? KEEL_OK : KEEL_ERR_UNREACHABLE;
}

keel_status_t keel_rs_solve(unsigned data, unsigned parities, unsigned wanted, const uint8_t *is_there,
                            uint8_t *coefficients)
{
    uint8_t system[KEEL_RS_PARITIES_MAX * KEEL_RS_PARITIES_MAX], inverse[sizeof system];
    uint8_t wants[KEEL_RS_PARITIES_MAX]; /* coefficients of the lost data chunks */
    rs_missing_t missing;
    keel_status_t status;

    if (data == 0 || parities == 0 || parities > KEEL_RS_PARITIES_MAX || wanted >= data + parities ||
        (parities > 1 && data + parities > KEEL_RS_CHUNKS_MAX)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    status = rs_find_missing(data, parities, wanted, is_there, &missing);
    if (status != KEEL_OK) {
        return status;
    }
    for (unsigned b = 0; b < missing.count; b++) {
        wants[b] = (wanted < data) ? missing.column[b] == wanted
                                   : keel_rs_coefficient(data, parities, wanted - data, missing.column[b]);
        for (unsigned a = 0; a < missing.count; a++) {
            system[a * missing.count + b] = keel_rs_coefficient(data, parities, missing.row[a], missing.column[b]);
        }
    }
    if (missing.count > 0 && gf_invert_matrix(system, inverse, (int)missing.count) != 0) {
        assert(0 && "part of a Cauchy matrix is singular");
    }
    memset(coefficients, 0, data + parities);
    for (unsigned column = 0; wanted >= data && column < data; column++) {
        coefficients[column] = keel_rs_coefficient(data, parities, wanted - data, column);
    }
    /* parity chunk row[a] is the sum of all data chunks, including lost ones */
    for (unsigned a = 0; a < missing.count; a++) {
        uint8_t sum = 0;

        for (unsigned b = 0; b < missing.count; b++) {
            sum ^= gf_mul(wants[b], inverse[b * missing.count + a]);
        }
        coefficients[data + missing.row[a]] = sum;
        for (unsigned column = 0; column < data; column++) {
            coefficients[column] ^= gf_mul(sum, keel_rs_coefficient(data, parities, missing.row[a], column));
        }
    }
    for (unsigned b = 0; b < missing.count; b++) {
        coefficients[missing.column[b]] =
            0; /* Lost chunks are not used: the sum of these terms is the wanted chunk, or zero. */
    }
    return KEEL_OK;
}

/* ---- combining ---- */

static int rs_is_xor(const uint8_t *coefficients, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (coefficients[i] != 1) {
            return 0;
        }
    }
    return 1;
}

/* A pass over at most RS_SOURCES_MAX sources and RS_BLOCK bytes. The first pass over a target
 * sets it, later passes add. */
static void rs_pass(uint8_t *target, const uint8_t *const *sources, uint8_t *tables, unsigned count, size_t offset,
                    size_t length, int is_first)
{
    uint8_t *vectors[RS_SOURCES_MAX];
    uint8_t *output = target + offset;

    for (unsigned i = 0; i < count; i++) {
        vectors[i] = (uint8_t *)sources[i] + offset;
    }
    if (is_first) {
        ec_encode_data((int)length, (int)count, 1, tables, vectors, &output);
        keel_vector_end();
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        ec_encode_data_update((int)length, (int)count, 1, (int)i, tables, vectors[i], &output);
    }
    keel_vector_end();
}

/* writes past the caches, like XOR: results of a checkpoint are not read before a death */
static void rs_copy(uint8_t *target, const uint8_t *source, size_t length)
{
    const size_t to_line = -(uintptr_t)target & (KEEL_COPY_LINE - 1);
    const size_t head = (to_line < length) ? to_line : length;
    const size_t lines = (length - head) & ~(size_t)(KEEL_COPY_LINE - 1);

    memcpy(target, source, head);
    keel_copy_lines(target + head, source + head, lines);
    memcpy(target + head + lines, source + head + lines, length - head - lines);
    keel_copy_lines_done();
}

void keel_rs_combine(void *target, const void *const *sources, const uint8_t *coefficients, unsigned count,
                     size_t length)
{
    uint8_t tables[RS_SOURCES_MAX * RS_TABLE];

    if (count == 1 && coefficients[0] == 1) {
        rs_copy(target, sources[0], length);
        return;
    }
    if (rs_is_xor(coefficients, count)) { /* also without sources */
        keel_xor(target, sources, count, length);
        return;
    }
    for (unsigned first = 0; first < count; first += RS_SOURCES_MAX) {
        const unsigned part = (count - first < RS_SOURCES_MAX) ? count - first : RS_SOURCES_MAX;

        ec_init_tables((int)part, 1, (uint8_t *)coefficients + first, tables);
        for (size_t offset = 0; offset < length; offset += RS_BLOCK) {
            rs_pass(target, (const uint8_t *const *)sources + first, tables, part, offset,
                    (length - offset < RS_BLOCK) ? length - offset : RS_BLOCK, first == 0);
        }
    }
}

void keel_rs_add(void *target, const void *source, uint8_t coefficient, size_t length)
{
    uint8_t tables[RS_TABLE];
    const uint8_t *sources[1] = {source};

    if (coefficient == 1) {
        keel_xor_into(target, source, length);
        return;
    }
    ec_init_tables(1, 1, &coefficient, tables);
    for (size_t offset = 0; offset < length; offset += RS_BLOCK) {
        rs_pass(target, sources, tables, 1, offset, (length - offset < RS_BLOCK) ? length - offset : RS_BLOCK, 0);
    }
}

/* ---- references ---- */

/* product modulo x^8 + x^4 + x^3 + x^2 + 1, bit by bit */
static uint8_t rs_product(uint8_t a, uint8_t b)
{
    uint8_t product = 0;

    for (; b != 0; b >>= 1) {
        product ^= (b & 1) ? a : 0;
        a = (uint8_t)((a << 1) ^ ((a & 0x80) ? 0x1d : 0));
    }
    return product;
}

void keel_rs_combine_reference(void *target, const void *const *sources, const uint8_t *coefficients, unsigned count,
                               size_t length)
{
    memset(target, 0, length);
    for (unsigned i = 0; i < count; i++) {
        keel_rs_add_reference(target, sources[i], coefficients[i], length);
    }
}

void keel_rs_add_reference(void *target, const void *source, uint8_t coefficient, size_t length)
{
    uint8_t *const to = target;
    const uint8_t *const from = source;

    for (size_t i = 0; i < length; i++) {
        to[i] ^= rs_product(from[i], coefficient);
    }
}
