/* Machine files: accepted content, and every kind of malformed file with the line at fault. */
#include "plan_machine.h"

#include "unit.h"

#include <math.h>
#include <string.h>

static keel_plan_machine_t machine;
static keel_plan_error_t error;

static int parse(const char *text)
{
    return keel_plan_machine_parse(text, strlen(text), &machine, &error);
}

START_TEST(every_statement_is_read)
{
    ck_assert_int_eq(parse("# a comment\r\n"
                           "machine\tsmall-1.x # after it\n"
                           "\n"
                           "  describe  two racks, \"quoted\" \t\n"
                           "window 2m\n"
                           "level node 12 mtbf 5y\n"
                           "level switch 4 table 0.25 1e-3 0\n"
                           "level rack 2 fit 1e-5 1.5"),
                     0);
    ck_assert_str_eq(machine.name, "small-1.x");
    ck_assert_str_eq(machine.text, "two racks, \"quoted\" \t");
    ck_assert_double_eq(machine.window_s, 120);
    ck_assert_uint_eq(machine.level_count, 3);
    ck_assert_str_eq(machine.level_name[0], "node");
    ck_assert_uint_eq(machine.levels[0].count, 12);
    ck_assert_int_eq(machine.levels[0].failures.kind, KEEL_FAILURES_ELEMENT);
    ck_assert_double_eq(machine.levels[0].failures.mtbf_s, 5 * 365.25 * 86400);
    ck_assert_double_eq(machine.levels[0].failures.window_s, 120);
    ck_assert_int_eq(machine.levels[1].failures.kind, KEEL_FAILURES_TABLE);
    ck_assert_double_eq(keel_failures_probability(&machine.levels[1], 1), 0.25);
    ck_assert_double_eq(keel_failures_probability(&machine.levels[1], 2), 1e-3);
    ck_assert_double_eq(keel_failures_probability(&machine.levels[1], 4), 0);
    ck_assert_int_eq(machine.levels[2].failures.kind, KEEL_FAILURES_FIT);
    ck_assert_double_eq(machine.levels[2].failures.decay, 1.5);
}
END_TEST

START_TEST(the_window_counts_wherever_it_stands)
{
    ck_assert_int_eq(parse("level node 12 mtbf 5y\nmachine a\nwindow 7s\n"), 0);
    ck_assert_double_eq(machine.levels[0].failures.window_s, 7);
    ck_assert_int_eq(parse("machine a\nlevel node 12 mtbf 5y"), 0);
    ck_assert_double_eq(machine.levels[0].failures.window_s, 600);
}
END_TEST

static const struct {
    const char *text;
    unsigned line;
    const char *says;
} malformed[] = {
    {"", 0, "no 'machine'"},
    {"machine a\n", 0, "no 'level'"},
    {"level node 4 fit 1e-3 1\n", 0, "no 'machine'"},
    {"machine a\nmachine b\n", 2, "twice"},
    {"machine\n", 1, "one name"},
    {"machine a b\n", 1, "one name"},
    {"machine A\n", 1, "no name"},
    {"machine a\"\n", 1, "no name"},
    {"machine aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1, "no name"},
    {"machine a\n\nrack 4\n", 3, "none of machine"},
    {"machine a\nlevel\n", 2, "a level has"},
    {"machine a\nlevel node\n", 2, "a level has"},
    {"machine a\nlevel node 4\n", 2, "a level has"},
    {"machine a\nlevel Node 4 fit 1e-3 1\n", 2, "no name"},
    {"machine a\nlevel none 4 fit 1e-3 1\n", 2, "'none'"},
    {"machine a\nlevel node 0 fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node -4 fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node 4x fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node 1e3 fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node 16777217 fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node 99999999999999999999 fit 1e-3 1\n", 2, "number of elements"},
    {"machine a\nlevel node 4 fit 1e-3 1\nlevel node 2 fit 1e-3 1\n", 3, "twice"},
    {"machine a\nlevel rack 4 fit 1e-3 1\nlevel node 8 fit 1e-3 1\n", 3, "finest level"},
    {"machine a\nlevel node 4 rate 1e-3\n", 2, "none of fit"},
    {"machine a\nlevel node 4 fit\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 1e-3\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 1e-3 1 2\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 1e-3 x\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit nan 1\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit inf 1\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 1e999 1\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 0x1 1\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 0 1\n", 2, "above 0"},
    {"machine a\nlevel node 4 fit 1 0\n", 2, "above 0"},
    {"machine a\nlevel node 4 fit 1 701\n", 2, "above 0"},
    {"machine a\nlevel node 4 fit -1 1\n", 2, "SCALE and DECAY"},
    {"machine a\nlevel node 4 fit 5 1\n", 2, "more than 1"},
    {"machine a\nlevel node 4 table\n", 2, "'table' needs"},
    {"machine a\nlevel node 4 table 0.1 1.5\n", 2, "no probability"},
    {"machine a\nlevel node 4 table 0.1 -0.5\n", 2, "no probability"},
    {"machine a\nlevel node 4 table 0.9 0.9\n", 2, "more than 1"},
    {"machine a\nlevel node 4 mtbf\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 0s\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 5 y\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 5parsec\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 5\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 1us\n", 2, "'mtbf' needs"},
    {"machine a\nlevel node 4 mtbf 2000000y\n", 2, "'mtbf' needs"},
    {"machine a\nwindow\n", 2, "'window' needs"},
    {"machine a\nwindow 2d\n", 2, "'window' needs"},
    {"machine a\nwindow 5\n", 2, "'window' needs"},
    {"machine a\nwindow 1e-320s\n", 2, "'window' needs"},
    {"machine a\nwindow 1us\n", 2, "'window' needs"},
    {"machine a\nwindow 5s\nwindow 5s\n", 3, "twice"},
    {"machine a\n\001\n", 2, "control character"},
    {"machine a\nlevel node 4 table 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
     "0 0 0 "
     "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
     2, "words"},
};

START_TEST(each_kind_of_malformed_file_is_refused_with_its_line)
{
    unsigned i;

    for (i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        ck_assert_msg(parse(malformed[i].text) != 0, "taken: %s", malformed[i].text);
        ck_assert_msg(error.line == malformed[i].line, "line %u of: %s", error.line, malformed[i].text);
        ck_assert_msg(strstr(error.text, malformed[i].says) != NULL, "'%s' for: %s", error.text, malformed[i].text);
        ck_assert(strchr(error.text, '\n') == NULL);
    }
}
END_TEST

START_TEST(limits_are_kept)
{
    char text[8192] = "machine a\n";
    unsigned i;

    for (i = 0; i < KEEL_PLAN_LEVELS_MAX; i++) {
        sprintf(text + strlen(text), "level l%u 4 fit 1e-3 1\n", i);
    }
    ck_assert_int_eq(parse(text), 0);
    strcat(text, "level more 4 fit 1e-3 1\n");
    ck_assert_int_eq(parse(text), -1);
    ck_assert_uint_eq(error.line, KEEL_PLAN_LEVELS_MAX + 2);
    strcpy(text, "machine a\nlevel node 4 fit 1e-3 ");
    memset(text + strlen(text), '1', 2000);
    ck_assert_int_eq(parse(text), -1);
    ck_assert_uint_eq(error.line, 2);
    /* A zero byte is no end. */
    ck_assert_int_eq(keel_plan_machine_parse("machine a\n\0level", 16, &machine, &error), -1);
    ck_assert_uint_eq(error.line, 2);
}
END_TEST

/* Any prefix and any changed byte of a good file is accepted, or refused with one line. An accepted
 * file has usable rates. */
START_TEST(damaged_files_are_taken_whole_or_refused)
{
    static const char good[] = "machine a\nwindow 60s\nlevel node 12 mtbf 5y\nlevel switch 4 table 0.25 1e-3\n"
                               "level rack 2 fit 1e-5 1.5\n";
    char text[sizeof good];
    uint64_t seed = unit_seed();
    unsigned round, i;

    for (round = 0; round < 50000; round++) {
        memcpy(text, good, sizeof good);
        for (i = 0; i <= round % 3; i++) {
            text[unit_random(&seed) % (sizeof good - 1)] = (char)(unit_random(&seed) % 128);
        }
        if (keel_plan_machine_parse(text, unit_random(&seed) % sizeof good, &machine, &error) != 0) {
            ck_assert(error.text[0] != '\0');
            continue;
        }
        for (i = 0; i < machine.level_count; i++) {
            const double any = keel_failures_tail(&machine.levels[i], 1);
            ck_assert(isfinite(any) && any >= 0);
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_statement_is_read,
                                  the_window_counts_wherever_it_stands,
                                  each_kind_of_malformed_file_is_refused_with_its_line,
                                  limits_are_kept,
                                  damaged_files_are_taken_whole_or_refused,
                                  NULL};

    return unit_run("plan machine", tests);
}
