/*
 * A job that a single rank ends: aborts STATUS [LIVES]. Rank 1 calls keel_abort(STATUS) while the
 * other ranks wait inside a gsync. With LIVES, rank 1 does so only in the first LIVES starts of the
 * job; the next start ends well. aborts NAME=VALUE: rank 1 requests a restart of the job with this
 * variable, and prints the status if the request is refused.
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
