/* Parsers of configuration values that UCS has none for: they read all of the text or refuse it. */
#include "base/config_types.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* UCS reads "4x" as 4 */
int keel_config_read_count(const char *text, void *dest, const void *arg)
{
    uint64_t value;

    if (!keel_units_read_count(text, &value) || (value > UINT32_MAX)) {
        return 0;
    }
    *(unsigned *)dest = (unsigned)value;
    return 1;
}

int keel_config_read_group(const char *text, void *dest, const void *arg)
{
    if (!strcmp(text, "auto")) {
        *(unsigned *)dest = KEEL_CONFIG_GROUP_AUTO;
        return 1;
    }
    return keel_config_read_count(text, dest, arg) && (*(unsigned *)dest != KEEL_CONFIG_GROUP_AUTO);
}

int keel_config_write_group(char *text, size_t max, const void *src, const void *arg)
{
    const unsigned size = *(const unsigned *)src;

    snprintf(text, max, (size == KEEL_CONFIG_GROUP_AUTO) ? "auto" : "%u", size);
    return 1;
}

int keel_config_read_interval(const char *text, void *dest, const void *arg)
{
    static const char gsyncs[] = "gsyncs";
    keel_config_interval_t *interval = dest;
    const size_t length = strlen(text);
    char count[32];

    if (!strcmp(text, "off") || !strcmp(text, "daly")) {
        interval->mode = !strcmp(text, "off") ? KEEL_INTERVAL_OFF : KEEL_INTERVAL_DALY;
        interval->value = 0;
        return 1;
    }
    interval->mode = KEEL_INTERVAL_TIME;
    if ((length > strlen(gsyncs)) && (length < sizeof count) && !strcmp(text + length - strlen(gsyncs), gsyncs)) {
        interval->mode = KEEL_INTERVAL_GSYNCS;
        snprintf(count, sizeof count, "%.*s", (int)(length - strlen(gsyncs)), text);
        if (!keel_units_read_number(count, &interval->value) || (interval->value != floor(interval->value))) {
            return 0;
        }
    } else if (!keel_units_read_time(text, KEEL_UNITS_NEEDED, &interval->value)) {
        return 0;
    }
    return (interval->value > 0) && (interval->value <= KEEL_CONFIG_TIME_MAX);
}

int keel_config_write_interval(char *text, size_t max, const void *src, const void *arg)
{
    const keel_config_interval_t *interval = src;

    switch (interval->mode) {
    case KEEL_INTERVAL_OFF:
        snprintf(text, max, "off");
        break;
    case KEEL_INTERVAL_DALY:
        snprintf(text, max, "daly");
        break;
    case KEEL_INTERVAL_GSYNCS:
        snprintf(text, max, "%.0fgsyncs", interval->value);
        break;
    case KEEL_INTERVAL_TIME:
        snprintf(text, max, "%.9gs", interval->value);
        break;
    }
    return 1;
}

ucs_status_t keel_config_clone_interval(const void *src, void *dest, const void *arg)
{
    memcpy(dest, src, sizeof(keel_config_interval_t));
    return UCS_OK;
}

int keel_config_read_time(const char *text, void *dest, const void *arg)
{
    return keel_units_read_time(text, KEEL_UNITS_USUAL, dest);
}

int keel_config_read_size(const char *text, void *dest, const void *arg)
{
    double bytes;

    if (!strcasecmp(text, "auto") || !strcasecmp(text, "inf")) {
        *(size_t *)dest = !strcasecmp(text, "auto") ? UCS_MEMUNITS_AUTO : UCS_MEMUNITS_INF;
        return 1;
    }
    if (!keel_units_read_bytes(text, KEEL_UNITS_USUAL, &bytes) || (bytes >= 0x1p63)) {
        return 0;
    }
    *(size_t *)dest = (size_t)bytes;
    return 1;
}

/* UCS prints a day in microseconds */
int keel_config_write_time(char *text, size_t max, const void *src, const void *arg)
{
    const double seconds = *(const double *)src;

    if ((seconds > 0) && (seconds < 1e-3)) {
        snprintf(text, max, "%.9gus", seconds * 1e6);
    } else {
        snprintf(text, max, "%.9gs", seconds);
    }
    return 1;
}
