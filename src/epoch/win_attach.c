/*
 * Memory of the program that also shows a part of a window: the calls.
 *
 * Pages of the window are mapped there a second time (base/second_map), so only the process itself
 * knows of the attachment. Accesses of other ranks to the window reach these pages, and lanes, logs
 * and replay are not involved. For a replay an attachment is a store by the program.
 */
#include "window/image_parts.h"
#include "access/target.h"
#include "window/win_attached.h"
#include "window/win_extents.h"
#include "engine/fork.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "window/win_memory.h"
#include "window/window.h"

#include "base/memory.h"
#include "base/second_map.h"
#include "check/plant.h"

#include <string.h>
#include <unistd.h>

static keel_status_t check_window(keel_win_h win, const void *memory, const char *call)
{
    if (win == NULL || memory == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_win_attach, keel_win_detach: the memory");
    }
    if (keel_fork_is_child(win->ctx)) {
        return keel_fork_refuse(win->ctx);
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    if (win->attach == NULL) {
        keel_error_ctx(win->ctx, "%s: window %u was not made for that: KEEL_WIN_PARAM_FIELD_ATTACH", call,
                       win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_UNSUPPORTED;
    }
    return KEEL_OK;
}

static keel_status_t check_range(keel_win_h win, uint64_t offset, const void *memory, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    if (bytes == 0) {
        keel_error_ctx(win->ctx, "keel_win_attach: no bytes");
        return KEEL_ERR_INVALID_PARAM;
    }
    if (offset > win->size || bytes > win->size - offset) {
        keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %lu leave the window of %zu bytes", bytes,
                       (unsigned long)offset, win->size);
        return KEEL_ERR_RANGE;
    }
    if (offset % page != 0 || bytes % page != 0 || (uintptr_t)memory % page != 0) {
        keel_error_ctx(win->ctx,
                       "keel_win_attach: %zu bytes at %p, offset %lu: no whole pages, as keel_win_create() takes them",
                       bytes, memory, (unsigned long)offset);
        return KEEL_ERR_ALIGNMENT;
    }
    return KEEL_OK;
}

static keel_status_t check_memory(keel_win_h win, const void *memory, size_t bytes)
{
    const keel_status_t status = keel_win_memory_check(win->ctx, memory, bytes, "keel_win_attach");

    if (status == KEEL_OK && !keel_second_map_is_possible(memory, bytes)) {
        keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %p are not all private, readable and writable", bytes,
                       memory);
        return KEEL_ERR_INVALID_PARAM;
    }
    return status;
}

static keel_status_t check_free(const keel_win_h win, uint64_t offset, size_t bytes)
{
    for (unsigned i = 0; i < win->attach->now.count; i++) {
        const keel_attached_t *piece = &win->attach->now.all[i];

        if (offset < piece->offset + piece->bytes && piece->offset < offset + bytes) {
            keel_error_ctx(win->ctx, "keel_win_attach: of window %u %lu bytes at %lu %s",
                           win->region - KEEL_REGION_WINDOW0, (unsigned long)piece->bytes, (unsigned long)piece->offset,
                           (piece->memory != NULL) ? "are attached"
                                                   : "were attached in the image, and are to be attached again first");
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    return KEEL_OK;
}

static keel_status_t map(keel_win_h win, uint64_t offset, void *memory, size_t bytes)
{
    if (keel_second_map((char *)win->base + offset, memory, bytes)) {
        return KEEL_OK;
    }
    keel_error_ctx(win->ctx, "keel_win_attach: %zu bytes at %p cannot be mapped a second time", bytes, memory);
    return KEEL_ERR_NO_MEMORY;
}

/* An attachment from the image: the contents of the window count, and other ranks may be putting
 * there. */
static keel_status_t attach_again(keel_win_h win, keel_attached_t *piece, char *memory)
{
    keel_status_t status = KEEL_OK;

    if (piece->memory != memory) {
        status = check_memory(win, memory, piece->bytes);
        if (status == KEEL_OK && piece->memory != NULL && !keel_second_unmap(piece->memory, piece->bytes)) {
            status = KEEL_ERR_NO_MEMORY;
        }
        if (status != KEEL_OK) {
            return status;
        }
        piece->memory = NULL;
        KEEL_PLANT_CALL(win_attach_again, win, piece, memory);
        status = map(win, piece->offset, memory, piece->bytes);
    }
    if (status == KEEL_OK) {
        piece->memory = memory;
        piece->is_again = 0;
    }
    return status;
}

/* An attachment in the program's start, with its present contents. */
static keel_status_t start_add(keel_win_h win, const keel_attached_t *piece)
{
    keel_attached_list_t *start = &win->attach->start;
    keel_attached_t copy = *piece;

    if (win->ctx->is_started) {
        return KEEL_OK;
    }
    copy.initial = keel_alloc(piece->bytes, "first contents of attached memory");
    if (copy.initial == NULL || keel_attached_reserve(start) != KEEL_OK) {
        keel_free(copy.initial);
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(copy.initial, piece->memory, piece->bytes);
    start->all[start->count++] = copy;
    return KEEL_OK;
}

static void start_remove(keel_win_h win, const keel_attached_t *piece)
{
    keel_attached_t *of_start = keel_attached_find(&win->attach->start, piece->offset, piece->bytes);

    if ((!win->ctx->is_started || KEEL_PLANT(win_attach_start_detached)) && of_start != NULL) {
        keel_attached_remove(&win->attach->start, of_start);
    }
}

static keel_status_t attach_new(keel_win_h win, const keel_attached_t *piece)
{
    keel_attached_list_t *now = &win->attach->now;
    keel_status_t status = keel_attached_reserve(now);

    if (status == KEEL_OK) {
        status = keel_extents_add(win, piece->offset, piece->bytes);
    }
    if (status == KEEL_OK) {
        status = start_add(win, piece);
    }
    if (status != KEEL_OK) {
        return status;
    }
    memcpy((char *)win->base + piece->offset, piece->memory, piece->bytes);
    status = map(win, piece->offset, piece->memory, piece->bytes);
    if (status != KEEL_OK) {
        start_remove(win, piece);
        return status;
    }
    now->all[now->count++] = *piece;
    keel_context_logs_follow(win->ctx);
    return KEEL_OK;
}

keel_status_t keel_win_attach(keel_win_h win, uint64_t offset, void *memory, size_t bytes)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = check_window(win, memory, "keel_win_attach");
    keel_attached_t *piece;

    if (status == KEEL_OK) {
        status = check_range(win, offset, memory, bytes);
    }
    if (status != KEEL_OK) {
        return status;
    }
    piece = keel_attached_find(&win->attach->now, offset, bytes);
    if (piece != NULL && piece->is_again) {
        return attach_again(win, piece, memory);
    }
    status = check_free(win, offset, bytes);
    if (status == KEEL_OK) {
        status = check_memory(win, memory, bytes);
    }
    return (status == KEEL_OK) ? attach_new(win, &(keel_attached_t){.offset = offset, .bytes = bytes, .memory = memory})
                               : status;
}

keel_status_t keel_win_detach(keel_win_h win, void *memory)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status = check_window(win, memory, "keel_win_detach");
    keel_attached_t *piece;

    if (status != KEEL_OK) {
        return status;
    }
    piece = keel_attached_find_memory(&win->attach->now, memory);
    if (piece == NULL) {
        keel_error_ctx(win->ctx, "keel_win_detach: nothing that begins at %p is attached to window %u", memory,
                       win->region - KEEL_REGION_WINDOW0);
        return KEEL_ERR_INVALID_PARAM;
    }
    status = keel_extents_cut(win, piece->offset, piece->bytes);
    if (status == KEEL_OK && !keel_second_unmap(memory, piece->bytes)) {
        (void)keel_extents_add(win, piece->offset, piece->bytes);
        status = KEEL_ERR_NO_MEMORY;
    }
    if (status == KEEL_OK) {
        start_remove(win, piece);
        keel_attached_remove(&win->attach->now, piece);
    }
    return status;
}
