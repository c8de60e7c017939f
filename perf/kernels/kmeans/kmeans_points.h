/*
 * Points, centres and sums of k-means. All coordinates are multiples of 2^-20, and sums are
 * integers in this unit: the order of additions does not change the sums.
 */
#ifndef KEEL_KERNEL_KMEANS_POINTS_H_
#define KEEL_KERNEL_KMEANS_POINTS_H_

#include <stddef.h>
#include <stdint.h>

enum { KMEANS_CENTRES_MAX = 256, KMEANS_DIMENSIONS_MAX = 256 };

typedef struct {
    unsigned long points, dimensions, centres, seed; /* points: of all ranks */
} kmeans_problem_t;

/* Words of a table of sums: for each centre the dimensions and a count; last the squared error. */
size_t kmeans_sum_words(const kmeans_problem_t *problem);

/* Draws point @a number, the same in every process. */
void kmeans_point(const kmeans_problem_t *problem, uint64_t number, double *point);

/* Number of the point at which centre @a centre starts. */
uint64_t kmeans_start(const kmeans_problem_t *problem, unsigned long centre);

/* Adds @a count points to the sums of their nearest centres; of equal distances, the first. */
void kmeans_add(const kmeans_problem_t *problem, const double *points, uint64_t count, const double *centres,
                int64_t *sums);

/* Moves each centre to the mean of its points. A centre without points stays. */
void kmeans_move(const kmeans_problem_t *problem, const int64_t *sums, double *centres);

/* Squared error of @a sums. */
double kmeans_error(const kmeans_problem_t *problem, const int64_t *sums);

/* Computes all iterations in this process alone, from drawn points. Returns -1 without memory. */
int kmeans_serial(const kmeans_problem_t *problem, unsigned long iterations, double *centres);

#endif
