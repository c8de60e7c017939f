/*
 * Pencils. A transform along an axis needs the whole axis; between two transforms the ranks
 * transpose, by puts in the layout that the next transform reads. Layouts, slowest index first, own
 * share of an axis in ():
 *   z whole  [(y, p2)][z][(x, p1)]  spectrum, and the exchange window after the second transpose
 *   forward
 *   y whole  [y][(z, p2)][(x, p1)]  the exchange window after the first transpose of either
 *   direction
 *   x whole  [(z, p2)][x][(y, p1)]  the exchange window after the second transpose of the inverse
 * One window serves every transpose: a gsync separates its readers from the next writers, which
 * costs less than a second window in every image. Sends leave from ft->work, where each line is
 * written once between two gsyncs.
 */
#include "ft_steps.h"

#include <stdlib.h>

const char *ft_grid_choose(ft_t *ft, uint32_t ranks)
{
    const ft_class_t *klass = ft->klass;

    if ((ranks & (ranks - 1)) != 0) {
        return "the number of ranks must be a power of two";
    }
    for (ft->p1 = 1; ft->p1 * ft->p1 * 4 <= ranks; ft->p1 *= 2) {
    }
    ft->p2 = ranks / ft->p1;
    if ((ft->p1 > klass->nx) || (ft->p2 > klass->ny) || (ft->p2 > klass->nz)) {
        return "more ranks than the class has pencils for";
    }
    ft->i1 = keel_rank(ft->ctx) % ft->p1;
    ft->i2 = keel_rank(ft->ctx) / ft->p1;
    ft->lx = klass->nx / ft->p1;
    ft->ly1 = klass->ny / ft->p1;
    ft->ly2 = klass->ny / ft->p2;
    ft->lz = klass->nz / ft->p2;
    ft->local = ft->lx * ft->ly2 * klass->nz;
    return NULL;
}

int ft_scratch_alloc(ft_t *ft)
{
    const ft_class_t *klass = ft->klass;

    ft->work = calloc(ft->local, sizeof *ft->work);
    ft->decay_x = malloc(klass->nx * sizeof(double));
    ft->decay_y = malloc(klass->ny * sizeof(double));
    ft->decay_z = malloc(klass->nz * sizeof(double));
    if ((ft->work == NULL) || (ft->decay_x == NULL) || (ft->decay_y == NULL) || (ft->decay_z == NULL) ||
        (fft_plan_init(&ft->plan_x, klass->nx) != 0) || (fft_plan_init(&ft->plan_y, klass->ny) != 0) ||
        (fft_plan_init(&ft->plan_z, klass->nz) != 0)) {
        ft_scratch_free(ft);
        return -1;
    }
    ft_decay_fill(ft->decay_x, klass->nx);
    ft_decay_fill(ft->decay_y, klass->ny);
    ft_decay_fill(ft->decay_z, klass->nz);
    return 0;
}

void ft_scratch_free(ft_t *ft)
{
    free(ft->work);
    free(ft->decay_x);
    free(ft->decay_y);
    free(ft->decay_z);
    fft_plan_cleanup(&ft->plan_x);
    fft_plan_cleanup(&ft->plan_y);
    fft_plan_cleanup(&ft->plan_z);
}

static uint64_t ft_shares(const ft_t *ft)
{
    return ft->repeats * ft->iterations * keel_size(ft->ctx);
}

size_t ft_results_bytes(const ft_t *ft)
{
    return ft_shares(ft) * sizeof(ft_complex_t) + keel_size(ft->ctx) * sizeof(uint64_t);
}

uint64_t ft_steps_per_repeat(const ft_t *ft)
{
    return ft->iterations + 1;
}

uint64_t ft_steps_of_warmup(const ft_t *ft)
{
    return ft->warmups * ft_steps_per_repeat(ft);
}

uint64_t ft_steps(const ft_t *ft)
{
    return ft->repeats * ft_steps_per_repeat(ft) + 1;
}

static ft_complex_t *ft_landed(const ft_t *ft)
{
    return keel_win_base(ft->exchange);
}

static keel_status_t ft_send(ft_t *ft, uint32_t d1, uint32_t d2, size_t index, const ft_complex_t *from, size_t count)
{
    const keel_status_t status =
        keel_put_nbx(ft->exchange, d2 * ft->p1 + d1, index * sizeof *from, from, count * sizeof *from, NULL, NULL);

    /* from must not change until the next gsync */
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

/* A gsync inside a step; @a phase counts them. */
static keel_status_t ft_phase_end(ft_t *ft, unsigned long phase)
{
    kernel_die_here(&ft->death, ft->ctx, ft->step, phase);
    return keel_gsync(ft->ctx, 0);
}

/*
 * Ends a step: all data of the next step is in windows and protected memory, so a checkpoint may,
 * or must, be taken.
 */
static keel_status_t ft_step_end(ft_t *ft, unsigned long phase)
{
    const uint64_t iteration = ft->step % ft_steps_per_repeat(ft); /* 0 after the first transform */

    kernel_die_here(&ft->death, ft->ctx, ft->step, phase);
    ft->step++; /* an image taken here must continue, not repeat */
    if ((ft->ckpt_every != 0) && (iteration % ft->ckpt_every == 0) && (ft->step < ft_steps(ft))) {
        return keel_checkpoint(ft->ctx);
    }
    return keel_gsync(ft->ctx, KEEL_GSYNC_SAFE);
}

static size_t ft_lines(size_t left)
{
    return (left < FFT_LANES) ? left : FFT_LANES;
}

/* Transforms the own part of the random field along x and sends it to the ranks with y whole. */
static keel_status_t ft_forward_x(ft_t *ft)
{
    const ft_class_t *klass = ft->klass;
    const size_t piece = ft->lz * ft->lx;
    ft_complex_t *const slab = ft->spectrum; /* not yet in use */
    size_t y, z, b;
    uint32_t d;

    for (y = 0; y < ft->ly1; y++) {
        const size_t y_global = ft->i1 * ft->ly1 + y;
        ft_complex_t *const out = ft->work + y * ft->p1 * piece;

        for (z = 0; z < ft->lz; z++) {
            ft_random_fill(klass->nx * (y_global + klass->ny * (ft->i2 * ft->lz + z)), klass->nx, slab + z * klass->nx);
        }
        for (z = 0; z < ft->lz; z += FFT_LANES) {
            b = ft_lines(ft->lz - z);
            fft_load(&ft->plan_x, slab + z * klass->nx, 1, klass->nx, b);
            fft_run(&ft->plan_x, FFT_FORWARD);
            for (d = 0; d < ft->p1; d++) {
                fft_store(&ft->plan_x, d * ft->lx, ft->lx, out + d * piece + z * ft->lx, 1, ft->lx, b);
            }
        }
        for (d = 0; d < ft->p1; d++) {
            KERNEL_TRY(ft_send(ft, d, ft->i2, y_global * piece, out + d * piece, piece));
        }
    }
    return ft_phase_end(ft, 0);
}

/* Transforms along y and sends to the ranks with z whole. */
static keel_status_t ft_forward_y(ft_t *ft)
{
    const ft_complex_t *in = ft_landed(ft);
    const size_t piece = ft->lz * ft->lx;
    size_t at, y, b;

    for (at = 0; at < piece; at += FFT_LANES) {
        b = ft_lines(piece - at);
        fft_load(&ft->plan_y, in + at, piece, 1, b);
        fft_run(&ft->plan_y, FFT_FORWARD);
        fft_store(&ft->plan_y, 0, ft->klass->ny, ft->work + at, piece, 1, b);
    }
    KERNEL_TRY(ft_phase_end(ft, 1));
    for (y = 0; y < ft->klass->ny; y++) {
        KERNEL_TRY(ft_send(ft, ft->i1, y / ft->ly2, ((y % ft->ly2) * ft->klass->nz + ft->i2 * ft->lz) * ft->lx,
                           ft->work + y * piece, piece));
    }
    return ft_phase_end(ft, 2);
}

static keel_status_t ft_forward_z(ft_t *ft)
{
    const size_t slab = ft->klass->nz * ft->lx;
    size_t y, x, b;

    for (y = 0; y < ft->ly2; y++) {
        for (x = 0; x < ft->lx; x += FFT_LANES) {
            b = ft_lines(ft->lx - x);
            fft_load(&ft->plan_z, ft_landed(ft) + y * slab + x, ft->lx, 1, b);
            fft_run(&ft->plan_z, FFT_FORWARD);
            fft_store(&ft->plan_z, 0, ft->klass->nz, ft->spectrum + y * slab + x, ft->lx, 1, b);
        }
    }
    return ft_step_end(ft, 3);
}

/* One step of time: every frequency decays. */
static void ft_evolve(const ft_t *ft, size_t y, ft_complex_t *slab)
{
    const double *decay_x = ft->decay_x + ft->i1 * ft->lx;
    size_t z, x;

    for (z = 0; z < ft->klass->nz; z++, slab += ft->lx) {
        const double decay_yz = ft->decay_y[ft->i2 * ft->ly2 + y] * ft->decay_z[z];

        for (x = 0; x < ft->lx; x++) {
            slab[x].re *= decay_yz * decay_x[x];
            slab[x].im *= decay_yz * decay_x[x];
        }
    }
}

/* Advances time, transforms along z, and sends to the ranks with y whole. */
static keel_status_t ft_inverse_z(ft_t *ft)
{
    const size_t slab = ft->klass->nz * ft->lx, piece = ft->lz * ft->lx;
    size_t y, x, b;
    uint32_t d;

    for (y = 0; y < ft->ly2; y++) {
        const size_t y_global = ft->i2 * ft->ly2 + y;
        ft_complex_t *const out = ft->work + y * slab;

        ft_evolve(ft, y, ft->spectrum + y * slab);
        for (x = 0; x < ft->lx; x += FFT_LANES) {
            b = ft_lines(ft->lx - x);
            fft_load(&ft->plan_z, ft->spectrum + y * slab + x, ft->lx, 1, b);
            fft_run(&ft->plan_z, FFT_INVERSE);
            fft_store(&ft->plan_z, 0, ft->klass->nz, out + x, ft->lx, 1, b);
        }
        for (d = 0; d < ft->p2; d++) {
            KERNEL_TRY(ft_send(ft, ft->i1, d, y_global * piece, out + d * piece, piece));
        }
    }
    return ft_phase_end(ft, 0);
}

/*
 * Transforms along y and sends to the ranks with x whole: for each z and each share of y, [x][y].
 */
static keel_status_t ft_inverse_y(ft_t *ft)
{
    const size_t plane = ft->lz * ft->lx, piece = ft->lx * ft->ly1;
    size_t z, x, b;
    uint32_t d;

    for (z = 0; z < ft->lz; z++) {
        for (x = 0; x < ft->lx; x += FFT_LANES) {
            b = ft_lines(ft->lx - x);
            fft_load(&ft->plan_y, ft_landed(ft) + z * ft->lx + x, plane, 1, b);
            fft_run(&ft->plan_y, FFT_INVERSE);
            for (d = 0; d < ft->p1; d++) {
                fft_store(&ft->plan_y, d * ft->ly1, ft->ly1, ft->work + (z * ft->p1 + d) * piece + x * ft->ly1, 1,
                          ft->ly1, b);
            }
        }
    }
    KERNEL_TRY(ft_phase_end(ft, 1));
    for (z = 0; z < ft->lz; z++) {
        for (d = 0; d < ft->p1; d++) {
            KERNEL_TRY(ft_send(ft, d, ft->i2, (z * ft->klass->nx + ft->i1 * ft->lx) * ft->ly1,
                               ft->work + (z * ft->p1 + d) * piece, piece));
        }
    }
    return ft_phase_end(ft, 2);
}

/* Own share of the checksum, from the field in ft->work with x whole. */
static ft_complex_t ft_checksum_share(const ft_t *ft)
{
    const ft_class_t *klass = ft->klass;
    ft_complex_t sum = {0, 0};
    size_t j;

    for (j = 1; j <= FT_CHECKSUM_POINTS; j++) {
        const size_t x = j % klass->nx, y = (3 * j) % klass->ny, z = (5 * j) % klass->nz;

        if ((y / ft->ly1 == ft->i1) && (z / ft->lz == ft->i2)) {
            const ft_complex_t *value = &ft->work[((z % ft->lz) * klass->nx + x) * ft->ly1 + y % ft->ly1];

            sum.re += value->re;
            sum.im += value->im;
        }
    }
    return sum;
}

static size_t ft_share_index(const ft_t *ft, unsigned long repeat, unsigned long iteration, uint32_t rank)
{
    return (repeat * ft->iterations + iteration - 1) * keel_size(ft->ctx) + rank;
}

/* Transform along x; the checksum's share goes to rank 0. */
static keel_status_t ft_inverse_x(ft_t *ft)
{
    const size_t plane = ft->klass->nx * ft->ly1;
    ft_complex_t share;
    size_t z, y, b;

    for (z = 0; z < ft->lz; z++) {
        for (y = 0; y < ft->ly1; y += FFT_LANES) {
            b = ft_lines(ft->ly1 - y);
            fft_load(&ft->plan_x, ft_landed(ft) + z * plane + y, ft->ly1, 1, b);
            fft_run(&ft->plan_x, FFT_INVERSE);
            fft_store(&ft->plan_x, 0, ft->klass->nx, ft->work + z * plane + y, ft->ly1, 1, b);
        }
    }
    share = ft_checksum_share(ft);
    KERNEL_TRY(keel_put(ft->results, 0,
                        sizeof share * ft_share_index(ft, ft->step / ft_steps_per_repeat(ft),
                                                      ft->step % ft_steps_per_repeat(ft), keel_rank(ft->ctx)),
                        &share, sizeof share));
    return ft_step_end(ft, 3);
}

/*
 * Last step: sends rank 0 a hash of all memory that a restart would restore, to compare two runs.
 */
static keel_status_t ft_hash_memory(ft_t *ft)
{
    const size_t bytes = ft->local * sizeof *ft->spectrum;
    uint64_t hash = kernel_hash(KERNEL_HASH_START, &ft->step, sizeof ft->step);

    hash = kernel_hash(hash, ft->spectrum, bytes);
    hash = kernel_hash(hash, ft_landed(ft), bytes);
    if (keel_rank(ft->ctx) == 0) {
        hash = kernel_hash(hash, keel_win_base(ft->results), ft_shares(ft) * sizeof(ft_complex_t));
    }
    KERNEL_TRY(keel_put(ft->results, 0, ft_shares(ft) * sizeof(ft_complex_t) + keel_rank(ft->ctx) * sizeof hash, &hash,
                        sizeof hash));
    return ft_step_end(ft, 0);
}

keel_status_t ft_step(ft_t *ft)
{
    if (ft->step + 1 == ft_steps(ft)) {
        return ft_hash_memory(ft);
    }
    if (ft->step % ft_steps_per_repeat(ft) == 0) {
        KERNEL_TRY(ft_forward_x(ft));
        KERNEL_TRY(ft_forward_y(ft));
        return ft_forward_z(ft);
    }
    KERNEL_TRY(ft_inverse_z(ft));
    KERNEL_TRY(ft_inverse_y(ft));
    return ft_inverse_x(ft);
}

ft_complex_t ft_checksum(const ft_t *ft, unsigned long repeat, unsigned long iteration)
{
    const ft_complex_t *shares = keel_win_base(ft->results);
    const double points = (double)(ft->klass->nx * ft->klass->ny * ft->klass->nz);
    ft_complex_t sum = {0, 0};
    uint32_t rank;

    for (rank = 0; rank < keel_size(ft->ctx); rank++) {
        sum.re += shares[ft_share_index(ft, repeat, iteration, rank)].re;
        sum.im += shares[ft_share_index(ft, repeat, iteration, rank)].im;
    }
    sum.re /= points;
    sum.im /= points;
    return sum;
}

uint64_t ft_memory_hash(const ft_t *ft, uint32_t rank)
{
    const ft_complex_t *shares = keel_win_base(ft->results);

    return ((const uint64_t *)(shares + ft_shares(ft)))[rank];
}
