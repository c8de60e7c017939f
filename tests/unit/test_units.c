/* Numbers with units: accepted and refused text, and output that people can read. */
#include "base/units.h"

#include "unit.h"

#include <string.h>

START_TEST(times_have_the_units_that_people_write)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"90s", 90},     {"12h", 43200}, {"1.5d", 129600}, {"5m", 300},      {"5min", 300},
                 {"250ms", 0.25}, {"50us", 5e-5}, {"7ns", 7e-9},    {"1y", 31557600}, {"1e3s", 1000},
                 {".5s", 0.5},    {"0", 0},       {"0s", 0},        {"12H", 43200}};
    double seconds;
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(keel_units_read_time(cases[i].text, KEEL_UNITS_NEEDED, &seconds), "%s", cases[i].text);
        ck_assert_double_eq_tol(seconds, cases[i].seconds, 1e-12 * cases[i].seconds + 1e-300);
    }
    ck_assert(keel_units_read_time("90", KEEL_UNITS_USUAL, &seconds) && seconds == 90);
}
END_TEST

START_TEST(sizes_are_powers_of_1024)
{
    double bytes;

    ck_assert(keel_units_read_bytes("4g", KEEL_UNITS_NEEDED, &bytes) && bytes == 0x1p32);
    ck_assert(keel_units_read_bytes("4GB", KEEL_UNITS_NEEDED, &bytes) && bytes == 0x1p32);
    ck_assert(keel_units_read_bytes("1.5GiB", KEEL_UNITS_NEEDED, &bytes) && bytes == 1.5 * 0x1p30);
    ck_assert(keel_units_read_bytes("2T", KEEL_UNITS_NEEDED, &bytes) && bytes == 0x1p41);
    ck_assert(keel_units_read_bytes("8b", KEEL_UNITS_NEEDED, &bytes) && bytes == 8);
    ck_assert(keel_units_read_bytes("524288", KEEL_UNITS_USUAL, &bytes) && bytes == 524288);
}
END_TEST

/* A bit is no byte: 100Gb/s is an eighth of 100GB/s. */
START_TEST(rates_distinguish_bits_from_bytes)
{
    static const char *const hundred_gigabits[] = {"100Gbit/s", "100gbit/s", "100Gb/s",  "100gb/s", "100Gbps",
                                                   "100gbitps", "12.5GB/s",  "12.5gB/s", "12.5GBps"};
    double rate;
    unsigned i;

    for (i = 0; i < sizeof hundred_gigabits / sizeof *hundred_gigabits; i++) {
        ck_assert_msg(keel_units_read_rate(hundred_gigabits[i], &rate) && rate == 12.5e9, "%s", hundred_gigabits[i]);
    }
    ck_assert(keel_units_read_rate("12GiB/s", &rate) && rate == 12 * 0x1p30);
    ck_assert(keel_units_read_rate("8KiB/s", &rate) && rate == 8192);
    ck_assert(keel_units_read_rate("8Mib/s", &rate) && rate == 0x1p20);
    ck_assert(keel_units_read_rate("9B/s", &rate) && rate == 9);
}
END_TEST

START_TEST(what_could_mean_two_things_is_refused)
{
    static const char *const rates[] = {"12g",  "12",     "100G",   "12g/s",  "12GB",    "12Gbit", "/s",
                                        "GB/s", "12iB/s", "12XB/s", "-1GB/s", "12 GB/s", ""};
    static const char *const others[] = {"12",   "12x",  "",      "s",      "-1s",     "+1s",     " 1s", "1 s",
                                         "infs", "nans", "0x10s", "1e400s", "1e-320s", "5gbit/s", "4g/s"};
    double value;
    unsigned i;

    for (i = 0; i < sizeof rates / sizeof *rates; i++) {
        ck_assert_msg(!keel_units_read_rate(rates[i], &value), "'%s' is taken", rates[i]);
    }
    for (i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(!keel_units_read_time(others[i], KEEL_UNITS_NEEDED, &value), "'%s' is taken", others[i]);
        ck_assert_msg(!keel_units_read_bytes(others[i], KEEL_UNITS_NEEDED, &value), "'%s' is taken", others[i]);
    }
}
END_TEST

START_TEST(shares_and_counts_are_whole_words)
{
    double value;
    uint64_t count;

    ck_assert(keel_units_read_share("5%", &value) && value == 0.05);
    ck_assert(keel_units_read_share("0.05", &value) && value == 0.05);
    ck_assert(!keel_units_read_share("0", &value) && !keel_units_read_share("101%", &value));
    ck_assert(!keel_units_read_share("5%%", &value) && !keel_units_read_share("", &value));
    ck_assert(keel_units_read_count("4000", &count) && count == 4000);
    ck_assert(!keel_units_read_count("+4", &count) && !keel_units_read_count(" 4", &count));
    ck_assert(!keel_units_read_count("", &count) && !keel_units_read_count("99999999999999999999", &count));
}
END_TEST

START_TEST(what_is_written_has_three_digits_and_a_unit)
{
    char text[32];

    keel_units_write_time(43200, text, sizeof text);
    ck_assert_str_eq(text, "12 h");
    keel_units_write_time(0.25, text, sizeof text);
    ck_assert_str_eq(text, "250 ms");
    keel_units_write_bytes(1.5 * 0x1p30, text, sizeof text);
    ck_assert_str_eq(text, "1.5 GiB");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {times_have_the_units_that_people_write,
                                  sizes_are_powers_of_1024,
                                  rates_distinguish_bits_from_bytes,
                                  what_could_mean_two_things_is_refused,
                                  shares_and_counts_are_whole_words,
                                  what_is_written_has_three_digits_and_a_unit,
                                  NULL};

    return unit_run("units", tests);
}
