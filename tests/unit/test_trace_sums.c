/*
 * Sums of statistics over lives and ranks, and the figure: rules of the sums, drawn events, escaped
 * texts.
 */
#include "trace/trace_sums.h"
#include "trace/trace_timeline.h"

#include "base/memory.h"
#include "unit.h"

#include <string.h>

#define WORDS  (sizeof(keel_trace_words_t) / sizeof(uint64_t))
#define EVENTS 16

typedef struct scene {
    keel_trace_life_t lives[4];
    keel_trace_words_t words[4];
    uint64_t peaks[4][3];
    keel_trace_event_t events[4][EVENTS];
    keel_trace_job_t job;
} scene_t;

/* Ranks 0 and 1 have a life each; rank 2 has two, and the first was killed. */
static void scene_make(scene_t *scene)
{
    static const uint32_t ranks[] = {0, 1, 2, 2}, incarnations[] = {0, 0, 0, 1};

    memset(scene, 0, sizeof(*scene));
    for (unsigned i = 0; i < 4; i++) {
        keel_trace_words_t *words = &scene->words[i];

        scene->lives[i] = (keel_trace_life_t){.head = {.rank = ranks[i],
                                                       .incarnation = incarnations[i],
                                                       .size = 3,
                                                       .programs = 3,
                                                       .words = WORDS,
                                                       .left_ns = (i == 2) ? 0 : 1,
                                                       .host = "a<b&\"c"},
                                              .words = (uint64_t *)words,
                                              .peaks = scene->peaks[i],
                                              .events = scene->events[i],
                                              .end_ns = 9000000};
        words->stats.puts = 10 + i;
        words->stats.put_log_peak = 100 * (i + 1);
        words->stats.checkpoints = 4;
        words->copy_ns = 1000;
        words->stats.recovery_ns[2] = i;
        scene->peaks[i][1] = 70 + i;
    }
    scene->job = (keel_trace_job_t){.lives = scene->lives, .count = 4, .size = 3};
}

static uint64_t value_of(const keel_trace_sums_t *sums, const uint64_t *values, const char *name)
{
    for (size_t f = 0; f < sums->fields; f++) {
        if (strcmp(keel_trace_fields[f].name, name) == 0) {
            return values[f];
        }
    }
    ck_abort_msg("no field %s", name);
    return 0;
}

START_TEST(lives_that_died_count)
{
    keel_trace_sums_t sums;
    scene_t scene;

    scene_make(&scene);
    ck_assert_int_eq(keel_trace_sums_make(&scene.job, &sums), 0);
    ck_assert_uint_eq(value_of(&sums, sums.job, "puts"), 10 + 11 + 12 + 13);
    ck_assert_uint_eq(value_of(&sums, &sums.ranks[2 * sums.fields], "puts"), 12 + 13);
    /* the peak of a rank comes from one life, and the peak of the job from one rank */
    ck_assert_uint_eq(value_of(&sums, &sums.ranks[2 * sums.fields], "put_log_peak"), 400);
    ck_assert_uint_eq(value_of(&sums, sums.job, "put_log_peak"), 400);
    /* each rank counts the checkpoints of the job */
    ck_assert_uint_eq(value_of(&sums, sums.job, "checkpoints"), 8);
    ck_assert_uint_eq(value_of(&sums, sums.job, "checkpoint_copy_ns"), 4000);
    ck_assert_uint_eq(value_of(&sums, sums.job, "recovery_rebuild_ns"), 0 + 1 + 2 + 3);
    ck_assert_uint_eq(keel_trace_deaths(&scene.job), 1);
    keel_trace_sums_release(&sums);
}
END_TEST

/* a life of a library with fewer statistics */
START_TEST(missing_words_are_0)
{
    keel_trace_sums_t sums;
    scene_t scene;

    scene_make(&scene);
    scene.lives[1].head.words = 2;
    ck_assert_int_eq(keel_trace_sums_make(&scene.job, &sums), 0);
    ck_assert_uint_eq(value_of(&sums, &sums.ranks[sums.fields], "puts"), 0);
    ck_assert_uint_eq(value_of(&sums, &sums.ranks[sums.fields], "checkpoint_copy_ns"), 1000);
    keel_trace_sums_release(&sums);
}
END_TEST

/* Each field of keel_stats_t is in the list once, or is a value of a moment. */
START_TEST(all_statistics_are_summed)
{
    const size_t moments[] = {offsetof(keel_stats_t, put_log_bytes),
                              offsetof(keel_stats_t, get_log_bytes),
                              offsetof(keel_stats_t, checkpoint_copy_ns),
                              offsetof(keel_stats_t, checkpoint_safe_ns),
                              offsetof(keel_stats_t, checkpoint_work_ns),
                              offsetof(keel_stats_t, generation),
                              offsetof(keel_stats_t, deaths),
                              offsetof(keel_stats_t, transfer_ns),
                              offsetof(keel_stats_t, checkpoint_parity_ns),
                              offsetof(keel_stats_t, checkpoint_parity_bytes),
                              offsetof(keel_stats_t, window_calls_due)};
    unsigned times[WORDS] = {0};

    for (const keel_trace_field_t *field = keel_trace_fields; field->name != NULL; field++) {
        ck_assert_uint_lt(field->word, WORDS);
        times[field->word]++;
    }
    for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
        times[(offsetof(keel_trace_words_t, stats) + moments[i]) / sizeof(uint64_t)]++;
    }
    for (size_t word = offsetof(keel_trace_words_t, stats) / sizeof(uint64_t); word < WORDS; word++) {
        ck_assert_msg(times[word] == 1, "word %zu is there %u times", word, times[word]);
    }
}
END_TEST

typedef int (*writer_t)(const keel_trace_job_t *job, FILE *stream);

/* Writes to memory; the caller frees the text. */
static char *text_of(const scene_t *scene, writer_t write)
{
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    ck_assert_int_eq(write(&scene->job, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

START_TEST(text_and_json_have_the_sums)
{
    scene_t scene;
    char *text;

    scene_make(&scene);
    text = text_of(&scene, keel_trace_sums_text);
    ck_assert_ptr_nonnull(strstr(text, "ranks 3\nlives 4\ndeaths 1\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nputs                                 46               10               25  2\n"));
    ck_assert_ptr_nonnull(strstr(text, "put log of rank 2 towards rank 1: at most 73 bytes\n"));
    free(text);
    text = text_of(&scene, keel_trace_sums_json);
    ck_assert_ptr_nonnull(
        strstr(text, "{\"job\":{\"ranks\":3,\"lives\":4,\"deaths\":1,\"areas_unreadable\":0,\"puts\":46,"));
    ck_assert_ptr_nonnull(strstr(text, "\"put_log_peak_by_target\":{\"1\":73}"));
    ck_assert_ptr_nonnull(strstr(text, "\"rank\":2,\"incarnation\":0,\"process\":0,\"node\":0,\"ended\":\"killed\""));
    free(text);
}
END_TEST

static void scene_event(scene_t *scene, unsigned life, uint64_t ns, keel_trace_kind_t kind, uint16_t flags,
                        uint32_t number, uint64_t value)
{
    scene->events[life][scene->lives[life].count++] =
        (keel_trace_event_t){.ns = ns, .kind = (uint16_t)kind, .flags = flags, .number = number, .value = {value, 1}};
}

static unsigned times_of(const char *text, const char *part)
{
    unsigned times = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) {
        times++;
    }
    return times;
}

START_TEST(the_figure_shows_the_recovery)
{
    scene_t scene;
    char *text;

    scene_make(&scene);
    for (unsigned i = 0; i < 3; i++) { /* a gsync long before, and a gsync at the death */
        scene_event(&scene, i, 1000, KEEL_TRACE_GSYNC, KEEL_TRACE_IS_BEGIN, 1, 0);
        scene_event(&scene, i, 2000, KEEL_TRACE_GSYNC, KEEL_TRACE_IS_END, 1, 0);
        scene_event(&scene, i, 4000000 + i, KEEL_TRACE_GSYNC, KEEL_TRACE_IS_BEGIN, 2, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        scene_event(&scene, i, 5000000, KEEL_TRACE_DEATH, 0, 2, 0);
        scene_event(&scene, i, 5000000, KEEL_TRACE_VIEW, KEEL_TRACE_IS_BEGIN, 0, 0);
        scene_event(&scene, i, 6000000, KEEL_TRACE_VIEW, KEEL_TRACE_IS_END, 0, 0);
        scene_event(&scene, i, 6000000, KEEL_TRACE_DECISION, 0, 1, 1);
        scene_event(&scene, i, 6500000, KEEL_TRACE_HAND_OVER, 0, 2, 1);
    }
    scene_event(&scene, 3, 6100000, KEEL_TRACE_REBUILD, 0, 1, 6000000);
    scene_event(&scene, 3, 6300000, KEEL_TRACE_REPLAY, KEEL_TRACE_IS_BEGIN, 1, 0);
    scene_event(&scene, 3, 7000000, KEEL_TRACE_REPLAY, KEEL_TRACE_IS_END, 2, 0);
    text = text_of(&scene, keel_trace_timeline_write);
    for (unsigned rank = 0; rank < 3; rank++) {
        char label[32];

        snprintf(label, sizeof(label), ">rank %u</text>", rank);
        ck_assert_uint_eq(times_of(text, label), 1);
    }
    ck_assert_uint_eq(times_of(text, "<title>death of rank 2"), 1);
    ck_assert_uint_eq(times_of(text, "class=\"view\"><title>"), 2);
    ck_assert_uint_eq(times_of(text, "class=\"rebuild\"><title>"), 1);
    ck_assert_uint_eq(times_of(text, "class=\"replay\"><title>"), 1);
    ck_assert_uint_eq(times_of(text, "<title>decision"), 2);
    ck_assert_uint_eq(times_of(text, "<title>1 records"), 2);
    /* nothing of gsync 1 is shown, and texts of the system are escaped */
    ck_assert_uint_eq(times_of(text, "<title>gsync 1"), 0);
    ck_assert_uint_eq(times_of(text, "<title>gsync 2"), 3);
    ck_assert_uint_eq(times_of(text, "a&#60;b&#38;&#34;c"), 3);
    ck_assert_ptr_nonnull(strstr(text, "1 death, "));
    free(text);
}
END_TEST

START_TEST(a_large_job_has_the_rows_of_dead_ranks)
{
    enum { RANKS = 100 };
    scene_t scene;
    keel_trace_life_t *lives = keel_alloc(RANKS * sizeof(*lives), "lives");
    uint64_t peaks[RANKS] = {0};
    char *text;

    scene_make(&scene);
    for (uint32_t i = 0; i < RANKS; i++) {
        lives[i] = scene.lives[0];
        lives[i].head.rank = i;
        lives[i].head.size = RANKS;
        lives[i].head.left_ns = (i == 77) ? 0 : 1;
        lives[i].peaks = peaks;
    }
    scene.job = (keel_trace_job_t){.lives = lives, .count = RANKS, .size = RANKS};
    text = text_of(&scene, keel_trace_timeline_write);
    ck_assert_uint_eq(times_of(text, "class=\"rank\">rank "), KEEL_TIMELINE_ROWS);
    ck_assert_uint_eq(times_of(text, ">rank 77</text>"), 1);
    ck_assert_uint_eq(times_of(text, ">rank 30</text>"), 1);
    ck_assert_uint_eq(times_of(text, ">rank 31</text>"), 0);
    ck_assert_ptr_nonnull(strstr(text, "68 other ranks are not drawn"));
    free(text);
    keel_free(lives);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {lives_that_died_count,
                                  missing_words_are_0,
                                  all_statistics_are_summed,
                                  text_and_json_have_the_sums,
                                  the_figure_shows_the_recovery,
                                  a_large_job_has_the_rows_of_dead_ranks,
                                  NULL};

    return unit_run("trace_sums", tests);
}
