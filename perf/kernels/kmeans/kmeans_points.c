#include "kmeans_points.h"

#include <stdlib.h>
#include <string.h>

#define UNIT       0x1p20 /* coordinates are multiples of its inverse */
#define ERROR_UNIT 0x1p24 /* squared distances are rounded to multiples of its inverse */

static uint64_t draw(uint64_t a, uint64_t b)
{
    uint64_t x = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xbf58476d1ce4e5b9ull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

size_t kmeans_sum_words(const kmeans_problem_t *problem)
{
    return problem->centres * (problem->dimensions + 1) + 1;
}

/* The middle of a cluster in the unit cube, and around it the sum of two uniform draws. */
void kmeans_point(const kmeans_problem_t *problem, uint64_t number, double *point)
{
    const uint64_t cluster = draw(problem->seed, number) % problem->centres;
    unsigned long d;

    for (d = 0; d < problem->dimensions; d++) {
        const uint64_t middle = draw(problem->seed ^ cluster << 32, d) >> 44;
        const uint64_t around = draw(number, problem->seed << 32 ^ d);
        const uint64_t units = middle + (around >> 46) + ((around << 18) >> 46);

        point[d] = (double)units / UNIT;
    }
}

uint64_t kmeans_start(const kmeans_problem_t *problem, unsigned long centre)
{
    return (uint64_t)problem->points * centre / problem->centres;
}

/* Squared distances of a point to all centres, added up in the order of dimensions. */
static void measure(const kmeans_problem_t *problem, const double *point, const double *turned, double *distances)
{
    const unsigned long centres = problem->centres;
    unsigned long c, d;

    memset(distances, 0, centres * sizeof *distances);
    for (d = 0; d < problem->dimensions; d++) {
        for (c = 0; c < centres; c++) {
            const double along = point[d] - turned[d * centres + c];

            distances[c] += along * along;
        }
    }
}

static unsigned long nearest(const double *distances, unsigned long centres)
{
    unsigned long c, best = 0;

    for (c = 1; c < centres; c++) {
        best = (distances[c] < distances[best]) ? c : best;
    }
    return best;
}

void kmeans_add(const kmeans_problem_t *problem, const double *points, uint64_t count, const double *centres,
                int64_t *sums)
{
    static double turned[KMEANS_DIMENSIONS_MAX * KMEANS_CENTRES_MAX]; /* [dimension][centre] */
    const unsigned long dimensions = problem->dimensions;
    int64_t *const error = sums + kmeans_sum_words(problem) - 1;
    double distances[KMEANS_CENTRES_MAX];
    unsigned long c, d;
    uint64_t i;

    for (c = 0; c < problem->centres; c++) {
        for (d = 0; d < dimensions; d++) {
            turned[d * problem->centres + c] = centres[c * dimensions + d];
        }
    }
    for (i = 0; i < count; i++, points += dimensions) {
        int64_t *sum;

        measure(problem, points, turned, distances);
        c = nearest(distances, problem->centres);
        sum = sums + c * (dimensions + 1);
        for (d = 0; d < dimensions; d++) {
            sum[d] += (int64_t)(points[d] * UNIT);
        }
        sum[dimensions]++;
        *error += (int64_t)(distances[c] * ERROR_UNIT);
    }
}

void kmeans_move(const kmeans_problem_t *problem, const int64_t *sums, double *centres)
{
    const unsigned long dimensions = problem->dimensions;
    unsigned long c, d;

    for (c = 0; c < problem->centres; c++, sums += dimensions + 1, centres += dimensions) {
        for (d = 0; (d < dimensions) && (sums[dimensions] > 0); d++) {
            centres[d] = (double)sums[d] / ((double)sums[dimensions] * UNIT);
        }
    }
}

double kmeans_error(const kmeans_problem_t *problem, const int64_t *sums)
{
    return (double)sums[kmeans_sum_words(problem) - 1] / ERROR_UNIT;
}

int kmeans_serial(const kmeans_problem_t *problem, unsigned long iterations, double *centres)
{
    const unsigned long dimensions = problem->dimensions;
    const size_t words = kmeans_sum_words(problem);
    double *const points = malloc(problem->points * dimensions * sizeof *points);
    int64_t *const sums = malloc(words * sizeof *sums);
    uint64_t i;
    int is_done = 0;

    if ((points == NULL) || (sums == NULL)) {
        goto out;
    }
    for (i = 0; i < problem->points; i++) {
        kmeans_point(problem, i, points + i * dimensions);
    }
    for (i = 0; i < problem->centres; i++) {
        memcpy(centres + i * dimensions, points + kmeans_start(problem, i) * dimensions, dimensions * sizeof *points);
    }
    for (i = 0; i < iterations; i++) {
        memset(sums, 0, words * sizeof *sums);
        kmeans_add(problem, points, problem->points, centres, sums);
        kmeans_move(problem, sums, centres);
    }
    is_done = 1;
out:
    free(points);
    free(sums);
    return is_done ? 0 : -1;
}
