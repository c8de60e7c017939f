/* Wrong calls; each ends the job with a message. */
#include "shmem_chapter.h"

/* A destroyed team. SHMEM_TEAM_SHARED has only this PE, so no other PE takes part. */
static shmem_team_t stale_team(void)
{
    shmem_team_t team;

    (void)shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 1, 1, NULL, 0, &team);
    shmem_team_destroy(team);
    return team;
}

void do_wrong(const char *what)
{
    int *word = shmem_calloc(1, sizeof(*word)), none = 0;
    long *lock = shmem_calloc(1, sizeof(*lock));
    uint64_t *signal = shmem_calloc(1, sizeof(*signal));
    shmem_ctx_t ctx;

    if (pe != 0) {
        shmem_barrier_all(); /* the barrier in which the PE is killed */
    } else if (strcmp(what, "pe") == 0) {
        shmem_int_put(word, &none, 1, 2);
    } else if (strcmp(what, "negative") == 0) {
        shmem_int_get(&none, word, 1, -1);
    } else if (strcmp(what, "stack") == 0) {
        shmem_int_put(&none, word, 1, 1);
    } else if (strcmp(what, "beyond") == 0) {
        shmem_putmem(word, &none, (size_t)1 << 30, 1);
    } else if (strcmp(what, "much") == 0) {
        shmem_int_put(word, &none, SIZE_MAX / 4 + 2, 1);
    } else if (strcmp(what, "amid") == 0) {
        shmem_free((char *)word + 1);
    } else if (strcmp(what, "beside") == 0) {
        shmem_free(word + 1); /* not the address of a block */
    } else if (strcmp(what, "freed") == 0) {
        shmem_free(word); /* its barrier matches the other PEs' barrier */
        shmem_free(word);
    } else if (strcmp(what, "foreign") == 0) {
        (void)shmem_realloc(&none, 8);
    } else if (strcmp(what, "comparison") == 0) {
        shmem_int_wait_until(word, SHMEM_CMP_LE + 1, 0);
    } else if (strcmp(what, "signal") == 0) {
        shmem_putmem_signal(word, &none, 1, signal, 1, 2, 1);
    } else if (strcmp(what, "lock") == 0) {
        shmem_set_lock(lock);
        shmem_set_lock(lock);
    } else if (strcmp(what, "root") == 0) {
        shmem_int_broadcast(SHMEM_TEAM_WORLD, word, word, 1, 2);
    } else if (strcmp(what, "team") == 0) {
        shmem_team_my_pe((shmem_team_t)(uintptr_t)99);
    } else if (strcmp(what, "destroyed") == 0) {
        shmem_team_n_pes(stale_team());
    } else if (strcmp(what, "world") == 0) {
        shmem_team_destroy(SHMEM_TEAM_WORLD);
    } else if (strcmp(what, "context") == 0) {
        shmem_ctx_int_put((shmem_ctx_t)(uintptr_t)77, word, word, 1, 0);
    } else if (strcmp(what, "no_context") == 0) {
        shmem_ctx_int_atomic_inc(SHMEM_CTX_INVALID, word, 0);
    } else if (strcmp(what, "context_pe") == 0) {
        (void)shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx);
        shmem_ctx_int_p(ctx, word, 1, 1);
    } else if (strcmp(what, "default") == 0) {
        shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    } else if (strcmp(what, "collect") == 0) {
        shmem_long_fcollect(SHMEM_TEAM_SHARED, lock, lock, (size_t)1 << 40);
    } else if (strcmp(what, "reduce") == 0) {
        shmem_long_sum_reduce(SHMEM_TEAM_SHARED, lock, lock, SIZE_MAX / 4);
    } else if (strcmp(what, "set") == 0) {
        shmem_barrier(0, 1, 2, lock);
    } else if (strcmp(what, "member") == 0) {
        (shmem_sync)(1, 0, 1, lock);
    } else if (strcmp(what, "exit") == 0) {
        shmem_global_exit(9);
    }
}
