/* The lines about survived deaths. */
#include "base/outcome_text.h"

#include "unit.h"

#include <string.h>

#define RANKS 40

static uint32_t deaths[RANKS];
static uint8_t nodes[RANKS], sources[RANKS], scratch[RANKS];
static char *const hosts[] = {"n0", "n1", "n2", "n3"};
static char text[KEEL_OUTCOME_MAX];

static keel_outcome_facts_t facts_of(void)
{
    memset(deaths, 0, sizeof(deaths));
    memset(nodes, 0, sizeof(nodes));
    memset(sources, 0, sizeof(sources));
    return (keel_outcome_facts_t){.size = 5,
                                  .programs = 4,
                                  .deaths = deaths,
                                  .nodes = nodes,
                                  .node_count = 4,
                                  .host = hosts,
                                  .took_ns = 84200000,
                                  .sources = sources,
                                  .checkpoint = 12,
                                  .why = "rank 2: its log is incomplete"};
}

#define ck_line(_facts, _line)                                      \
    do {                                                            \
        keel_outcome_write(&(_facts), scratch, text, sizeof(text)); \
        ck_assert_str_eq(text, _line);                              \
    } while (0)

START_TEST(a_local_recovery_names_host_time_records_and_sources)
{
    keel_outcome_facts_t facts = facts_of();

    deaths[2] = nodes[3] = sources[0] = sources[1] = sources[3] = 1;
    facts.records = 8;
    facts.bytes = 16 << 20;
    ck_line(facts, "rank 2 died on n3; recovered in 84 ms: 8 put records replayed, checkpoint 12 (16 MiB) rebuilt from "
                   "ranks 0, 1, 3; other ranks kept their state");
    facts.is_own = 1;
    facts.records = 1;
    ck_line(facts, "rank 2 died on n3; recovered in 84 ms: 1 put record replayed, its own newer checkpoint (16 MiB) "
                   "rebuilt from ranks 0, 1, 3; other ranks kept their state");
}
END_TEST

START_TEST(without_a_checkpoint_the_replacement_starts_anew)
{
    keel_outcome_facts_t facts = facts_of();

    deaths[2] = nodes[3] = 1;
    facts.checkpoint = 0;
    ck_line(facts, "rank 2 died on n3; recovered in 84 ms: 0 put records replayed from the program's start; other "
                   "ranks kept their state");
}
END_TEST

START_TEST(a_rollback_names_lost_work_and_reason)
{
    keel_outcome_facts_t facts = facts_of();

    facts.is_rollback = 1;
    facts.took_ns = 1340000000;
    ck_line(facts, "all ranks rolled back to checkpoint 12 (1.3 s of work lost): rank 2: its log is incomplete");
    deaths[2] = nodes[3] = 1;
    ck_line(facts, "rank 2 died on n3; all ranks rolled back to checkpoint 12 (1.3 s of work lost): rank 2: its log "
                   "is incomplete");
    facts.checkpoint = 0;
    facts.is_for_good = 1;
    ck_line(facts, "rank 2 died on n3; all ranks rolled back to the program's start (1.3 s of work lost): rank 2: its "
                   "log is incomplete, as at every further death");
}
END_TEST

START_TEST(a_shrink_names_the_remaining_ranks)
{
    keel_outcome_facts_t facts = facts_of();

    deaths[2] = nodes[3] = 1;
    facts.is_rollback = 1;
    facts.remain = 4;
    ck_line(facts, "rank 2 died on n3; the job goes on with 4 ranks from checkpoint 12 (84 ms of work lost)");
    facts.checkpoint = 0;
    ck_line(facts, "rank 2 died on n3; the job goes on with 4 ranks from the program's start (84 ms of work lost)");
    facts.is_memory_kept = 1;
    ck_line(facts, "rank 2 died on n3; nothing replaces that rank: the other 4 go on with the memory that they have");
}
END_TEST

START_TEST(several_deaths_are_one_line)
{
    keel_outcome_facts_t facts = facts_of();

    deaths[0] = deaths[1] = nodes[0] = nodes[2] = 1;
    deaths[3] = 2;
    facts.checkpoint = 0;
    facts.host = NULL;
    ck_line(facts, "ranks 0, 1, 3 died on node 0, node 2 (4 deaths); recovered in 84 ms: 0 put records replayed from "
                   "the program's start; other ranks kept their state");
}
END_TEST

START_TEST(a_parity_rank_is_called_so)
{
    keel_outcome_facts_t facts = facts_of();

    deaths[4] = 1;
    ck_line(facts, "parity rank 4 died; recovered in 84 ms: 0 put records replayed; other ranks kept their state");
}
END_TEST

START_TEST(many_ranks_are_ranges_and_then_a_count)
{
    keel_outcome_facts_t facts = facts_of();

    facts.size = facts.programs = RANKS;
    facts.is_rollback = 1;
    for (uint32_t r = 8; r < 16; r++) {
        deaths[r] = 1;
    }
    deaths[20] = deaths[21] = 1;
    ck_line(facts, "ranks 8-15, 20, 21 died; all ranks rolled back to checkpoint 12 (84 ms of work lost): rank 2: its "
                   "log is incomplete");
    for (uint32_t r = 0; r < RANKS; r++) {
        deaths[r] = r % 2;
    }
    ck_line(facts, "ranks 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 8 more died; all ranks rolled back to "
                   "checkpoint 12 (84 ms of work lost): rank 2: its log is incomplete");
}
END_TEST

/* A line that is too long for its buffer is cut, and ends. */
START_TEST(a_line_stays_within_its_buffer)
{
    keel_outcome_facts_t facts = facts_of();
    char few[24];

    deaths[2] = 1;
    memset(text, 'x', sizeof(text));
    keel_outcome_write(&facts, scratch, few, sizeof(few));
    ck_assert_str_eq(few, "rank 2 died; recovered ");
}
END_TEST

START_TEST(the_sums_have_their_units)
{
    keel_outcome_sums_t sums = {
        .deaths = 2, .local = 1, .rollbacks = 1, .checkpoints = 14, .log_peak = 31 << 20, .log_most = 256 << 20};

    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "2 deaths, 1 recovered locally, 1 rollback, 14 checkpoints, log peak 31 of 256 MiB");
    sums = (keel_outcome_sums_t){.deaths = 1, .rollbacks = 2, .checkpoints = 1};
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "1 death, 0 recovered locally, 2 rollbacks, 1 checkpoint");
    sums.log_peak = 1536;
    sums.log_most = 64 << 10;
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "1 death, 0 recovered locally, 2 rollbacks, 1 checkpoint, log peak 1.5 of 64 KiB");
    sums.log_peak = 32 << 10;
    sums.log_most = 16 << 20;
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "1 death, 0 recovered locally, 2 rollbacks, 1 checkpoint, log peak 32 KiB of 16 MiB");
    sums.log_peak = 0;
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "1 death, 0 recovered locally, 2 rollbacks, 1 checkpoint, log peak 0 KiB of 16 MiB");
    sums = (keel_outcome_sums_t){.deaths = 2, .rollbacks = 1, .gone = 2};
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "2 deaths, 2 ranks gone");
    sums = (keel_outcome_sums_t){.deaths = 3, .local = 1, .rollbacks = 2, .gone = 1, .checkpoints = 4};
    keel_outcome_write_sums(&sums, text, sizeof(text));
    ck_assert_str_eq(text, "3 deaths, 1 rank gone, 1 recovered locally, 2 rollbacks, 4 checkpoints");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_local_recovery_names_host_time_records_and_sources,
                                  without_a_checkpoint_the_replacement_starts_anew,
                                  a_rollback_names_lost_work_and_reason,
                                  a_shrink_names_the_remaining_ranks,
                                  several_deaths_are_one_line,
                                  a_parity_rank_is_called_so,
                                  many_ranks_are_ranges_and_then_a_count,
                                  a_line_stays_within_its_buffer,
                                  the_sums_have_their_units,
                                  NULL};

    return unit_run("outcome_text", tests);
}
