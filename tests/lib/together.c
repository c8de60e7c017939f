/* Collective operations of a group of ranks. */
#include "together.h"

#include "sim/random.h"
#include "try.h"

#include <string.h>

enum { RANKS = 32, WORDS = 11 }; /* longer than one chunk */

static uint64_t word_of(uint64_t seed, unsigned member, unsigned to, unsigned i)
{
    return keel_random_mix(seed ^ ((uint64_t)member << 40) ^ ((uint64_t)to << 20) ^ i);
}

static keel_status_t sum_up(keel_group_h group, unsigned own, unsigned count, uint64_t seed)
{
    const unsigned root = (unsigned)(seed % (count + 1)); /* count: all */
    uint64_t words[WORDS], sums[WORDS] = {0};

    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = word_of(seed, own, 0, i);
    }
    TRY((root == count) ? keel_group_allreduce(group, KEEL_OP_SUM, KEEL_TYPE_UINT64, words, sums, WORDS)
                        : keel_group_reduce(group, root, KEEL_OP_SUM, KEEL_TYPE_UINT64, words,
                                            (own == root) ? words : NULL, WORDS));
    for (unsigned i = 0; i < WORDS && (root == count || own == root); i++) {
        uint64_t sum = 0;

        for (unsigned m = 0; m < count; m++) {
            sum += word_of(seed, m, 0, i);
        }
        if (((root == count) ? sums : words)[i] != sum) {
            return KEEL_ERR_CORRUPT;
        }
    }
    return KEEL_OK;
}

static keel_status_t hand_down(keel_group_h group, unsigned own, unsigned count, uint64_t seed)
{
    const unsigned root = (unsigned)(seed % count);
    uint64_t words[WORDS];

    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = (own == root) ? word_of(seed, root, 1, i) : 0;
    }
    TRY(keel_group_broadcast(group, root, words, sizeof(words)));
    for (unsigned i = 0; i < WORDS; i++) {
        if (words[i] != word_of(seed, root, 1, i)) {
            return KEEL_ERR_CORRUPT;
        }
    }
    return KEEL_OK;
}

static keel_status_t exchange(keel_group_h group, unsigned own, unsigned count, uint64_t seed)
{
    const unsigned way = (unsigned)(seed % 3), root = (unsigned)(seed / 3 % count);
    uint64_t in[RANKS][WORDS], out[RANKS][WORDS];

    for (unsigned m = 0; m < count; m++) {
        for (unsigned i = 0; i < WORDS; i++) {
            in[m][i] = word_of(seed, own, (way == 0) ? m : 2, i);
        }
    }
    memset(out, 0, sizeof(out));
    TRY((way == 0)   ? keel_group_alltoall(group, in, out, sizeof(in[0]))
        : (way == 1) ? keel_group_allgather(group, in[0], out, sizeof(in[0]))
                     : keel_group_gather(group, root, in[0], (own == root) ? out : NULL, sizeof(in[0])));
    for (unsigned m = 0; m < count && (way < 2 || own == root); m++) {
        for (unsigned i = 0; i < WORDS; i++) {
            if (out[m][i] != word_of(seed, m, (way == 0) ? own : 2, i)) {
                return KEEL_ERR_CORRUPT;
            }
        }
    }
    return KEEL_OK;
}

static keel_status_t do_together(keel_group_h group, unsigned own, unsigned count, uint64_t seed)
{
    keel_random_t random = {seed};

    for (unsigned left = 1 + keel_random_below(&random, 3); left > 0; left--) {
        const uint64_t drawn = keel_random_next(&random);

        switch (drawn % 4) {
        case 0:
            TRY(sum_up(group, own, count, drawn >> 2));
            break;
        case 1:
            TRY(hand_down(group, own, count, drawn >> 2));
            break;
        case 2:
            TRY(exchange(group, own, count, drawn >> 2));
            break;
        default:
            TRY(keel_group_barrier(group));
            break;
        }
    }
    return KEEL_OK;
}

keel_status_t together(keel_win_h win, uint64_t offset, uint32_t rank, uint32_t ranks, uint64_t members, uint64_t seed)
{
    uint32_t list[RANKS];
    unsigned count = 0, own = 0;
    keel_group_h group;
    keel_status_t status;

    for (uint32_t r = 0; r < ranks; r++) {
        if ((members >> r & 1) != 0) {
            own = (r == rank) ? count : own;
            list[count++] = r;
        }
    }
    if ((members >> rank & 1) == 0) {
        return KEEL_OK;
    }
    TRY(keel_group_create(win, offset, TOGETHER_PIECE, list, count, &group));
    status = do_together(group, own, count, seed);
    keel_group_free(group); /* a rollback by a jump leaks the group */
    return status;
}
