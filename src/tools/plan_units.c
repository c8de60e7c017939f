#include "plan_units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct keel_plan_unit {
    const char *name;
    double factor;
} keel_plan_unit_t;

static const keel_plan_unit_t keel_plan_times[] = {
    {"", 1},      {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"y", 365.25 * 86400},
    {"ms", 1e-3}, {NULL, 0}};
static const keel_plan_unit_t keel_plan_sizes[] = {{"", 1},
                                                   {"b", 1},
                                                   {"k", 1024.0},
                                                   {"kb", 1024.0},
                                                   {"kib", 1024.0},
                                                   {"m", 0x1p20},
                                                   {"mb", 0x1p20},
                                                   {"mib", 0x1p20},
                                                   {"g", 0x1p30},
                                                   {"gb", 0x1p30},
                                                   {"gib", 0x1p30},
                                                   {"t", 0x1p40},
                                                   {"tb", 0x1p40},
                                                   {"tib", 0x1p40},
                                                   {"kbit/s", 1e3 / 8},
                                                   {"mbit/s", 1e6 / 8},
                                                   {"gbit/s", 1e9 / 8},
                                                   {"tbit/s", 1e12 / 8},
                                                   {NULL, 0}};

/* a number in decimal notation; *end_p behind it */
static int keel_plan_read_decimal(const char *text, double *number_p, const char **end_p)
{
    char *end;

    if (((text[0] < '0') || (text[0] > '9')) && (text[0] != '.')) { /* no blank, sign, "inf" or "nan" */
        return 0;
    }
    if ((text[0] == '0') && ((text[1] == 'x') || (text[1] == 'X'))) {
        return 0;
    }
    errno = 0;
    *number_p = strtod(text, &end);
    *end_p = end;
    return (end != text) && isfinite(*number_p);
}

static int keel_plan_read_unit(const char *text, const keel_plan_unit_t *units, double *value_p)
{
    const char *end;
    double number;

    if (!keel_plan_read_decimal(text, &number, &end)) {
        return 0;
    }
    for (; units->name != NULL; units++) {
        if (!strcasecmp(end, units->name)) {
            *value_p = number * units->factor;
            return isfinite(*value_p);
        }
    }
    return 0;
}

int keel_plan_read_count(const char *text, uint64_t *count_p)
{
    char *end;

    if ((text[0] < '0') || (text[0] > '9')) {
        return 0;
    }
    errno = 0;
    *count_p = strtoull(text, &end, 10);
    return (*end == '\0') && (errno == 0);
}

int keel_plan_read_number(const char *text, double *number_p)
{
    const char *end;

    return keel_plan_read_decimal(text, number_p, &end) && (*end == '\0');
}

int keel_plan_read_share(const char *text, double *share_p)
{
    const char *end;

    if (!keel_plan_read_decimal(text, share_p, &end)) {
        return 0;
    }
    if (!strcmp(end, "%")) {
        *share_p /= 100;
        end++;
    }
    return (*end == '\0') && (*share_p > 0) && (*share_p <= 1);
}

int keel_plan_read_time(const char *text, double *seconds_p)
{
    return keel_plan_read_unit(text, keel_plan_times, seconds_p) && (*seconds_p > 0);
}

int keel_plan_read_bytes(const char *text, double *bytes_p)
{
    return (strstr(text, "it/s") == NULL) && keel_plan_read_unit(text, keel_plan_sizes, bytes_p) && (*bytes_p > 0);
}

int keel_plan_read_bandwidth(const char *text, double *rate_p)
{
    const size_t length = strlen(text);
    char bytes[64];

    if (keel_plan_read_unit(text, keel_plan_sizes, rate_p)) {
        return *rate_p > 0;
    }
    if ((length < 3) || (length >= sizeof bytes) || strcmp(text + length - 2, "/s")) {
        return 0;
    }
    memcpy(bytes, text, length - 2);
    bytes[length - 2] = '\0';
    return keel_plan_read_bytes(bytes, rate_p);
}

void keel_plan_write_bytes(double bytes, char *text, size_t max)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    unsigned i = 0;

    for (; (bytes >= 1024) && (i < 5); i++) {
        bytes /= 1024;
    }
    snprintf(text, max, "%.3g %s", bytes, names[i]);
}

void keel_plan_write_time(double seconds, char *text, size_t max)
{
    if (seconds < 1) {
        snprintf(text, max, "%.3g ms", seconds * 1e3);
    } else if (seconds < 120) {
        snprintf(text, max, "%.3g s", seconds);
    } else if (seconds < 7200) {
        snprintf(text, max, "%.3g min", seconds / 60);
    } else if (seconds < 2 * 86400) {
        snprintf(text, max, "%.3g h", seconds / 3600);
    } else if (seconds < 2 * 365.25 * 86400) {
        snprintf(text, max, "%.3g d", seconds / 86400);
    } else {
        snprintf(text, max, "%.3g y", seconds / (365.25 * 86400));
    }
}
