#include "base/config_types.h"
#include "base/memory.h"
#include "base/units.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- choices ---- */

static keel_status_t enum_read(const keel_config_field_t *field, const char *text, void *dest)
{
    unsigned i;

    for (i = 0; field->names[i] != NULL; i++) {
        if (!strcasecmp(text, field->names[i])) {
            *(unsigned *)dest = i;
            return KEEL_OK;
        }
    }
    return KEEL_ERR_INVALID_PARAM;
}

static void enum_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    fputs(field->names[*(const unsigned *)src], stream);
}

static keel_status_t bool_read(const keel_config_field_t *field, const char *text, void *dest)
{
    const int is_yes = !strcasecmp(text, "y") || !strcasecmp(text, "yes") || !strcmp(text, "1");

    if (!is_yes && strcasecmp(text, "n") && strcasecmp(text, "no") && strcmp(text, "0")) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *(int *)dest = is_yes;
    return KEEL_OK;
}

static void bool_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    fputs(*(const int *)src ? "y" : "n", stream);
}

/* ---- strings ---- */

static void string_release(void *dest)
{
    keel_free(*(char **)dest);
    *(char **)dest = NULL;
}

static keel_status_t string_read(const keel_config_field_t *field, const char *text, void *dest)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = keel_alloc(bytes, "configuration");

    if (copy == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(copy, text, bytes);
    string_release(dest);
    *(char **)dest = copy;
    return KEEL_OK;
}

static void string_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    const char *text = *(char *const *)src;

    fputs((text != NULL) ? text : "", stream);
}

/* ---- numbers ---- */

static keel_status_t count_read(const keel_config_field_t *field, const char *text, void *dest)
{
    uint64_t value;

    if (!keel_units_read_count(text, &value) || (value > UINT32_MAX)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *(unsigned *)dest = (unsigned)value;
    return KEEL_OK;
}

static void count_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    fprintf(stream, "%u", *(const unsigned *)src);
}

static keel_status_t group_read(const keel_config_field_t *field, const char *text, void *dest)
{
    unsigned size = KEEL_CONFIG_GROUP_AUTO;

    if (strcmp(text, "auto") != 0) {
        if ((count_read(field, text, &size) != KEEL_OK) || (size == KEEL_CONFIG_GROUP_AUTO)) {
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    *(unsigned *)dest = size;
    return KEEL_OK;
}

static void group_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    const unsigned size = *(const unsigned *)src;

    fprintf(stream, (size == KEEL_CONFIG_GROUP_AUTO) ? "auto" : "%u", size);
}

static keel_status_t size_read(const keel_config_field_t *field, const char *text, void *dest)
{
    double bytes;

    if (!strcasecmp(text, "auto") || !strcasecmp(text, "inf")) {
        *(size_t *)dest = !strcasecmp(text, "auto") ? KEEL_CONFIG_SIZE_AUTO : KEEL_CONFIG_SIZE_INF;
        return KEEL_OK;
    }
    if (!keel_units_read_bytes(text, KEEL_UNITS_USUAL, &bytes) || (bytes >= 0x1p63)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *(size_t *)dest = (size_t)bytes;
    return KEEL_OK;
}

/* Uses the largest unit that divides the size, so that the exact value can be read back. */
static void size_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    size_t size = *(const size_t *)src;
    unsigned i = 0;

    if ((size == KEEL_CONFIG_SIZE_AUTO) || (size == KEEL_CONFIG_SIZE_INF)) {
        fputs((size == KEEL_CONFIG_SIZE_AUTO) ? "auto" : "inf", stream);
        return;
    }
    for (; (size >= 1024) && (size % 1024 == 0) && (i + 1 < sizeof units / sizeof *units); i++) {
        size /= 1024;
    }
    fprintf(stream, "%zu%s", size, units[i]);
}

/* ---- times ---- */

static keel_status_t time_read(const keel_config_field_t *field, const char *text, void *dest)
{
    double seconds;

    if (!keel_units_read_time(text, KEEL_UNITS_USUAL, &seconds)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *(double *)dest = seconds;
    return KEEL_OK;
}

static void time_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    const double seconds = *(const double *)src;

    if ((seconds > 0) && (seconds < 1e-3)) {
        fprintf(stream, "%.9gus", seconds * 1e6);
    } else {
        fprintf(stream, "%.9gs", seconds);
    }
}

static keel_status_t files_read(const keel_config_field_t *field, const char *text, void *dest)
{
    static const char checkpoints[] = "checkpoints";
    const size_t length = strlen(text), suffix = strlen(checkpoints);
    keel_file_interval_t interval = {.time_s = 0};
    char count[32];
    double value;

    if (strcmp(text, "auto") == 0) {
        interval.is_auto = 1;
    } else if (length <= suffix || length >= sizeof count || strcmp(text + length - suffix, checkpoints) != 0) {
        if (!keel_units_read_time(text, KEEL_UNITS_USUAL, &interval.time_s) || interval.time_s < 0 ||
            interval.time_s > KEEL_CONFIG_TIME_MAX) {
            return KEEL_ERR_INVALID_PARAM;
        }
    } else {
        snprintf(count, sizeof count, "%.*s", (int)(length - suffix), text);
        if (!keel_units_read_number(count, &value) || value < 1 || value > UINT32_MAX || value != floor(value)) {
            return KEEL_ERR_INVALID_PARAM;
        }
        interval.checkpoints = (uint32_t)value;
    }
    *(keel_file_interval_t *)dest = interval;
    return KEEL_OK;
}

static void files_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    const keel_file_interval_t *interval = src;

    if (interval->is_auto) {
        fputs("auto", stream);
    } else if (interval->checkpoints > 0) {
        fprintf(stream, "%ucheckpoints", interval->checkpoints);
    } else {
        fprintf(stream, "%.9gs", interval->time_s);
    }
}

static keel_status_t interval_read(const keel_config_field_t *field, const char *text, void *dest)
{
    static const char gsyncs[] = "gsyncs";
    keel_config_interval_t interval = {KEEL_INTERVAL_TIME, 0};
    const size_t length = strlen(text), suffix = strlen(gsyncs);
    char count[32];

    if (!strcmp(text, "off") || !strcmp(text, "daly")) {
        interval.mode = !strcmp(text, "off") ? KEEL_INTERVAL_OFF : KEEL_INTERVAL_DALY;
        *(keel_config_interval_t *)dest = interval;
        return KEEL_OK;
    }
    if ((length > suffix) && (length < sizeof count) && !strcmp(text + length - suffix, gsyncs)) {
        interval.mode = KEEL_INTERVAL_GSYNCS;
        snprintf(count, sizeof count, "%.*s", (int)(length - suffix), text);
        if (!keel_units_read_number(count, &interval.value) || (interval.value != floor(interval.value))) {
            return KEEL_ERR_INVALID_PARAM;
        }
    } else if (!keel_units_read_time(text, KEEL_UNITS_NEEDED, &interval.value)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    if ((interval.value <= 0) || (interval.value > KEEL_CONFIG_TIME_MAX)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *(keel_config_interval_t *)dest = interval;
    return KEEL_OK;
}

static void interval_write(const keel_config_field_t *field, const void *src, FILE *stream)
{
    const keel_config_interval_t *interval = src;

    switch (interval->mode) {
    case KEEL_INTERVAL_OFF:
        fputs("off", stream);
        break;
    case KEEL_INTERVAL_DALY:
        fputs("daly", stream);
        break;
    case KEEL_INTERVAL_GSYNCS:
        fprintf(stream, "%.0fgsyncs", interval->value);
        break;
    case KEEL_INTERVAL_TIME:
        fprintf(stream, "%.9gs", interval->value);
        break;
    }
}

const keel_config_type_t keel_config_enum = {enum_read, enum_write, NULL, NULL};
const keel_config_type_t keel_config_bool = {bool_read, bool_write, NULL, "<y|n>"};
const keel_config_type_t keel_config_string = {string_read, string_write, string_release, "string"};
const keel_config_type_t keel_config_count = {count_read, count_write, NULL, "unsigned integer"};
const keel_config_type_t keel_config_group = {group_read, group_write, NULL, "unsigned integer or auto"};
const keel_config_type_t keel_config_time = {time_read, time_write, NULL,
                                             "a time such as 50us, 500ms, 90s, 30m, 12h or 7d"};
const keel_config_type_t keel_config_size = {size_read, size_write, NULL,
                                             "a size such as 64k, 16m or 1.5g, auto or inf"};
const keel_config_type_t keel_config_files = {files_read, files_write, NULL,
                                              "auto, <n>checkpoints, or a time such as 90s, 30m or 2h"};
const keel_config_type_t keel_config_interval = {interval_read, interval_write, NULL,
                                                 "off, daly, <n>gsyncs, or a time such as 250ms, 90s or 2h"};
