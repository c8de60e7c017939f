/* The kinds of cells.h: accesses with known results, even if a rank dies during them. */
#include "cells.h"
#include "try.h"

#include <stddef.h>
#include <string.h>

#define FLAG_OF(_rank)  (offsetof(cells_memory_t, flag) + (_rank) * sizeof(uint64_t))
#define WORDS_OF(_rank) (offsetof(cells_memory_t, word) + (_rank)*CELLS_WORDS * sizeof(uint64_t))

static uint64_t parts_done(const cells_job_t *job)
{
    return job->step * CELLS_PARTS;
}

/* ---- puts and gets ---- */

static keel_status_t put_words(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t words[CELLS_WORDS];

    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        words[i] = cells_value(job->rank, job->step, part) + i;
    }
    return keel_put(job->win, target, WORDS_OF(job->rank), words, sizeof(words));
}

static int words_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    int right = 1;

    (void)sources;
    for (uint32_t rank = 0; rank < CELLS_RANKS; rank++) {
        for (unsigned i = 0; i < CELLS_WORDS && cells_is_source(job, rank); i++) {
            right &= own->word[rank][i] == cells_value(rank, job->step - 1, CELLS_PARTS - 1) + i;
        }
    }
    return right;
}

static keel_status_t get_own(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t got = 0;

    TRY(keel_get(job->win, target, offsetof(cells_memory_t, own) + part * sizeof(got), &got, sizeof(got)));
    job->sum += got;
    return keel_put(job->win, target, WORDS_OF(job->rank) + part * sizeof(got), &job->sum, sizeof(job->sum));
}

static int gets_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    uint64_t sum = 0;
    int right = 1;

    (void)sources;
    for (uint64_t step = 0; step < job->step; step++) {
        for (uint64_t part = 0; part < CELLS_PARTS; part++) {
            sum += cells_value(job->rank, step, part);
        }
    }
    for (uint32_t rank = 0; rank < CELLS_RANKS; rank++) {
        right &= !cells_is_source(job, rank) || own->word[rank][CELLS_PARTS - 1] == sum;
    }
    return right;
}

static keel_status_t strided(cells_job_t *job, uint32_t target, uint64_t part)
{
    const keel_blocks_t blocks = {.length = sizeof(uint64_t),
                                  .count = CELLS_WORDS / 2,
                                  .offset = WORDS_OF(job->rank) + part * sizeof(uint64_t),
                                  .stride = 2 * sizeof(uint64_t),
                                  .buffer_stride = sizeof(uint64_t)};
    uint64_t words[CELLS_WORDS / 2];

    for (unsigned i = 0; i < CELLS_WORDS / 2; i++) {
        words[i] = cells_value(job->rank, job->step, CELLS_PARTS - 1) + 2 * i + part;
    }
    return keel_put_strided(job->win, target, &blocks, words);
}

/* Stores to the target's memory if it is mapped, else puts. */
static keel_status_t store(cells_job_t *job, uint32_t target, uint64_t part)
{
    cells_memory_t *memory;

    TRY(keel_win_ptr(job->win, target, (void **)&memory));
    if (memory == NULL) {
        return put_words(job, target, part);
    }
    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        memory->word[job->rank][i] = cells_value(job->rank, job->step, part) + i;
    }
    return KEEL_OK;
}

/* ---- atomics ---- */

static keel_status_t add(cells_job_t *job, uint32_t target, uint64_t part)
{
    (void)part;
    return keel_atomic(job->win, KEEL_ATOMIC_ADD, target, offsetof(cells_memory_t, count), sizeof(uint64_t), 1, 0,
                       NULL);
}

static int count_is_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    return own->count == sources * parts_done(job);
}

/* Puts the drawn number to the rank that it was drawn from. A single source draws each number
 * once. */
static keel_status_t draw(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t drawn = 0;

    (void)part;
    TRY(keel_atomic(job->win, KEEL_ATOMIC_ADD, target, offsetof(cells_memory_t, count), sizeof(drawn), 1, 0, &drawn));
    job->sum += drawn;
    return keel_put(job->win, target, WORDS_OF(job->rank), &job->sum, sizeof(job->sum));
}

static int draws_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    const uint64_t count = sources * parts_done(job);

    uint64_t drawn = 0;

    for (uint32_t rank = 0; rank < CELLS_RANKS; rank++) {
        drawn += own->word[rank][0];
    }
    return own->count == count && drawn == count * (count - 1) / 2;
}

/* Each source swaps a word of its own, so the values are known. */
static keel_status_t swap(cells_job_t *job, uint32_t target, uint64_t part)
{
    const uint64_t value = cells_value(job->rank, job->step, part);
    uint64_t before = 0;

    TRY(keel_atomic(job->win, KEEL_ATOMIC_SWAP, target, WORDS_OF(job->rank), sizeof(value), value, 0, &before));
    job->sum += before;
    return keel_put(job->win, target, WORDS_OF(job->rank) + sizeof(value), &job->sum, sizeof(value));
}

static int swaps_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    int right = 1;

    (void)sources;
    for (uint32_t source = 0; source < CELLS_RANKS; source++) {
        const uint64_t last = cells_value(source, job->step - 1, CELLS_PARTS - 1);
        uint64_t sum = 0;

        for (uint64_t value = cells_value(source, 0, 0); value < last; value += 8) {
            sum += value;
        }
        right &= !cells_is_source(job, source) || (own->word[source][0] == last && own->word[source][1] == sum);
    }
    return right;
}

static keel_status_t add_and_flip(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(add(job, target, part));
    return keel_atomic(job->win, KEEL_ATOMIC_XOR, target, offsetof(cells_memory_t, drawn), sizeof(uint64_t),
                       1ul << job->rank, 0, NULL);
}

static keel_status_t raise_word(cells_job_t *job, uint32_t target, uint64_t part)
{
    return keel_atomic(job->win, KEEL_ATOMIC_MAX, target, FLAG_OF(job->rank), sizeof(uint64_t),
                       cells_value(job->rank, job->step, part), 0, NULL);
}

static keel_status_t set_word(cells_job_t *job, uint32_t target, uint64_t part)
{
    return keel_atomic(job->win, KEEL_ATOMIC_SET, target, FLAG_OF(job->rank), sizeof(uint64_t),
                       cells_value(job->rank, job->step, part), 0, NULL);
}

static int flags_are_last(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    int is_right = 1;

    (void)sources;
    for (uint32_t source = 0; source < CELLS_RANKS; source++) {
        is_right &=
            !cells_is_source(job, source) || own->flag[source] == cells_value(source, job->step - 1, CELLS_PARTS - 1);
    }
    return is_right;
}

static keel_status_t add_and_raise_half(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(add(job, target, part));
    return keel_atomic(job->win, KEEL_ATOMIC_MAX, target, FLAG_OF(job->rank), sizeof(uint16_t),
                       cells_value(job->rank, job->step, part), 0, NULL);
}

static int count_and_flags_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    return count_is_right(job, own, sources) && flags_are_last(job, own, sources);
}

static keel_status_t accumulate_integers(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t values[CELLS_WORDS];

    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        values[i] = i + 1;
    }
    return keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, target, WORDS_OF(0), values, CELLS_WORDS, NULL);
}

static int integers_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    int is_right = 1;

    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        is_right &= own->word[0][i] == sources * parts_done(job) * (i + 1);
    }
    return is_right;
}

static keel_status_t accumulate(cells_job_t *job, uint32_t target, uint64_t part)
{
    double ones[CELLS_WORDS];

    (void)part;
    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        ones[i] = 1;
    }
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, target, offsetof(cells_memory_t, sum), ones,
                        CELLS_WORDS, NULL));
#ifdef __x86_64__
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_LONG_DOUBLE, target, offsetof(cells_memory_t, wide),
                        &(long double){1}, 1, NULL));
#endif
    return KEEL_OK;
}

static keel_status_t fetch_sums(cells_job_t *job, uint32_t target, uint64_t part)
{
    /* each element is an atomic of its own: other elements may differ */
    const double own = (double)(job->step * CELLS_PARTS + part);
    double ones[CELLS_WORDS], found[CELLS_WORDS];

    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        ones[i] = 1;
    }
    TRY(keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, target, offsetof(cells_memory_t, sum), ones,
                        CELLS_WORDS, found));
    return (found[0] >= own && found[CELLS_WORDS - 1] >= own) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static int accumulates_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    const double wanted = (double)(sources * parts_done(job));
    int is_right = own->sum[0] == wanted && own->sum[CELLS_WORDS - 1] == wanted;

#ifdef __x86_64__
    is_right &= own->wide == wanted;
#endif
    return is_right;
}

static int sums_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    return own->sum[0] == (double)(sources * parts_done(job)) && own->sum[CELLS_WORDS - 1] == own->sum[0];
}

/* ---- waits ---- */

static keel_status_t put_and_flag(cells_job_t *job, uint32_t target, uint64_t part)
{
    const uint64_t value = cells_value(job->rank, job->step, part);

    TRY(put_words(job, target, part));
    TRY(keel_fence(job->ctx));
    return keel_put(job->win, target, FLAG_OF(job->rank), &value, sizeof(value));
}

static keel_word_t flag_word(const cells_job_t *job, uint32_t source, uint64_t part)
{
    return (keel_word_t){.win = job->win,
                         .offset = FLAG_OF(source),
                         .size = sizeof(uint64_t),
                         .compare = KEEL_COMPARE_GE,
                         .value = cells_value(source, job->step, part)};
}

static keel_status_t wait_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    const keel_word_t word = flag_word(job, source, part);

    return keel_wait_until(word.win, word.offset, word.size, word.compare, word.value);
}

static keel_status_t wait_any(cells_job_t *job, uint32_t source, uint64_t part)
{
    keel_word_t words[] = {flag_word(job, source, part), flag_word(job, source, CELLS_PARTS + part)};

    return keel_wait(job->ctx, KEEL_WAIT_ANY, words, 2, NULL);
}

static keel_status_t test_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    keel_word_t word = flag_word(job, source, part);
    keel_status_t status;

    do {
        status = keel_test(job->ctx, KEEL_WAIT_ALL, &word, 1, NULL);
    } while (status == KEEL_INPROGRESS);
    return status;
}

/* Gets the put words back and tests until they are here. The number of failed tests is put to the
 * target, and again in the next part. */
static keel_status_t put_and_look(cells_job_t *job, uint32_t target, uint64_t part)
{
    const size_t sum_at = offsetof(cells_memory_t, sum) + (part * CELLS_RANKS + job->rank) * sizeof(double);
    uint64_t words[CELLS_WORDS];
    keel_req_h req = NULL;
    keel_status_t status;
    double looks = 0;

    TRY(put_words(job, target, part));
    TRY(keel_flush(job->ctx, target));
    status = keel_get_nbx(job->win, target, WORDS_OF(job->rank), words, sizeof(words), NULL, &req);
    while (status == KEEL_INPROGRESS && (status = keel_req_test(req)) == KEEL_INPROGRESS) {
        looks++;
        if (looks < 4) { /* seen by another rank between two tests */
            TRY(keel_put(job->win, target, offsetof(cells_memory_t, sum[2 * CELLS_RANKS + job->rank]), &looks,
                         sizeof(looks)));
        }
        TRY(keel_progress(job->ctx));
    }
    TRY(status);
    if (req != NULL) {
        keel_req_free(req);
    }
    looks += (double)words[1] * CELLS_WORDS;
    if (part == 0) {
        memcpy(&job->sum, &looks, sizeof(looks));
    }
    TRY(keel_put(job->win, target, sum_at, &job->sum, sizeof(job->sum)));
    TRY(put_and_flag(job, target, part));
    return keel_flush(job->ctx, target);
}

static int looks_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    int right = words_are_right(job, own, sources);

    for (uint32_t rank = 0; rank < CELLS_RANKS; rank++) {
        right &= own->sum[rank] == own->sum[CELLS_RANKS + rank];
    }
    return right;
}

/* The flag is in the memory of the source; the target polls the flag there. */
static keel_status_t put_and_show(cells_job_t *job, uint32_t target, uint64_t part)
{
    const uint64_t value = cells_value(job->rank, job->step, part);

    TRY(put_words(job, target, part));
    TRY(keel_flush(job->ctx, target));
    return keel_put(job->win, job->rank, FLAG_OF(job->rank), &value, sizeof(value));
}

static keel_status_t look_again(cells_job_t *job)
{
    return (job->pause != NULL) ? job->pause(job) : KEEL_OK;
}

static keel_status_t poll_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    uint64_t seen = 0;

    while (seen < cells_value(source, job->step, part)) {
        TRY(keel_poll(job->win, source, FLAG_OF(source), &seen, sizeof(seen)));
        TRY(look_again(job));
    }
    return KEEL_OK;
}

static keel_status_t fetch_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    uint64_t seen = 0;

    while (seen < cells_value(source, job->step, part)) {
        TRY(keel_atomic(job->win, KEEL_ATOMIC_FETCH, source, FLAG_OF(source), sizeof(seen), 0, 0, &seen));
        TRY(look_again(job));
    }
    return KEEL_OK;
}

static keel_status_t get_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    uint64_t seen = 0;

    while (seen < cells_value(source, job->step, part)) {
        TRY(keel_get(job->win, source, FLAG_OF(source), &seen, sizeof(seen)));
        TRY(look_again(job));
    }
    return KEEL_OK;
}

static keel_status_t get_own_flag(cells_job_t *job, uint32_t source, uint64_t part)
{
    uint64_t seen = 0;

    while (seen < cells_value(source, job->step, part)) {
        TRY(keel_get(job->win, job->rank, FLAG_OF(source), &seen, sizeof(seen)));
    }
    return KEEL_OK;
}

static keel_status_t put_and_add(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(put_words(job, target, part));
    TRY(keel_fence(job->ctx));
    return add(job, target, part);
}

static keel_status_t put_and_draw(cells_job_t *job, uint32_t target, uint64_t part)
{
    return draw(job, target, part);
}

/* Waits for the accesses of all sources in this part. */
static keel_status_t wait_count(cells_job_t *job, uint32_t source, uint64_t part)
{
    const uint64_t sources = cells_sources(job);

    (void)source;
    return keel_wait_until(job->win, offsetof(cells_memory_t, count), sizeof(uint64_t), KEEL_COMPARE_GE,
                           sources * (parts_done(job) + part + 1));
}

static keel_status_t signal_with(cells_job_t *job, uint32_t target, uint64_t part, keel_signal_op_t op)
{
    const int is_set = op == KEEL_SIGNAL_SET;
    const keel_signal_t signal = {.offset = is_set ? FLAG_OF(job->rank) : offsetof(cells_memory_t, count),
                                  .op = op,
                                  .value = is_set ? cells_value(job->rank, job->step, part) : 1};
    uint64_t words[CELLS_WORDS];

    for (unsigned i = 0; i < CELLS_WORDS; i++) {
        words[i] = cells_value(job->rank, job->step, part) + i;
    }
    return keel_put_signal(job->win, target, WORDS_OF(job->rank), words, sizeof(words), &signal);
}

static keel_status_t signal_set(cells_job_t *job, uint32_t target, uint64_t part)
{
    return signal_with(job, target, part, KEEL_SIGNAL_SET);
}

static keel_status_t signal_add(cells_job_t *job, uint32_t target, uint64_t part)
{
    return signal_with(job, target, part, KEEL_SIGNAL_ADD);
}

/* Ranks 0 to 2 are a group. Rank 2 takes part when it is called for its second source. */
static keel_status_t collect(cells_job_t *job, uint64_t part)
{
    uint64_t value = cells_value(job->rank, job->step, part), sum = 0;

    TRY(keel_group_allreduce(job->group, KEEL_OP_SUM, KEEL_TYPE_UINT64, &value, &sum, 1));
    job->sum += sum;
    return keel_group_broadcast(job->group, 1, &job->sum, sizeof(job->sum));
}

static keel_status_t collect_as_source(cells_job_t *job, uint32_t target, uint64_t part)
{
    return (target == CELLS_TARGET) ? collect(job, part) : put_words(job, target, part);
}

static keel_status_t collect_as_target(cells_job_t *job, uint32_t source, uint64_t part)
{
    return (source == CELLS_SOURCE) ? collect(job, part) : KEEL_OK;
}

static int collected_is_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    uint64_t sum = 0;

    (void)own;
    (void)sources;
    for (uint64_t step = 0; step < job->step; step++) {
        for (uint64_t part = 0; part < CELLS_PARTS; part++) {
            sum += cells_value(0, step, part) + cells_value(1, step, part) + cells_value(2, step, part);
        }
    }
    return job->sum == sum;
}

/* ---- locks ---- */

static keel_status_t count_up(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t count = 0;

    TRY(keel_get(job->win, target, offsetof(cells_memory_t, count), &count, sizeof(count)));
    count++;
    TRY(keel_put(job->win, target, offsetof(cells_memory_t, count), &count, sizeof(count)));
    return put_words(job, target, part);
}

static keel_status_t locked(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(keel_lock(job->ctx, target));
    TRY(count_up(job, target, part));
    return keel_unlock(job->ctx, target);
}

static keel_status_t locked_and_read(cells_job_t *job, uint32_t target, uint64_t part)
{
    uint64_t count = 0;

    TRY(locked(job, target, part));
    TRY(keel_lock_all(job->ctx));
    TRY(keel_get(job->win, target, offsetof(cells_memory_t, count), &count, sizeof(count)));
    TRY(keel_unlock_all(job->ctx));
    return (count >= parts_done(job) + part + 1) ? KEEL_OK : KEEL_ERR_RANGE;
}

static keel_status_t locked_window(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(keel_win_lock(job->win, target, KEEL_LOCK_EXCLUSIVE));
    TRY(count_up(job, target, part));
    return keel_win_unlock(job->win, target);
}

static keel_status_t put_add_and_flush(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(put_words(job, target, part));
    TRY(add(job, target, part));
    return keel_flush(job->ctx, target);
}

static keel_status_t share_window(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(keel_win_lock_all(job->win));
    TRY(put_add_and_flush(job, target, part));
    return keel_win_unlock_all(job->win);
}

static keel_status_t share_and_wait(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(keel_win_lock(job->win, target, KEEL_LOCK_SHARED));
    TRY(put_and_add(job, target, part));
    return keel_win_unlock(job->win, target);
}

static keel_status_t all_locked(cells_job_t *job, uint32_t target, uint64_t part)
{
    TRY(keel_lock_all(job->ctx));
    TRY(put_add_and_flush(job, target, part));
    return keel_unlock_all(job->ctx);
}

/* Puts the words without a lock in every second phase. */
static keel_status_t locked_or_put(cells_job_t *job, uint32_t target, uint64_t part)
{
    return (job->step % 2 == 0) ? locked(job, target, part) : put_words(job, target, part);
}

static int counted_words_are_right(const cells_job_t *job, const cells_memory_t *own, uint64_t sources)
{
    return count_is_right(job, own, sources) && words_are_right(job, own, sources);
}

enum {
    WAITS = KEEL_PARAM_FLAG_WAITS,
    POLLS = KEEL_PARAM_FLAG_POLLS,
    NONE = KEEL_PARAM_FLAG_NONDETERMINISTIC,
    THREADS = KEEL_PARAM_FLAG_THREADS
};

static const cells_kind_t kinds[] = {
    {"puts", 0, 0, put_words, NULL, words_are_right},
    {"gets", 0, 0, get_own, NULL, gets_are_right},
    {"strided", 0, 0, strided, NULL, words_are_right},
    {"atomics", 0, 0, add, NULL, count_is_right},
    {"fetches", 0, 0, draw, NULL, draws_are_right},
    {"classes", 0, 0, add_and_flip, NULL, count_is_right},
    {"swaps", 0, 0, swap, NULL, swaps_are_right},
    {"waits", WAITS, 0, put_and_flag, wait_flag, words_are_right},
    {"waits_undeclared", 0, 0, put_and_flag, wait_flag, words_are_right},
    {"signals", WAITS, 0, signal_set, wait_flag, words_are_right},
    {"groups", WAITS, 0, collect_as_source, collect_as_target, collected_is_right},
    {"atomics_and_waits", WAITS, 0, put_and_add, wait_count, counted_words_are_right},
    {"adding_signals", WAITS, 0, signal_add, wait_count, counted_words_are_right},
    {"fetches_and_waits", WAITS, 0, put_and_draw, wait_count, draws_are_right},
    {"tests", WAITS, 0, put_and_flag, test_flag, words_are_right},
    {"req_tests", WAITS, 0, put_and_look, wait_flag, looks_are_right},
    {"any", WAITS, 0, put_and_flag, wait_any, words_are_right},
    {"polls", WAITS, 0, put_and_show, poll_flag, words_are_right},
    {"polling_gets", POLLS, 0, put_and_show, get_flag, words_are_right},
    {"own_gets", WAITS, 0, put_and_flag, get_own_flag, words_are_right},
    {"polling_fetches", WAITS, 0, put_and_show, fetch_flag, words_are_right},
    {"locks", 0, 1, locked, NULL, counted_words_are_right},
    {"epochs", 0, 1, locked_and_read, NULL, counted_words_are_right},
    {"locks_and_gsyncs", 0, 0, locked, NULL, counted_words_are_right},
    {"locks_and_puts", 0, 0, locked_or_put, NULL, words_are_right},
    {"shared_locks", 0, 0, all_locked, NULL, counted_words_are_right},
    {"window_shares", 0, 0, share_window, NULL, counted_words_are_right},
    {"shares_and_waits", WAITS, 0, share_and_wait, wait_count, counted_words_are_right},
    {"window_locks", 0, 0, locked_window, NULL, counted_words_are_right},
    {"integers", 0, 0, accumulate_integers, NULL, integers_are_right},
    {"accumulates", 0, 0, accumulate, NULL, accumulates_are_right},
    {"fetching", 0, 0, fetch_sums, NULL, sums_are_right},
    {"maxima", 0, 0, raise_word, NULL, flags_are_last},
    {"sets", 0, 0, set_word, NULL, flags_are_last},
    {"small", 0, 0, add_and_raise_half, NULL, count_and_flags_are_right},
    {"pointers", 0, 0, store, NULL, words_are_right},
    {"threads", THREADS, 0, put_words, NULL, words_are_right},
    {"no_promise", NONE, 0, put_words, NULL, words_are_right},
};

const cells_kind_t *cells_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            return &kinds[i];
        }
    }
    return NULL;
}
