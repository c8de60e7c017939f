/* Announced usage. */
#include "sync/announced.h"
#include "peer/members.h"
#include "peer/usage_announce.h"
#include "sync/sync.h"

#include "base/memory.h"
#include "check/plant.h"

#include <string.h>

keel_status_t keel_announced_init(keel_announced_t *a, uint32_t ranks)
{
    memset(a, 0, sizeof(*a));
    a->decided = keel_alloc(ranks * sizeof(*a->decided), "classes of atomics");
    a->known = keel_alloc(ranks * sizeof(*a->known), "what others know of this process");
    if (a->decided == NULL || a->known == NULL) {
        keel_announced_release(a);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_announced_release(keel_announced_t *a)
{
    keel_free(a->decided);
    keel_free(a->known);
    a->decided = NULL;
    a->known = NULL;
}

void keel_announced_change(keel_sync_t *sync)
{
    sync->announced.version++;
    sync->announced.is_news = 1;
    keel_usage_publish(sync->lane, &sync->announced.own);
}

void keel_announced_reset(keel_sync_t *sync)
{
    keel_announced_t *a = &sync->announced;
    uint32_t *decided = a->decided;
    uint64_t *known = a->known;

    memset(decided, 0, sync->lane->size * sizeof(*decided));
    memset(known, 0, sync->lane->size * sizeof(*known));
    *a = (keel_announced_t){.own.classes = sync->mixes ? KEEL_CLASS_MIXES : 0, .decided = decided, .known = known};
    keel_usage_publish(sync->lane, &a->own);
}

void keel_announced_add_bare(keel_sync_t *sync)
{
    sync->announced.own.classes |= KEEL_CLASS_BARE;
}

int keel_announced_take_news(keel_sync_t *sync)
{
    const int is_news = sync->announced.is_news;

    sync->announced.is_news = 0;
    return is_news;
}

int keel_announced_pass_on(keel_sync_t *sync, int has_news)
{
    keel_announced_t *a = &sync->announced;
    const keel_usage_t fetched = {.fetched = sync->phase}; /* in the phase before this one */
    const int waits = sync->waits.since == sync->phase && a->own.waits == 0;

    if (!has_news || (a->own.fetched == sync->phase && !waits) || KEEL_PLANT(announced_not_passed_on)) {
        return 0; /* the own arrival has announced the same */
    }
    (void)keel_usage_merge(&a->passed_on, &fetched);
    a->version++;
    return 1;
}

keel_status_t keel_announced_send(keel_sync_t *sync, uint32_t rank)
{
    const uint32_t since = sync->waits.since;
    keel_usage_t usage = sync->announced.own;

    (void)keel_usage_merge(&usage, &sync->announced.passed_on);
    (void)keel_usage_merge(&usage, &(keel_usage_t){.fetched = sync->announced.before});
    if (usage.waits == 0 && since != KEEL_PHASE_NONE && since > 0 && !KEEL_PLANT(announced_waits_not_passed_on)) {
        usage.waits = since + 1;
    }
    return keel_usage_is_none(&usage) ? KEEL_OK : keel_usage_announce(sync->lane, rank, &usage);
}

void keel_announced_set_known(keel_sync_t *sync, uint32_t rank)
{
    sync->announced.known[rank] = sync->announced.version;
}

void keel_announced_forget(keel_sync_t *sync, uint32_t rank)
{
    if (sync->announced.version > 0) {
        sync->announced.known[rank] = sync->announced.version - 1;
    }
}

void keel_announced_adopt_before(keel_sync_t *sync, uint32_t before)
{
    sync->announced.before = before;
}

void keel_announced_adopt_classes(keel_sync_t *sync, uint32_t rank, uint32_t classes)
{
    sync->announced.decided[rank] |= classes;
}

int keel_announced_has_fetched(const keel_sync_t *sync)
{
    return keel_larger(sync->announced.own.fetched, sync->announced.own.in_doubt) == sync->phase + 1;
}

uint32_t keel_announced_classes(const keel_sync_t *sync, uint32_t rank)
{
    const uint32_t announced = (rank == sync->lane->rank) ? sync->announced.own.classes
                                                          : (uint32_t)keel_board_get(&sync->lane->board[rank].classes);

    return announced | sync->announced.decided[rank] | sync->lane->peers[rank].found;
}

uint32_t keel_announced_classes_at(const keel_sync_t *sync, uint32_t rank, unsigned op)
{
    uint32_t classes = keel_classes_bit(op, 0) | keel_classes_own(keel_announced_classes(sync, rank));

    KEEL_EACH_MEMBER(r, sync->lane) {
        classes |= keel_classes_others(keel_announced_classes(sync, r));
    }
    return classes;
}
