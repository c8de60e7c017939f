/*
 * Calls that no log has, with arguments that are wrong, and with some that are right though they look odd, in a job of two ranks:
 * each returns the status that names what is wrong, and nothing is harmed. Prints one line for each call that answers otherwise.
 */
#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 64 };

static int failures;
static unsigned refused; /* calls */

static void expect(const char *call, int line, keel_status_t expected, keel_status_t got)
{
    refused += (expected != KEEL_OK);
    if (got != expected) {
        printf("bad_unlogged: line %d: %s: '%s', expected '%s'\n", line, call, keel_status_string(got),
               keel_status_string(expected));
        failures++;
    }
}

#define EXPECT(_expected, _call) expect(#_call, __LINE__, _expected, _call)
/* not a status */
#define HOLDS(_condition) expect(#_condition, __LINE__, KEEL_OK, (_condition) ? KEEL_OK : KEEL_ERR_CORRUPT)

/* ranks 0 and 1 of job, of which this is one */
typedef struct {
    keel_context_h ctx;
    uint32_t rank, other, none;
    keel_win_h win, gone, empty; /* of WINDOW bytes; freed; without bytes at rank 1 */
} job_t;

static void check_pointers(const job_t *job)
{
    void *at = NULL, *again = NULL;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(NULL, job->other, &at));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->win, job->other, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->gone, job->other, &at));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->gone, job->rank, &at));
    EXPECT(KEEL_ERR_RANK, keel_win_ptr(job->win, job->none, &at));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->rank, &at));
    HOLDS(at == keel_win_base(job->win));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->other, &at));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->other, &again));
    HOLDS(at == again);
    EXPECT(KEEL_OK, keel_win_ptr(job->empty, 1, &at));
    HOLDS(at == NULL);
}

/* what was refused has left no trace */
static void check_unharmed(const job_t *job)
{
    const uint64_t *own = keel_win_base(job->win);

    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    for (unsigned i = 0; i < WINDOW / sizeof(*own); i++) {
        HOLDS(own[i] == 0);
    }
    EXPECT(KEEL_OK, keel_checkpoint(job->ctx));
}

int main(void)
{
    job_t job;

    if (keel_init(NULL, &job.ctx) != KEEL_OK || keel_size(job.ctx) != 2) {
        return 2;
    }
    job.rank = keel_rank(job.ctx);
    job.other = 1 - job.rank;
    job.none = 2;
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, WINDOW, NULL, &job.win));
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, WINDOW, NULL, &job.gone));
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, (job.rank == 0) ? WINDOW : 0, NULL, &job.empty));
    EXPECT(KEEL_OK, keel_win_free(job.gone));
    if (failures > 0) {
        return 1;
    }
    check_pointers(&job);
    check_unharmed(&job);
    EXPECT(KEEL_OK, keel_finalize(job.ctx));
    printf("bad_unlogged: %u calls refused, %d wrong\n", refused, failures);
    return failures > 0;
}
