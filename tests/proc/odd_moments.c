/*
 * Calls at moments that programs seldom choose, in a job of two ranks on one node.
 */
#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static keel_context_h ctx;
static uint32_t rank;
static unsigned wrong;

#define CHECK(_what)                                                           \
    do {                                                                       \
        if (!(_what)) {                                                        \
            fprintf(stderr, "rank %u: line %d: %s\n", rank, __LINE__, #_what); \
            wrong++;                                                           \
        }                                                                      \
    } while (0)

static unsigned count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    unsigned count = 0;
    char line[512];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += strstr(line, "memfd:keel") != NULL;
    }
    CHECK(file != NULL && fclose(file) == 0 && count > 0);
    return count;
}

/* nobody keeps the memory of a window that was freed, own or others' */
static void free_windows(void)
{
    enum { WINDOWS = 4, BYTES = 1 << 16 };
    unsigned before;
    keel_win_h win;

    CHECK(keel_win_alloc(ctx, BYTES, NULL, &win) == KEEL_OK); /* behind it all that the other rank has is mapped */
    before = count_mappings() - 2;
    CHECK(keel_win_free(win) == KEEL_OK);
    for (int i = 0; i < WINDOWS; i++) {
        CHECK(keel_win_alloc(ctx, BYTES, NULL, &win) == KEEL_OK);
        CHECK(keel_win_free(win) == KEEL_OK);
    }
    CHECK(count_mappings() == before);
}

int main(void)
{
    if (keel_init(NULL, &ctx) != KEEL_OK) {
        return EXIT_FAILURE;
    }
    rank = keel_rank(ctx);
    free_windows();
    CHECK(keel_finalize(ctx) == KEEL_OK);
    return (wrong == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
