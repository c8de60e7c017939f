/* Which bytes of a window belong to images. */
#include "api/win_extents.h"

#include "base/memory.h"

void keel_extents_clear(keel_win_h win, int has_extents)
{
    keel_free(win->extents);
    win->extents = NULL;
    win->extent_count = 0;
    win->has_extents = has_extents;
}

void keel_extents_reset(keel_win_h win)
{
    keel_extents_clear(win, win->attach != NULL);
}

/* behind those before it, and one with the last when they touch */
static void extent_append(keel_extent_t *extents, unsigned *count_p, uint64_t offset, uint64_t end)
{
    keel_extent_t *last = (*count_p > 0) ? &extents[*count_p - 1] : NULL;

    if (offset >= end) {
        return;
    }
    if (last != NULL && last->offset + last->length == offset) {
        last->length += end - offset;
    } else {
        extents[(*count_p)++] = (keel_extent_t){.offset = offset, .length = end - offset};
    }
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return (a < b) ? a : b;
}

static keel_status_t extents_change(keel_win_h win, uint64_t offset, uint64_t length, int is_added)
{
    const keel_extent_t all = {.length = win->size}, *old = win->has_extents ? win->extents : &all;
    const unsigned old_count = win->has_extents ? win->extent_count : 1;
    keel_extent_t *extents = keel_alloc((old_count + 2) * sizeof(*extents), "extents of a window");
    const uint64_t end = offset + length;
    unsigned count = 0;

    if (extents == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < old_count; i++) {
        extent_append(extents, &count, old[i].offset, smaller(old[i].offset + old[i].length, offset));
    }
    extent_append(extents, &count, offset, is_added ? end : offset);
    for (unsigned i = 0; i < old_count; i++) {
        const uint64_t from = (old[i].offset > end) ? old[i].offset : end;

        extent_append(extents, &count, from, old[i].offset + old[i].length);
    }
    keel_free(win->extents);
    win->extents = extents;
    win->extent_count = count;
    win->has_extents = 1;
    return KEEL_OK;
}

keel_status_t keel_extents_add(keel_win_h win, uint64_t offset, uint64_t length)
{
    return extents_change(win, offset, length, 1);
}

keel_status_t keel_extents_cut(keel_win_h win, uint64_t offset, uint64_t length)
{
    return extents_change(win, offset, length, 0);
}
