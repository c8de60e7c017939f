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
    return (a->decided == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

void keel_atomics_release(keel_atomics_t *a)
{
    keel_free(a->decided);
    a->decided = NULL;
}

void keel_atomics_reset(keel_sync_t *sync)
{
    uint32_t *decided = sync->atomics.decided;

    memset(decided, 0, sync->lane->size * sizeof(*decided));
    sync->atomics = (keel_atomics_t){.classes = sync->mixes ? KEEL_CLASS_MIXES : 0, .decided = decided};
}

int keel_atomics_mark(keel_sync_t *sync, int is_own)
{
    if (sync->atomics.told[is_own] == sync->phase + 1) {
        return 1;
    }
    sync->atomics.marked[is_own] = sync->phase + 1;
    return 0;
}

void keel_atomics_say_marked(keel_sync_t *sync, int is_own, uint32_t phase)
{
    sync->atomics.told[is_own] = phase + 1;
}

int keel_atomics_use(keel_sync_t *sync, uint32_t classes)
{
    sync->atomics.classes |= classes;
    return (sync->atomics.classes_told & classes) == classes;
}

void keel_atomics_say_used(keel_sync_t *sync, uint32_t classes)
{
    sync->atomics.classes_told |= classes;
}

void keel_atomics_begin(keel_sync_t *sync)
{
    sync->atomics.begun = sync->phase + 1;
}

keel_status_t keel_atomics_tell(keel_sync_t *sync, uint32_t rank)
{
    const keel_atomics_t *a = &sync->atomics;
    const uint32_t marked = keel_larger(a->marked[0], a->before);
    keel_status_t status = KEEL_OK;

    if (marked > 0 && !KEEL_PLANT(fetches_untold)) {
        status = keel_lane_mark_atomics(sync->lane, rank, marked - 1, 0);
    }
    if (status == KEEL_OK && a->marked[1] > 0) {
        status = keel_lane_mark_atomics(sync->lane, rank, a->marked[1] - 1, 1);
    }
    if (status == KEEL_OK && a->begun > 0) {
        status = keel_lane_mark_atomics(sync->lane, rank, a->begun - 1, 0);
    }
    if (status == KEEL_OK && a->classes != 0) {
        status = keel_lane_tell_classes(sync->lane, rank, a->classes);
    }
    return status;
}

void keel_atomics_adopt_before(keel_sync_t *sync, uint32_t before)
{
    sync->atomics.before = before;
}

void keel_atomics_adopt_classes(keel_sync_t *sync, uint32_t rank, uint32_t classes)
{
    sync->atomics.decided[rank] |= classes;
}

uint32_t keel_atomics_classes(const keel_sync_t *sync, uint32_t rank)
{
    const uint32_t told =
        (rank == sync->lane->rank) ? sync->atomics.classes : (uint32_t)keel_board_get(&sync->lane->board[rank].classes);

    return told | sync->atomics.decided[rank];
}

uint32_t keel_atomics_classes_at(const keel_sync_t *sync, uint32_t rank, unsigned op)
{
    uint32_t classes = keel_classes_bit(op, 0) | keel_classes_own(keel_atomics_classes(sync, rank));

    for (uint32_t r = 0; r < sync->lane->size; r++) {
        classes |= keel_classes_others(keel_atomics_classes(sync, r));
    }
    return classes;
}
