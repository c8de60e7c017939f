/*
 * Graphs drawn from a seed, and sweeps of PageRank over some of the vertices. A vertex is a list
 * of words: the number of edges from the vertex, then the sources of the edges to the vertex.
 * Every sum is in the order of this list, and changes are added up as integers, so no result
 * depends on how the vertices are shared.
 */
#ifndef KEEL_KERNEL_PAGERANK_GRAPH_H_
#define KEEL_KERNEL_PAGERANK_GRAPH_H_

#include "../lib/kernel_share.h"

typedef struct {
    unsigned long vertices, degree, seed; /* degree: mean number of edges to a vertex */
} pagerank_problem_t;

typedef struct {
    kernel_range_t range;
    uint64_t *starts; /* index of each vertex in words, and the end: range.count + 1 */
    uint32_t *words;
} pagerank_graph_t;

/* Most words of one vertex. */
size_t pagerank_words_max(const pagerank_problem_t *problem);

/* Draws the vertices of a range. Returns 0, or -1 without memory. */
int pagerank_graph_draw(pagerank_graph_t *graph, const pagerank_problem_t *problem, kernel_range_t range);
/* Number of edges to the vertices of the graph. */
uint64_t pagerank_graph_edges(const pagerank_graph_t *graph);
void pagerank_graph_cleanup(pagerank_graph_t *graph);

/* First value of each vertex, and the value divided among the edges from the vertex. */
void pagerank_begin(const pagerank_problem_t *problem, const pagerank_graph_t *graph, double *values, double *parts);

/*
 * One iteration: reads the parts of all vertices, and replaces the values and parts of the own
 * ones. Returns the sum of all changes of values, in multiples of 2^-60.
 */
int64_t pagerank_sweep(const pagerank_problem_t *problem, const pagerank_graph_t *graph, const double *all,
                       double *values, double *parts);

/*
 * Computes all iterations in this process alone, from a drawn graph. values has a word for each
 * vertex. Returns 0, or -1 without memory.
 */
int pagerank_serial(const pagerank_problem_t *problem, unsigned long iterations, double *values, int64_t *change_p);

#endif
