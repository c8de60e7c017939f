/* Arguments of PMIx_Spawn, and the reaction to a refusal: the test is the launcher. */
#include <base/memory.h>
#include <runtime/pmix_runtime.h>
#include <runtime/pmix_spawn.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define SPAWN_RANKS 4
#define SPAWN_RANK  2
#define SPAWN_SPARE 1

static uint64_t now_ns;
static unsigned aborts, calls;
static pmix_status_t answer;  /* result of the call */
static pmix_status_t outcome; /* result of the spawn begun by the call */

static uint64_t tell_now(keel_runtime_t *runtime)
{
    (void)runtime;
    return now_ns;
}

static void count_abort(keel_runtime_t *runtime, int status, const char *reason)
{
    (void)runtime;
    (void)status;
    ck_assert_str_eq(reason, "a rank died, and the launcher starts no replacement");
    aborts++;
}

static const keel_runtime_ops_t ops = {.name = "test", .now_ns = tell_now, .abort = count_abort};
static keel_runtime_pmix_t runtime;

/* Returns NULL if the key is absent; the test fails if the key comes twice. */
static const pmix_value_t *spawn_find(const pmix_info_t *info, size_t count, const char *key)
{
    const pmix_value_t *found = NULL;

    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], key)) {
            ck_assert_ptr_null(found);
            found = &info[i].value;
        }
    }
    return found;
}

static void expect_text(const pmix_value_t *value, const char *text)
{
    ck_assert_ptr_nonnull(value);
    ck_assert_int_eq(value->type, PMIX_STRING);
    ck_assert_str_eq(value->data.string, text);
}

/* Returns the value of a variable that comes once, or NULL. */
static const char *spawn_variable(const pmix_app_t *app, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;

    for (char **variable = app->env; *variable != NULL; variable++) {
        if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') {
            ck_assert_ptr_null(found);
            found = *variable + length + 1;
        }
    }
    return found;
}

static void expect_this_program(const pmix_app_t *app)
{
    char path[4096], *directory = getcwd(NULL, 0);
    const ssize_t used = readlink("/proc/self/exe", path, sizeof path - 1);

    ck_assert_int_gt(used, 0);
    path[used] = '\0';
    ck_assert_str_eq(app->cmd, path);
    ck_assert_str_eq(app->cwd, directory);
    ck_assert_int_eq(app->maxprocs, 1);
    ck_assert_ptr_nonnull(app->argv);
    ck_assert_ptr_nonnull(app->argv[0]);
    free(directory);
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t *info, size_t count, const pmix_app_t *app, size_t apps,
                            pmix_spawn_cbfunc_t on_done, void *arg)
{
    const pmix_value_t *value;
    char job[] = "spawned";

    calls++;
    /* In an allocation the slot of the dead process counts as taken. */
    expect_text(spawn_find(info, count, PMIX_MAPBY), ":OVERSUBSCRIBE");
    /* The job survives the death of the spawned process, too. */
    value = spawn_find(info, count, PMIX_JOB_RECOVERABLE);
    ck_assert(value != NULL && value->type == PMIX_BOOL && value->data.flag);
    ck_assert_uint_eq(apps, 1);
    /* On the host where the claim of its number holds and events arrive. */
    expect_text(spawn_find(app->info, app->ninfo, PMIX_HOST), "here");
    expect_this_program(app);
    ck_assert_str_eq(spawn_variable(app, KEEL_ENV_SPAWNED), "job.7 2 1");
    ck_assert_str_eq(spawn_variable(app, "KEEL_OPLOG_SIZE"), "3m");
    ck_assert_str_eq(spawn_variable(app, "UCX_TLS"), "tcp");
    ck_assert_ptr_null(spawn_variable(app, "PMIX_RANK")); /* another process for the launcher */
    if (answer == PMIX_SUCCESS) {
        on_done(outcome, job, arg);
    }
    return answer;
}

static void spawn_open(void)
{
    static char *hosts[] = {"there", "here"};
    static uint32_t nodes[SPAWN_RANKS] = {1, 0, 1, 1};

    runtime = (keel_runtime_pmix_t){.base = {.ops = &ops, .size = SPAWN_RANKS, .host = hosts, .node = nodes},
                                    .job_size = SPAWN_RANKS};
    strcpy(runtime.job.nspace, "job.7");
    now_ns = 1000000000000ull;
    aborts = calls = 0;
    answer = outcome = PMIX_SUCCESS;
    ck_assert_int_eq(keel_pmix_spares_init(&runtime, 3), KEEL_OK);
    runtime.spares.does_spawn = 1;
    ck_assert_int_eq(setenv(KEEL_ENV_SPAWNED, "what this process was told", 1), 0);
    ck_assert_int_eq(setenv("KEEL_OPLOG_SIZE", "3m", 1), 0);
    ck_assert_int_eq(setenv("UCX_TLS", "tcp", 1), 0);
    ck_assert_int_eq(setenv("PMIX_RANK", "3", 1), 0);
}

START_TEST(replacement_is_asked_for_beyond_a_full_allocation_and_may_die)
{
    spawn_open();
    keel_pmix_spawn(&runtime, SPAWN_RANK, SPAWN_SPARE);
    ck_assert_uint_eq(calls, 1);
    ck_assert_int_eq(atomic_load(&runtime.spares.is_refused), 0);
    keel_pmix_spares_release(&runtime);
}
END_TEST

/* A death, and the steps behind the death, which find the launcher's result. */
static void spawn_is_refused(pmix_status_t at_once, pmix_status_t later)
{
    const keel_event_t death = {.type = KEEL_EVENT_DEATH, .rank = SPAWN_RANK};

    spawn_open();
    atomic_store(&runtime.spares.spare[0].is_dead, 1); /* so that the next spare is spawned */
    answer = at_once;
    outcome = later;
    keel_pmix_spares_note(&runtime, &death);
    keel_pmix_spares_step(&runtime);
    ck_assert_uint_eq(calls, 1);
    ck_assert_int_eq(atomic_load(&runtime.spares.is_refused), 1);
    ck_assert_uint_eq(aborts, 0);
    now_ns += 1000000000ull;
    keel_pmix_spares_step(&runtime);
    ck_assert_uint_eq(calls, 1);
    ck_assert_uint_eq(aborts, 1);
    keel_pmix_spares_release(&runtime);
}

START_TEST(job_ends_when_the_launcher_refuses_at_once)
{
    spawn_is_refused(PMIX_ERR_NOT_SUPPORTED, PMIX_SUCCESS);
}
END_TEST

START_TEST(job_ends_when_the_launcher_cannot_start_it)
{
    spawn_is_refused(PMIX_SUCCESS, PMIX_ERR_OUT_OF_RESOURCE);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {replacement_is_asked_for_beyond_a_full_allocation_and_may_die,
                                  job_ends_when_the_launcher_refuses_at_once,
                                  job_ends_when_the_launcher_cannot_start_it, NULL};

    return unit_run("pmix_spawn", tests);
}
