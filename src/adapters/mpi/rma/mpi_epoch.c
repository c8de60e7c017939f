/* Active-target epochs: fences, and post, start, complete, wait by messages on the window's private
 * communicator. */
#include "coll/mpi_coll.h"
#include "comm/mpi_group.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_window.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_POST = 1, TAG_COMPLETE = 2 };

int keel_mpi_win_leaves_fence(keel_mpi_win_t *win)
{
    keel_mpi_access_t *access = keel_mpi_win_access(win);

    if (access->fence == KEEL_MPI_FENCED_USED || win->started != NULL) {
        return 0;
    }
    access->fence = KEEL_MPI_FENCED_NONE;
    return 1;
}

int keel_mpi_win_allows(const keel_mpi_win_t *win, uint32_t target)
{
    keel_mpi_access_t *access = keel_mpi_win_access(win);

    if (access->held[target] != KEEL_MPI_HELD_NONE ||
        (win->started != NULL && keel_mpi_group_index(win->started, win->comm->members[target]) != UINT32_MAX)) {
        return 1;
    }
    if (access->fence != KEEL_MPI_FENCED_NONE) {
        access->fence = KEEL_MPI_FENCED_USED;
        return 1;
    }
    return 0;
}

int MPI_Win_fence(int assert, MPI_Win win)
{
    keel_mpi_coll_t coll;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_fence")

    if (keel_mpi_win_access(win_ptr)->is_all || keel_mpi_win_access(win_ptr)->locks > 0 || win_ptr->started != NULL ||
        win_ptr->posted != NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_fence", "amid an epoch of another kind");
    }
    if (!(assert &MPI_MODE_NOPRECEDE)) {
        keel_mpi_flush_all("MPI_Win_fence");
    }
    keel_mpi_win_access(win_ptr)->fence = (assert &MPI_MODE_NOSUCCEED) ? KEEL_MPI_FENCED_NONE : KEEL_MPI_FENCED;
    if (win_ptr->is_mapped) {
        keel_mpi_direct_barrier(win_ptr, "MPI_Win_fence");
        return MPI_SUCCESS;
    }
    coll = keel_mpi_coll_begin(win_ptr->comm, "MPI_Win_fence");
    keel_mpi_coll_barrier_or_gsync(&coll);
    return MPI_SUCCESS;
}

/* Copies a group, since the program may free it. NULL: an error was raised, with its code in
 * *@a code_p. */
static const keel_mpi_group_t *group_keep(MPI_Group handle, const keel_mpi_win_t *win, const char *call, int *code_p)
{
    const keel_mpi_group_t *group = keel_mpi_group_of(handle);
    keel_mpi_group_t *copy;

    if (group == NULL) {
        *code_p = keel_mpi_raise_win(win->handle, MPI_ERR_GROUP, call, "not a group");
        return NULL;
    }
    for (uint32_t i = 0; i < group->size; i++) {
        if (keel_mpi_comm_index(win->comm, group->ranks[i]) == UINT32_MAX) {
            *code_p = keel_mpi_raise_win(win->handle, MPI_ERR_GROUP, call, "a group with others than of the window");
            return NULL;
        }
    }
    copy = malloc(sizeof(*copy) + (group->size + 1) * sizeof(copy->ranks[0]));
    if (copy == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    copy->size = group->size;
    memcpy(copy->ranks, group->ranks, group->size * sizeof(copy->ranks[0]));
    *code_p = MPI_SUCCESS;
    return copy;
}

static void group_forget(const keel_mpi_group_t **group_p)
{
    free((void *)*group_p);
    *group_p = NULL;
}

static void notify(const keel_mpi_win_t *win, const keel_mpi_group_t *group, int64_t tag, const char *call)
{
    for (uint32_t i = 0; i < group->size; i++) {
        (void)keel_mpi_channel_send_mode(KEEL_MPI_SEND_COPIES, group->ranks[i], win->comm->context, tag, NULL, 0, call);
    }
}

static void await_notices(const keel_mpi_win_t *win, const keel_mpi_group_t *group, int64_t tag, const char *call)
{
    for (uint32_t i = 0; i < group->size; i++) {
        keel_mpi_channel_receive(group->ranks[i], win->comm->context, tag, NULL, 0, call);
    }
}

int MPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    int code;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_post")

    if (win_ptr->posted != NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_post", "the window is posted already");
    }
    win_ptr->posted = group_keep(group, win_ptr, "MPI_Win_post", &code);
    if (win_ptr->posted != NULL && !(assert &MPI_MODE_NOCHECK)) {
        notify(win_ptr, win_ptr->posted, TAG_POST, "MPI_Win_post");
    }
    return code;
}

int MPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    int code;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_start")

    if (win_ptr->started != NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_start", "an epoch was started already");
    }
    if (keel_mpi_win_access(win_ptr)->is_all || keel_mpi_win_access(win_ptr)->locks > 0 ||
        !keel_mpi_win_leaves_fence(win_ptr)) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_start", "amid an epoch of another kind");
    }
    win_ptr->started = group_keep(group, win_ptr, "MPI_Win_start", &code);
    if (win_ptr->started != NULL && !(assert &MPI_MODE_NOCHECK)) {
        await_notices(win_ptr, win_ptr->started, TAG_POST, "MPI_Win_start");
    }
    return code;
}

int MPI_Win_complete(MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_complete")

    if (win_ptr->started == NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_complete", "no epoch was started");
    }
    keel_mpi_flush_all("MPI_Win_complete");
    notify(win_ptr, win_ptr->started, TAG_COMPLETE, "MPI_Win_complete");
    group_forget(&win_ptr->started);
    return MPI_SUCCESS;
}

int MPI_Win_wait(MPI_Win win)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_wait")

    if (win_ptr->posted == NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_wait", "the window is not posted");
    }
    await_notices(win_ptr, win_ptr->posted, TAG_COMPLETE, "MPI_Win_wait");
    group_forget(&win_ptr->posted);
    return MPI_SUCCESS;
}

int MPI_Win_test(MPI_Win win, int *flag)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_test")

    if (win_ptr->posted == NULL) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_SYNC, "MPI_Win_test", "the window is not posted");
    }
    keel_mpi_channel_progress_or_yield("MPI_Win_test");
    *flag = 1;
    for (uint32_t i = 0; i < win_ptr->posted->size && *flag && !keel_mpi_is_replaying(); i++) {
        const keel_mpi_receive_t receive = {
            .context = win_ptr->comm->context, .source = win_ptr->posted->ranks[i], .tag = TAG_COMPLETE};

        *flag = keel_mpi_match_peek(&receive, 0) != NULL;
    }
    keel_mpi_startup_result(flag, sizeof(*flag));
    return *flag ? MPI_Win_wait(win) : MPI_SUCCESS;
}
