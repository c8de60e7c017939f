/* scale_real [KIB]: memory and descriptors of a process, a line a rank, after a ring of puts and
 * gsyncs. Fails if more than KIB of memory are resident. */
#include <keel/keel.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GSYNCS 10

/* KiB of a line of /proc/self/smaps_rollup */
static long memory_kib(const char *key)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib += atol(line + strlen(key));
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (folder != NULL && readdir(folder) != NULL) {
        ++count;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count - 3; /* ".", ".." and the folder */
}

static keel_status_t ring(keel_context_h ctx, keel_win_h win)
{
    const uint32_t next = (keel_rank(ctx) + 1) % keel_size(ctx);
    keel_status_t status = KEEL_OK;
    uint64_t value;
    int i;

    for (i = 0; i < GSYNCS && status == KEEL_OK; ++i) {
        value = (uint64_t)i;
        status = keel_put(win, next, 0, &value, sizeof(value));
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    const long at_most = (argc > 1) ? atol(argv[1]) : 0;
    keel_context_h ctx;
    keel_win_h win;
    keel_status_t status = keel_init(NULL, &ctx);

    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 4096, NULL, &win) : status;
    status = (status == KEEL_OK) ? ring(ctx, win) : status;
    if (status == KEEL_OK) {
        printf("%u,%u,%d,%ld,%ld,%ld\n", keel_size(ctx), keel_rank(ctx), descriptors(), memory_kib("Rss:"),
               memory_kib("Pss:"), memory_kib("Private_Dirty:"));
        fflush(stdout);
        if (at_most > 0 && memory_kib("Rss:") > at_most) {
            fprintf(stderr, "scale_real: more than %ld KiB are resident\n", at_most);
            status = KEEL_ERR_BUDGET;
        }
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    }
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        fprintf(stderr, "scale_real: %s\n", keel_status_string(status));
    }
    return status != KEEL_OK;
}
