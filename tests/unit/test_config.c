/*
 * Configuration: defaults, precedence, every refusal with the name of the variable, unknown
 * variables.
 */
#include "base/config.h"
#include "base/config_table.h"

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char stderr_text[8192];

/* The last configuration read and not released by a test. Its strings are released at the next
 * reading and at the end. */
static keel_config_t held;

static void release_held(void)
{
    keel_config_release(&held);
}

static void release_config(keel_config_t *config)
{
    keel_config_release(config);
    memset(&held, 0, sizeof held);
}

/* Reads the configuration and keeps the text on standard error. */
static keel_status_t read_config(const char *const *env, keel_config_t *config)
{
    const int saved = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    keel_status_t status;
    size_t n;

    ck_assert_ptr_nonnull(file);
    dup2(fileno(file), STDERR_FILENO);
    status = keel_config_read(env, config);
    if (status == KEEL_OK) {
        const keel_message_t nobody = {.level = (keel_message_level_t)config->level, .rank = KEEL_MESSAGE_NO_RANK};

        keel_config_warn_unknown(env, &nobody);
        release_held();
        held = *config;
    }
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    n = fread(stderr_text, 1, sizeof stderr_text - 1, file);
    stderr_text[n] = '\0';
    fclose(file);
    return status;
}

static keel_status_t read_one(const char *setting, keel_config_t *config)
{
    const char *const env[] = {setting, NULL};

    return read_config(env, config);
}

START_TEST(defaults_are_as_documented)
{
    keel_config_t config;

    ck_assert_int_eq(read_config(NULL, &config), KEEL_OK);
    ck_assert_str_eq(stderr_text, "");
    ck_assert_int_eq(config.lanes, KEEL_LANES_AUTO);
    ck_assert_int_eq(config.protect, KEEL_PROTECT_ALL);
    ck_assert_uint_eq(config.oplog_size, 256ul << 20);
    ck_assert(config.is_oplog_auto);
    ck_assert_uint_eq(config.getlog_size, 16ul << 20);
    ck_assert_uint_eq(config.ckpt_size, 0);
    ck_assert_uint_eq(config.group_size, 4);
    ck_assert_uint_eq(config.parities, 1);
    ck_assert_int_eq(config.interval_mode, KEEL_INTERVAL_DALY);
    ck_assert_double_eq(config.mtbf_s, 86400);
    ck_assert_uint_eq(config.spin_us, 50);
    ck_assert_double_eq(config.heartbeat_interval_s, 0.5);
    ck_assert_double_eq(config.heartbeat_timeout_s, 5);
    ck_assert_int_eq(config.verbose, 0);
    ck_assert_int_eq(config.level, 1);
    ck_assert_ptr_null(config.tls_served);
    ck_assert_str_eq(config.topo_level, "auto");
    ck_assert_ptr_null(config.topo_file);
    ck_assert_ptr_null(config.topo_slurm);
    release_config(&config);
}
END_TEST

START_TEST(given_strings_come_before_the_environment)
{
    const char *const env[] = {"KEEL_GROUP_SIZE=8", "KEEL_TLS_SERVED=tcp", "KEEL_TOPO_LEVEL=rack", "KEEL_TOPO_FILE=/a",
                               NULL};
    keel_config_t config;

    setenv("KEEL_GROUP_SIZE", "2", 1);
    setenv("KEEL_SPIN", "1ms", 1);
    ck_assert_int_eq(read_config(env, &config), KEEL_OK);
    ck_assert_uint_eq(config.group_size, 8);
    ck_assert_uint_eq(config.spin_us, 1000);
    ck_assert_str_eq(config.tls_served, "tcp");
    ck_assert_str_eq(config.topo_level, "rack");
    ck_assert_str_eq(config.topo_file, "/a");
    release_config(&config);
    ck_assert_ptr_null(config.tls_served);
}
END_TEST

START_TEST(all_values_of_the_choices_are_read)
{
    static const char *const transports[] = {"KEEL_TRANSPORT=auto", "KEEL_TRANSPORT=ucp", "KEEL_TRANSPORT=verbs"};
    static const char *const lanes[] = {"KEEL_LANES=auto", "KEEL_LANES=direct", "KEEL_LANES=served"};
    static const char *const protect[] = {"KEEL_PROTECT=none", "KEEL_PROTECT=ckpt", "KEEL_PROTECT=gets",
                                          "KEEL_PROTECT=puts", "KEEL_PROTECT=all"};
    static const char *const level[] = {"KEEL_LOG_LEVEL=error", "KEEL_LOG_LEVEL=warn", "KEEL_LOG_LEVEL=info",
                                        "KEEL_LOG_LEVEL=debug"};
    keel_config_t config;
    int i;

    for (i = 0; i < KEEL_LANES_LAST; i++) {
        ck_assert_int_eq(read_one(lanes[i], &config), KEEL_OK);
        ck_assert_int_eq(config.lanes, i);
        ck_assert_int_eq(read_one(transports[i], &config), KEEL_OK);
        ck_assert_int_eq(config.transport, i);
    }
    for (i = 0; i < KEEL_PROTECT_LAST; i++) {
        ck_assert_int_eq(read_one(protect[i], &config), KEEL_OK);
        ck_assert_int_eq(config.protect, i);
    }
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(read_one(level[i], &config), KEEL_OK);
        ck_assert_int_eq(config.level, i);
    }
}
END_TEST

START_TEST(a_string_may_begin_with_a_minus_sign)
{
    keel_config_t config;

    ck_assert_int_eq(read_one("KEEL_TLS_SERVED=-", &config), KEEL_OK);
    ck_assert_str_eq(config.tls_served, "-");
    release_config(&config);
}
END_TEST

START_TEST(intervals_of_files_are_times_or_counts)
{
    static const struct {
        const char *text;
        double time_s;
        uint32_t checkpoints;
        int is_auto;
    } cases[] = {{"KEEL_FILE_INTERVAL=0", 0, 0, 0},
                 {"KEEL_FILE_INTERVAL=2m", 120, 0, 0},
                 {"KEEL_FILE_INTERVAL=1checkpoints", 0, 1, 0},
                 {"KEEL_FILE_INTERVAL=12checkpoints", 0, 12, 0},
                 {"KEEL_FILE_INTERVAL=auto", 0, 0, 1}};
    static const char *const wrong[] = {"KEEL_FILE_INTERVAL=0checkpoints",
                                        "KEEL_FILE_INTERVAL=checkpoints",
                                        "KEEL_FILE_INTERVAL=1.5checkpoints",
                                        "KEEL_FILE_INTERVAL=-1checkpoints",
                                        "KEEL_FILE_INTERVAL=automatic",
                                        "KEEL_FILE_INTERVAL=autocheckpoints",
                                        "KEEL_FILE_MTBF=0",
                                        "KEEL_FILE_MTBF=2e10s",
                                        "KEEL_FILE_RATE=100",
                                        "KEEL_FILE_RATE=auto",
                                        "KEEL_FILE_STOP_WITHIN=-1s",
                                        "KEEL_FILE_INTERVAL=3gsyncs",
                                        "KEEL_FILE_INTERVAL=5000000000checkpoints"};
    keel_config_t config;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(read_one(cases[i].text, &config), KEEL_OK);
        ck_assert_double_eq(config.file_interval.time_s, cases[i].time_s);
        ck_assert_uint_eq(config.file_interval.checkpoints, cases[i].checkpoints);
        ck_assert_int_eq(config.file_interval.is_auto, cases[i].is_auto);
        ck_assert_double_eq(config.file_mtbf_s, 2592000);
    }
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(read_one(wrong[i], &config), KEEL_ERR_INVALID_PARAM);
    }
}
END_TEST

START_TEST(intervals_are_read_in_all_their_units)
{
    static const struct {
        const char *setting;
        keel_interval_mode_t mode;
        double value;
    } cases[] = {
        {"KEEL_CKPT_INTERVAL=off", KEEL_INTERVAL_OFF, 0},        {"KEEL_CKPT_INTERVAL=daly", KEEL_INTERVAL_DALY, 0},
        {"KEEL_CKPT_INTERVAL=5gsyncs", KEEL_INTERVAL_GSYNCS, 5}, {"KEEL_CKPT_INTERVAL=2.5s", KEEL_INTERVAL_TIME, 2.5},
        {"KEEL_CKPT_INTERVAL=250ms", KEEL_INTERVAL_TIME, 0.25},  {"KEEL_CKPT_INTERVAL=2h", KEEL_INTERVAL_TIME, 7200},
    };
    keel_config_t config;
    unsigned i;

    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(read_one(cases[i].setting, &config), KEEL_OK);
        ck_assert_int_eq(config.interval_mode, cases[i].mode);
        ck_assert_double_eq_tol(config.interval_value, cases[i].value, 1e-12);
    }
}
END_TEST

/* keel_plan prints and takes such times, so a job must take them too. */
START_TEST(times_and_sizes_are_those_of_the_tools)
{
    const char *const env[] = {"KEEL_MTBF=12h",          "KEEL_HEARTBEAT_TIMEOUT=0.5m", "KEEL_HEARTBEAT_INTERVAL=0",
                               "KEEL_OPLOG_SIZE=1.5GiB", "KEEL_GETLOG_SIZE=8388608",    NULL};
    keel_config_t config;

    ck_assert_int_eq(read_config(env, &config), KEEL_OK);
    ck_assert_double_eq(config.mtbf_s, 43200);
    ck_assert_double_eq(config.heartbeat_timeout_s, 30);
    ck_assert_double_eq(config.heartbeat_interval_s, 0);
    ck_assert_uint_eq(config.oplog_size, 1536ul << 20);
    ck_assert_uint_eq(config.getlog_size, 8ul << 20);
}
END_TEST

START_TEST(a_bad_value_is_refused_by_name)
{
    static const char *const settings[] = {
        "KEEL_LANES=tcp",
        "KEEL_LANES=",
        "KEEL_PROTECT=2x",
        "KEEL_OPLOG_SIZE=64q",
        "KEEL_OPLOG_SIZE=1k",
        "KEEL_OPLOG_SIZE=inf",
        "KEEL_OPLOG_SIZE=-1",
        "KEEL_GETLOG_SIZE=0",
        "KEEL_CKPT_SIZE=1",
        "KEEL_CKPT_SIZE=auto",
        "KEEL_GROUP_SIZE=1",
        "KEEL_GROUP_SIZE=4x",
        "KEEL_GROUP_SIZE=-2",
        "KEEL_GROUP_SIZE=",
        "KEEL_GROUP_SIZE=99999999999",
        "KEEL_PARITIES=0",
        "KEEL_PARITIES=9",
        "KEEL_PARITIES=1.5",
        "KEEL_OPLOG_SOFT=101",
        "KEEL_SPARES=1048577",
        "KEEL_SPAWN=4294967295",
        "KEEL_CKPT_INTERVAL=5",
        "KEEL_CKPT_INTERVAL=s",
        "KEEL_CKPT_INTERVAL=0s",
        "KEEL_CKPT_INTERVAL=-1s",
        "KEEL_CKPT_INTERVAL=nans",
        "KEEL_MTBF=0",
        "KEEL_CKPT_INTERVAL=infs",
        "KEEL_CKPT_INTERVAL=1.5gsyncs",
        "KEEL_MTBF=nan",
        "KEEL_MTBF=inf",
        "KEEL_CKPT_INTERVAL=0gsyncs",
        "KEEL_MTBF=a day",
        "KEEL_SPIN=2s",
        "KEEL_SPIN=-1us",
        "KEEL_HEARTBEAT_INTERVAL=often",
        "KEEL_HEARTBEAT_TIMEOUT=-1s",
        "KEEL_HEARTBEAT_TIMEOUT=inf",
        "KEEL_VERBOSE=maybe",
        "KEEL_LOG_LEVEL=trace",
    };
    keel_config_t config;
    char name[64];
    unsigned i;

    for (i = 0; i < sizeof settings / sizeof *settings; i++) {
        ck_assert_msg(read_one(settings[i], &config) == KEEL_ERR_INVALID_PARAM, "%s was accepted", settings[i]);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(settings[i], "="), settings[i]);
        ck_assert_msg(strstr(stderr_text, name) != NULL, "%s: message does not name it: %s", settings[i], stderr_text);
        ck_assert_msg(strstr(stderr_text, "allowed") || strstr(stderr_text, "expected"), "%s: %s", settings[i],
                      stderr_text);
    }
}
END_TEST

/* In every job, at least one member of a group must remain. */
START_TEST(as_many_parities_as_a_group_has_members_are_refused)
{
    const char *const rotate[] = {"KEEL_GROUP_SIZE=3", "KEEL_PARITIES=3", NULL};
    const char *const fewer[] = {"KEEL_GROUP_SIZE=3", "KEEL_PARITIES=2", NULL};
    const char *const none[] = {"KEEL_GROUP_SIZE=0", "KEEL_PARITIES=3", NULL};
    const char *const dedicated[] = {"KEEL_PARITY=dedicated", "KEEL_GROUP_SIZE=2", "KEEL_PARITIES=3", NULL};
    keel_config_t config;

    ck_assert_int_eq(read_config(rotate, &config), KEEL_ERR_INVALID_PARAM);
    ck_assert_ptr_nonnull(strstr(stderr_text, "KEEL_PARITIES of 3 is too many for KEEL_GROUP_SIZE of 3"));
    ck_assert_int_eq(read_config(fewer, &config), KEEL_OK);
    ck_assert_int_eq(read_config(none, &config), KEEL_OK);
    /* dedicated parity does not use the size */
    ck_assert_int_eq(read_config(dedicated, &config), KEEL_OK);
}
END_TEST

START_TEST(an_automatic_group_has_room_for_its_parities)
{
    char parities[32];
    const char *const env[] = {parities, NULL};
    keel_config_t config;

    for (unsigned m = 1; m <= 8; m++) {
        snprintf(parities, sizeof parities, "KEEL_PARITIES=%u", m);
        ck_assert_int_eq(read_config(env, &config), KEEL_OK);
        ck_assert_uint_eq(config.parities, m);
        ck_assert_uint_eq(config.group_size, (m <= 3) ? 4 : 2 * m);
        ck_assert(config.is_group_auto);
    }
}
END_TEST

START_TEST(all_bad_values_are_reported_at_once)
{
    const char *const env[] = {"KEEL_LANES=tcp", "KEEL_SPIN=x", NULL};
    keel_config_t config;

    ck_assert_int_eq(read_config(env, &config), KEEL_ERR_INVALID_PARAM);
    ck_assert_ptr_nonnull(strstr(stderr_text, "KEEL_LANES"));
    ck_assert_ptr_nonnull(strstr(stderr_text, "KEEL_SPIN"));
}
END_TEST

START_TEST(unlimited_checkpoint_memory_has_two_spellings)
{
    keel_config_t config;

    ck_assert_int_eq(read_one("KEEL_CKPT_SIZE=inf", &config), KEEL_OK);
    ck_assert_uint_eq(config.ckpt_size, 0);
    ck_assert_int_eq(read_one("KEEL_CKPT_SIZE=0", &config), KEEL_OK);
    ck_assert_uint_eq(config.ckpt_size, 0);
    ck_assert_int_eq(read_one("KEEL_CKPT_SIZE=1g", &config), KEEL_OK);
    ck_assert_uint_eq(config.ckpt_size, 1ul << 30);
}
END_TEST

START_TEST(unknown_variables_warn_once)
{
    const char *const quiet[] = {"KEEL_LOG_LEVEL=error", "KEEL_FOO=1", NULL};
    keel_config_t config;

    setenv("KEEL_OPLOG_SIZ", "1m", 1);
    setenv("KEEL_OPLOG_SIZE", "1m", 1);
    setenv("KEEL_SPAWNEDS", "1", 1); /* begins with the name of a launcher's variable */
    setenv("KEEL_INCARNATION", "1", 1);
    setenv("KEELRUN_X", "1", 1);
    ck_assert_int_eq(read_config(NULL, &config), KEEL_OK);
    ck_assert_str_eq(
        stderr_text,
        "keel warn: unknown variables: KEEL_OPLOG_SIZ KEEL_SPAWNEDS (keel_info -ca lists the known ones)\n");
    ck_assert_int_eq(read_config(NULL, &config), KEEL_OK);
    ck_assert_str_eq(stderr_text, "");
    ck_assert_int_eq(read_one("KEEL_FOO=1", &config), KEEL_OK);
    ck_assert_ptr_nonnull(strstr(stderr_text, "KEEL_FOO"));
    ck_assert_int_eq(read_config(quiet, &config), KEEL_OK);
    ck_assert_str_eq(stderr_text, "");
}
END_TEST

START_TEST(the_print_can_be_read_back)
{
    const char *env[64] = {0};
    static char lines[64][256];
    char text[16384];
    keel_config_t config;
    unsigned count = 0;
    FILE *stream;

    setenv("KEEL_GROUP_SIZE", "7", 1);
    setenv("KEEL_CKPT_INTERVAL", "3gsyncs", 1);
    setenv("KEEL_MTBF", "1500ms", 1);
    stream = fmemopen(text, sizeof text, "w+");
    keel_config_print(stream, KEEL_CONFIG_PRINT_DOCS | KEEL_CONFIG_PRINT_HIDDEN);
    rewind(stream);
    while (fgets(lines[count], sizeof lines[count], stream) != NULL) {
        if (!strncmp(lines[count], "KEEL_", 5)) {
            lines[count][strcspn(lines[count], "\n")] = '\0';
            env[count] = lines[count];
            count++;
        }
    }
    fclose(stream);
    ck_assert_uint_ge(count, 15);
    unsetenv("KEEL_GROUP_SIZE");
    unsetenv("KEEL_CKPT_INTERVAL");
    unsetenv("KEEL_MTBF");
    ck_assert_int_eq(read_config(env, &config), KEEL_OK);
    ck_assert_str_eq(stderr_text, "");
    ck_assert_uint_eq(config.group_size, 7);
    ck_assert_double_eq_tol(config.mtbf_s, 1.5, 1e-9);
    ck_assert_int_eq(config.interval_mode, KEEL_INTERVAL_GSYNCS);
    ck_assert_uint_eq(config.oplog_size, 256ul << 20);
}
END_TEST

START_TEST(logs_of_a_given_size_do_not_grow)
{
    keel_config_t config;

    ck_assert_int_eq(read_one("KEEL_OPLOG_SIZE=256m", &config), KEEL_OK);
    ck_assert_uint_eq(config.oplog_size, 256ul << 20);
    ck_assert(!config.is_oplog_auto);
    ck_assert_int_eq(read_one("KEEL_OPLOG_SIZE=auto", &config), KEEL_OK);
    ck_assert_uint_eq(config.oplog_size, 256ul << 20);
    ck_assert(config.is_oplog_auto);
}
END_TEST

int main(void)
{
    atexit(release_held);
    const TTest *const tests[] = {defaults_are_as_documented,
                                  given_strings_come_before_the_environment,
                                  all_values_of_the_choices_are_read,
                                  a_string_may_begin_with_a_minus_sign,
                                  intervals_are_read_in_all_their_units,
                                  intervals_of_files_are_times_or_counts,
                                  times_and_sizes_are_those_of_the_tools,
                                  a_bad_value_is_refused_by_name,
                                  as_many_parities_as_a_group_has_members_are_refused,
                                  an_automatic_group_has_room_for_its_parities,
                                  all_bad_values_are_reported_at_once,
                                  unlimited_checkpoint_memory_has_two_spellings,
                                  unknown_variables_warn_once,
                                  the_print_can_be_read_back,
                                  logs_of_a_given_size_do_not_grow,
                                  NULL};
    char name[64];
    char **env;

    /* the caller's own settings are not under test */
    for (env = environ; *env != NULL;) {
        if (!strncmp(*env, "KEEL_", 5)) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*env, "="), *env);
            unsetenv(name);
            env = environ;
        } else {
            env++;
        }
    }
    return unit_run("config", tests);
}
