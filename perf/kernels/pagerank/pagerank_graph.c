#include "pagerank_graph.h"

#include <math.h>
#include <stdlib.h>

#define DAMPING     0.85
#define CHANGE_UNIT 0x1p60

static uint64_t draw(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = (a + 1) * 0x9e3779b97f4a7c15ull ^ (b + 1) * 0xbf58476d1ce4e5b9ull ^ (c + 1) * 0x94d049bb133111ebull;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Edges to a vertex: 1 to 2 degree - 1. */
static uint32_t edges_to(const pagerank_problem_t *problem, uint64_t vertex)
{
    return 1 + (uint32_t)(draw(problem->seed, vertex, 0) % (2 * problem->degree - 1));
}

/* The first edge is from the vertex before, so every vertex has one; most are from low numbers. */
static uint32_t source_of(const pagerank_problem_t *problem, uint64_t vertex, uint32_t edge)
{
    const uint64_t n = problem->vertices, drawn = draw(problem->seed, vertex, edge);

    if (edge == 0) {
        return (uint32_t)((vertex + n - 1) % n);
    }
    return (uint32_t)((drawn & UINT32_MAX) % n * ((drawn >> 32) % n) / n);
}

size_t pagerank_words_max(const pagerank_problem_t *problem)
{
    return 2 * problem->degree;
}

static void count_edges_from(pagerank_graph_t *graph, const pagerank_problem_t *problem)
{
    uint64_t vertex;
    uint32_t edge;

    for (vertex = 0; vertex < problem->vertices; vertex++) {
        const uint32_t edges = edges_to(problem, vertex);

        for (edge = 0; edge < edges; edge++) {
            const uint64_t at = source_of(problem, vertex, edge) - graph->range.first;

            if (at < graph->range.count) { /* sources below the range wrap around */
                graph->words[graph->starts[at]]++;
            }
        }
    }
}

int pagerank_graph_draw(pagerank_graph_t *graph, const pagerank_problem_t *problem, kernel_range_t range)
{
    uint64_t i;
    uint32_t edge;

    graph->range = range;
    graph->starts = calloc(range.count + 1, sizeof *graph->starts);
    graph->words = calloc(range.count * pagerank_words_max(problem) + 1, sizeof *graph->words);
    if ((graph->starts == NULL) || (graph->words == NULL)) {
        return -1;
    }
    for (i = 0; i < range.count; i++) {
        const uint64_t vertex = range.first + i;
        const uint32_t edges = edges_to(problem, vertex);

        graph->starts[i + 1] = graph->starts[i] + 1 + edges;
        for (edge = 0; edge < edges; edge++) {
            graph->words[graph->starts[i] + 1 + edge] = source_of(problem, vertex, edge);
        }
    }
    count_edges_from(graph, problem);
    return 0;
}

uint64_t pagerank_graph_edges(const pagerank_graph_t *graph)
{
    return graph->starts[graph->range.count] - graph->range.count;
}

void pagerank_graph_cleanup(pagerank_graph_t *graph)
{
    free(graph->starts);
    free(graph->words);
    *graph = (pagerank_graph_t){.range = {0, 0}};
}

void pagerank_begin(const pagerank_problem_t *problem, const pagerank_graph_t *graph, double *values, double *parts)
{
    uint64_t i;

    for (i = 0; i < graph->range.count; i++) {
        values[i] = 1 / (double)problem->vertices;
        parts[i] = values[i] / graph->words[graph->starts[i]];
    }
}

int64_t pagerank_sweep(const pagerank_problem_t *problem, const pagerank_graph_t *graph, const double *all,
                       double *values, double *parts)
{
    int64_t change = 0;
    uint64_t i, at;

    for (i = 0; i < graph->range.count; i++) {
        const double before = values[i];
        double sum = 0;

        for (at = graph->starts[i] + 1; at < graph->starts[i + 1]; at++) {
            sum += all[graph->words[at]];
        }
        values[i] = (1 - DAMPING) / (double)problem->vertices + DAMPING * sum;
        parts[i] = values[i] / graph->words[graph->starts[i]];
        change += (int64_t)(fabs(values[i] - before) * CHANGE_UNIT);
    }
    return change;
}

int pagerank_serial(const pagerank_problem_t *problem, unsigned long iterations, double *values, int64_t *change_p)
{
    double *const parts = calloc(2 * problem->vertices, sizeof *parts);
    pagerank_graph_t graph;
    const int is_drawn = pagerank_graph_draw(&graph, problem, (kernel_range_t){0, problem->vertices}) == 0;
    const int is_done = (parts != NULL) && is_drawn;
    unsigned long i;

    *change_p = 0;
    if (is_done) {
        pagerank_begin(problem, &graph, values, parts);
    }
    for (i = 0; is_done && (i < iterations); i++) {
        double *const from = parts + i % 2 * problem->vertices, *const to = parts + (i + 1) % 2 * problem->vertices;

        *change_p = pagerank_sweep(problem, &graph, from, values, to);
    }
    pagerank_graph_cleanup(&graph);
    free(parts);
    return is_done ? 0 : -1;
}
