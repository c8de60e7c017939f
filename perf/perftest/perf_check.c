/*
 * The moved data differs from byte to byte and between initiators, changes in the last round, and
 * is never 0. A target checks its own memory, where each initiator has a place: all of its data, or
 * none. Atomics are counted there: each adds one.
 */
#include "perf_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FOUND_BY_GETS UINT32_MAX /* in place of an initiator */

static unsigned sides(const perf_run_t *run)
{
    return run->test->peer == PERF_PEER_UCX ? 2 : 1;
}

static const char *side_name(unsigned side)
{
    return side == 0 ? "Keel" : "raw UCX";
}

static char *memory_of(const perf_run_t *run, unsigned side)
{
    return side == 0 ? keel_win_base(run->data) : run->raw.base;
}

static char byte_at(uint32_t initiator, int is_last, size_t at)
{
    return (char)(((at ^ (at >> 8)) * 31 + (initiator + 1) * 34 + (is_last ? 2 : 0)) | 1);
}

static void fill(char *to, size_t size, uint32_t initiator, int is_last)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = byte_at(initiator, is_last, i);
    }
}

/* Index of the first byte that differs from the initiator's, or @a size. */
static size_t first_wrong(const char *data, size_t size, uint32_t initiator, int is_last)
{
    size_t i = 0;

    while (i < size && data[i] == byte_at(initiator, is_last, i)) {
        i++;
    }
    return i;
}

static int is_untouched(const char *data, size_t size)
{
    return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

keel_status_t perf_check_fill(perf_run_t *run)
{
    const unsigned flags = perf_kind(run->test)->flags;
    const size_t stride = perf_stride(run->test);

    if (flags & PERF_IS_PUT) {
        fill(run->source, run->test->size, run->rank, 0);
    }
    for (unsigned side = 0; (flags & PERF_IS_GET) && side < sides(run); side++) {
        for (uint32_t r = 0; r < run->initiators; r++) {
            fill(memory_of(run, side) + r * stride, run->test->size, FOUND_BY_GETS, 0);
        }
    }
    return keel_gsync(run->ctx, 0);
}

void perf_check_renew(perf_run_t *run)
{
    if (perf_kind(run->test)->flags & PERF_IS_PUT) {
        fill(run->source, run->test->size, run->rank, 1);
    }
}

static keel_status_t place_check(const perf_run_t *run, unsigned side, uint32_t initiator, const char *place,
                                 perf_counts_t *counts)
{
    const size_t size = run->test->size;
    const int is_last = (place[0] == byte_at(initiator, 1, 0));
    uint64_t word = 0;
    size_t wrong;

    if (perf_kind(run->test)->flags & PERF_IS_ATOMIC) {
        memcpy(&word, place, size);
        counts->reached[side] += (word != 0);
        counts->added[side] += word;
        return KEEL_OK;
    }
    if (is_untouched(place, size)) {
        return KEEL_OK;
    }
    wrong = first_wrong(place, size, initiator, is_last);
    if (wrong < size) {
        fprintf(stderr, "keel_perftest: %s: what rank %u put to rank %u by %s is wrong from byte %zu on\n",
                run->test->name, initiator, run->rank, side_name(side), wrong);
        return KEEL_ERR_CORRUPT;
    }
    counts->reached[side]++;
    counts->last[side] += (uint64_t)is_last;
    return KEEL_OK;
}

keel_status_t perf_check_memory(perf_run_t *run, perf_counts_t *counts)
{
    const size_t stride = perf_stride(run->test);

    if (!(perf_kind(run->test)->flags & (PERF_IS_PUT | PERF_IS_ATOMIC))) {
        return KEEL_OK;
    }
    for (unsigned side = 0; side < sides(run); side++) {
        for (uint32_t r = 0; r < run->initiators; r++) {
            PERF_TRY(place_check(run, side, r, memory_of(run, side) + r * stride, counts));
        }
    }
    return KEEL_OK;
}

keel_status_t perf_check_source(const perf_run_t *run, unsigned side)
{
    const size_t wrong = first_wrong(run->source, run->test->size, FOUND_BY_GETS, 0);

    if (wrong < run->test->size) {
        fprintf(stderr, "keel_perftest: %s: what rank %u got by %s is wrong from byte %zu on\n", run->test->name,
                run->rank, side_name(side), wrong);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

static keel_status_t equal_check(const perf_run_t *run, unsigned side, const char *what, uint64_t is, uint64_t due)
{
    if (is != due) {
        fprintf(stderr, "keel_perftest: %s by %s: %" PRIu64 " %s, not %" PRIu64 "\n", run->test->name, side_name(side),
                is, what, due);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

keel_status_t perf_check_sums(const perf_run_t *run, const perf_result_t *all)
{
    const unsigned flags = perf_kind(run->test)->flags;
    /* words of 4 bytes wrap around */
    const uint64_t mask = (run->test->size < sizeof mask) ? UINT32_MAX : UINT64_MAX;

    for (unsigned side = 0; (flags & (PERF_IS_PUT | PERF_IS_ATOMIC)) && side < sides(run); side++) {
        uint64_t reached = 0, expected = 0, last = 0, expected_last = 0, added = 0, issued = 0;

        for (uint32_t r = 0; r < run->size; r++) {
            reached += all[r].counts.reached[side];
            expected += all[r].counts.expected;
            last += all[r].counts.last[side];
            expected_last += all[r].counts.expected_last;
            added += all[r].counts.added[side];
            issued += (r < run->initiators) ? all[r].iterations + all[r].counts.untimed : 0;
        }
        PERF_TRY(equal_check(run, side, "targets reached", reached, expected));
        if (flags & PERF_IS_PUT) {
            PERF_TRY(equal_check(run, side, "targets reached in the last round", last, expected_last));
        } else {
            PERF_TRY(equal_check(run, side, "atomics took effect", added & mask, issued & mask));
        }
    }
    return KEEL_OK;
}
