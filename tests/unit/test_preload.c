/* The accounting of libkeel-preload.so, without UCX: counts, sizes, peaks, sums and JSON. */
#include "preload/preload_advice.h"
#include "preload/preload_json.h"
#include "preload/preload_ring.h"
#include "preload/preload_targets.h"
#include "preload/preload_text.h"
#include "preload/preload_thread.h"

#include "base/units.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

/* handles: addresses without content */
static char handles[16];
#define EP(_i)     ((const void *)&handles[_i])
#define WORKER(_i) ((const void *)&handles[8 + (_i)])

static char data[300000];

static void access_make(preload_kind_t kind, const void *ep, size_t length)
{
    const preload_access_t access = {.kind = kind, .ep = ep, .address = 64, .data = data, .length = length};

    preload_thread_access(preload_thread(), &access);
}

static void flush_target(const void *ep)
{
    preload_targets_find(ep)->flushes++;
}

/* finds a target by uid */
static const preload_target_sum_t *target_of(const preload_report_t *report, uint64_t uid)
{
    for (size_t i = 0; i < report->target_count; i++) {
        if (report->targets[i].uid == uid) {
            return &report->targets[i];
        }
    }
    ck_abort_msg("no target %llu", (unsigned long long)uid);
    return NULL;
}

START_TEST(records_have_the_sizes_of_keels_logs)
{
    const size_t most = PRELOAD_RECORD_MAX;

    ck_assert_uint_eq(preload_ring_bytes(0, 16), 16);
    ck_assert_uint_eq(preload_ring_bytes(1, 16), 24);
    ck_assert_uint_eq(preload_ring_bytes(8, 16), 24);
    ck_assert_uint_eq(preload_ring_bytes(9, 24), 40);
    ck_assert_uint_eq(preload_ring_bytes(most, 16), 16 + most);
    ck_assert_uint_eq(preload_ring_bytes(most + 1, 16), 2 * 16 + most + 8);
}
END_TEST

START_TEST(accesses_count_at_their_targets)
{
    preload_report_t report;

    preload_targets_add(EP(0), WORKER(0), 100);
    preload_targets_add(EP(1), WORKER(0), 200);
    access_make(PRELOAD_PUT, EP(0), 10);
    access_make(PRELOAD_PUT, EP(1), 100);
    access_make(PRELOAD_ATOMIC, EP(1), 8);
    access_make(PRELOAD_GET, EP(1), 50);
    access_make(PRELOAD_PUT, EP(7), 5); /* an unknown endpoint */
    preload_report_init(&report);
    preload_thread_report(&report);
    ck_assert_uint_eq(report.calls[PRELOAD_PUT], 3);
    ck_assert_uint_eq(report.bytes[PRELOAD_PUT], 115);
    ck_assert_uint_eq(report.put_log, (16 + 16) + (16 + 104) + (16 + 32) + (16 + 8));
    ck_assert_uint_eq(report.get_log, 24 + 56);
    ck_assert_uint_eq(target_of(&report, 100)->put_log, 32);
    ck_assert_uint_eq(target_of(&report, 200)->put_log, 120 + 48);
    ck_assert_uint_eq(target_of(&report, 200)->get_log, 80);
    ck_assert_uint_eq(target_of(&report, 200)->calls[PRELOAD_ATOMIC], 1);
    ck_assert_uint_eq(target_of(&report, 0)->bytes[PRELOAD_PUT], 5);
    ck_assert_uint_eq(report.target_count, 3);
    preload_report_release(&report);
}
END_TEST

START_TEST(peaks_begin_anew_at_flushes)
{
    preload_report_t report;

    preload_targets_add(EP(0), WORKER(0), 100);
    preload_targets_add(EP(1), WORKER(1), 200);
    for (int i = 0; i < 3; i++) {
        access_make(PRELOAD_PUT, EP(0), 8); /* 24 bytes */
        access_make(PRELOAD_PUT, EP(1), 8);
    }
    flush_target(EP(0));
    access_make(PRELOAD_PUT, EP(0), 8);
    access_make(PRELOAD_PUT, EP(1), 8);
    preload_targets_worker(WORKER(1))->flushes++;
    access_make(PRELOAD_PUT, EP(0), 8);
    access_make(PRELOAD_PUT, EP(1), 8);
    preload_report_init(&report);
    preload_thread_report(&report);
    ck_assert_uint_eq(target_of(&report, 100)->peak, 3 * 24);
    ck_assert_uint_eq(target_of(&report, 200)->peak, 4 * 24);
    ck_assert_uint_eq(report.peak, 7 * 24);
    preload_report_release(&report);
}
END_TEST

/* an endpoint is destroyed, and the next endpoint has the same address */
START_TEST(handles_may_get_another_target)
{
    preload_report_t report;

    preload_targets_add(EP(0), WORKER(0), 100);
    access_make(PRELOAD_PUT, EP(0), 8);
    preload_targets_add(EP(0), WORKER(0), 200);
    access_make(PRELOAD_PUT, EP(0), 8);
    access_make(PRELOAD_PUT, EP(0), 8);
    preload_targets_add(EP(0), WORKER(0), 100);
    access_make(PRELOAD_PUT, EP(0), 8);
    preload_report_init(&report);
    preload_thread_report(&report);
    ck_assert_uint_eq(target_of(&report, 100)->calls[PRELOAD_PUT], 2);
    ck_assert_uint_eq(target_of(&report, 200)->calls[PRELOAD_PUT], 2);
    preload_report_release(&report);
}
END_TEST

static char many[4096];

START_TEST(many_endpoints_are_told_apart)
{
    preload_report_t report;

    for (size_t round = 1; round <= 3; round++) {
        for (size_t i = 0; i < sizeof(many); i++) {
            if (round == 1) {
                preload_targets_add(&many[i], WORKER(0), 1000 + i);
            }
            access_make(PRELOAD_PUT, &many[i], 8);
        }
    }
    preload_report_init(&report);
    preload_thread_report(&report);
    ck_assert_uint_eq(report.target_count, sizeof(many));
    for (size_t i = 0; i < report.target_count; i++) {
        ck_assert_uint_eq(report.targets[i].calls[PRELOAD_PUT], 3);
    }
    preload_report_release(&report);
}
END_TEST

static void *thread_put(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        access_make(PRELOAD_PUT, EP(i % 2), 8);
    }
    return NULL;
}

/* threads come and go: counts stay, and memory goes to the next thread */
START_TEST(counts_of_ended_threads_stay)
{
    enum { ROUNDS = 50, THREADS = 3 };
    preload_report_t report;
    pthread_t ids[THREADS];

    preload_targets_add(EP(0), WORKER(0), 100);
    preload_targets_add(EP(1), WORKER(0), 200);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++) {
            ck_assert_int_eq(pthread_create(&ids[i], NULL, thread_put, NULL), 0);
        }
        preload_report_init(&report);
        preload_thread_report(&report); /* with running threads */
        preload_report_release(&report);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(ids[i], NULL);
        }
    }
    preload_report_init(&report);
    preload_thread_report(&report);
    ck_assert_uint_eq(report.calls[PRELOAD_PUT], ROUNDS * THREADS * 1000);
    ck_assert_uint_eq(target_of(&report, 200)->calls[PRELOAD_PUT], ROUNDS * THREADS * 500);
    preload_report_release(&report);
}
END_TEST

START_TEST(records_hold_the_bytes)
{
    preload_list_t list = {.tail = NULL};
    uint64_t head[2] = {1, 2};

    ck_assert(preload_ring_init(1 << 20));
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (char)(i * 7 + i / 256);
    }
    for (size_t length = 1; length < 5000; length += 37) {
        const uint8_t *record;

        if (list.tail == NULL || list.limit - list.tail < (ptrdiff_t)length + 64) {
            ck_assert(preload_ring_grow(&list));
        }
        record = list.tail;
        preload_ring_write(&list, head, sizeof(head), data + length % 64, length);
        ck_assert_mem_eq(record, head, sizeof(head));
        ck_assert_mem_eq(record + sizeof(head), data + length % 64, length);
        ck_assert_uint_eq((size_t)(list.tail - record), sizeof(head) + (length + 7) / 8 * 8);
    }
    preload_ring_release();
}
END_TEST

/* at the end of the ring a list overwrites its oldest segment, and an empty list gets a segment
 * from another list */
START_TEST(full_rings_overwrite_the_oldest)
{
    preload_list_t first = {.tail = NULL}, second = {.tail = NULL};
    const uint8_t *oldest;

    ck_assert(preload_ring_init(200 << 10)); /* 3 segments */
    ck_assert(preload_ring_grow(&first));
    oldest = first.tail;
    ck_assert(preload_ring_grow(&first) && preload_ring_grow(&first));
    ck_assert_uint_eq(first.segment_count, 3);
    ck_assert(preload_ring_grow(&first));
    ck_assert_ptr_eq(first.tail, oldest);
    ck_assert_uint_eq(first.segment_count, 3);
    ck_assert(!preload_ring_grow(&second));
    preload_ring_shrink(&first);
    ck_assert(preload_ring_grow(&second));
    ck_assert_uint_eq(first.segment_count, 2);
    preload_ring_release();
}
END_TEST

static preload_report_t report_make(int64_t rank, uint64_t worker)
{
    preload_report_t report;

    preload_report_init(&report);
    report.rank = rank;
    report.pid = 1000 + rank;
    report.processes = 1;
    report.seconds = 2;
    snprintf(report.program, sizeof(report.program), "a \"quoted\\ \x01 name\xe9");
    snprintf(report.host, sizeof(report.host), "host%d", (int)rank);
    snprintf(report.state, sizeof(report.state), "log");
    ck_assert(preload_report_add_worker(&report, worker));
    return report;
}

static void target_add(preload_report_t *report, uint64_t uid, uint64_t put_log, uint64_t get_log)
{
    preload_target_sum_t target = {.uid = uid, .rank = PRELOAD_NO_RANK};

    target.calls[PRELOAD_PUT] = 1;
    target.bytes[PRELOAD_PUT] = put_log;
    target.put_log = target.peak = put_log;
    target.get_log = get_log;
    report->calls[PRELOAD_PUT]++;
    report->put_log += put_log;
    report->peak += put_log;
    report->get_log += get_log;
    ck_assert(preload_report_add_target(report, &target));
}

START_TEST(sums_name_targets_by_rank)
{
    preload_report_t reports[3] = {report_make(0, 0x10), report_make(1, 0x20), report_make(2, UINT64_MAX)}, sum;

    ck_assert(preload_report_add_worker(&reports[1], 0x21)); /* second worker of rank 1 */
    target_add(&reports[0], 0x20, 100, 10);
    target_add(&reports[0], 0x21, 1000, 0);
    target_add(&reports[1], UINT64_MAX, 7, 70);
    target_add(&reports[2], 0x20, 5, 500);
    target_add(&reports[2], 0x99, 6, 0); /* of a process without a report */
    ck_assert(preload_report_sum(reports, 3, &sum));
    ck_assert_uint_eq(sum.processes, 3);
    ck_assert_uint_eq(sum.calls[PRELOAD_PUT], 5);
    ck_assert_uint_eq(sum.put_log, 1118);
    ck_assert_uint_eq(sum.put_log_most, 1100);
    ck_assert_uint_eq(sum.peak_most, 1100);
    ck_assert_uint_eq(sum.get_log_most, 510);
    ck_assert_double_eq(sum.put_rate_most, 550);
    ck_assert_double_eq(sum.get_rate_most, 255);
    ck_assert_uint_eq(sum.target_count, 3);
    ck_assert_int_eq(sum.targets[0].rank, 1);
    ck_assert_uint_eq(sum.targets[0].put_log, 1105);
    ck_assert_int_eq(sum.targets[1].rank, 2);
    ck_assert_int_eq(sum.targets[2].rank, PRELOAD_NO_RANK);
    ck_assert_uint_eq(sum.targets[2].uid, 0x99);
    ck_assert_int_eq(reports[0].targets[0].rank, 1);
    ck_assert_int_eq(reports[1].targets[0].rank, 2);
    preload_report_release(&sum);
    for (int i = 0; i < 3; i++) {
        preload_report_release(&reports[i]);
    }
}
END_TEST

START_TEST(sum_of_one_report_names_its_process)
{
    preload_report_t report = report_make(3, 0x10), sum;
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    snprintf(report.program, sizeof(report.program), "alone");
    target_add(&report, 0x20, 100, 10);
    ck_assert(preload_report_sum(&report, 1, &sum));
    ck_assert_int_eq(sum.rank, 3);
    ck_assert_int_eq(sum.pid, 1003);
    ck_assert_str_eq(sum.host, "host3");
    preload_text_write(&sum, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "\nrank 3 (alone, pid 1003 on host3): "));
    free(text);
    preload_report_release(&sum);
    preload_report_release(&report);
}
END_TEST

START_TEST(json_is_read_back)
{
    preload_report_t report = report_make(3, UINT64_MAX), again;
    char *text, *copy;
    size_t length, copy_length;
    FILE *stream = open_memstream(&text, &length);

    report.logging = 1.25e-7;
    report.calls[PRELOAD_MESSAGE] = UINT64_MAX;
    target_add(&report, 0x20, 100, 10);
    target_add(&report, 0, 1, 1);
    target_add(&report, 0, 2, 2);
    preload_json_write(&report, stream);
    fputc('\n', stream);
    fclose(stream);
    ck_assert_ptr_eq(strchr(text, '\n'), text + length - 1);

    stream = fmemopen(text, length, "r");
    ck_assert_int_eq(preload_json_read(stream, &again), 1);
    ck_assert_str_eq(again.program, report.program);
    ck_assert_uint_eq(again.workers[0], UINT64_MAX);
    ck_assert_uint_eq(again.target_count, 3);
    ck_assert_uint_eq(again.calls[PRELOAD_MESSAGE], UINT64_MAX);
    ck_assert_int_eq(preload_json_read(stream, &report), 0);
    fclose(stream);
    stream = open_memstream(&copy, &copy_length);
    preload_json_write(&again, stream);
    fputc('\n', stream);
    fclose(stream);
    ck_assert_str_eq(copy, text);
    preload_report_release(&again);

    /* no prefix is a report */
    for (size_t part = 1; part + 1 < length; part++) {
        stream = fmemopen(text, part, "r");
        ck_assert_msg(preload_json_read(stream, &again) == -1, "%.*s", (int)part, text);
        fclose(stream);
    }
    free(text);
    free(copy);
    preload_report_release(&report);
}
END_TEST

START_TEST(advice_follows_rate_and_peak)
{
    preload_report_t report = report_make(0, 0x10);
    preload_advice_t advice;

    target_add(&report, 0x20, 64u << 20, 8u << 20);
    preload_report_finish(&report);
    advice = preload_advice(&report);
    ck_assert_double_eq(advice.oplog.rate, 32 * 0x1p20);
    ck_assert_double_eq(advice.oplog.lasts, 4); /* half of 256 MiB */
    ck_assert_double_eq(preload_advice_size(&advice.oplog, 10), 2 * 10 * 32 * 0x1p20);
    ck_assert_double_eq(preload_advice_size(&advice.oplog, 0.1), 2 * 64 * 0x1p20); /* by the peak */
    ck_assert_double_eq(advice.getlog.lasts, 2);
    preload_report_release(&report);
}
END_TEST

/* Finds the number of a log in the JSON of a report, and fails unless the text has it, too. */
static void number_is_in_both(const char *json, const char *text, const char *setting, const char *name, int is_time)
{
    char key[64], shown[64];
    const char *log, *number;

    snprintf(key, sizeof(key), "\"%s\": {", setting);
    log = strstr(json, key);
    ck_assert_ptr_nonnull(log);
    snprintf(key, sizeof(key), "\"%s\": ", name);
    number = strstr(log, key);
    ck_assert_msg(number != NULL, "%s of %s is not in the JSON", name, setting);
    if (is_time) {
        keel_units_write_time(strtod(number + strlen(key), NULL), shown, sizeof(shown));
    } else {
        keel_units_write_bytes(strtod(number + strlen(key), NULL), shown, sizeof(shown));
    }
    log = strstr(text, setting);
    ck_assert_ptr_nonnull(log);
    ck_assert_msg(strstr(log, shown) != NULL, "%s of %s, %s, is not in the text", name, setting, shown);
}

START_TEST(json_has_the_advice_of_the_text)
{
    static const char *const logs[] = {"KEEL_OPLOG_SIZE", "KEEL_GETLOG_SIZE"};
    preload_report_t report = report_make(0, 0x10);
    char *text, *json;
    size_t text_length, json_length;
    FILE *text_stream = open_memstream(&text, &text_length), *json_stream = open_memstream(&json, &json_length);

    target_add(&report, 0x20, 700u << 20, 5u << 20);
    preload_report_finish(&report);
    preload_text_write(&report, text_stream);
    preload_json_write(&report, json_stream);
    fclose(text_stream);
    fclose(json_stream);
    for (int i = 0; i < 2; i++) {
        number_is_in_both(json, text, logs[i], "default_bytes", 0);
        number_is_in_both(json, text, logs[i], "bytes_per_second", 0);
        number_is_in_both(json, text, logs[i], "half_full_seconds", 1);
        number_is_in_both(json, text, logs[i], "bytes_for_10_s", 0);
        number_is_in_both(json, text, logs[i], "bytes_for_60_s", 0);
        number_is_in_both(json, text, logs[i], "bytes_for_600_s", 0);
    }
    number_is_in_both(json, text, logs[0], "least_bytes", 0); /* half the default is less */
    free(text);
    free(json);
    preload_report_release(&report);
}
END_TEST

START_TEST(text_says_first_that_nothing_is_recovered)
{
    preload_report_t report = report_make(0, 0x10);
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    target_add(&report, 0x20, 100, 10);
    report.calls[PRELOAD_POINTER] = 2;
    report.calls[PRELOAD_MESSAGE] = 9;
    preload_report_finish(&report);
    preload_text_write(&report, stream);
    fclose(stream);
    ck_assert_int_eq(strncmp(text, PRELOAD_NOTE "\n", strlen(PRELOAD_NOTE) + 1), 0);
    ck_assert_ptr_nonnull(strstr(PRELOAD_NOTE, "recovers nothing"));
    ck_assert_ptr_nonnull(strstr(text, "through pointers of ucp_rkey_ptr() (2 calls)"));
    ck_assert_ptr_nonnull(strstr(text, "inside of active messages (9 were sent)"));
    ck_assert_ptr_nonnull(strstr(text, "KEEL_OPLOG_SIZE"));
    free(text);
    preload_report_release(&report);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {records_have_the_sizes_of_keels_logs,
                                  accesses_count_at_their_targets,
                                  peaks_begin_anew_at_flushes,
                                  handles_may_get_another_target,
                                  many_endpoints_are_told_apart,
                                  counts_of_ended_threads_stay,
                                  records_hold_the_bytes,
                                  full_rings_overwrite_the_oldest,
                                  sums_name_targets_by_rank,
                                  sum_of_one_report_names_its_process,
                                  json_is_read_back,
                                  advice_follows_rate_and_peak,
                                  json_has_the_advice_of_the_text,
                                  text_says_first_that_nothing_is_recovered,
                                  NULL};

    /* the exit handler's report about the tests */
    setenv("KEEL_PRELOAD_OUTPUT", "/dev/null", 1);
    setenv("KEEL_PRELOAD_SIZE", "1m", 1);
    return unit_run("preload", tests);
}
