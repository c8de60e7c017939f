/*
 * Specification of CG in the NAS Parallel Benchmarks: sizes, the random sparse matrix, the
 * published zeta.
 */
#ifndef KEEL_KERNEL_CG_MATRIX_H_
#define KEEL_KERNEL_CG_MATRIX_H_

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char name;
    uint32_t n;
    uint32_t nonzeros; /* of each random vector */
    unsigned long iterations;
    double shift;
    double zeta; /* published */
} cg_class_t;

/* Rows first .. first + count - 1. */
typedef struct {
    uint32_t first, count;
    size_t *row; /* count + 1 starts of the rows' elements */
    uint32_t *column;
    double *value;
} cg_matrix_t;

const cg_class_t *cg_class_find(const char *name); /* NULL: no such class */
int cg_zeta_is_published(const cg_class_t *klass, double zeta);

/*
 * Makes @a count rows from @a first on, equal in every process. Returns 0, or -1 if memory is
 * short.
 */
int cg_matrix_init(cg_matrix_t *matrix, const cg_class_t *klass, uint32_t first, uint32_t count);
void cg_matrix_cleanup(cg_matrix_t *matrix);

/* out = own rows * vector; @a vector is whole. */
void cg_matrix_multiply(const cg_matrix_t *matrix, const double *vector, double *out);

#endif
