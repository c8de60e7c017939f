/*
 * keel_plan: safety of a placement, failures that replicated data survives, and recommended
 * settings of a job.
 */
#include "plan_answers.h"
#include "plan_load.h"
#include "plan_options.h"
#include "plan_report.h"
#include "plan_simulate.h"
#include "plan_site.h"

#include "base/memory.h"
#include "tools/tool_output.h"

#include <keel/version.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2

/* ---- progress on a terminal, and the time limit ---- */

typedef struct keel_plan_clock {
    double begin_s, reported_s, limit_s;
    int is_terminal, is_over;
} keel_plan_clock_t;

static double keel_plan_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int keel_plan_report_progress(void *arg, double done)
{
    keel_plan_clock_t *clock = arg;
    const double now_s = keel_plan_now_s();

    if (now_s - clock->begin_s > clock->limit_s) {
        if (!clock->is_over) {
            fprintf(stderr, "keel_plan: --limit of %g s reached, the rest is left out\n", clock->limit_s);
        }
        clock->is_over = 1;
        return 1;
    }
    if (clock->is_terminal && (now_s - clock->reported_s >= 1)) {
        clock->reported_s = now_s;
        fprintf(stderr, "\r%3.0f %% simulated ", done * 100);
        if (done >= 1) {
            fputc('\n', stderr);
        }
    }
    return 0;
}

/* ---- the three questions ---- */

static int keel_plan_safety(const keel_plan_options_t *options, const keel_plan_progress_t *progress)
{
    keel_plan_machine_t *machine = keel_alloc(sizeof *machine, "plan machine");
    keel_plan_report_t *report = keel_alloc(sizeof *report, "plan report");
    keel_plan_error_t error;
    int rc = -1;

    if ((machine == NULL) || (report == NULL)) {
        fprintf(stderr, "keel_plan: not enough memory\n");
        goto err_free;
    }
    if (keel_plan_machine_load(options->machine, machine, stderr)) {
        goto err_free;
    }
    rc = (options->ranks > 0) ? keel_plan_use_elements(machine, options->ranks, options->ranks_per_node, &error) : 0;
    if (rc == 0) {
        rc = keel_plan_report_make(machine, options, progress, report, &error);
    }
    if ((rc == 0) && (options->picture != NULL)) {
        rc = keel_plan_picture(report, options->picture, &error);
    }
    if (rc != 0) {
        fprintf(stderr, "keel_plan: %s\n", error.text);
        goto err_free;
    }
    keel_plan_report_print(report, stdout);
err_free:
    keel_free(machine);
    keel_free(report);
    return rc;
}

static int keel_plan_loss(const keel_plan_options_t *options, const keel_plan_progress_t *progress)
{
    keel_plan_error_t error;

    if (keel_plan_answer_replicas(options, progress, stdout, &error)) {
        fprintf(stderr, "keel_plan: %s\n", error.text);
        return -1;
    }
    return 0;
}

static int keel_plan_advice(const keel_plan_options_t *given, const keel_plan_progress_t *progress)
{
    keel_plan_machine_t *machine = keel_alloc(sizeof *machine, "plan machine");
    keel_plan_site_t *site = keel_alloc(sizeof *site, "plan site");
    keel_plan_options_t options = *given;
    keel_plan_error_t error;
    int rc = -1;

    if ((machine == NULL) || (site == NULL)) {
        fprintf(stderr, "keel_plan: not enough memory\n");
        goto err_free;
    }
    if ((options.machine != NULL) && keel_plan_machine_load(options.machine, machine, stderr)) {
        goto err_free;
    }
    if ((options.hosts != NULL) && keel_plan_site_read(&options, (options.machine != NULL) ? machine : NULL, site)) {
        goto err_release;
    }
    rc = keel_plan_answer_advice(&options,
                                 (options.hosts != NULL)     ? &site->machine
                                 : (options.machine != NULL) ? machine
                                                             : NULL,
                                 progress, stdout, &error);
    if (rc != 0) {
        fflush(stdout);
        fprintf(stderr, "keel_plan: %s\n", error.text);
    }
err_release:
    keel_plan_site_release(site);
err_free:
    keel_free(machine);
    keel_free(site);
    return rc;
}

int main(int argc, char **argv)
{
    keel_plan_options_t options;
    keel_plan_clock_t clock = {.begin_s = keel_plan_now_s(), .is_terminal = isatty(STDERR_FILENO)};
    keel_plan_progress_t progress = {keel_plan_report_progress, &clock};
    int rc = 0;

    if (keel_plan_options_read(argc, argv, &options, stderr)) {
        return EXIT_USAGE;
    }
    clock.limit_s = options.limit_s;
    clock.reported_s = clock.begin_s;
    switch (options.mode) {
    case KEEL_PLAN_HELP:
        keel_plan_usage(stdout);
        break;
    case KEEL_PLAN_VERSION:
        puts("keel_plan " KEEL_VERSION_STRING);
        break;
    case KEEL_PLAN_REPLICAS:
        rc = keel_plan_loss(&options, &progress);
        break;
    case KEEL_PLAN_ADVICE:
        rc = keel_plan_advice(&options, &progress);
        break;
    case KEEL_PLAN_SAFETY:
        rc = keel_plan_safety(&options, &progress);
        break;
    }
    return tool_output_end("keel_plan", (rc == 0) ? EXIT_SUCCESS : EXIT_FAILURE);
}
