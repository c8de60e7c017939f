/* Decisions of the leader on reports that random programs hardly ever produce. */
#include "recovery/decide.h"
#include "recovery/view.h"

#include "unit.h"

#include <string.h>

#define RANKS 3u /* one group; its parity covers one loss */
#define DEAD  2u
#define LEADS 1u /* not rank 0, so that a rank 0 written for the leader shows */
#define OLD   5u
#define NEW   7u

typedef struct scene {
    keel_lane_t lane;
    keel_peer_t peers[RANKS];
    keel_ckpt_t ckpt;
    uint32_t of_rank[RANKS], index[RANKS], size, members[RANKS];
    uint32_t *group;
    keel_recovery_t rec;
    struct {
        keel_report_t report;
        report_about_t about[RANKS];
    } said[RANKS];
    keel_report_t *reports[RANKS];
    struct {
        decision_t decision;
        decision_rank_t ranks[RANKS];
    } decided;
} scene_t;

static scene_t scene;

/* All ranks stand after generation NEW; DEAD is a replacement without an image. */
static void scene_begin(void)
{
    memset(&scene, 0, sizeof(scene));
    scene.group = scene.members;
    scene.size = RANKS;
    scene.lane = (keel_lane_t){.rank = LEADS, .leader = LEADS, .size = RANKS, .programs = RANKS, .peers = scene.peers};
    scene.ckpt.groups = (keel_groups_t){
        .count = 1, .of_rank = scene.of_rank, .index = scene.index, .size = &scene.size, .members = &scene.group};
    scene.ckpt.group = (keel_parity_group_t){.members = scene.members, .size = RANKS, .parities = 1};
    scene.rec = (keel_recovery_t){.lane = &scene.lane, .ckpt = &scene.ckpt, .reports = scene.reports};
    scene.peers[DEAD].incarnation = 1;
    for (uint32_t r = 0; r < RANKS; r++) {
        scene.members[r] = scene.index[r] = r;
        scene.reports[r] = &scene.said[r].report;
        scene.said[r].report = (keel_report_t){.state = (r == DEAD) ? KEEL_RANK_FRESH : KEEL_RANK_FRONT,
                                               .position = (r == DEAD) ? 0 : NEW + 1,
                                               .generation = (r == DEAD) ? 0 : NEW,
                                               .is_armed = 1,
                                               .sync = {.is_deterministic = 1, .waits_since = UINT32_MAX}};
    }
}

static const decision_t *decide(void)
{
    memset(&scene.decided, 0, sizeof(scene.decided));
    keel_view_decide(&scene.rec, &scene.decided.decision);
    return &scene.decided.decision;
}

START_TEST(a_share_that_could_not_be_computed_again_is_missing)
{
    scene_begin();
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    scene.said[1].report.is_armed = 0;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_CATASTROPHE);
}
END_TEST

/* The lacking share belongs to an older generation. The new generation is complete, but its
 * reporter does not know yet. */
START_TEST(a_share_of_an_older_generation_is_not_missed)
{
    scene_begin();
    scene.said[1].report.is_armed = 0;
    scene.said[1].report.generation = OLD;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    ck_assert_uint_eq(decide()->generation, NEW);
    ck_assert_uint_eq(decide()->ranks[1].has, KEEL_PARITY_HAS_ALL);
    ck_assert_uint_eq(decide()->ranks[DEAD].has, 0);
}
END_TEST

/* Any survivor may be the only rank that had begun the generation, or remembers it. */
START_TEST(a_generation_that_is_given_up_is_taken_again)
{
    scene_begin();
    scene.said[1].report.unmade = NEW; /* complete, as the other rank knows */
    ck_assert_uint_eq(decide()->is_retry_due, 0);
    scene.said[1].report.unmade = NEW + 1;
    ck_assert_uint_eq(decide()->is_retry_due, 1);
    scene.said[1].report.unmade = 0;
    scene.said[DEAD].report.unmade = UINT32_MAX;
    ck_assert_uint_eq(decide()->is_retry_due, 1);
}
END_TEST

/* Rank 0 awaits a value of a word; rank 1 has found a value there. */
static void scene_awaits(void)
{
    scene_begin();
    scene.said[0].report.is_prefix_closed = 1;
    scene.said[0].about[DEAD] =
        (report_about_t){.incarnation = 1, .touched = 1, .fetched = 1, .fetches_pending = 1, .serial = 7};
    scene.said[1].about[DEAD] = (report_about_t){.incarnation = 1, .touched = 1, .fetched = 1, .values_found = 1};
}

START_TEST(an_awaited_value_is_the_value_announced_to_another_rank)
{
    scene_awaits();
    scene.said[1].about[0].carried = (found_value_t){.old = 5, .clock = 3, .serial = 7};
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    ck_assert_uint_eq(scene.decided.ranks[0].carried.old, 5);
    ck_assert_uint_eq(scene.decided.ranks[0].hold_back_from, 0);
    scene.said[1].about[DEAD].may_lack_found = 1; /* values of other ranks */
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    scene.said[0].about[DEAD].values_pending = 1;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
}
END_TEST

START_TEST(else_it_is_fetched_again_behind_what_was_found)
{
    scene_awaits();
    scene.said[1].about[0].carried = (found_value_t){.old = 5, .clock = 3, .serial = 6};
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    ck_assert_uint_eq(scene.decided.ranks[0].carried.serial, 0);
    ck_assert_uint_eq(scene.decided.ranks[0].hold_back_from, DEAD + 1);
    ck_assert_uint_eq(scene.decided.ranks[1].hold_back_from, 0);
    scene.said[1].about[DEAD].values_found = 0;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    ck_assert_uint_eq(scene.decided.ranks[0].hold_back_from, 0);
    /* found before the pending fetch, and may include effects of rank 1 */
    scene.said[0].about[DEAD].values_found = 1;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    ck_assert_uint_eq(scene.decided.ranks[0].hold_back_from, DEAD + 1);
}
END_TEST

START_TEST(nor_is_it_if_a_rank_may_have_found_it_unannounced)
{
    scene_awaits();
    scene.said[1].about[DEAD].may_lack_found = 1;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_ROLLBACK);
    scene.said[1].about[DEAD].may_lack_found = 0;
    scene.said[0].about[DEAD].serial = 0; /* rank 0 awaits several values */
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_ROLLBACK);
    scene.said[0].about[DEAD].serial = 7;
    /* the program waits, so another rank may know the value in other ways */
    scene.said[0].about[DEAD].values_pending = 1;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_ROLLBACK);
    ck_assert_uint_eq(scene.decided.decision.is_in_doubt, 1);
}
END_TEST

/* The number after the last one would wrap around. */
START_TEST(the_last_rollback_and_the_last_replacement_are_followed_by_none)
{
    scene_begin();
    for (uint32_t r = 0; r < RANKS; r++) {
        scene.said[r].report.sync.is_deterministic = 0;
        scene.said[r].report.rollback = UINT32_MAX - 1;
    }
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_ROLLBACK);
    ck_assert_uint_eq(scene.decided.decision.rollback, UINT32_MAX);
    scene.said[0].report.rollback = UINT32_MAX;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_CATASTROPHE);

    scene_begin();
    scene.peers[DEAD].incarnation = KEEL_ARRIVE_INCARNATION_MAX;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_LOCAL);
    scene.peers[DEAD].incarnation++;
    ck_assert_uint_eq(decide()->mode, KEEL_DECISION_CATASTROPHE);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_share_that_could_not_be_computed_again_is_missing,
                                  a_share_of_an_older_generation_is_not_missed,
                                  a_generation_that_is_given_up_is_taken_again,
                                  an_awaited_value_is_the_value_announced_to_another_rank,
                                  else_it_is_fetched_again_behind_what_was_found,
                                  nor_is_it_if_a_rank_may_have_found_it_unannounced,
                                  the_last_rollback_and_the_last_replacement_are_followed_by_none,
                                  NULL};

    return unit_run("decide", tests);
}
