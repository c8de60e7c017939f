/*
 * keel_perftest: times of Keel's accesses and checkpoints, with the options of ucx_perftest: a
 * client and a server, or any number of ranks under a launcher.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf_access.h"
#include "perf_check.h"
#include "perf_report.h"

#include "tools/tool_output.h"

static int is_launched(void)
{
    return getenv("PMIX_NAMESPACE") != NULL;
}

static int is_speaker(void)
{
    const char *rank = getenv("PMIX_RANK");

    return rank == NULL || !strcmp(rank, "0");
}

/* Shares the client's plan with the server. */
static int plan_share(perf_pair_t *pair, perf_plan_t *plan)
{
    const uint64_t size = sizeof *plan;
    uint64_t told;

    if (pair->base.rank == 0) {
        return (perf_pair_send(pair, &size, sizeof size) == 0 && perf_pair_send(pair, plan, sizeof *plan) == 0) ? 0
                                                                                                                : -1;
    }
    if (perf_pair_receive(pair, &told, sizeof told) != 0 || told != size ||
        perf_pair_receive(pair, plan, sizeof *plan) != 0 || !perf_plan_is_sane(plan)) {
        fprintf(stderr, "keel_perftest: the client is of another build\n");
        return -1;
    }
    return 0;
}

static keel_status_t test_run(perf_run_t *run, perf_test_t *test)
{
    perf_result_t result;
    const perf_result_t *all = &result;
    keel_stats_t stats;

    memset(&result, 0, sizeof result);
    run->stage_ns = 0;
    PERF_TRY(keel_stats(run->ctx, &stats, sizeof(stats)));
    run->overflows = stats.log_overflows;
    perf_schedule_make(test, run->plan->log_bytes, &run->schedule);
    perf_report_test(run, test);
    switch (test->id) {
    case PERF_CKPT:
        PERF_TRY(perf_ckpt_run(run, test, &result));
        break;
    case PERF_RESTORE:
        PERF_TRY(perf_restore_run(run, test, &result));
        break;
    default:
        PERF_TRY(perf_access_run(run, test, &result));
    }
    if (test->id != PERF_RESTORE) {
        PERF_TRY(perf_run_gather(run, &result, &all));
    }
    if (run->rank != 0) {
        return KEEL_OK;
    }
    PERF_TRY(perf_check_sums(run, all));
    perf_report_final(run, test, all);
    return KEEL_OK;
}

static keel_status_t run_all(perf_run_t *run, perf_plan_t *plan)
{
    PERF_TRY(perf_run_open(run, plan->tests[0].id == PERF_RESTORE));
    perf_report_head(run);
    for (unsigned t = 0; t < plan->count; t++) {
        PERF_TRY(test_run(run, &plan->tests[t]));
    }
    return keel_finalize(run->ctx);
}

static int perf_main(int argc, char **argv)
{
    static perf_plan_t plan;
    static perf_pair_t pair;
    perf_run_t run = {.plan = &plan, .main_ns = perf_now_ns()};
    keel_status_t status;
    int exit_status = perf_plan_parse(argc, argv, is_speaker(), &plan);

    if (exit_status >= 0) {
        return exit_status;
    }
    if (!is_launched()) {
        if (plan.tests[0].id == PERF_RESTORE) {
            fprintf(stderr, "keel_perftest: restore needs keelrun, which starts a killed rank again\n");
            return 2;
        }
        if (perf_pair_meet(&pair, plan.host, plan.port) != 0 || plan_share(&pair, &plan) != 0) {
            return 1;
        }
        run.pair = &pair;
    } else if (plan.host[0] != '\0') {
        if (!is_speaker()) {
            return 0; /* like after any other wrong argument */
        }
        fprintf(stderr, "keel_perftest: under a launcher there is no server: %s\n", plan.host);
        return 2;
    }
    if (plan.ucx_option[0] != '\0' && raw_ucp_option_check(plan.ucx_option) != 0) {
        return 1;
    }
    status = run_all(&run, &plan);
    if (status < 0) {
        fprintf(stderr, "keel_perftest: %s\n", keel_status_string(status));
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], RAW_UCP_TRY) == 0) {
        raw_ucp_try_environment();
    }
    return tool_output_end("keel_perftest", perf_main(argc, argv));
}
