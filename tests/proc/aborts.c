/*
 * A job that one rank ends: aborts STATUS [LIVES]. Rank 1 calls keel_abort(STATUS) while the others are inside a gsync that cannot
 * end; with LIVES, only as long as the job was started anew less often than that, and all is well then.
 * aborts NAME=VALUE: rank 1 has it started anew with that, and says what else it is told.
 */
#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const int lives = (argc > 2) ? atoi(argv[2]) : 1;
    const char *job = getenv("KEELRUN_JOB");
    keel_context_h ctx;

    if (argc < 2 || keel_init(NULL, &ctx) != KEEL_OK) {
        return 3;
    }
    printf("rank %u of job %s\n", keel_rank(ctx), job);
    if (keel_gsync(ctx, 0) != KEEL_OK) {
        return 3;
    }
    if (keel_rank(ctx) == 1 && strchr(argv[1], '=') != NULL) {
        printf("not started: %s\n", keel_status_string(keel_start_with(ctx, argv[1])));
    } else if (keel_rank(ctx) == 1 && atoi(job) < lives) {
        keel_abort(ctx, atoi(argv[1]));
    }
    if (keel_gsync(ctx, 0) != KEEL_OK || keel_finalize(ctx) != KEEL_OK) {
        return 3;
    }
    return 0;
}
