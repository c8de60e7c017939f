#include "stencil_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int stencil_part_init(stencil_part_t *part, size_t rows, size_t columns, uint32_t ranks, uint32_t rank)
{
    uint32_t p1 = 1, candidate;

    for (candidate = 1; candidate * candidate <= ranks; candidate++) {
        if (ranks % candidate == 0) {
            p1 = candidate;
        }
    }
    part->rows = rows;
    part->columns = columns;
    part->p1 = p1;
    part->p2 = ranks / p1;
    part->i1 = rank % p1;
    part->i2 = rank / p1;
    part->row = rows * part->i2 / part->p2;
    part->column = columns * part->i1 / part->p1;
    part->height = rows * (part->i2 + 1) / part->p2 - part->row;
    part->width = columns * (part->i1 + 1) / part->p1 - part->column;
    return ((rows >= part->p2) && (columns >= part->p1)) ? 0 : -1;
}

double stencil_start(const stencil_part_t *part, size_t row, size_t column)
{
    const uint64_t cell = row * (part->columns + 2) + column + 1;

    return ldexp((double)((cell * 0x9e3779b97f4a7c15ull) >> 11), -53);
}

void stencil_fill(const stencil_part_t *part, double *field)
{
    size_t r, c;

    for (r = 0; r < part->height + 2; r++) {
        for (c = 0; c < part->width + 2; c++) {
            field[r * (part->width + 2) + c] = stencil_start(part, part->row + r, part->column + c);
        }
    }
}

uint64_t stencil_sweep(const stencil_part_t *part, const double *from, double *to)
{
    const size_t line = part->width + 2;
    uint64_t change = 0;
    size_t r, c;

    for (r = 1; r <= part->height; r++) {
        for (c = 1; c <= part->width; c++) {
            const double *cell = from + r * line + c;
            const double next = 0.25 * ((cell[-(ptrdiff_t)line] + cell[line]) + (cell[-1] + cell[1]));

            change += (uint64_t)(fabs(next - *cell) * 0x1p32);
            to[r * line + c] = next;
        }
    }
    return change;
}

double *stencil_serial(size_t rows, size_t columns, unsigned long iterations)
{
    const size_t cells = (rows + 2) * (columns + 2);
    stencil_part_t whole;
    double *field[2];
    unsigned long i;

    stencil_part_init(&whole, rows, columns, 1, 0);
    field[0] = malloc(cells * sizeof(double));
    field[1] = malloc(cells * sizeof(double));
    if ((field[0] == NULL) || (field[1] == NULL)) {
        free(field[0]);
        free(field[1]);
        return NULL;
    }
    stencil_fill(&whole, field[0]);
    stencil_fill(&whole, field[1]);
    for (i = 0; i < iterations; i++) {
        stencil_sweep(&whole, field[i % 2], field[(i + 1) % 2]);
    }
    for (i = 0; i < rows; i++) {
        memmove(field[iterations % 2] + i * columns, field[iterations % 2] + (i + 1) * (columns + 2) + 1,
                columns * sizeof(double));
    }
    free(field[(iterations + 1) % 2]);
    return field[iterations % 2];
}
