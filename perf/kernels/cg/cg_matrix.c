/*
 * The matrix is a sum of outer products of n sparse random vectors with falling weights. Vector i
 * has 0.5 at i. Every process draws all vectors and adds up the rows that it owns.
 */
#include "cg_matrix.h"
#include "../lib/npb_random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CG_CONDITION 0.1
#define CG_DIAGONAL  0.5
#define CG_EPSILON   1e-10

static const cg_class_t cg_classes[] = {
    {'S', 1400, 7, 15, 10, 8.5971775078648},
    {'W', 7000, 8, 15, 12, 10.362595087124},
    {'A', 14000, 11, 15, 20, 17.130235054029},
    {'B', 75000, 13, 75, 60, 22.712745482631},
};

/* All random vectors; vector i has length[i] elements from i * (nonzeros + 1) on. */
typedef struct {
    uint32_t *length, *index;
    double *value, *weight;
    uint32_t stride;
} vectors_t;

/* Vectors with an element in each own row: those of row r start at begin[r]. */
typedef struct {
    size_t *begin;
    uint32_t *vector;
} uses_t;

const cg_class_t *cg_class_find(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof cg_classes / sizeof *cg_classes; i++) {
        if ((strlen(name) == 1) && (strncasecmp(name, &cg_classes[i].name, 1) == 0)) {
            return &cg_classes[i];
        }
    }
    return NULL;
}

int cg_zeta_is_published(const cg_class_t *klass, double zeta)
{
    return fabs(zeta - klass->zeta) <= CG_EPSILON;
}

/* Sets an element of a sparse vector; returns the new length. */
static uint32_t vector_set(uint32_t *index, double *value, uint32_t length, uint32_t at, double to)
{
    uint32_t k;

    for (k = 0; (k < length) && (index[k] != at); k++) {
    }
    index[k] = at;
    value[k] = to;
    return (k < length) ? length : length + 1;
}

static int is_in(const uint32_t *index, uint32_t length, uint32_t at)
{
    uint32_t k;

    for (k = 0; (k < length) && (index[k] != at); k++) {
    }
    return k < length;
}

static void draw_vectors(vectors_t *vectors, const cg_class_t *klass)
{
    const double ratio = pow(CG_CONDITION, 1.0 / klass->n);
    uint64_t state = NPB_RANDOM_SEED;
    uint32_t power = 2, i, length, at;
    double weight = 1, element;

    npb_random_next(&state); /* the benchmark draws one before the matrix */
    while (power < klass->n) {
        power *= 2;
    }
    for (i = 0; i < klass->n; i++) {
        uint32_t *const index = vectors->index + (size_t)i * vectors->stride;
        double *const value = vectors->value + (size_t)i * vectors->stride;

        for (length = 0; length < klass->nonzeros;) {
            element = npb_random_next(&state);
            at = (uint32_t)(power * npb_random_next(&state));
            if ((at < klass->n) && !is_in(index, length, at)) {
                length = vector_set(index, value, length, at, element);
            }
        }
        vectors->length[i] = vector_set(index, value, length, i, CG_DIAGONAL);
        vectors->weight[i] = weight;
        weight *= ratio;
    }
}

static void vectors_cleanup(vectors_t *vectors)
{
    free(vectors->length);
    free(vectors->index);
    free(vectors->value);
    free(vectors->weight);
}

static int vectors_init(vectors_t *vectors, const cg_class_t *klass)
{
    const size_t n = klass->n;

    vectors->stride = klass->nonzeros + 1;
    vectors->length = malloc(n * sizeof *vectors->length);
    vectors->index = malloc(n * vectors->stride * sizeof *vectors->index);
    vectors->value = malloc(n * vectors->stride * sizeof *vectors->value);
    vectors->weight = malloc(n * sizeof *vectors->weight);
    if ((vectors->length == NULL) || (vectors->index == NULL) || (vectors->value == NULL) ||
        (vectors->weight == NULL)) {
        vectors_cleanup(vectors);
        return -1;
    }
    draw_vectors(vectors, klass);
    return 0;
}

/* Returns an upper bound on the elements of all own rows, or 0 if memory is short. */
static size_t uses_init(uses_t *uses, const vectors_t *vectors, uint32_t n, uint32_t first, uint32_t count)
{
    size_t most = 1;
    uint32_t i, k, row;

    uses->begin = calloc((size_t)count + 2, sizeof *uses->begin);
    uses->vector = NULL;
    if (uses->begin == NULL) {
        return 0;
    }
    for (i = 0; i < n; i++) {
        for (k = 0; k < vectors->length[i]; k++) {
            row = vectors->index[(size_t)i * vectors->stride + k] - first;
            if (row < count) {
                uses->begin[row + 2]++;
                most += vectors->length[i];
            }
        }
    }
    for (row = 1; row <= count; row++) {
        uses->begin[row + 1] += uses->begin[row];
    }
    uses->vector = malloc((uses->begin[count + 1] + 1) * sizeof *uses->vector);
    if (uses->vector == NULL) {
        free(uses->begin);
        return 0;
    }
    for (i = 0; i < n; i++) {
        for (k = 0; k < vectors->length[i]; k++) {
            row = vectors->index[(size_t)i * vectors->stride + k] - first;
            if (row < count) {
                /* counts up to the start of the next row */
                uses->vector[uses->begin[row + 1]++] = i;
            }
        }
    }
    return most;
}

static int compare_columns(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Adds row @a j in @a sums, which are zero before and after, and appends the row to the matrix. */
static size_t add_row(cg_matrix_t *matrix, const vectors_t *vectors, const uint32_t *uses, size_t count, uint32_t j,
                      double diagonal, size_t at, double *sums)
{
    size_t end = at, u, e;
    uint32_t k;

    for (u = 0; u < count; u++) {
        const uint32_t *index = vectors->index + (size_t)uses[u] * vectors->stride;
        const double *value = vectors->value + (size_t)uses[u] * vectors->stride;
        const uint32_t length = vectors->length[uses[u]];
        double scale = 0;

        for (k = 0; k < length; k++) {
            scale = (index[k] == j) ? value[k] * vectors->weight[uses[u]] : scale;
        }
        for (k = 0; k < length; k++) {
            if (sums[index[k]] == 0) {
                matrix->column[end++] = index[k];
            }
            sums[index[k]] += value[k] * scale + (((index[k] == j) && (uses[u] == j)) ? diagonal : 0);
        }
    }
    qsort(matrix->column + at, end - at, sizeof *matrix->column, compare_columns);
    for (e = at; e < end; e++) {
        matrix->value[e] = sums[matrix->column[e]];
        sums[matrix->column[e]] = 0;
    }
    return end;
}

int cg_matrix_init(cg_matrix_t *matrix, const cg_class_t *klass, uint32_t first, uint32_t count)
{
    double *sums = calloc(klass->n, sizeof *sums);
    vectors_t vectors;
    uses_t uses = {0};
    size_t most = 0, at = 0;
    uint32_t row;

    *matrix = (cg_matrix_t){.first = first, .count = count};
    if ((sums == NULL) || (vectors_init(&vectors, klass) != 0)) {
        free(sums);
        return -1;
    }
    most = uses_init(&uses, &vectors, klass->n, first, count);
    if (most > 0) {
        matrix->row = malloc(((size_t)count + 1) * sizeof *matrix->row);
        matrix->column = malloc(most * sizeof *matrix->column);
        matrix->value = malloc(most * sizeof *matrix->value);
    }
    if ((matrix->row == NULL) || (matrix->column == NULL) || (matrix->value == NULL)) {
        cg_matrix_cleanup(matrix);
        most = 0;
    }
    for (row = 0; (row < count) && (most > 0); row++) {
        matrix->row[row] = at;
        at = add_row(matrix, &vectors, uses.vector + uses.begin[row], uses.begin[row + 1] - uses.begin[row],
                     first + row, CG_CONDITION - klass->shift, at, sums);
    }
    if (most > 0) {
        matrix->row[count] = at;
        free(uses.begin);
        free(uses.vector);
    }
    vectors_cleanup(&vectors);
    free(sums);
    return (most > 0) ? 0 : -1;
}

void cg_matrix_cleanup(cg_matrix_t *matrix)
{
    free(matrix->row);
    free(matrix->column);
    free(matrix->value);
    matrix->row = NULL;
    matrix->column = NULL;
    matrix->value = NULL;
}

void cg_matrix_multiply(const cg_matrix_t *matrix, const double *vector, double *out)
{
    uint32_t row;
    size_t e;

    for (row = 0; row < matrix->count; row++) {
        double sum = 0;

        for (e = matrix->row[row]; e < matrix->row[row + 1]; e++) {
            sum += matrix->value[e] * vector[matrix->column[e]];
        }
        out[row] = sum;
    }
}
