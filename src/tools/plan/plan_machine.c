/* Parser of machine files: splits a line into words; each statement checks its own words. */
#include "plan_machine.h"

#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define KEEL_PLAN_LINE_MAX  1024
#define KEEL_PLAN_WORDS_MAX (KEEL_PLAN_TABLE_MAX + 5)
#define KEEL_PLAN_WINDOW_S  600
#define KEEL_PLAN_TIME_MIN  1e-3
#define KEEL_PLAN_MTBF_MAX  3.2e13 /* a million years */

typedef struct keel_plan_parser {
    keel_plan_machine_t *machine;
    keel_plan_error_t *error;
    unsigned line;
    char buffer[KEEL_PLAN_LINE_MAX];
    char *words[KEEL_PLAN_WORDS_MAX];
    unsigned word_count;
} keel_plan_parser_t;

static int keel_plan_fail(keel_plan_parser_t *parser, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(parser->error->text, sizeof parser->error->text, format, list);
    va_end(list);
    parser->error->line = parser->line;
    return -1;
}

static int keel_plan_name(keel_plan_parser_t *parser, const char *word, char *name)
{
    const size_t length = strlen(word);

    if ((length >= KEEL_PLAN_NAME_MAX) || (strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != length)) {
        return keel_plan_fail(parser, "'%.40s' is no name: at most %d of a-z, 0-9, _, - and . are allowed", word,
                              KEEL_PLAN_NAME_MAX - 1);
    }
    memcpy(name, word, length + 1);
    return 0;
}

/* Accepts times within the range of the computations. */
static int keel_plan_is_time(double seconds, double max)
{
    return (seconds >= KEEL_PLAN_TIME_MIN) && (seconds <= max);
}

/* ---- parameters after a level's count ---- */

static int keel_plan_fit(keel_plan_parser_t *parser, keel_failures_t *failures)
{
    failures->kind = KEEL_FAILURES_FIT;
    if ((parser->word_count != 6) || !keel_units_read_number(parser->words[4], &failures->scale) ||
        !keel_units_read_number(parser->words[5], &failures->decay)) {
        return keel_plan_fail(parser, "'fit' needs two numbers, SCALE and DECAY");
    }
    if (!(failures->scale > 0) || !(failures->decay >= 1e-3) || !(failures->decay <= 700)) {
        return keel_plan_fail(parser, "'fit' needs a SCALE above 0 and a DECAY from 0.001 to 700");
    }
    return 0;
}

static int keel_plan_table(keel_plan_parser_t *parser, keel_failures_t *failures)
{
    double *const table = parser->machine->tables[parser->machine->level_count];
    unsigned i;

    failures->kind = KEEL_FAILURES_TABLE;
    failures->table = table;
    failures->table_len = parser->word_count - 4;
    if (failures->table_len == 0) {
        return keel_plan_fail(parser, "'table' needs the probabilities of 1, 2, ... failures at once");
    }
    for (i = 0; i < failures->table_len; i++) {
        if (!keel_units_read_number(parser->words[4 + i], &table[i]) || (table[i] > 1)) {
            return keel_plan_fail(parser, "'%.40s' is no probability", parser->words[4 + i]);
        }
    }
    return 0;
}

static int keel_plan_mtbf(keel_plan_parser_t *parser, keel_failures_t *failures)
{
    failures->kind = KEEL_FAILURES_ELEMENT;
    if ((parser->word_count != 5) || !keel_units_read_time(parser->words[4], KEEL_UNITS_NEEDED, &failures->mtbf_s) ||
        !keel_plan_is_time(failures->mtbf_s, KEEL_PLAN_MTBF_MAX)) {
        return keel_plan_fail(parser, "'mtbf' needs a time such as 600s, 12h, 30d or 5y, from 1ms to a million years");
    }
    return 0;
}

/* ---- statements ---- */

static int keel_plan_level(keel_plan_parser_t *parser)
{
    keel_plan_machine_t *machine = parser->machine;
    keel_hazard_t *level = &machine->levels[machine->level_count];
    char *name = machine->level_name[machine->level_count];
    uint32_t i;
    int rc;

    if (machine->level_count == KEEL_PLAN_LEVELS_MAX) {
        return keel_plan_fail(parser, "more than %d levels", KEEL_PLAN_LEVELS_MAX);
    }
    if (parser->word_count < 4) {
        return keel_plan_fail(parser, "a level has a name, a count, one of fit, table and mtbf, and its numbers");
    }
    if (keel_plan_name(parser, parser->words[1], name)) {
        return -1;
    }
    if (!strcmp(name, "none")) {
        return keel_plan_fail(parser, "'none' means no level and cannot be the name of one");
    }
    for (i = 0; i < machine->level_count; i++) {
        if (!strcmp(name, machine->level_name[i])) {
            return keel_plan_fail(parser, "level '%s' is there twice", name);
        }
    }
    if (!keel_units_read_count(parser->words[2], &level->count) || (level->count == 0) ||
        (level->count > KEEL_PLAN_COUNT_MAX)) {
        return keel_plan_fail(parser, "'%.40s' is no number of elements, allowed are 1 to %llu", parser->words[2],
                              (unsigned long long)KEEL_PLAN_COUNT_MAX);
    }
    if ((machine->level_count > 0) && (level->count > machine->levels[machine->level_count - 1].count)) {
        return keel_plan_fail(parser, "level '%s' has more elements than '%s': the finest level comes first", name,
                              machine->level_name[machine->level_count - 1]);
    }
    if (!strcmp(parser->words[3], "fit")) {
        rc = keel_plan_fit(parser, &level->failures);
    } else if (!strcmp(parser->words[3], "table")) {
        rc = keel_plan_table(parser, &level->failures);
    } else if (!strcmp(parser->words[3], "mtbf")) {
        rc = keel_plan_mtbf(parser, &level->failures);
    } else {
        return keel_plan_fail(parser, "'%.40s' is none of fit, table and mtbf", parser->words[3]);
    }
    if ((rc == 0) && (level->failures.kind != KEEL_FAILURES_ELEMENT) && (keel_failures_tail(level, 1) > 1)) {
        return keel_plan_fail(parser, "the probabilities of level '%s' add up to %g, more than 1", name,
                              keel_failures_tail(level, 1));
    }
    machine->level_count++;
    return rc;
}

static int keel_plan_statement(keel_plan_parser_t *parser)
{
    keel_plan_machine_t *machine = parser->machine;
    const char *keyword = parser->words[0];

    if (!strcmp(keyword, "level")) {
        return keel_plan_level(parser);
    }
    if (!strcmp(keyword, "machine")) {
        if (machine->name[0] != '\0') {
            return keel_plan_fail(parser, "'machine' is there twice");
        }
        if (parser->word_count != 2) {
            return keel_plan_fail(parser, "'machine' needs one name");
        }
        return keel_plan_name(parser, parser->words[1], machine->name);
    }
    if (!strcmp(keyword, "window")) {
        if (machine->has_window) {
            return keel_plan_fail(parser, "'window' is there twice");
        }
        machine->has_window = 1;
        if ((parser->word_count != 2) ||
            !keel_units_read_time(parser->words[1], KEEL_UNITS_NEEDED, &machine->window_s) ||
            !keel_plan_is_time(machine->window_s, KEEL_PLAN_WINDOW_MAX)) {
            return keel_plan_fail(parser, "'window' needs a time such as 600s, from 1ms to a day");
        }
        return 0;
    }
    return keel_plan_fail(parser, "'%.40s' is none of machine, describe, window and level", keyword);
}

/* ---- lines ---- */

static int keel_plan_split(keel_plan_parser_t *parser)
{
    char *rest = NULL, *word;

    parser->word_count = 0;
    for (word = strtok_r(parser->buffer, " \t\r", &rest); word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
        if (parser->word_count == KEEL_PLAN_WORDS_MAX - 1) {
            return keel_plan_fail(parser, "more than %d words on a line", KEEL_PLAN_WORDS_MAX - 1);
        }
        parser->words[parser->word_count++] = word;
    }
    return 0;
}

static int keel_plan_line(keel_plan_parser_t *parser, const char *line, size_t length)
{
    static const char describe[] = "describe";
    const char *comment = memchr(line, '#', length);
    size_t blanks, i;

    length = (comment != NULL) ? (size_t)(comment - line) : length;
    if (length >= sizeof parser->buffer) {
        return keel_plan_fail(parser, "the line has more than %zu characters", sizeof parser->buffer - 1);
    }
    for (i = 0; i < length; i++) {
        if (((unsigned char)line[i] < ' ') && (line[i] != '\t') && (line[i] != '\r')) {
            return keel_plan_fail(parser, "a control character (%d): this is no text", line[i]);
        }
    }
    memcpy(parser->buffer, line, length);
    parser->buffer[length] = '\0';
    blanks = strspn(parser->buffer, " \t");
    if (!strncmp(parser->buffer + blanks, describe, sizeof describe - 1) &&
        strchr(" \t", parser->buffer[blanks + sizeof describe - 1])) {
        blanks += sizeof describe - 1;
        blanks += strspn(parser->buffer + blanks, " \t");
        snprintf(parser->machine->text, sizeof parser->machine->text, "%.*s",
                 (int)strcspn(parser->buffer + blanks, "\r"), parser->buffer + blanks);
        return 0;
    }
    if (keel_plan_split(parser)) {
        return -1;
    }
    return (parser->word_count > 0) ? keel_plan_statement(parser) : 0;
}

int keel_plan_machine_parse(const char *text, size_t len, keel_plan_machine_t *machine, keel_plan_error_t *error)
{
    keel_plan_parser_t parser = {.machine = machine, .error = error};
    size_t begin = 0, length;
    const char *end;

    memset(machine, 0, sizeof *machine);
    memset(error, 0, sizeof *error);
    machine->window_s = KEEL_PLAN_WINDOW_S;
    for (; begin < len; begin += length + 1) {
        end = memchr(text + begin, '\n', len - begin);
        length = (end != NULL) ? (size_t)(end - text) - begin : len - begin;
        parser.line++;
        if (keel_plan_line(&parser, text + begin, length)) {
            return -1;
        }
    }
    parser.line = 0;
    if (machine->name[0] == '\0') {
        return keel_plan_fail(&parser, "there is no 'machine' line");
    }
    if (machine->level_count == 0) {
        return keel_plan_fail(&parser, "there is no 'level' line");
    }
    keel_plan_machine_set_window(machine, machine->window_s);
    return 0;
}

void keel_plan_machine_copy(const keel_plan_machine_t *machine, keel_plan_machine_t *copy)
{
    uint32_t i;

    *copy = *machine;
    for (i = 0; i < copy->level_count; i++) {
        copy->levels[i].failures.table = copy->tables[i];
    }
}

void keel_plan_machine_set_window(keel_plan_machine_t *machine, double window_s)
{
    uint32_t i;

    machine->window_s = window_s;
    for (i = 0; i < machine->level_count; i++) {
        machine->levels[i].failures.window_s = window_s;
    }
}

void keel_plan_machine_scale(keel_plan_machine_t *machine, double factor)
{
    uint32_t i, x;

    for (i = 0; i < machine->level_count; i++) {
        machine->levels[i].failures.scale *= factor;
        machine->levels[i].failures.mtbf_s /= factor;
        for (x = 0; x < KEEL_PLAN_TABLE_MAX; x++) {
            machine->tables[i][x] *= factor;
        }
    }
}

double keel_plan_machine_rate(const keel_plan_machine_t *machine)
{
    double rate = 0;
    uint32_t i;

    for (i = 0; i < machine->level_count; i++) {
        rate += keel_failures_of_job(&machine->levels[i]);
    }
    return rate;
}
