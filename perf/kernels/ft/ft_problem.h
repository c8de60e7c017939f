/*
 * Specification of FT in the NAS Parallel Benchmarks: sizes, random field, decay, published
 * checksums.
 */
#ifndef KEEL_KERNEL_FT_PROBLEM_H_
#define KEEL_KERNEL_FT_PROBLEM_H_

#include "fft.h"

#include <stdint.h>

typedef struct {
    char name;
    size_t nx, ny, nz;
    unsigned long iterations;      /* one per published checksum */
    const ft_complex_t *published; /* one per iteration */
} ft_class_t;

enum { FT_CHECKSUM_POINTS = 1024 };

const ft_class_t *ft_class_find(const char *name); /* NULL: no such class */

/*
 * Writes @a count random complex numbers of the field from number @a first on, both parts in (0,
 * 1).
 */
void ft_random_fill(uint64_t first, size_t count, ft_complex_t *out);

/*
 * table[k] = exp(-4 alpha pi^2 f^2), f the signed frequency of index k of @a length: one
 * iteration's decay.
 */
void ft_decay_fill(double *table, size_t length);

/* Whether a checksum equals the published one, within 1e-12 of its size, in both parts. */
int ft_checksum_is_published(const ft_class_t *klass, unsigned long iteration, ft_complex_t sum);

#endif
