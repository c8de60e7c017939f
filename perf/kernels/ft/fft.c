/*
 * Stockham's self-sorting transform, radix 4 with one radix-2 pass if the length needs it. A pass
 * reads one buffer and writes the other; the innermost loop runs over neighbouring elements of all
 * lines. The order of operations depends on the length alone, so a repeated transform gives the
 * same bits.
 */
#include "fft.h"

#include <math.h>
#include <stdlib.h>

/*
 * Two clones: after wide registers were used by a library, narrow instructions can be slow until
 * the upper halves are cleared, so times would depend on other code. Both clones give the same
 * bits: no operations are contracted.
 */
#if defined(__x86_64__)
#define FFT_WIDTHS __attribute__((target_clones("avx2", "default")))
#else
#define FFT_WIDTHS
#endif

/*
 * One pass over transforms of length n that lie s lines apart; re and im are the halves of a
 * buffer.
 */
typedef struct {
    const double *in_re, *in_im;
    double *out_re, *out_im;
} fft_pass_t;

/*
 * Parts of a power of two of bytes would share the cache's sets, and loads would wait for stores 4
 * KiB apart. So the halves are shifted by a few lines, whatever the allocator does.
 */
enum { FFT_SHIFT = 24 }; /* doubles, three lines */

int fft_plan_init(fft_plan_t *plan, size_t length)
{
    const size_t half = length * FFT_LANES + FFT_SHIFT;
    const size_t batch = 2 * half + FFT_SHIFT / 3;
    size_t j;

    plan->length = length;
    plan->half = half;
    plan->cosine = malloc(length * sizeof(double));
    plan->sine = malloc(length * sizeof(double));
    plan->memory = aligned_alloc(64, 2 * batch * sizeof(double));
    if ((plan->cosine == NULL) || (plan->sine == NULL) || (plan->memory == NULL)) {
        fft_plan_cleanup(plan);
        return -1;
    }
    plan->front = plan->memory;
    plan->back = plan->memory + batch;
    for (j = 0; j < length; j++) {
        plan->cosine[j] = cos(2 * M_PI * (double)j / (double)length);
        plan->sine[j] = sin(2 * M_PI * (double)j / (double)length);
    }
    for (j = 0; j < batch; j++) {
        plan->front[j] = 0; /* lanes without a line are computed, too */
    }
    return 0;
}

void fft_plan_cleanup(fft_plan_t *plan)
{
    free(plan->cosine);
    free(plan->sine);
    free(plan->memory);
    plan->cosine = plan->sine = plan->memory = plan->front = plan->back = NULL;
}

FFT_WIDTHS void fft_load(fft_plan_t *plan, const ft_complex_t *source, size_t k_stride, size_t b_stride, size_t lines)
{
    double *re = plan->front, *im = plan->front + plan->half;
    size_t k, b;

    for (k = 0; k < plan->length; k++, source += k_stride, re += FFT_LANES, im += FFT_LANES) {
        for (b = 0; b < lines; b++) {
            re[b] = source[b * b_stride].re;
            im[b] = source[b * b_stride].im;
        }
    }
}

FFT_WIDTHS void fft_store(const fft_plan_t *plan, size_t k_begin, size_t k_count, ft_complex_t *target, size_t k_stride,
                          size_t b_stride, size_t lines)
{
    const double *re = plan->front + k_begin * FFT_LANES, *im = re + plan->half;
    size_t k, b;

    for (k = 0; k < k_count; k++, target += k_stride, re += FFT_LANES, im += FFT_LANES) {
        for (b = 0; b < lines; b++) {
            target[b * b_stride].re = re[b];
            target[b * b_stride].im = im[b];
        }
    }
}

/*
 * @a cells: s * FFT_LANES. A group of four cells a quarter of the buffer apart becomes four
 * neighbouring cells.
 */
static inline __attribute__((always_inline)) void fft_radix4(const fft_pass_t *pass, size_t in, size_t quarter,
                                                             size_t out, size_t cells, const double *w)
{
    const double *restrict ar = pass->in_re + in, *restrict ai = pass->in_im + in;
    const double *restrict br = ar + quarter, *restrict bi = ai + quarter;
    const double *restrict cr = br + quarter, *restrict ci = bi + quarter;
    const double *restrict dr = cr + quarter, *restrict di = ci + quarter;
    double *restrict yr = pass->out_re + out, *restrict yi = pass->out_im + out;
    size_t q;

#pragma GCC ivdep /* the two buffers are disjoint, unknown to the compiler */
    for (q = 0; q < cells; q++) {
        const double apc_r = ar[q] + cr[q], apc_i = ai[q] + ci[q];
        const double amc_r = ar[q] - cr[q], amc_i = ai[q] - ci[q];
        const double bpd_r = br[q] + dr[q], bpd_i = bi[q] + di[q];
        const double bmd_r = br[q] - dr[q], bmd_i = bi[q] - di[q];
        const double u_r = amc_r + bmd_i, u_i = amc_i - bmd_r; /* amc - i bmd */
        const double v_r = apc_r - bpd_r, v_i = apc_i - bpd_i;
        const double z_r = amc_r - bmd_i, z_i = amc_i + bmd_r; /* amc + i bmd */

        yr[q] = apc_r + bpd_r;
        yi[q] = apc_i + bpd_i;
        yr[q + cells] = u_r * w[0] + u_i * w[1]; /* times cos - i sin */
        yi[q + cells] = u_i * w[0] - u_r * w[1];
        yr[q + 2 * cells] = v_r * w[2] + v_i * w[3];
        yi[q + 2 * cells] = v_i * w[2] - v_r * w[3];
        yr[q + 3 * cells] = z_r * w[4] + z_i * w[5];
        yi[q + 3 * cells] = z_i * w[4] - z_r * w[5];
    }
}

/* The last pass if the length is an odd power of two: all twiddle factors are 1. */
static inline __attribute__((always_inline)) void fft_radix2(const fft_pass_t *pass, size_t cells)
{
    const double *restrict ar = pass->in_re, *restrict ai = pass->in_im;
    const double *restrict br = ar + cells, *restrict bi = ai + cells;
    double *restrict yr = pass->out_re, *restrict yi = pass->out_im;
    size_t q;

#pragma GCC ivdep
    for (q = 0; q < cells; q++) {
        yr[q] = ar[q] + br[q];
        yi[q] = ai[q] + bi[q];
        yr[q + cells] = ar[q] - br[q];
        yi[q + cells] = ai[q] - bi[q];
    }
}

FFT_WIDTHS void fft_run(fft_plan_t *plan, fft_direction_t direction)
{
    const size_t half = plan->half;
    size_t n, s, p;

    for (n = plan->length, s = 1; n > 1; n = (n >= 4) ? n / 4 : 1, s *= 4) {
        /* the inverse transform is the forward transform with real and imaginary parts exchanged */
        const size_t re = (direction == FFT_FORWARD) ? 0 : half;
        const fft_pass_t pass = {plan->front + re, plan->front + (half - re), plan->back + re,
                                 plan->back + (half - re)};
        const size_t cells = s * FFT_LANES;
        const size_t quarter = (n / 4) * cells;
        double *const exchanged = plan->front;

        if (n == 2) {
            fft_radix2(&pass, cells);
        } else {
            for (p = 0; p < n / 4; p++) {
                const double w[6] = {plan->cosine[p * s],   plan->sine[p * s],       plan->cosine[2 * p * s],
                                     plan->sine[2 * p * s], plan->cosine[3 * p * s], plan->sine[3 * p * s]};

                fft_radix4(&pass, p * cells, quarter, 4 * p * cells, cells, w);
            }
        }
        plan->front = plan->back;
        plan->back = exchanged;
    }
}
