/*
 * A table of settings: valid and refused values of each type, printed text, sources of values, and
 * released strings.
 */
#include "base/config_types.h"
#include "base/memory.h"

#include "unit.h"

#include <string.h>

typedef struct sample {
    unsigned colour;
    int flag;
    char *text;
    unsigned count, group;
    double seconds;
    size_t bytes;
    keel_config_interval_t interval;
} sample_t;

static const char *const colours[] = {"red", "green", "blue", NULL};

static const keel_config_field_t fields[] = {
    {"COLOUR", "green", "One line.", offsetof(sample_t, colour), KEEL_CONFIG_TYPE_ENUM(colours)},
    {"FLAG", "n", "Two\nlines.", offsetof(sample_t, flag), KEEL_CONFIG_TYPE_BOOL},
    {"TEXT", "", "Text.", offsetof(sample_t, text), KEEL_CONFIG_TYPE_STRING},
    {"COUNT", "7", "A count.", offsetof(sample_t, count), KEEL_CONFIG_TYPE_COUNT, .is_hidden = 1},
    {"GROUP", "auto", "A group.", offsetof(sample_t, group), KEEL_CONFIG_TYPE_GROUP},
    {"SECONDS", "50us", "A time.", offsetof(sample_t, seconds), KEEL_CONFIG_TYPE_TIME},
    {"BYTES", "16m", "A size.", offsetof(sample_t, bytes), KEEL_CONFIG_TYPE_SIZE},
    {"INTERVAL", "daly", "An interval.", offsetof(sample_t, interval), KEEL_CONFIG_TYPE_INTERVAL},
    {NULL}};
static const keel_config_table_t table = {"UNIT_", fields};

static char said[4096];

static void sink(void *arg, keel_message_level_t level, const char *line)
{
    strncat(said, line, sizeof said - strlen(said) - 1);
}

static const keel_message_t message = {.level = KEEL_MSG_WARN, .rank = KEEL_MESSAGE_NO_RANK, .sink = sink};

static keel_status_t fill(sample_t *sample, const char *setting)
{
    const char *const env[] = {setting, NULL};

    memset(sample, 0, sizeof *sample);
    said[0] = '\0';
    return keel_config_table_fill(&table, &message, env, sample);
}

/* Returns the printed line of one variable. */
static const char *print(const sample_t *sample, const char *name)
{
    static char text[4096], line[256];
    FILE *stream = fmemopen(text, sizeof text, "w");
    const char *at;

    keel_config_table_print(&table, sample, KEEL_CONFIG_PRINT_HIDDEN, stream);
    fclose(stream);
    at = strstr(text, name);
    ck_assert_ptr_nonnull(at);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

START_TEST(what_is_read_is_printed_in_its_shortest_exact_form)
{
    static const struct {
        const char *setting, *printed;
    } cases[] = {
        {"UNIT_COLOUR=BLUE", "UNIT_COLOUR=blue"},
        {"UNIT_FLAG=Yes", "UNIT_FLAG=y"},
        {"UNIT_FLAG=1", "UNIT_FLAG=y"},
        {"UNIT_FLAG=NO", "UNIT_FLAG=n"},
        {"UNIT_FLAG=0", "UNIT_FLAG=n"},
        {"UNIT_TEXT=-a=b c", "UNIT_TEXT=-a=b c"},
        {"UNIT_TEXT=", "UNIT_TEXT="},
        {"UNIT_COUNT=0", "UNIT_COUNT=0"},
        {"UNIT_COUNT=4294967295", "UNIT_COUNT=4294967295"},
        {"UNIT_GROUP=auto", "UNIT_GROUP=auto"},
        {"UNIT_GROUP=12", "UNIT_GROUP=12"},
        {"UNIT_SECONDS=0", "UNIT_SECONDS=0s"},
        {"UNIT_SECONDS=999us", "UNIT_SECONDS=999us"},
        {"UNIT_SECONDS=1500ms", "UNIT_SECONDS=1.5s"},
        {"UNIT_SECONDS=1d", "UNIT_SECONDS=86400s"},
        {"UNIT_BYTES=auto", "UNIT_BYTES=auto"},
        {"UNIT_BYTES=INF", "UNIT_BYTES=inf"},
        {"UNIT_BYTES=0", "UNIT_BYTES=0"},
        {"UNIT_BYTES=1023", "UNIT_BYTES=1023"},
        {"UNIT_BYTES=1024", "UNIT_BYTES=1K"},
        {"UNIT_BYTES=1025", "UNIT_BYTES=1025"},
        {"UNIT_BYTES=1.5GiB", "UNIT_BYTES=1536M"},
        {"UNIT_BYTES=2048t", "UNIT_BYTES=2048T"},
        {"UNIT_INTERVAL=off", "UNIT_INTERVAL=off"},
        {"UNIT_INTERVAL=3gsyncs", "UNIT_INTERVAL=3gsyncs"},
        {"UNIT_INTERVAL=2h", "UNIT_INTERVAL=7200s"},
    };
    char name[64];
    sample_t sample, again;
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(name, sizeof name, "%.*s=", (int)strcspn(cases[i].setting, "="), cases[i].setting);
        ck_assert_msg(fill(&sample, cases[i].setting) == KEEL_OK, "%s: %s", cases[i].setting, said);
        ck_assert_str_eq(print(&sample, name), cases[i].printed);
        ck_assert_int_eq(fill(&again, cases[i].printed), KEEL_OK);
        ck_assert_str_eq(print(&again, name), cases[i].printed);
        keel_config_table_release(&table, &sample);
        keel_config_table_release(&table, &again);
    }
}
END_TEST

START_TEST(malformed_values_leave_the_default_and_say_what_is_allowed)
{
    static const struct {
        const char *setting, *expected;
    } cases[] = {
        {"UNIT_COLOUR=", "[red|green|blue]"},
        {"UNIT_COLOUR=gree", "[red|green|blue]"},
        {"UNIT_COLOUR=greens", "[red|green|blue]"},
        {"UNIT_COLOUR=1", "[red|green|blue]"},
        {"UNIT_FLAG=", "<y|n>"},
        {"UNIT_FLAG=2", "<y|n>"},
        {"UNIT_FLAG=y ", "<y|n>"},
        {"UNIT_FLAG=on", "<y|n>"},
        {"UNIT_COUNT=", "unsigned integer"},
        {"UNIT_COUNT= 7", "unsigned integer"},
        {"UNIT_COUNT=7 ", "unsigned integer"},
        {"UNIT_COUNT=+7", "unsigned integer"},
        {"UNIT_COUNT=-1", "unsigned integer"},
        {"UNIT_COUNT=0x7", "unsigned integer"},
        {"UNIT_COUNT=1e3", "unsigned integer"},
        {"UNIT_COUNT=4294967296", "unsigned integer"},
        {"UNIT_COUNT=99999999999999999999", "unsigned integer"},
        {"UNIT_GROUP=4294967295", "unsigned integer or auto"},
        {"UNIT_GROUP=automatic", "unsigned integer or auto"},
        {"UNIT_SECONDS=", "a time such as"},
        {"UNIT_SECONDS=s", "a time such as"},
        {"UNIT_SECONDS=1 s", "a time such as"},
        {"UNIT_SECONDS=1ss", "a time such as"},
        {"UNIT_SECONDS=-1s", "a time such as"},
        {"UNIT_SECONDS=nan", "a time such as"},
        {"UNIT_SECONDS=inf", "a time such as"},
        {"UNIT_SECONDS=1e999s", "a time such as"},
        {"UNIT_BYTES=", "a size such as"},
        {"UNIT_BYTES=64q", "a size such as"},
        {"UNIT_BYTES=64k64", "a size such as"},
        {"UNIT_BYTES=-1", "a size such as"},
        {"UNIT_BYTES=0x10", "a size such as"},
        {"UNIT_BYTES=9223372036854775808", "a size such as"},
        {"UNIT_BYTES=99999999t", "a size such as"},
        {"UNIT_INTERVAL=", "off, daly"},
        {"UNIT_INTERVAL=5", "off, daly"},
        {"UNIT_INTERVAL=gsyncs", "off, daly"},
        {"UNIT_INTERVAL=0gsyncs", "off, daly"},
        {"UNIT_INTERVAL=1.5gsyncs", "off, daly"},
        {"UNIT_INTERVAL=3gsync", "off, daly"},
        {"UNIT_INTERVAL=00000000000000000000000000000001gsyncs", "off, daly"},
        {"UNIT_INTERVAL=1e11s", "off, daly"},
        {"UNIT_INTERVAL=Daly", "off, daly"},
    };
    sample_t sample, initial;
    unsigned i;

    ck_assert_int_eq(fill(&initial, "X=1"), KEEL_OK);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int name = (int)strcspn(cases[i].setting, "=");
        char text[256];

        ck_assert_msg(fill(&sample, cases[i].setting) == KEEL_ERR_INVALID_PARAM, "%s", cases[i].setting);
        snprintf(text, sizeof text, "invalid value for %.*s: '%s', expected %s", name, cases[i].setting,
                 cases[i].setting + name + 1, cases[i].expected);
        ck_assert_msg(strstr(said, text) != NULL, "%s: %s", cases[i].setting, said);
        ck_assert(sample.colour == 1 && sample.flag == 0 && sample.count == 7 &&
                  sample.group == KEEL_CONFIG_GROUP_AUTO && sample.bytes == 16ul << 20);
        ck_assert_double_eq(sample.seconds, initial.seconds);
        ck_assert(sample.interval.mode == KEEL_INTERVAL_DALY && sample.interval.value == 0);
        keel_config_table_release(&table, &sample);
    }
    keel_config_table_release(&table, &initial);
}
END_TEST

START_TEST(the_last_string_comes_before_the_environment)
{
    const char *const env[] = {"UNIT_COUNT=1", "UNIT_COUNTER=5", "UNIT_COUNT=2", "UNIT_TEXT=given", NULL};
    sample_t sample = {0};

    setenv("UNIT_COUNT", "3", 1);
    setenv("UNIT_FLAG", "y", 1);
    setenv("UNIT_TEXT", "not this one", 1);
    ck_assert_int_eq(keel_config_table_fill(&table, &message, env, &sample), KEEL_OK);
    ck_assert_uint_eq(sample.count, 2);
    ck_assert_int_eq(sample.flag, 1);
    ck_assert_str_eq(sample.text, "given");
    keel_config_table_release(&table, &sample);
    ck_assert_ptr_null(sample.text);
    keel_config_table_release(&table, &sample); /* again: nothing to release */
}
END_TEST

START_TEST(the_documentation_precedes_each_variable)
{
    static const char expected[] = "#\n# Two\n# lines.\n#\n# syntax:    <y|n>\n#\nUNIT_FLAG=n\n\n";
    char text[4096];
    sample_t sample;
    FILE *stream;

    ck_assert_int_eq(fill(&sample, "X=1"), KEEL_OK);
    stream = fmemopen(text, sizeof text, "w");
    keel_config_table_print(&table, &sample, KEEL_CONFIG_PRINT_DOCS, stream);
    fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, expected));
    ck_assert_ptr_nonnull(strstr(text, "# syntax:    [red|green|blue]\n#\nUNIT_COLOUR=green\n"));
    ck_assert_ptr_null(strstr(text, "UNIT_COUNT")); /* hidden */
    keel_config_table_release(&table, &sample);
}
END_TEST

START_TEST(names_are_compared_whole)
{
    ck_assert(keel_config_table_has(&table, "UNIT_COUNT=3", strlen("UNIT_COUNT")));
    ck_assert(!keel_config_table_has(&table, "UNIT_COUN", strlen("UNIT_COUN")));
    ck_assert(!keel_config_table_has(&table, "UNIT_COUNTS", strlen("UNIT_COUNTS")));
    ck_assert(!keel_config_table_has(&table, "UNIT_", strlen("UNIT_")));
}
END_TEST

static unsigned allowed;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    return allowed-- > 0;
}

START_TEST(an_allocation_that_fails_is_a_status_and_loses_nothing)
{
    static const keel_memory_hook_t hook = {.may_allocate = may_allocate};
    sample_t sample;
    unsigned i;

    keel_memory_set_hook(&hook);
    for (i = 0; i < 2; i++) { /* the default, then the given string */
        allowed = i;
        ck_assert_int_eq(fill(&sample, "UNIT_TEXT=given"), KEEL_ERR_NO_MEMORY);
        ck_assert_str_eq(said, "");
        keel_config_table_release(&table, &sample);
        ck_assert_ptr_null(sample.text);
    }
    keel_memory_set_hook(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_is_read_is_printed_in_its_shortest_exact_form,
                                  malformed_values_leave_the_default_and_say_what_is_allowed,
                                  the_last_string_comes_before_the_environment,
                                  the_documentation_precedes_each_variable,
                                  names_are_compared_whole,
                                  an_allocation_that_fails_is_a_status_and_loses_nothing,
                                  NULL};

    return unit_run("config_table", tests);
}
