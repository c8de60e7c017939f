/* The 2D grid: partition, start values, a sweep, and the serial result. */
#ifndef KEEL_KERNEL_STENCIL_GRID_H_
#define KEEL_KERNEL_STENCIL_GRID_H_

#include <stddef.h>
#include <stdint.h>

/* A rank's rectangle of the rows x columns grid; neighbours are the ranks at the four sides. */
typedef struct {
    size_t rows, columns; /* of the whole grid, without the fixed border */
    uint32_t p1, p2;      /* ranks side by side, and one below the other; rank = i2 * p1 + i1 */
    uint32_t i1, i2;
    size_t row, column;   /* first own row and column */
    size_t height, width; /* own part */
} stencil_part_t;

/* Partitions the grid. Returns 0, or -1 if a rank would get no row or column. */
int stencil_part_init(stencil_part_t *part, size_t rows, size_t columns, uint32_t ranks, uint32_t rank);

/*
 * Start value at a row and column, border included: indexes count from 0, the border being 0 and
 * rows + 1.
 */
double stencil_start(const stencil_part_t *part, size_t row, size_t column);

/* A field of (height + 2) x (width + 2) numbers: start values, halo and border included. */
void stencil_fill(const stencil_part_t *part, double *field);

/*
 * One Jacobi sweep of the inside. Returns the sum of the changes in units of 2^-32, independent of
 * the order.
 */
uint64_t stencil_sweep(const stencil_part_t *part, const double *from, double *to);

/*
 * The whole grid's inside after @a iterations, computed by one process. The caller frees the
 * result. NULL: no memory.
 */
double *stencil_serial(size_t rows, size_t columns, unsigned long iterations);

#endif
