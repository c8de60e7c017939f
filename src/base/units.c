#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEEL_UNITS_YEAR_S (365.25 * 86400)

typedef struct keel_unit {
    const char *name;
    double factor;
} keel_unit_t;

static const keel_unit_t keel_units_times[] = {{"s", 1},     {"ms", 1e-3}, {"us", 1e-6},
                                               {"ns", 1e-9}, {"m", 60},    {"min", 60},
                                               {"h", 3600},  {"d", 86400}, {"y", KEEL_UNITS_YEAR_S},
                                               {NULL, 0}};
static const keel_unit_t keel_units_sizes[] = {
    {"b", 1},      {"k", 0x1p10},  {"kb", 0x1p10},  {"kib", 0x1p10}, {"m", 0x1p20},  {"mb", 0x1p20},  {"mib", 0x1p20},
    {"g", 0x1p30}, {"gb", 0x1p30}, {"gib", 0x1p30}, {"t", 0x1p40},   {"tb", 0x1p40}, {"tib", 0x1p40}, {NULL, 0}};

/* Reads a decimal number; *end_p is the position behind it. Refuses blanks, signs, "inf", "nan",
 * and values that underflow. */
static int keel_units_read_decimal(const char *text, double *number_p, const char **end_p)
{
    char *end;

    if (((text[0] < '0') || (text[0] > '9')) && (text[0] != '.')) {
        return 0;
    }
    if ((text[0] == '0') && ((text[1] == 'x') || (text[1] == 'X'))) {
        return 0;
    }
    errno = 0;
    *number_p = strtod(text, &end);
    *end_p = end;
    return (end != text) && (errno == 0) && isfinite(*number_p);
}

static int keel_units_read(const char *text, const keel_unit_t *units, keel_units_bare_t bare, double *value_p)
{
    const char *end;
    double number;

    if (!keel_units_read_decimal(text, &number, &end)) {
        return 0;
    }
    if ((*end == '\0') && ((bare == KEEL_UNITS_USUAL) || (number == 0))) {
        *value_p = number;
        return 1;
    }
    for (; units->name != NULL; units++) {
        if (!strcasecmp(end, units->name)) {
            *value_p = number * units->factor;
            return isfinite(*value_p);
        }
    }
    return 0;
}

int keel_units_read_count(const char *text, uint64_t *count_p)
{
    char *end;

    if ((text[0] < '0') || (text[0] > '9')) {
        return 0;
    }
    errno = 0;
    *count_p = strtoull(text, &end, 10);
    return (*end == '\0') && (errno == 0);
}

int keel_units_read_number(const char *text, double *number_p)
{
    const char *end;

    return keel_units_read_decimal(text, number_p, &end) && (*end == '\0');
}

int keel_units_read_share(const char *text, double *share_p)
{
    const char *end;

    if (!keel_units_read_decimal(text, share_p, &end)) {
        return 0;
    }
    if (!strcmp(end, "%")) {
        *share_p /= 100;
        end++;
    }
    return (*end == '\0') && (*share_p > 0) && (*share_p <= 1);
}

int keel_units_read_time(const char *text, keel_units_bare_t bare, double *seconds_p)
{
    return keel_units_read(text, keel_units_times, bare, seconds_p);
}

int keel_units_read_bytes(const char *text, keel_units_bare_t bare, double *bytes_p)
{
    return keel_units_read(text, keel_units_sizes, bare, bytes_p);
}

int keel_units_read_rate(const char *text, double *rate_p)
{
    static const char prefixes[] = "kmgt";
    const char *end, *prefix;
    double factor = 1;

    if (!keel_units_read_decimal(text, rate_p, &end)) {
        return 0;
    }
    prefix = (*end != '\0') ? strchr(prefixes, *end | 0x20) : NULL;
    if (prefix != NULL) {
        end++;
        factor = pow((*end == 'i') ? 1024 : 1000, (double)(prefix - prefixes + 1));
        end += (*end == 'i');
    }
    if (!strncasecmp(end, "bit", 3)) {
        factor /= 8;
        end += 3;
    } else if ((*end == 'b') || (*end == 'B')) {
        factor /= (*end == 'b') ? 8 : 1;
        end++;
    } else {
        return 0;
    }
    *rate_p *= factor;
    return (!strcmp(end, "/s") || !strcmp(end, "ps")) && isfinite(*rate_p);
}

void keel_units_write_bytes(double bytes, char *text, size_t max)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    unsigned i = 0;

    for (; (bytes >= 1024) && (i < 5); i++) {
        bytes /= 1024;
    }
    snprintf(text, max, "%.3g %s", bytes, names[i]);
}

void keel_units_write_time(double seconds, char *text, size_t max)
{
    if (seconds < 1) {
        snprintf(text, max, "%.3g ms", seconds * 1e3);
    } else if (seconds < 120) {
        snprintf(text, max, "%.3g s", seconds);
    } else if (seconds < 7200) {
        snprintf(text, max, "%.3g min", seconds / 60);
    } else if (seconds < 2 * 86400) {
        snprintf(text, max, "%.3g h", seconds / 3600);
    } else if (seconds < 2 * KEEL_UNITS_YEAR_S) {
        snprintf(text, max, "%.3g d", seconds / 86400);
    } else {
        snprintf(text, max, "%.3g y", seconds / KEEL_UNITS_YEAR_S);
    }
}
