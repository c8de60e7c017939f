/* The 2D grid: how it is cut, its start values, one sweep, and the serial answer. */
#ifndef KEEL_KERNEL_STENCIL_GRID_H_
#define KEEL_KERNEL_STENCIL_GRID_H_

#include <stddef.h>
#include <stdint.h>

/* One rank's rectangle of the rows x columns grid; neighbours are the ranks at its four sides. */
typedef struct {
    size_t rows, columns; /* of the whole grid, without the fixed border */
    uint32_t p1, p2;      /* ranks side by side, and one below the other; rank = i2 * p1 + i1 */
    uint32_t i1, i2;
    size_t row, column;   /* first own row and column */
    size_t height, width; /* own part */
} stencil_part_t;

/* Cuts the grid; 0, or -1 when a rank would be left without a row or column. */
int stencil_part_init(stencil_part_t *part, size_t rows, size_t columns, uint32_t ranks, uint32_t rank);

/* Start value at a row and column, border included: they count from 0, the border being 0 and rows + 1. */
double stencil_start(const stencil_part_t *part, size_t row, size_t column);

/* A field of (height + 2) x (width + 2) numbers: start values everywhere, halo and border included. */
void stencil_fill(const stencil_part_t *part, double *field);

/* One Jacobi sweep of the inside; returns the sum of the changes in units of 2^-32, which adds up in any order. */
uint64_t stencil_sweep(const stencil_part_t *part, const double *from, double *to);

/* The whole grid's inside after @a iterations, computed by one process; NULL without memory, else freed by the caller. */
double *stencil_serial(size_t rows, size_t columns, unsigned long iterations);

#endif
