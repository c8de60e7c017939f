/*
 * Heat on a square of cells, spread by the four adjacent cells. The PEs form a rectangle; each puts
 * its outer rows and columns to its neighbours, followed by the number of the step, which the
 * neighbours await: heat_2d [SIDE [STEPS [MEETS]]]. All PEs meet only every MEETS steps. At the end
 * each PE computes the whole square alone and compares its own cells bit by bit.
 */
#include "shmem_kernel.h"

#include <string.h>

enum { SIDE = 96, STEPS = 600, MEETS = 10 };
enum { ABOVE, BELOW, LEFT, RIGHT, SIDES };

static struct {
    long step;
} at;
static long side;
static int across, down, column, row; /* PEs of a row and of a column; position of this PE */
static long top, left, height, width; /* own cells */
/* two fields with a rim of one cell; step k reads field k % 2 */
static double *fields;
static double *rims; /* rims put by neighbours, for each parity of the step and each side */
static long *seen;   /* of each side: count of steps with received rims */

static void place_pes(void)
{
    const int pes = shmem_n_pes(), me = shmem_my_pe();

    for (int i = 1; i * i <= pes; i++) {
        across = (pes % i == 0) ? i : across;
    }
    down = pes / across;
    column = me % across;
    row = me / across;
    top = side * row / down;
    height = side * (row + 1) / down - top;
    left = side * column / across;
    width = side * (column + 1) / across - left;
}

static int neighbour(int of)
{
    static const int dx[SIDES] = {0, 0, -1, 1}, dy[SIDES] = {-1, 1, 0, 0};
    const int x = column + dx[of], y = row + dy[of];

    return (x >= 0 && x < across && y >= 0 && y < down) ? y * across + x : -1;
}

static double *cell(double *field, long pitch, long y, long x)
{
    return &field[(y + 1) * pitch + x + 1];
}

/* Initial heat: a large source at the left, a small one inside. */
static void heat(double *field, long pitch, long rows, long columns, long from_y, long from_x)
{
    for (long y = -1; y <= rows; y++) {
        for (long x = -1; x <= columns; x++) {
            const long all_y = from_y + y, all_x = from_x + x;

            *cell(field, pitch, y, x) = (all_x < 0) ? 100.0 : (all_y == side / 2 && all_x == side / 3) ? 777.0 : 0.0;
        }
    }
}

static void spread(double *to, double *from, long pitch, long rows, long columns)
{
    for (long y = 0; y < rows; y++) {
        for (long x = 0; x < columns; x++) {
            const double *c = cell(from, pitch, y, x);

            *cell(to, pitch, y, x) = *c + 0.2 * (c[-pitch] + c[pitch] + c[-1] + c[1] - 4.0 * *c);
        }
    }
}

static double *own_field(long parity)
{
    return fields + (parity % 2) * (side + 2) * (side + 2);
}

static double *rim(long step, int of)
{
    return rims + ((step % 2) * SIDES + of) * side;
}

/* Copies the PE's cells beside that neighbour, or the rim beyond them. */
static void rim_copy(double *field, int of, double *packed, int is_in)
{
    const int is_row = of == ABOVE || of == BELOW;
    const long at_y = (of == ABOVE) ? -is_in : (of == BELOW) ? height - 1 + is_in : 0;
    const long at_x = (of == LEFT) ? -is_in : (of == RIGHT) ? width - 1 + is_in : 0;

    for (long i = 0; i < (is_row ? width : height); i++) {
        double *c = cell(field, side + 2, at_y + (is_row ? 0 : i), at_x + (is_row ? i : 0));

        if (is_in) {
            *c = packed[i];
        } else {
            packed[i] = *c;
        }
    }
}

static void step(void)
{
    double *packed = malloc((size_t)side * sizeof(*packed)), *from = own_field(at.step);

    for (int of = 0; of < SIDES; of++) {
        const int pe = neighbour(of);

        if (pe >= 0) {
            rim_copy(from, of, packed, 0);
            shmem_double_put(rim(at.step, of ^ 1), packed, (size_t)(of < LEFT ? width : height), pe);
            shmem_fence();
            shmem_long_p(&seen[of ^ 1], at.step + 1, pe);
        }
    }
    for (int of = 0; of < SIDES; of++) {
        if (neighbour(of) >= 0) {
            shmem_long_wait_until(&seen[of], SHMEM_CMP_GE, at.step + 1);
            rim_copy(from, of, rim(at.step, of), 1);
        }
    }
    free(packed);
    spread(own_field(at.step + 1), from, side + 2, height, width);
}

static long flaws(long steps)
{
    double *all = malloc((size_t)(2 * (side + 2) * (side + 2)) * sizeof(*all)), *own = own_field(steps);
    long count = 0, half = (side + 2) * (side + 2);

    heat(all, side + 2, side, side, 0, 0);
    heat(all + half, side + 2, side, side, 0, 0);
    for (long i = 0; i < steps; i++) {
        spread(all + (i + 1) % 2 * half, all + i % 2 * half, side + 2, side, side);
    }
    for (long y = 0; y < height; y++) {
        count += memcmp(cell(own, side + 2, y, 0), cell(all + steps % 2 * half, side + 2, top + y, left),
                        (size_t)width * sizeof(*own)) != 0;
    }
    free(all);
    return count;
}

int main(int argc, char **argv)
{
    const long steps = kernel_number(argc, argv, 2, STEPS), meets = kernel_number(argc, argv, 3, MEETS);

    side = kernel_number(argc, argv, 1, SIDE);
    kernel_begin();
    place_pes();
    fields = shmem_malloc((size_t)(2 * (side + 2) * (side + 2)) * sizeof(*fields));
    rims = shmem_malloc((size_t)(2 * SIDES * side) * sizeof(*rims));
    seen = shmem_calloc(SIDES, sizeof(*seen));
    heat(own_field(0), side + 2, height, width, top, left);
    heat(own_field(1), side + 2, height, width, top, left);
    KERNEL_RESTART_POINT(at);
    while (at.step < steps) {
        step();
        at.step++;
        if (at.step % meets == 0) {
            kernel_safepoint();
        }
    }
    kernel_stepped();
    return kernel_end("heat_2d", steps, flaws(steps));
}
