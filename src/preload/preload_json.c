/* Reports as JSON. The reader takes what the writer writes, with fields in any order. */
#include "preload/preload_json.h"

#include "preload/preload_advice.h"
#include "preload/preload_fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 512 /* longest string or number, with its end */

static void text_write(const char *text, FILE *stream)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            fprintf(stream, "\\%c", c);
        } else if (c < 0x20 || c >= 0x7f) {
            fprintf(stream, "\\u%04x", c);
        } else {
            fputc(c, stream);
        }
    }
    fputc('"', stream);
}

static void field_write(const preload_field_t *field, const void *object, FILE *stream)
{
    const void *member = (const char *)object + field->offset;

    fprintf(stream, "\"%s\": ", field->name);
    switch (field->type) {
    case PRELOAD_FIELD_COUNT:
        fprintf(stream, "%" PRIu64, *(const uint64_t *)member);
        break;
    case PRELOAD_FIELD_SIGNED:
        fprintf(stream, "%" PRId64, *(const int64_t *)member);
        break;
    case PRELOAD_FIELD_REAL:
        fprintf(stream, "%.9g", *(const double *)member);
        break;
    case PRELOAD_FIELD_UID:
        fprintf(stream, "\"0x%" PRIx64 "\"", *(const uint64_t *)member);
        break;
    case PRELOAD_FIELD_TEXT:
        text_write(member, stream);
        break;
    }
}

/* the numbers of the text (preload_text.c), without its rounding */
static void log_advice_write(const preload_log_advice_t *log, const char *setting, FILE *stream)
{
    fprintf(stream, "\"%s\": {\"default_bytes\": %.0f, \"bytes_per_second\": %.9g, \"half_full_seconds\": %.9g",
            setting, log->usual, log->rate, log->lasts);
    for (int i = 0; i < PRELOAD_INTERVALS; i++) {
        fprintf(stream, ", \"bytes_for_%d_s\": %.0f", preload_intervals[i],
                preload_advice_size(log, preload_intervals[i]));
    }
    fprintf(stream, ", \"least_bytes\": %.0f}", preload_advice_size(log, 0));
}

static void advice_write(const preload_report_t *report, FILE *stream)
{
    const preload_advice_t advice = preload_advice(report);

    fputs("{", stream);
    log_advice_write(&advice.oplog, "KEEL_OPLOG_SIZE", stream);
    fputs(", ", stream);
    log_advice_write(&advice.getlog, "KEEL_GETLOG_SIZE", stream);
    fputs("}", stream);
}

void preload_json_write(const preload_report_t *report, FILE *stream)
{
    fputs("{\"note\": ", stream);
    text_write(PRELOAD_NOTE, stream);
    for (const preload_field_t *field = preload_report_fields; field->name != NULL; field++) {
        fputs(", ", stream);
        field_write(field, report, stream);
    }
    fputs(", \"workers\": [", stream);
    for (size_t i = 0; i < report->worker_count; i++) {
        fprintf(stream, "%s\"0x%" PRIx64 "\"", i > 0 ? ", " : "", report->workers[i]);
    }
    fputs("], \"targets\": [", stream);
    for (size_t i = 0; i < report->target_count; i++) {
        fputs(i > 0 ? ", {" : "{", stream);
        for (const preload_field_t *field = preload_target_fields; field->name != NULL; field++) {
            fputs(field > preload_target_fields ? ", " : "", stream);
            field_write(field, &report->targets[i], stream);
        }
        fputc('}', stream);
    }
    fputs("], \"advice\": ", stream);
    advice_write(report, stream);
    fputs("}", stream);
}

static int next_char(FILE *stream)
{
    int c;

    do {
        c = fgetc(stream);
    } while (c == ' ' || c == '\n' || c == '\t' || c == '\r');
    return c;
}

/* takes the next character if it is c */
static int take(FILE *stream, int c)
{
    const int next = next_char(stream);

    if (next != c && next != EOF) {
        ungetc(next, stream);
    }
    return next == c;
}

/* the character behind a backslash; -1: none that the writer writes */
static int escaped_read(FILE *stream)
{
    char digits[5] = "";
    char *end;
    int c = fgetc(stream);

    if (c != 'u') {
        return (c == '"' || c == '\\') ? c : -1;
    }
    if (fread(digits, 1, 4, stream) != 4) {
        return -1;
    }
    c = (int)strtoul(digits, &end, 16);
    return (end == digits + 4 && c > 0 && c <= 0xff) ? c : -1;
}

/* behind the first quote */
static int text_read(FILE *stream, char *word)
{
    size_t length = 0;
    int c;

    while ((c = fgetc(stream)) != '"') {
        c = (c == '\\') ? escaped_read(stream) : c;
        if (c < 0 || length + 1 == WORD_MAX) {
            return 0;
        }
        word[length++] = (char)c;
    }
    word[length] = '\0';
    return 1;
}

/* a string, or a number as text */
static int word_read(FILE *stream, char *word)
{
    size_t length = 0;
    int c = next_char(stream);

    if (c == '"') {
        return text_read(stream, word);
    }
    for (; c != EOF && strchr("+-.0123456789eE", c) != NULL; c = fgetc(stream)) {
        if (length + 1 == WORD_MAX) {
            return 0;
        }
        word[length++] = (char)c;
    }
    ungetc(c, stream);
    word[length] = '\0';
    return length > 0;
}

static int number_read(const char *word, preload_field_type_t type, void *member)
{
    char *end;

    switch (type) {
    case PRELOAD_FIELD_COUNT:
        *(uint64_t *)member = strtoull(word, &end, 10);
        break;
    case PRELOAD_FIELD_UID:
        *(uint64_t *)member = strtoull(word, &end, 16);
        break;
    case PRELOAD_FIELD_SIGNED:
        *(int64_t *)member = strtoll(word, &end, 10);
        break;
    default:
        *(double *)member = strtod(word, &end);
        break;
    }
    return end != word && *end == '\0';
}

/* sets the field called name; an unknown name is skipped */
static int field_read(FILE *stream, const preload_field_t *fields, const char *name, void *object)
{
    char word[WORD_MAX];

    if (!word_read(stream, word)) {
        return 0;
    }
    for (const preload_field_t *field = fields; field->name != NULL; field++) {
        char *member = (char *)object + field->offset;

        if (strcmp(field->name, name) == 0 && field->type == PRELOAD_FIELD_TEXT) {
            snprintf(member, field->size, "%s", word);
        } else if (strcmp(field->name, name) == 0) {
            return number_read(word, field->type, member);
        }
    }
    return 1;
}

static int workers_read(FILE *stream, preload_report_t *report)
{
    char word[WORD_MAX];
    uint64_t uid;

    if (!take(stream, '[')) {
        return 0;
    }
    while (!take(stream, ']')) {
        if (!word_read(stream, word) || !number_read(word, PRELOAD_FIELD_UID, &uid) ||
            !preload_report_add_worker(report, uid)) {
            return 0;
        }
        (void)take(stream, ',');
    }
    return 1;
}

/* the fields of an object up to its end; report: of the whole, or NULL within a target */
static int object_read(FILE *stream, const preload_field_t *fields, void *object, preload_report_t *report);

static int targets_read(FILE *stream, preload_report_t *report)
{
    if (!take(stream, '[')) {
        return 0;
    }
    while (!take(stream, ']')) {
        preload_target_sum_t target = {.uid = 0, .rank = PRELOAD_NO_RANK};

        if (!take(stream, '{') || !object_read(stream, preload_target_fields, &target, NULL) ||
            !preload_report_add_target(report, &target)) {
            return 0;
        }
        (void)take(stream, ',');
    }
    return 1;
}

/* Skips the advice: the fields of the report determine its numbers. */
static int advice_read(FILE *stream)
{
    static const preload_field_t none[] = {{NULL, PRELOAD_FIELD_COUNT, 0, 0}};
    char setting[WORD_MAX];

    if (!take(stream, '{')) {
        return 0;
    }
    while (!take(stream, '}')) {
        if (!take(stream, '"') || !text_read(stream, setting) || !take(stream, ':') || !take(stream, '{') ||
            !object_read(stream, none, NULL, NULL)) {
            return 0;
        }
        (void)take(stream, ',');
    }
    return 1;
}

static int object_read(FILE *stream, const preload_field_t *fields, void *object, preload_report_t *report)
{
    char name[WORD_MAX];

    while (!take(stream, '}')) {
        int is_read;

        if (!take(stream, '"') || !text_read(stream, name) || !take(stream, ':')) {
            return 0;
        }
        if (report != NULL && strcmp(name, "workers") == 0) {
            is_read = workers_read(stream, report);
        } else if (report != NULL && strcmp(name, "targets") == 0) {
            is_read = targets_read(stream, report);
        } else if (report != NULL && strcmp(name, "advice") == 0) {
            is_read = advice_read(stream);
        } else {
            is_read = field_read(stream, fields, name, object);
        }
        if (!is_read) {
            return 0;
        }
        (void)take(stream, ',');
    }
    return 1;
}

int preload_json_read(FILE *stream, preload_report_t *report_p)
{
    const int first = next_char(stream);

    if (first == EOF) {
        return 0;
    }
    preload_report_init(report_p);
    if (first == '{' && object_read(stream, preload_report_fields, report_p, report_p)) {
        return 1;
    }
    preload_report_release(report_p);
    return -1;
}
