/*
 * A breadth-first search in a random graph. Its matrix is distributed over a rectangle of PEs as by
 * Buluc and Madduri (SC 2011): at each level, the PEs of a column collect the last frontier, and
 * the PEs of a row reduce the vertices found, with one team each. bfs [SCALE [STEPS]]: 2^SCALE
 * vertices, one search per step. Each PE also searches alone and compares the distances of its own
 * vertices.
 */
#include "shmem_kernel.h"

#include <string.h>

enum { SCALE = 11, STEPS = 20, DEGREE = 6, BITS = 64 };

typedef struct {
    uint32_t from, to;
} edge_t;

static struct {
    long step, flaws;
} at;
static long vertices, piece;     /* words of a PE's vertices, one bit each */
static int across, down;         /* PEs of a row and of a column */
static shmem_team_t row, column; /* teams of this PE */
/* private, equal in each life: the graph's edges in both directions */
static edge_t *edges;
static long edge_count;
static unsigned long *frontier, *sources, *found, *merged, *visited; /* symmetric */
static int *distances;                                               /* of own vertices */
/* vertices newly found: here, and at all PEs */
static long *counts;

static void draw_graph(void)
{
    edges = malloc((size_t)(2 * DEGREE * vertices) * sizeof(*edges));
    for (long i = 0; i < DEGREE * vertices; i++) {
        const uint64_t drawn = kernel_draw(1, (uint64_t)i);
        const uint32_t a = (uint32_t)(drawn % (uint64_t)vertices), b = (uint32_t)(drawn >> 32) % (uint32_t)vertices;

        edges[edge_count++] = (edge_t){a, b};
        edges[edge_count++] = (edge_t){b, a};
    }
}

static long owner(long vertex)
{
    return vertex / (piece * BITS);
}

static int has(const unsigned long *bits, long i)
{
    return (int)(bits[i / BITS] >> (i % BITS) & 1);
}

static void add(unsigned long *bits, long i)
{
    bits[i / BITS] |= 1ul << (i % BITS);
}

/* Follows the edges from vertices of this column's PEs to vertices of this row's PEs. */
static void look_along_edges(void)
{
    const int my_column = shmem_team_my_pe(row), my_row = shmem_team_my_pe(column);

    memset(found, 0, (size_t)(across * piece) * sizeof(*found));
    for (long i = 0; i < edge_count; i++) {
        const long from = owner(edges[i].from), to = owner(edges[i].to);

        if (from % across == my_column && to / across == my_row &&
            has(sources, edges[i].from - (from - from / across) * piece * BITS)) {
            add(found, edges[i].to - (long)my_row * across * piece * BITS);
        }
    }
}

/* Returns the count of vertices found by all PEs. */
static long level(int distance)
{
    const unsigned long *mine = merged + shmem_team_my_pe(row) * piece;

    shmem_ulong_fcollect(column, sources, frontier, (size_t)piece);
    look_along_edges();
    shmem_ulong_or_reduce(row, merged, found, (size_t)(across * piece));
    counts[0] = 0;
    for (long i = 0; i < piece; i++) {
        frontier[i] = mine[i] & ~visited[i];
        visited[i] |= frontier[i];
        counts[0] += __builtin_popcountl(frontier[i]);
    }
    for (long i = 0; i < piece * BITS; i++) {
        if (has(frontier, i)) {
            distances[i] = distance;
        }
    }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &counts[1], &counts[0], 1);
    return counts[1];
}

static long root_of(long step)
{
    return (long)(kernel_draw(2, (uint64_t)step) % (uint64_t)vertices);
}

static void search(void)
{
    const long root = root_of(at.step), first = (long)shmem_my_pe() * piece * BITS;
    int distance = 1;

    memset(frontier, 0, (size_t)piece * sizeof(*frontier));
    memset(visited, 0, (size_t)piece * sizeof(*visited));
    memset(distances, 0xff, (size_t)(piece * BITS) * sizeof(*distances));
    if (owner(root) == shmem_my_pe()) {
        add(frontier, root - first);
        add(visited, root - first);
        distances[root - first] = 0;
    }
    while (level(distance) > 0) {
        distance++;
    }
}

/* Searches level by level over all edges. */
static long flaws(void)
{
    const long first = (long)shmem_my_pe() * piece * BITS;
    int *should = malloc((size_t)vertices * sizeof(*should));
    long count = 0, more = 1;

    memset(should, 0xff, (size_t)vertices * sizeof(*should));
    should[root_of(at.step)] = 0;
    for (int distance = 0; more > 0; distance++) {
        more = 0;
        for (long i = 0; i < edge_count; i++) {
            if (should[edges[i].from] == distance && should[edges[i].to] < 0) {
                should[edges[i].to] = distance + 1;
                more++;
            }
        }
    }
    for (long i = 0; i < piece * BITS && first + i < vertices; i++) {
        count += distances[i] != should[first + i];
    }
    free(should);
    return count;
}

static unsigned long *words(long count)
{
    return shmem_calloc((size_t)count, sizeof(unsigned long));
}

int main(int argc, char **argv)
{
    const long scale = kernel_number(argc, argv, 1, SCALE), steps = kernel_number(argc, argv, 2, STEPS);

    kernel_begin();
    vertices = 1l << scale;
    for (int i = 1; i * i <= shmem_n_pes(); i++) {
        across = (shmem_n_pes() % i == 0) ? i : across;
    }
    down = shmem_n_pes() / across;
    piece = (vertices / BITS + shmem_n_pes()) / shmem_n_pes();
    draw_graph();
    shmem_team_split_2d(SHMEM_TEAM_WORLD, across, NULL, 0, &row, NULL, 0, &column);
    frontier = words(piece);
    visited = words(piece);
    sources = words(down * piece);
    found = words(across * piece);
    merged = words(across * piece);
    distances = shmem_malloc((size_t)(piece * BITS) * sizeof(*distances));
    counts = shmem_calloc(2, sizeof(*counts));
    KERNEL_RESTART_POINT(at);
    while (at.step < steps) {
        search();
        at.flaws += flaws();
        at.step++;
        kernel_safepoint();
    }
    kernel_stepped();
    return kernel_end("bfs", steps, at.flaws);
}
