/* Packed reports and decisions: each rank has its entry again, and malformed ones are refused. */
#include "recovery/report/entries.h"

#include "base/memory.h"
#include "unit.h"

#include <string.h>

#define RANKS 40u
#define ROUND 200u

static struct {
    keel_report_t report;
    report_about_t about[RANKS];
} said;

static report_about_t whole[RANKS];

static struct {
    decision_t decision;
    decision_rank_t ranks[RANKS];
} decided;

static keel_peer_t peers[RANKS];
static keel_lane_t lane = {.size = RANKS, .peers = peers};
static const keel_recovery_t rec = {.lane = &lane};

/* The first @a others of a drawn order of ranks differ from the rest. */
static void draw(uint64_t *random, uint32_t others)
{
    memset(&said, 0, sizeof(said));
    memset(&decided, 0, sizeof(decided));
    for (uint32_t r = 0; r < RANKS; r++) {
        said.about[r].classes = 3;
        decided.ranks[r].has = 2;
        peers[r].incarnation = 0;
    }
    for (uint32_t i = 0; i < others; i++) {
        const uint32_t r = (uint32_t)(unit_random(random) % RANKS);

        said.about[r].incarnation = peers[r].incarnation = (uint32_t)(unit_random(random) % 3);
        said.about[r].touched = unit_random(random) % 2;
        decided.ranks[r].position = (uint32_t)(unit_random(random) % 3);
    }
    memcpy(whole, said.about, sizeof(whole));
}

START_TEST(a_packed_report_has_the_entry_of_each_rank)
{
    uint64_t random = unit_seed();

    for (uint32_t round = 0; round < ROUND; round++) {
        draw(&random, round % (2 * RANKS));
        keel_report_pack(&said.report, RANKS);
        ck_assert(keel_report_is_packed(&said.report, keel_report_bytes(&said.report), RANKS));
        for (uint32_t r = 0; r < RANKS; r++) {
            report_about_t entry = *keel_report_about(&said.report, r);

            entry.rank = 0;
            ck_assert_int_eq(memcmp(&entry, &whole[r], sizeof(entry)), 0);
        }
        ck_assert(keel_report_is_of_view(&rec, &said.report));
        peers[round % RANKS].incarnation++;
        ck_assert(!keel_report_is_of_view(&rec, &said.report));
    }
}
END_TEST

START_TEST(a_report_grows_with_the_ranks_that_differ)
{
    uint64_t random = unit_seed();

    draw(&random, 0);
    keel_report_pack(&said.report, RANKS);
    ck_assert_uint_eq(keel_report_bytes(&said.report), sizeof(said.report));
    draw(&random, 0);
    said.about[7].touched = said.about[0].lost_puts = 1;
    keel_report_pack(&said.report, RANKS);
    ck_assert_uint_eq(keel_report_bytes(&said.report), sizeof(said.report) + 2 * sizeof(report_about_t));
}
END_TEST

START_TEST(a_packed_decision_has_the_entry_of_each_rank)
{
    uint64_t random = unit_seed();

    for (uint32_t round = 0; round < ROUND; round++) {
        decision_t *packed, *d;
        size_t bytes = 0;

        draw(&random, round % (2 * RANKS));
        packed = keel_decision_pack(&decided.decision, RANKS, &bytes);
        ck_assert(keel_decision_is_packed(packed, bytes, RANKS));
        ck_assert_uint_le(packed->entries, round % (2 * RANKS));
        d = keel_decision_unpack(packed, RANKS);
        ck_assert_int_eq(memcmp(d->ranks, decided.ranks, sizeof(decided.ranks)), 0);
        keel_free(packed);
        keel_free(d);
    }
}
END_TEST

START_TEST(malformed_entries_are_refused)
{
    uint64_t random = unit_seed();
    decision_t *packed;
    size_t bytes = 0;

    draw(&random, 0);
    said.about[3].touched = said.about[5].touched = 1;
    decided.ranks[3].position = decided.ranks[5].position = 1;
    keel_report_pack(&said.report, RANKS);
    ck_assert(!keel_report_is_packed(&said.report, sizeof(said.report) - 1, RANKS));
    ck_assert(!keel_report_is_packed(&said.report, keel_report_bytes(&said.report) - 1, RANKS));
    ck_assert(!keel_report_is_packed(&said.report, keel_report_bytes(&said.report), 5));
    said.about[1].rank = 3; /* twice */
    ck_assert(!keel_report_is_packed(&said.report, keel_report_bytes(&said.report), RANKS));
    packed = keel_decision_pack(&decided.decision, RANKS, &bytes);
    ck_assert(!keel_decision_is_packed(packed, sizeof(*packed) - 1, RANKS));
    ck_assert(!keel_decision_is_packed(packed, bytes + 1, RANKS));
    ck_assert(!keel_decision_is_packed(packed, bytes, 5));
    packed->ranks[1].rank = 3;
    ck_assert(!keel_decision_is_packed(packed, bytes, RANKS));
    packed->entries = RANKS + 1;
    ck_assert(!keel_decision_is_packed(packed, bytes, RANKS));
    keel_free(packed);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_packed_report_has_the_entry_of_each_rank, a_report_grows_with_the_ranks_that_differ,
                                  a_packed_decision_has_the_entry_of_each_rank, malformed_entries_are_refused, NULL};

    return unit_run("entries", tests);
}
