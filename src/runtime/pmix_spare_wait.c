/*
 * The life of a waiting spare (pmix_spare.c describes the callers): the spare prepares the
 * announced memory until it is called or the job ends. No message reports that all ranks have died;
 * without a launcher that ends spares, the spare examines the processes of its own node, the range
 * of calls.
 */
#include "pmix_spare.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pmix_runtime.h"

#define LOOK_EVERY_MS 500 /* between looks at the possible callers */
/* vain looks before the spare gives up: the exit of a rank may be on its way */
#define LOOKS 2

/* ---- PMIx's thread ---- */

void keel_pmix_spare_called(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder)
{
    keel_pmix_spares_t *spares = &runtime->spares;

    if (incarnation == 0 || holder != runtime->holder || holder < runtime->base.size || rank >= runtime->base.size) {
        return;
    }
    /* one thread receives all calls */
    if (atomic_load(&spares->called_rank) == KEEL_PMIX_NO_RANK) {
        atomic_store(&spares->called_incarnation, incarnation);
        atomic_store(&spares->called_rank, rank);
        sem_post(&spares->called);
    } else {
        atomic_store(&spares->must_repeat, 1);
    }
}

void keel_pmix_spare_dismiss(keel_runtime_pmix_t *runtime)
{
    atomic_store(&runtime->spares.is_dismissed, 1);
    sem_post(&runtime->spares.called);
}

void keel_pmix_spare_on_need(keel_runtime_pmix_t *runtime, const void *bytes, size_t length)
{
    keel_pmix_spares_t *spares = &runtime->spares;

    if (!keel_pmix_is_spare(runtime) || length % sizeof *spares->need != 0 || length > sizeof spares->need) {
        return;
    }
    pthread_mutex_lock(&spares->lock);
    if (length > 0) {
        memcpy(spares->need, bytes, length);
    }
    spares->need_count = (unsigned)(length / sizeof *spares->need);
    spares->needs++;
    pthread_mutex_unlock(&spares->lock);
    sem_post(&spares->called);
}

/* ---- the spare's own thread ---- */

void keel_pmix_spares_need(keel_runtime_t *base, const uint64_t *bytes, unsigned count)
{
    keel_pmix_send_need((keel_runtime_pmix_t *)base, bytes, count * sizeof *bytes);
}

static int spare_is_called(const keel_pmix_spares_t *spares)
{
    return atomic_load(&spares->called_rank) != KEEL_PMIX_NO_RANK || atomic_load(&spares->is_dismissed);
}

/* Prepares once, until complete or until other work is due. */
static keel_status_t spare_prepare(keel_pmix_spares_t *spares, keel_prepare_cb_t prepare, void *arg)
{
    uint64_t need[KEEL_NEEDS_MAX];
    keel_status_t status;
    unsigned count;

    do {
        pthread_mutex_lock(&spares->lock);
        memcpy(need, spares->need, sizeof need);
        count = spares->need_count;
        spares->needs_seen = spares->needs;
        pthread_mutex_unlock(&spares->lock);
        status = prepare(arg, need, count);
    } while (status == KEEL_INPROGRESS && !spare_is_called(spares));
    return status == KEEL_INPROGRESS ? KEEL_OK : status;
}

static int spare_has_news(keel_pmix_spares_t *spares)
{
    int has_news;

    pthread_mutex_lock(&spares->lock);
    has_news = spares->needs != spares->needs_seen;
    pthread_mutex_unlock(&spares->lock);
    return has_news;
}

/* True if a rank, or a spare with a rank, runs on this node. */
static int spare_has_caller(const keel_runtime_pmix_t *runtime)
{
    uint32_t rank, incarnation;
    keel_process_t process;

    for (uint32_t holder = 0; holder < runtime->job_size; holder++) {
        if (keel_pmix_rank_of(runtime, holder, &rank, &incarnation) &&
            keel_pmix_find_process(runtime, holder, &process) && !keel_process_is_gone(&process)) {
            return 1;
        }
    }
    return 0;
}

/*
 * Sleeps until a message arrives. KEEL_ERR_CATASTROPHIC: no process is left to send a message, and
 * the launcher does not end the spare.
 */
static keel_status_t spare_sleep(keel_runtime_pmix_t *runtime, unsigned *looks)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    struct timespec until;

    if (runtime->is_keelrun) {
        sem_wait(&spares->called);
        return KEEL_OK;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_EVERY_MS * 1000000l;
    until.tv_sec += until.tv_nsec / 1000000000l;
    until.tv_nsec %= 1000000000l;
    if (sem_timedwait(&spares->called, &until) == 0 || spare_has_caller(runtime)) {
        *looks = 0;
    } else if (++*looks >= LOOKS && !spare_is_called(spares)) {
        fprintf(stderr, "keel: spare %u: no rank of the job is left on this host, so nobody can call it: it ends\n",
                runtime->holder);
        return KEEL_ERR_CATASTROPHIC;
    }
    return KEEL_OK;
}

keel_status_t keel_pmix_spare_wait(keel_runtime_t *base, keel_prepare_cb_t prepare, void *arg)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;
    keel_pmix_spares_t *spares = &runtime->spares;
    keel_status_t status = keel_pmix_announce(base, "", 0);
    unsigned looks = 0;

    if (status == KEEL_OK) {
        status = spare_prepare(spares, prepare, arg);
    }
    while (status == KEEL_OK && !spare_is_called(spares)) {
        status = spare_sleep(runtime, &looks);
        if (status == KEEL_OK && !spare_is_called(spares) && spare_has_news(spares)) {
            status = spare_prepare(spares, prepare, arg);
        }
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (atomic_load(&spares->called_rank) == KEEL_PMIX_NO_RANK) {
        return KEEL_ERR_STATE;
    }
    runtime->base.rank = atomic_load(&spares->called_rank);
    runtime->base.incarnation = atomic_load(&spares->called_incarnation);
    base->is_spare = 0;
    keel_pmix_read_place(base);
    keel_pmix_spare_joined(runtime, runtime->base.rank, runtime->base.incarnation, runtime->holder);
    spares->lives[runtime->base.rank].next = runtime->base.incarnation;
    return KEEL_OK;
}
