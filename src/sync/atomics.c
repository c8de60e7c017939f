/* What is told of atomics. */
#include "sync/atomics.h"
#include "sync/sync.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/issue.h"
#include "peer/tell.h"

#include <string.h>

keel_status_t keel_atomics_init(keel_atomics_t *a, uint32_t ranks)
{
    memset(a, 0, sizeof(*a));
    a->decided = keel_alloc(ranks * sizeof(*a->decided), "classes of atomics");
    a->told = keel_alloc(ranks * sizeof(*a->told), "what others know of this process");
    if (a->decided == NULL || a->told == NULL) {
        keel_atomics_release(a);
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

void keel_atomics_release(keel_atomics_t *a)
{
    keel_free(a->decided);
    keel_free(a->told);
    a->decided = NULL;
    a->told = NULL;
}

/* what others are to know is another from here on */
static void atomics_change(keel_sync_t *sync)
{
    sync->atomics.version++;
    sync->atomics.is_news = 1;
    keel_lane_say_kinds(sync->lane, &sync->atomics.kinds);
}

void keel_atomics_reset(keel_sync_t *sync)
{
    keel_atomics_t *a = &sync->atomics;
    uint32_t *decided = a->decided;
    uint64_t *told = a->told;

    memset(decided, 0, sync->lane->size * sizeof(*decided));
    memset(told, 0, sync->lane->size * sizeof(*told));
    *a = (keel_atomics_t){.kinds.classes = sync->mixes ? KEEL_CLASS_MIXES : 0, .decided = decided, .told = told};
    keel_lane_say_kinds(sync->lane, &a->kinds);
}

int keel_atomics_mark(keel_sync_t *sync, int is_own)
{
    uint32_t *marked = is_own ? &sync->atomics.kinds.in_doubt : &sync->atomics.kinds.fetched;

    if (*marked == sync->phase + 1) {
        return 0;
    }
    *marked = sync->phase + 1;
    atomics_change(sync);
    return 1;
}

int keel_atomics_use(keel_sync_t *sync, uint32_t classes)
{
    if ((sync->atomics.kinds.classes & classes) == classes) {
        return 0;
    }
    sync->atomics.kinds.classes |= classes;
    atomics_change(sync);
    return 1;
}

void keel_atomics_begin(keel_sync_t *sync)
{
    sync->atomics.kinds.begun = sync->phase + 1;
    atomics_change(sync);
}

void keel_atomics_wait(keel_sync_t *sync)
{
    sync->atomics.kinds.waits = sync->phase + 2;
    atomics_change(sync);
}

int keel_atomics_has_news(keel_sync_t *sync)
{
    const int has_news = sync->atomics.is_news;

    sync->atomics.is_news = 0;
    return has_news;
}

int keel_atomics_hear(keel_sync_t *sync, int has_news)
{
    keel_atomics_t *a = &sync->atomics;
    const int waits = sync->waits.since == sync->phase && a->kinds.waits == 0;

    if (!has_news || (a->kinds.fetched == sync->phase && !waits) || KEEL_PLANT(heard_untold)) {
        return 0; /* its own arrival said as much */
    }
    a->heard = sync->phase;
    a->version++;
    return 1;
}

void keel_atomics_access_bare(keel_sync_t *sync)
{
    sync->atomics.kinds.classes |= KEEL_CLASS_BARE;
}

keel_status_t keel_atomics_tell(keel_sync_t *sync, uint32_t rank)
{
    keel_kinds_t kinds = sync->atomics.kinds;

    kinds.fetched = keel_larger(keel_larger(kinds.fetched, sync->atomics.before), sync->atomics.heard);
    if (kinds.waits == 0 && !KEEL_PLANT(atomics_waits_unpassed) && sync->waits.since != KEEL_PHASE_NONE &&
        sync->waits.since > 0) {
        kinds.waits = sync->waits.since + 1;
    }
    if ((kinds.classes | kinds.fetched | kinds.in_doubt | kinds.begun | kinds.waits) == 0) {
        return KEEL_OK;
    }
    return keel_lane_tell_kinds(sync->lane, rank, &kinds);
}

void keel_atomics_say_told(keel_sync_t *sync, uint32_t rank)
{
    sync->atomics.told[rank] = sync->atomics.version;
}

void keel_atomics_forget(keel_sync_t *sync, uint32_t rank)
{
    if (sync->atomics.version > 0) {
        sync->atomics.told[rank] = sync->atomics.version - 1;
    }
}

void keel_atomics_adopt_before(keel_sync_t *sync, uint32_t before)
{
    sync->atomics.before = before;
}

void keel_atomics_adopt_classes(keel_sync_t *sync, uint32_t rank, uint32_t classes)
{
    sync->atomics.decided[rank] |= classes;
}

int keel_atomics_has_fetched(const keel_sync_t *sync)
{
    return keel_larger(sync->atomics.kinds.fetched, sync->atomics.kinds.in_doubt) == sync->phase + 1;
}

uint32_t keel_atomics_classes(const keel_sync_t *sync, uint32_t rank)
{
    const uint32_t told = (rank == sync->lane->rank) ? sync->atomics.kinds.classes
                                                     : (uint32_t)keel_board_get(&sync->lane->board[rank].classes);

    return told | sync->atomics.decided[rank] | sync->lane->peers[rank].found;
}

uint32_t keel_atomics_classes_at(const keel_sync_t *sync, uint32_t rank, unsigned op)
{
    uint32_t classes = keel_classes_bit(op, 0) | keel_classes_own(keel_atomics_classes(sync, rank));

    for (uint32_t r = 0; r < sync->lane->size; r++) {
        classes |= keel_classes_others(keel_atomics_classes(sync, r));
    }
    return classes;
}
