/*
 * Times of a store: store_times BYTES COPIES ROUNDS. Rank 0 prints "WHAT MEDIAN LEAST" in
 * milliseconds, and ratios of rows that took turns in each round. Rows: a copy of all copies'
 * bytes in own memory, a submit, an update of a tenth of the blocks, a load of one rank's blocks by
 * the other ranks in equal shares, a load of these blocks by one rank, and the submit and the
 * shared load with blocks of 64 bytes instead of 4 KiB. A row ends when all ranks have ended.
 */
#include <keel/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LARGE = 4096, SMALL = 64, ROUNDS_MAX = 1000, EXIT_USAGE = 2, EXIT_KEEL = 3 };

enum row { COPY, SUBMIT, UPDATE, SHARED, ALONE, SUBMIT_SMALL, SHARED_SMALL, ROWS };

static const char *const names[ROWS] = {"copy",
                                        "submit",
                                        "update of a tenth",
                                        "load, all ranks a share",
                                        "load, one rank all",
                                        "submit, 64-byte blocks",
                                        "load, all ranks a share, 64-byte blocks"};

typedef struct times {
    keel_context_h ctx;
    keel_store_h large, small;
    uint64_t bytes;
    uint32_t copies;
    char *data, *to;
    double ms[ROWS][ROUNDS_MAX];
} times_t;

static void must(keel_status_t status, const char *what)
{
    if (status != KEEL_OK) {
        fprintf(stderr, "store_times: %s: %s\n", what, keel_status_string(status));
        exit(EXIT_KEEL);
    }
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Rank 0's blocks: an equal share for each other rank. */
static void load_shared(const times_t *t, keel_store_h store, uint64_t block)
{
    const uint64_t others = keel_size(t->ctx) - 1, rank = keel_rank(t->ctx), blocks = t->bytes / block;
    keel_store_part_t part = {.buffer = t->to};

    if (rank > 0) {
        part.first = blocks * (rank - 1) / others;
        part.count = blocks * rank / others - part.first;
        must(keel_store_load(store, &part, 1), "load");
    }
}

static void load_alone(const times_t *t)
{
    keel_store_part_t part = {.count = t->bytes / LARGE, .buffer = t->to};

    if (keel_rank(t->ctx) == keel_size(t->ctx) - 1) {
        must(keel_store_load(t->large, &part, 1), "load");
    }
}

static void update(const times_t *t)
{
    const keel_store_part_t part = {
        .rank = keel_rank(t->ctx), .first = 1, .count = t->bytes / LARGE / 10, .buffer = t->data};

    must(keel_store_update(t->large, &part, 1), "update");
}

static void run(const times_t *t, enum row row)
{
    switch (row) {
    case COPY:
        for (uint32_t copy = 0; copy < t->copies; copy++) {
            memcpy(t->to + copy * t->bytes, t->data, t->bytes);
        }
        break;
    case SUBMIT:
        must(keel_store_submit(t->large, t->data, t->bytes / LARGE), "submit");
        break;
    case UPDATE:
        update(t);
        break;
    case SHARED:
        load_shared(t, t->large, LARGE);
        break;
    case ALONE:
        load_alone(t);
        break;
    case SUBMIT_SMALL:
        must(keel_store_submit(t->small, t->data, t->bytes / SMALL), "submit");
        break;
    default:
        load_shared(t, t->small, SMALL);
    }
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(const double *values, unsigned count)
{
    double sorted[ROUNDS_MAX];

    memcpy(sorted, values, count * sizeof(*values));
    qsort(sorted, count, sizeof(*sorted), compare);
    return sorted[count / 2];
}

static void print_ratio(const times_t *t, unsigned rounds, enum row row, enum row to)
{
    double ratios[ROUNDS_MAX];

    for (unsigned i = 0; i < rounds; i++) {
        ratios[i] = t->ms[row][i] / t->ms[to][i];
    }
    printf("%s / %s: %.2f\n", names[row], names[to], median(ratios, rounds));
}

static void print_all(const times_t *t, unsigned rounds)
{
    for (enum row row = COPY; row < ROWS; row++) {
        double least = t->ms[row][0];

        for (unsigned i = 1; i < rounds; i++) {
            least = (t->ms[row][i] < least) ? t->ms[row][i] : least;
        }
        printf("%s: %.3f %.3f\n", names[row], median(t->ms[row], rounds), least);
    }
    print_ratio(t, rounds, SUBMIT, COPY);
    print_ratio(t, rounds, SUBMIT_SMALL, SUBMIT);
    print_ratio(t, rounds, SHARED_SMALL, SHARED);
}

static keel_store_h make(const times_t *t, uint64_t block)
{
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                                                      KEEL_STORE_PARAM_FIELD_BLOCK_BYTES,
                                        .bytes = t->bytes,
                                        .copies = t->copies,
                                        .block_bytes = block};
    keel_store_h store;

    must(keel_store_create(t->ctx, &params, &store), "create");
    return store;
}

int main(int argc, char **argv)
{
    static times_t t;
    double end = now_ms(); /* of the row before */
    unsigned rounds;

    if (argc != 4 || strtoul(argv[3], NULL, 10) == 0 || strtoul(argv[3], NULL, 10) >= ROUNDS_MAX) {
        fprintf(stderr, "usage: store_times BYTES COPIES ROUNDS\n");
        return EXIT_USAGE;
    }
    t.bytes = strtoull(argv[1], NULL, 10) / LARGE * LARGE;
    t.copies = (uint32_t)strtoul(argv[2], NULL, 10);
    rounds = (unsigned)strtoul(argv[3], NULL, 10);
    must(keel_init(NULL, &t.ctx), "init");
    t.data = calloc(1, t.bytes);
    t.to = calloc(t.copies, t.bytes);
    if (t.data == NULL || t.to == NULL || keel_size(t.ctx) < 2) {
        return EXIT_USAGE;
    }
    memset(t.data, 1 + (int)keel_rank(t.ctx), t.bytes);
    memset(t.to, 1, t.copies * t.bytes);
    t.large = make(&t, LARGE);
    t.small = make(&t, SMALL);
    for (unsigned round = 0; round <= rounds; round++) { /* the first one touches the memory */
        for (enum row row = COPY; row < ROWS; row++) {
            double now;

            run(&t, row);
            must(keel_gsync(t.ctx, 0), "gsync");
            now = now_ms();
            t.ms[row][(round > 0) ? round - 1 : 0] = now - end;
            end = now;
        }
    }
    if (keel_rank(t.ctx) == 0) {
        print_all(&t, rounds);
    }
    must(keel_finalize(t.ctx), "finalize");
    return 0;
}
