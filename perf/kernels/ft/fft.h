/* One-dimensional complex Fourier transforms of many lines, side by side for vectorisation. */
#ifndef KEEL_KERNEL_FFT_H_
#define KEEL_KERNEL_FFT_H_

#include <stddef.h>

typedef struct {
    double re, im;
} ft_complex_t;

enum { FFT_LANES = 8 }; /* lines of one batch */

/* exponent -i and +i; neither is scaled */
typedef enum { FFT_FORWARD, FFT_INVERSE } fft_direction_t;

typedef struct {
    size_t length;         /* a power of two, at least 2 */
    double *cosine, *sine; /* of 2 pi j / length */
    /* two batches: real parts [length][FFT_LANES], imaginary parts `half` doubles later */
    double *front, *back;
    size_t half;
    double *memory; /* of both batches */
} fft_plan_t;

int fft_plan_init(fft_plan_t *plan, size_t length); /* 0, or -1 without memory */
void fft_plan_cleanup(fft_plan_t *plan);

/* Element k of line b is at source[k * k_stride + b * b_stride]; b < lines <= FFT_LANES. */
void fft_load(fft_plan_t *plan, const ft_complex_t *source, size_t k_stride, size_t b_stride, size_t lines);
void fft_run(fft_plan_t *plan, fft_direction_t direction);
/* Writes elements k_begin .. k_begin + k_count - 1; element k_begin of line 0 goes to target[0]. */
void fft_store(const fft_plan_t *plan, size_t k_begin, size_t k_count, ft_complex_t *target, size_t k_stride,
               size_t b_stride, size_t lines);

#endif
