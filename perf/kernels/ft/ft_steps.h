/*
 * The distributed computation: pencils on a grid of ranks, and one function that does the next
 * step.
 */
#ifndef KEEL_KERNEL_FT_STEPS_H_
#define KEEL_KERNEL_FT_STEPS_H_

#include "ft_problem.h"
#include "../lib/kernel.h"

typedef struct {
    keel_context_h ctx;
    const ft_class_t *klass;
    unsigned long iterations, repeats, ckpt_every;
    unsigned long warmups; /* first repeats, before the clock starts */
    kernel_death_t death;

    uint32_t p1, p2, i1, i2; /* grid of ranks and own place; rank = i2 * p1 + i1 */
    size_t lx, ly1, ly2, lz; /* own share: nx / p1, ny / p1, ny / p2, nz / p2 */
    size_t local;            /* complex numbers per rank */

    uint64_t step; /* protected: steps done */
    /* protected: [ly2][nz][lx], the transformed field with its present decay */
    ft_complex_t *spectrum;
    /* window: received data of transposes, in the layout of the next transform */
    keel_win_h exchange;
    /* window at rank 0: checksum shares [repeat][iteration][rank], then hashes */
    keel_win_h results;

    ft_complex_t *work; /* scratch, lost in a restart */
    fft_plan_t plan_x, plan_y, plan_z;
    double *decay_x, *decay_y, *decay_z;
} ft_t;

/* Chooses the grid. Returns NULL, or an error text if the class does not fit the ranks. */
const char *ft_grid_choose(ft_t *ft, uint32_t ranks);
int ft_scratch_alloc(ft_t *ft); /* 0, or -1 if memory is short */
void ft_scratch_free(ft_t *ft);
size_t ft_results_bytes(const ft_t *ft);

/*
 * Steps of a repeat: the first transform, then the iterations. One more step after all repeats
 * hashes the memory.
 */
uint64_t ft_steps_per_repeat(const ft_t *ft);
uint64_t ft_steps(const ft_t *ft);
uint64_t ft_steps_of_warmup(const ft_t *ft);

/* Does step ft->step and increments it; ends with a safe gsync. */
keel_status_t ft_step(ft_t *ft);

/*
 * At rank 0, after the corresponding step: the checksum of an iteration (from 1), the hash of a
 * rank's memory.
 */
ft_complex_t ft_checksum(const ft_t *ft, unsigned long repeat, unsigned long iteration);
uint64_t ft_memory_hash(const ft_t *ft, uint32_t rank);

#endif
