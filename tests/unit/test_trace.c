/*
 * Areas of events: order, full rings, torn and truncated areas, spans, clocks, the folder and its
 * end. The schema of the trace is checked by tests/proc/trace_check.py.
 */
#include "trace/trace_folder.h"
#include "trace/trace_job.h"
#include "trace/trace_json.h"
#include "trace/trace_spans.h"

#include "base/memory.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static int dir;
static uint64_t now;

static uint64_t tick(void *arg)
{
    return now++;
}

static void folder_setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/keel_trace.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    dir = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(dir, 0);
    now = 1000;
}

static void folder_teardown(void)
{
    close(dir);
    keel_trace_folder_remove(folder);
    ck_assert_int_ne(access(folder, F_OK), 0);
}

static const char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static keel_trace_params_t params_of(uint32_t rank, uint32_t incarnation, uint32_t events)
{
    static char path[192];
    keel_trace_params_t params = {
        .path = path,
        .head = {.rank = rank, .incarnation = incarnation, .size = 4, .programs = 4, .words = 3, .begun_ns = now},
        .now = tick};
    char name[KEEL_TRACE_NAME_MAX];

    keel_trace_area_name(name, 0, rank, incarnation);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    keel_trace_divide(events, params.head.capacity);
    return params;
}

static keel_trace_t open_area(uint32_t rank, uint32_t incarnation, uint32_t events)
{
    const keel_trace_params_t params = params_of(rank, incarnation, events);
    keel_trace_t trace;

    ck_assert_int_eq(keel_trace_open(&params, &trace), 0);
    return trace;
}

static keel_trace_life_t read_area(uint32_t rank, uint32_t incarnation)
{
    char name[KEEL_TRACE_NAME_MAX];
    keel_trace_life_t life;

    keel_trace_area_name(name, 0, rank, incarnation);
    ck_assert_int_eq(keel_trace_life_read(dir, name, &life), 0);
    return life;
}

START_TEST(events_come_back_in_the_order_of_time)
{
    keel_trace_t trace = open_area(1, 0, 64);
    keel_trace_life_t life;

    keel_trace_begin(&trace, KEEL_TRACE_GSYNC, 7);
    keel_trace_instant(&trace, KEEL_TRACE_DEATH, 2, 5, 0);
    keel_trace_end(&trace, KEEL_TRACE_GSYNC, 7);
    keel_trace_instant(NULL, KEEL_TRACE_DEATH, 2, 5, 0); /* no trace: nothing happens */
    keel_trace_close(&trace);
    life = read_area(1, 0);
    ck_assert_uint_eq(life.count, 3);
    ck_assert_int_eq(life.events[0].kind, KEEL_TRACE_GSYNC);
    ck_assert_int_eq(life.events[1].kind, KEEL_TRACE_DEATH);
    ck_assert_uint_eq(life.events[1].number, 2);
    ck_assert_uint_eq(life.events[1].value[0], 5);
    ck_assert_int_eq(life.events[2].flags, KEEL_TRACE_IS_END);
    ck_assert_uint_eq(life.overwritten + life.torn, 0);
    ck_assert_uint_gt(life.head.left_ns, life.events[2].ns);
    ck_assert_uint_eq(life.end_ns, life.head.left_ns);
    keel_trace_life_release(&life);
}
END_TEST

START_TEST(frequent_events_overwrite_themselves_alone)
{
    keel_trace_t trace = open_area(0, 0, 16);
    const uint32_t capacity = trace.head->capacity[KEEL_TRACE_OFTEN];
    keel_trace_life_t life;

    keel_trace_instant(&trace, KEEL_TRACE_DEATH, 3, 0, 0);
    for (uint32_t i = 0; i < 100; i++) {
        keel_trace_instant(&trace, KEEL_TRACE_COMMIT, i, 0, 0);
    }
    life = read_area(0, 0);
    ck_assert_uint_eq(life.count, capacity + 1);
    ck_assert_uint_eq(life.overwritten, 100 - capacity);
    ck_assert_int_eq(life.events[0].kind, KEEL_TRACE_DEATH);
    for (uint32_t i = 0; i < capacity; i++) {
        ck_assert_uint_eq(life.events[i + 1].number, 100 - capacity + i);
    }
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

/* the life ends after each of the steps of a write */
START_TEST(an_event_without_its_mark_is_torn)
{
    keel_trace_t trace = open_area(0, 0, 16);
    keel_trace_event_t *event = &trace.ring[KEEL_TRACE_OFTEN][2];
    const uint64_t marks[] = {0, 2, 4, UINT64_MAX}; /* none, an older one, wrong ones */
    keel_trace_life_t life;

    for (uint32_t i = 0; i < 3; i++) {
        keel_trace_instant(&trace, KEEL_TRACE_COMMIT, i, 0, 0);
    }
    for (unsigned i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
        event->mark = marks[i];
        life = read_area(0, 0);
        ck_assert_uint_eq(life.count, 2);
        ck_assert_uint_eq(life.torn, 1);
        ck_assert_uint_eq(life.head.left_ns, 0);
        keel_trace_life_release(&life);
    }
    event->mark = 3;
    event->kind = KEEL_TRACE_KIND_LAST; /* of a later version */
    life = read_area(0, 0);
    ck_assert_uint_eq(life.torn, 1);
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

START_TEST(a_truncated_area_has_its_first_events)
{
    keel_trace_t trace = open_area(0, 0, 16);
    const keel_trace_layout_t layout = keel_trace_layout(trace.head);
    char name[KEEL_TRACE_NAME_MAX];
    keel_trace_life_t life;

    for (uint32_t i = 0; i < 8; i++) {
        keel_trace_instant(&trace, KEEL_TRACE_COMMIT, i, 0, 0);
    }
    keel_trace_close(&trace);
    keel_trace_area_name(name, 0, 0, 0);
    for (size_t bytes = layout.end; bytes-- > 0;) {
        /* of a mark of 1 to 8 the first byte is enough */
        const size_t whole = (bytes > layout.ring[0]) ? (bytes - layout.ring[0] + 7) / sizeof(keel_trace_event_t) : 0;
        int error;

        ck_assert_int_eq(truncate(path_of(name), (off_t)bytes), 0);
        error = keel_trace_life_read(dir, name, &life);
        ck_assert_int_eq(error, (bytes < sizeof(keel_trace_head_t)) ? EBADMSG : 0);
        if (error == 0) {
            ck_assert_int_ne(life.is_truncated, 0);
            ck_assert_uint_eq(life.count, (whole < 8) ? whole : 8);
            ck_assert_uint_eq(life.torn, 8 - life.count);
            keel_trace_life_release(&life);
        }
    }
}
END_TEST

static void change_head(keel_trace_head_t *head, unsigned which)
{
    switch (which) {
    case 0:
        head->magic[0] ^= 1;
        break;
    case 1:
        head->version++;
        break;
    case 2:
        head->bytes--;
        break;
    case 3:
        head->size = 0;
        break;
    case 4:
        head->rank = head->size;
        break;
    case 5:
        head->size = UINT32_MAX;
        break;
    case 6:
        head->words = UINT32_MAX;
        break;
    case 7:
        head->capacity[0] = UINT32_MAX;
        break;
    case 8:
        head->programs = head->size + 1;
        break;
    default:
        head->capacity[1] = KEEL_TRACE_EVENTS_MAX + 1;
    }
}

START_TEST(heads_that_cannot_be_right_are_refused)
{
    keel_trace_t trace = open_area(2, 1, 16);
    const keel_trace_head_t right = *trace.head;
    char name[KEEL_TRACE_NAME_MAX];
    keel_trace_life_t life;
    keel_trace_job_t job;

    keel_trace_area_name(name, 0, 2, 1);
    for (unsigned which = 0; which < 10; which++) {
        change_head(trace.head, which);
        ck_assert_int_eq(keel_trace_life_read(dir, name, &life), EBADMSG);
        ck_assert_int_eq(keel_trace_job_read(folder, &job), 0);
        ck_assert_uint_eq(job.count, 0);
        ck_assert_uint_eq(job.unreadable, 1);
        keel_trace_job_release(&job);
        *trace.head = right;
    }
    life = read_area(2, 1);
    ck_assert_uint_eq(life.head.incarnation, 1);
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

START_TEST(the_newest_complete_snapshot_counts)
{
    keel_trace_t trace = open_area(0, 0, 0);
    keel_trace_life_t life = read_area(0, 0);

    ck_assert_uint_eq(life.words[0], 0);
    keel_trace_life_release(&life);
    for (uint64_t i = 1; i <= 4; i++) {
        const uint64_t words[3] = {i, 10 * i, 100 * i};

        keel_trace_write_snapshot(&trace, words);
        /* the life ends within the next snapshot */
        trace.snapshots[(i + 1) % 2][0] = 77;
        life = read_area(0, 0);
        ck_assert_uint_eq(life.words[0], i);
        ck_assert_uint_eq(life.words[2], 100 * i);
        keel_trace_life_release(&life);
    }
    keel_trace_write_peak(&trace, 3, 50);
    keel_trace_write_peak(&trace, 3, 40);
    keel_trace_instant(&trace, KEEL_TRACE_DEATH, 1, 0, 0); /* the area has no room for events */
    life = read_area(0, 0);
    ck_assert_uint_eq(life.peaks[3], 50);
    ck_assert_uint_eq(life.count + life.torn + life.overwritten, 0);
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

static const keel_trace_item_t *item_of(const keel_trace_item_t *items, size_t count, keel_trace_kind_t kind)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind == kind) {
            return &items[i];
        }
    }
    ck_abort_msg("no item of kind %d", (int)kind);
    return NULL;
}

START_TEST(spans_have_both_ends)
{
    keel_trace_t trace = open_area(0, 0, 64);
    keel_trace_item_t *items;
    const keel_trace_item_t *item;
    keel_trace_life_t life;
    size_t count;

    now = 2000;
    keel_trace_end(&trace, KEEL_TRACE_REPLAY, 4); /* the begin was overwritten */
    now = 2100;
    keel_trace_begin(&trace, KEEL_TRACE_GSYNC, 5);
    now = 2300;
    keel_trace_span(&trace, KEEL_TRACE_COPY, 5, 2200, 99);
    keel_trace_end(&trace, KEEL_TRACE_GSYNC, 5);
    now = 2400;
    keel_trace_begin(&trace, KEEL_TRACE_VIEW, 0); /* and the life ends */
    now = 2500;
    keel_trace_instant(&trace, KEEL_TRACE_DEATH, 1, 0, 0);
    life = read_area(0, 0);
    ck_assert_int_eq(keel_trace_items(&life, &items, &count), 0);
    item = item_of(items, count, KEEL_TRACE_REPLAY);
    ck_assert_int_ne(item->lacks_begin, 0);
    ck_assert_uint_eq(item->end_ns, 2000);
    item = item_of(items, count, KEEL_TRACE_GSYNC);
    ck_assert_uint_eq(item->begin_ns, 2100);
    ck_assert_uint_eq(item->end_ns, 2301);
    ck_assert_int_eq(item->lacks_end, 0);
    item = item_of(items, count, KEEL_TRACE_PHASE);
    ck_assert_uint_eq(item->number, 5);
    ck_assert_uint_eq(item->begin_ns, 2301);
    ck_assert_int_ne(item->lacks_end, 0);
    item = item_of(items, count, KEEL_TRACE_COPY);
    ck_assert_uint_eq(item->begin_ns, 2200);
    ck_assert_uint_eq(item->end_ns, 2300);
    ck_assert_uint_eq(item->value[1], 99);
    item = item_of(items, count, KEEL_TRACE_VIEW);
    ck_assert_uint_eq(item->end_ns, 2500);
    ck_assert_int_ne(item->lacks_end, 0);
    keel_free(items);
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

/* the last event is the end of a gsync: the life was killed in the phase after it */
START_TEST(a_killed_life_ends_in_a_phase)
{
    keel_trace_t trace = open_area(0, 0, 16);
    keel_trace_item_t *items;
    const keel_trace_item_t *item;
    keel_trace_life_t life;
    size_t count;

    keel_trace_begin(&trace, KEEL_TRACE_GSYNC, 3);
    keel_trace_end(&trace, KEEL_TRACE_GSYNC, 3);
    life = read_area(0, 0);
    ck_assert_int_eq(keel_trace_items(&life, &items, &count), 0);
    item = item_of(items, count, KEEL_TRACE_PHASE);
    ck_assert_uint_eq(item->number, 3);
    ck_assert_int_ne(item->lacks_end, 0);
    keel_free(items);
    keel_trace_life_release(&life);
    keel_trace_close(&trace);
}
END_TEST

/* the time before the oldest frequent event is unknown: no span reaches across */
START_TEST(spans_begin_behind_what_was_overwritten)
{
    keel_trace_t trace = open_area(0, 0, 16);
    uint64_t oldest = UINT64_MAX;
    keel_trace_item_t *items;
    keel_trace_life_t life;
    size_t count;

    now = 2000;
    keel_trace_span(&trace, KEEL_TRACE_START, 0, 1000, 0);
    for (uint32_t i = 1; i <= 20; i++) {
        keel_trace_begin(&trace, KEEL_TRACE_GSYNC, i);
        keel_trace_instant(&trace, KEEL_TRACE_COMMIT, i, 0, 0);
        keel_trace_end(&trace, KEEL_TRACE_GSYNC, i);
    }
    keel_trace_close(&trace);
    life = read_area(0, 0);
    for (size_t i = life.count; i-- > 0 && life.events[i].kind != KEEL_TRACE_START;) {
        oldest = life.events[i].ns;
    }
    ck_assert_int_eq(keel_trace_items(&life, &items, &count), 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert(items[i].kind == KEEL_TRACE_START || items[i].begin_ns >= oldest);
        ck_assert(!items[i].lacks_begin || items[i].number <= 17);
    }
    ck_assert_uint_eq(item_of(items, count, KEEL_TRACE_PHASE)->number, 17);
    keel_free(items);
    keel_trace_life_release(&life);
}
END_TEST

/* Ranks 0 and 1 have one clock, and read the time of day at different moments. Rank 2 has another
 * clock. */
START_TEST(times_of_one_clock_keep_their_order)
{
    const uint64_t days[] = {1000000, 1000500, 5000000}, times[] = {10000, 10100, 6000100};
    keel_trace_job_t job;

    for (uint32_t rank = 0; rank < 3; rank++) {
        keel_trace_t trace;

        now = times[rank];
        trace = open_area(rank, 0, 64);
        trace.head->day_ns = days[rank];
        snprintf(trace.head->clock, sizeof(trace.head->clock), "%s", (rank < 2) ? "one" : "two");
        keel_trace_instant(&trace, KEEL_TRACE_COMMIT, 1, 0, 0);
        keel_trace_close(&trace);
    }
    ck_assert_int_eq(keel_trace_job_read(folder, &job), 0);
    ck_assert_uint_eq(job.count, 3);
    ck_assert_uint_eq(job.lives[0].events[0].ns, 0);
    ck_assert_uint_eq(job.lives[1].events[0].ns, 100); /* not 600 */
    ck_assert_uint_eq(job.lives[2].events[0].ns, 6000100 + 5000000 - 1010000);
    ck_assert_uint_eq(job.size, 4);
    keel_trace_job_release(&job);
}
END_TEST

/* for real: the child is killed amid its writes */
START_TEST(a_killed_life_has_all_events_but_one)
{
    for (unsigned round = 0; round < 20; round++) {
        keel_trace_life_t life;
        uint64_t expected;
        int pipes[2];
        pid_t child;
        char byte;

        ck_assert_int_eq(pipe(pipes), 0);
        child = fork();
        if (child == 0) {
            keel_trace_t trace = open_area(0, round, 4096);

            for (uint32_t i = 0;; i++) {
                keel_trace_instant(&trace, KEEL_TRACE_COMMIT, i, i, ~(uint64_t)i);
                if (i == 100 + round && write(pipes[1], "x", 1) != 1) {
                    _exit(1);
                }
            }
        }
        ck_assert_int_eq(read(pipes[0], &byte, 1), 1);
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
        close(pipes[0]);
        close(pipes[1]);
        life = read_area(0, round);
        ck_assert_uint_le(life.torn, 1);
        ck_assert_uint_gt(life.count, 100);
        expected = life.events[0].number;
        for (size_t i = 0; i < life.count; i++, expected++) {
            ck_assert_uint_eq(life.events[i].number, expected);
            ck_assert_uint_eq(life.events[i].value[1], ~(uint64_t)life.events[i].number);
        }
        keel_trace_life_release(&life);
    }
}
END_TEST

START_TEST(the_last_rank_that_leaves_writes_the_file)
{
    char file[128];
    const keel_trace_files_t files = {.trace = file};
    const char *failed;

    snprintf(file, sizeof(file), "%s.json", folder);
    for (uint32_t rank = 0; rank < 4; rank++) {
        keel_trace_t trace = open_area(rank, 0, 16);

        keel_trace_close(&trace);
        ck_assert_int_eq(access(folder, F_OK), 0);
        ck_assert_int_eq(keel_trace_folder_leave(folder, &files, 4, &failed), 0);
        ck_assert_int_eq(access(file, F_OK) == 0, rank == 3);
    }
    ck_assert_int_ne(access(folder, F_OK), 0);
    ck_assert_int_eq(unlink(file), 0);
}
END_TEST

START_TEST(what_an_earlier_job_left_is_removed)
{
    keel_trace_job_t job;

    for (uint32_t rank = 0; rank < 4; rank++) {
        keel_trace_t trace = open_area(rank, 0, 16);

        keel_trace_close(&trace);
    }
    keel_trace_folder_clear(folder, 1, 4); /* of rank 1 alone */
    ck_assert_int_eq(keel_trace_job_read(folder, &job), 0);
    ck_assert_uint_eq(job.count, 3);
    ck_assert_uint_eq(job.lives[1].head.rank, 2);
    keel_trace_job_release(&job);
    keel_trace_folder_clear(folder, 0, 2); /* now there are two ranks */
    ck_assert_int_eq(keel_trace_job_read(folder, &job), 0);
    ck_assert_uint_eq(job.count, 0);
    keel_trace_job_release(&job);
}
END_TEST

START_TEST(a_file_that_cannot_be_written_is_named)
{
    const keel_trace_files_t files = {.trace = "/nonexistent/trace.json"};
    const char *failed;

    ck_assert_int_eq(keel_trace_folder_write(folder, &files, &failed), ENOENT);
    ck_assert_str_eq(failed, files.trace);
    ck_assert_int_eq(keel_trace_folder_write("/nonexistent", &files, &failed), ENOENT);
    ck_assert_str_eq(failed, "/nonexistent");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {events_come_back_in_the_order_of_time,
                                  frequent_events_overwrite_themselves_alone,
                                  an_event_without_its_mark_is_torn,
                                  a_truncated_area_has_its_first_events,
                                  heads_that_cannot_be_right_are_refused,
                                  the_newest_complete_snapshot_counts,
                                  spans_have_both_ends,
                                  a_killed_life_ends_in_a_phase,
                                  spans_begin_behind_what_was_overwritten,
                                  times_of_one_clock_keep_their_order,
                                  a_killed_life_has_all_events_but_one,
                                  the_last_rank_that_leaves_writes_the_file,
                                  what_an_earlier_job_left_is_removed,
                                  a_file_that_cannot_be_written_is_named,
                                  NULL};
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, UNIT_TIMEOUT_S);
    tcase_add_checked_fixture(tcase, folder_setup, folder_teardown);
    for (unsigned i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
