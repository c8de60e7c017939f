/* Sets of ranks: members come in order, whatever was added and removed. */
#include "unit.h"

#include "peer/source_set.h"

#include <string.h>

#define RANKS 9000u /* more than two words of the summary have */

static uint64_t state = 1;

static uint32_t drawn(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % below;
}

START_TEST(members_are_found_in_order)
{
    static uint8_t is_member[RANKS];
    keel_rank_set_t set;
    uint32_t r, next, round;

    memset(is_member, 0, sizeof(is_member));
    ck_assert(keel_rank_set_init(&set, RANKS));
    ck_assert_uint_eq(keel_rank_set_next(&set, 0), KEEL_RANK_SET_END);
    for (round = 0; round < 200; ++round) {
        r = (round == 0) ? RANKS - 1 : (round == 1) ? 0 : drawn(RANKS);
        is_member[r] = 1;
        keel_rank_set_add(&set, r);
        r = drawn(RANKS);
        is_member[r] = 0;
        keel_rank_set_remove(&set, r);
        next = keel_rank_set_next(&set, 0);
        for (r = 0; r < RANKS; ++r) {
            if (is_member[r]) {
                ck_assert_uint_eq(next, r);
                next = keel_rank_set_next(&set, r + 1);
            }
        }
        ck_assert_uint_eq(next, KEEL_RANK_SET_END);
    }
    keel_rank_set_release(&set);
}
END_TEST

START_TEST(a_source_that_died_while_joining_joins_again)
{
    static uint64_t words[KEEL_RANK_SET_WORDS(RANKS)];
    const keel_rank_set_t set = keel_rank_set_at(words, RANKS);

    keel_source_join(&set, RANKS - 1);
    set.summary[0] |= 1ull << (700 / 64); /* the first of the two bits of rank 700 */
    ck_assert_uint_eq(keel_rank_set_next(&set, 0), RANKS - 1);
    keel_source_join(&set, 700);
    ck_assert_uint_eq(keel_rank_set_next(&set, 0), 700);
    ck_assert_uint_eq(keel_rank_set_next(&set, 701), RANKS - 1);
    ck_assert_uint_eq(keel_rank_set_next(&set, RANKS), KEEL_RANK_SET_END);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {members_are_found_in_order, a_source_that_died_while_joining_joins_again, NULL};

    return unit_run("rank_set", tests);
}
