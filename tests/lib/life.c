/* The lives of a random program. */
#include "life.h"

#include <stdio.h>

enum { LIVES_MAX = 64 };

static keel_status_t life_finish(life_t *life)
{
    keel_stats_t stats;

    if (keel_stats(life->ctx, &stats, sizeof(stats)) == KEEL_OK) {
        life->host->stats(life->host, &stats);
    }
    life->host->at(life->host, life->steps);
    TRY(keel_finalize(life->ctx));
    life->host->ctx = NULL;
    return KEEL_OK;
}

static keel_status_t life_lives(life_t *life)
{
    volatile keel_status_t status = life->open(life->arg);
    volatile unsigned lives;

    for (lives = 0; status == KEEL_OK && lives < LIVES_MAX; lives++) {
        if (life->host->has_restart_point) {
            KEEL_RESTART_POINT(life->ctx);
            status = KEEL_OK;
            lives++;
            if (life->host->clears_restart_point && (lives & 2)) {
                keel_restart_clear(life->ctx);
            }
        }
        if (keel_restarted(life->ctx)) {
            status = keel_restore(life->ctx);
        }
        if (status == KEEL_OK) {
            status = life->run(life->arg);
        }
        if (status == KEEL_OK) {
            status = life_finish(life);
            if (status == KEEL_OK) {
                return KEEL_OK;
            }
        }
        status = (status == KEEL_ERR_ROLLED_BACK) ? KEEL_OK : status;
    }
    return status;
}

keel_status_t life_run(life_t *life)
{
    play_host_t *host = life->host;
    keel_status_t status = play_init(host, &life->ctx);
    char text[96];

    if (status == KEEL_OK) {
        host->incarnation = keel_incarnation(life->ctx);
        host->ctx = life->ctx;
        host->at(host, PLAY_MET);
        status = life_lives(life);
    }
    if (status == KEEL_ERR_STATE && life->ctx == NULL && host->incarnation > 0) {
        return status; /* the predecessor had arrived at the last gsync: the other ranks are done */
    }
    if (status != KEEL_OK && status != KEEL_ERR_CATASTROPHIC &&
        !(status == KEEL_ERR_ISOLATED && host->may_be_cut_off)) {
        snprintf(text, sizeof(text), "rank %u.%u step %u: a call returned %d (%s)", host->rank, host->incarnation,
                 (unsigned)*life->step, (int)status, keel_status_string(status));
        host->flaw(host, text);
    }
    return status;
}
