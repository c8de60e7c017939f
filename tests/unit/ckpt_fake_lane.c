/* The part of a lane used by parity, over local memory. */
#include "ckpt_fake_lane.h"

#include "ckpt_random.h"
#include "peer/access.h"
#include "peer/issue.h"
#include "peer/region.h"

#include <assert.h>
#include <string.h>

void fake_lane_init(fake_lane_t *lane, uint64_t seed, size_t max_read)
{
    memset(lane, 0, sizeof *lane);
    lane->random = seed;
    lane->ops.max_data = max_read;
    lane->lane.ops = &lane->ops;
}

size_t keel_lane_region_size(keel_lane_t *base, uint32_t peer, unsigned region)
{
    const fake_lane_t *lane = (fake_lane_t *)base;

    assert(peer < FAKE_RANKS && region < FAKE_REGIONS);
    return lane->regions[peer][region].size;
}

void *keel_access_at(keel_lane_t *base, uint32_t peer, unsigned region)
{
    const fake_lane_t *lane = (fake_lane_t *)base;

    assert(peer < FAKE_RANKS && region < FAKE_REGIONS);
    return lane->is_mapped[peer] && !lane->is_dead[peer] ? lane->regions[peer][region].memory : NULL;
}

static keel_status_t fake_read_end(fake_lane_t *lane, const fake_read_t *read, int is_failing)
{
    const fake_region_t *region = &lane->regions[read->peer][read->region];

    if (is_failing) {
        return lane->fail_status;
    }
    if (lane->is_dead[read->peer]) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (read->offset > region->size || read->length > region->size - read->offset) {
        return KEEL_ERR_RANGE;
    }
    memcpy(read->buffer, region->memory + read->offset, read->length);
    return KEEL_OK;
}

keel_status_t keel_lane_read(keel_lane_t *base, uint32_t peer, unsigned region, uint64_t offset, void *buffer,
                             size_t length, keel_lane_done_cb_t cb, void *arg)
{
    fake_lane_t *lane = (fake_lane_t *)base;
    const fake_read_t read = {peer, region, offset, buffer, length, cb, arg};
    const int is_failing = ++lane->reads == lane->fail_read;

    assert(peer < FAKE_RANKS && region < FAKE_REGIONS && length > 0 && length <= lane->ops.max_data);
    memset(buffer, 0xdb, length);
    if (lane->on_read != NULL) {
        lane->on_read(lane->on_read_arg);
    }
    if ((is_failing && lane->fail_in_call) || ckpt_below(&lane->random, 100) < lane->at_once_percent) {
        return fake_read_end(lane, &read, is_failing);
    }
    if (ckpt_below(&lane->random, 100) < lane->inside_percent) {
        cb(arg, fake_read_end(lane, &read, is_failing));
        return KEEL_INPROGRESS;
    }
    assert(lane->pending_count < FAKE_PENDING);
    lane->pending[lane->pending_count] = read;
    if (is_failing) {
        lane->pending[lane->pending_count].length = 0; /* marks the read as failing, for its end */
    }
    lane->pending_count++;
    lane->pending_most = lane->pending_count > lane->pending_most ? lane->pending_count : lane->pending_most;
    return KEEL_INPROGRESS;
}

void fake_lane_progress(fake_lane_t *lane, unsigned count)
{
    while (count-- > 0 && lane->pending_count > 0) {
        const unsigned index = (unsigned)ckpt_below(&lane->random, lane->pending_count);
        const fake_read_t read = lane->pending[index];

        lane->pending[index] = lane->pending[--lane->pending_count];
        read.cb(read.arg, fake_read_end(lane, &read, read.length == 0));
    }
}

void fake_lane_kill(fake_lane_t *lane, uint32_t peer)
{
    lane->is_dead[peer] = 1;
}
