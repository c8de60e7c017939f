/* Advice as text, CSV and JSON; the text ends with lines that a shell can read. */
#include "plan_advice.h"
#include "plan_answers.h"
#include "plan_report.h"
#include "base/units.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- text ---- */

static void keel_plan_advice_head(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    char memory[32], mtbf[32], oplog[32], getlog[32];
    keel_plan_logs_t logs;

    keel_units_write_bytes(options->memory, memory, sizeof memory);
    keel_units_write_time(advice->mtbf_s, mtbf, sizeof mtbf);
    fprintf(stream, "%u ranks, %s%u a node, %s each; MTBF of the job %s%s\n", options->ranks,
            (options->hosts != NULL) ? "at most " : "", options->ranks_per_node, memory, mtbf,
            advice->is_mtbf_of_machine ? ", by the machine's failure rates: give --mtbf if you know better" : "");
    if (options->machine == NULL) {
        fprintf(stream, "no --machine: nodes are taken to fail one by one, switches and racks never\n");
    } else if (advice->scaled_by > 0) {
        fprintf(stream, "%s has its failures %.3g times as often as its file says, so that they make this MTBF\n",
                advice->machine.name, advice->scaled_by);
    }
    keel_plan_cost_logs(options, &logs);
    keel_units_write_bytes(logs.oplog, oplog, sizeof oplog);
    keel_units_write_bytes(logs.getlog, getlog, sizeof getlog);
    fprintf(stream, "logs of a rank: up to %s (KEEL_OPLOG_SIZE=auto%s) and %s (KEEL_GETLOG_SIZE)\n", oplog,
            (options->node_memory > 0) ? "" : "; less where a quarter of the node's memory is: give --node-memory",
            getlog);
}

static void keel_plan_advice_table(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    char memory[32], stop[32], work[32], safe[32], rebuild[32], interval[32];
    unsigned i;

    fprintf(stream, "\n%3s %5s %-10s %10s %8s %9s %9s %9s %9s %9s %7s %10s\n", "m", "group", "level", "memory",
            "parity", "stop", "work", "safe", "rebuild", "interval", "time", "risk");
    for (i = 0; i < advice->choice_count; i++) {
        const keel_plan_choice_t *choice = &advice->choices[i];
        keel_units_write_bytes(choice->memory, memory, sizeof memory);
        keel_units_write_time(choice->stop_s, stop, sizeof stop);
        keel_units_write_time(choice->work_s, work, sizeof work);
        keel_units_write_time(choice->safe_s, safe, sizeof safe);
        keel_units_write_time(choice->rebuild_s, rebuild, sizeof rebuild);
        keel_units_write_time(choice->interval_s, interval, sizeof interval);
        fprintf(stream, "%3u %5u %-10s %10s %6.1f %% %9s %9s %9s %9s %9s %5.2f %% %10.2e%s\n", choice->parities,
                choice->setting, keel_plan_level_name(&advice->machine, choice->aware), memory,
                choice->parity / options->memory / 2 * 100, stop, work, safe, rebuild, interval, choice->lost * 100,
                choice->risk,
                (i == advice->best)    ? " <"
                : choice->is_too_large ? " *"
                                       : "");
    }
    fprintf(
        stream,
        "\ngroup    members of the largest group; others have one less where the ranks do not divide evenly\n"
        "memory   of a rank, beyond its own and its logs: two images, and two shares of parity of so many %% of an "
        "image\n"
        "stop     of the program for a checkpoint; work: for parity, in its calls; safe: until the parity is there\n"
        "rebuild  of a dead node's images; interval: between checkpoints\n"
        "time     of the run, for checkpoints and for what deaths undo\n"
        "risk     probability of a catastrophic failure, per day: at most\n");
    for (i = 0; i < advice->choice_count; i++) {
        if (advice->choices[i].is_too_large) {
            fprintf(stream, "*        more than the node's memory, with the ranks' own and their logs\n");
            return;
        }
    }
}

static void keel_plan_advice_levels(const keel_plan_advice_t *advice, FILE *stream)
{
    uint32_t j;

    fprintf(stream, "\nrisk of this group size by the level that the placement heeds:");
    for (j = 0; j <= advice->machine.level_count; j++) {
        if (advice->risk_by_level[j] <= 1) {
            fprintf(stream, " %s %.2e", keel_plan_level_name(&advice->machine, j), advice->risk_by_level[j]);
        }
    }
    fputc('\n', stream);
}

static void keel_plan_advice_run(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    char run[32];

    if (options->run_s > 0) {
        keel_units_write_time(options->run_s, run, sizeof run);
        fprintf(stream, "risk of a run of %s: %.2e at most\n", run,
                keel_plan_risk_of_run(&advice->choices[advice->best], options->run_s));
    }
}

static const char keel_plan_assumed[] =
    "the files are read as fast as they are written; the program waits for 8 accesses to memory for each byte that the "
    "ranks of a node write, as if no core were free; a failure that parity covers costs the rebuild and 10 s";

static void keel_plan_advice_files(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    const keel_plan_files_t *files = &advice->choices[advice->best].files;
    char set[32], cost[32], beyond[32], interval[32], sets[32];

    if (options->file_rate == 0) {
        return;
    }
    keel_units_write_time(files->set_s, set, sizeof set);
    keel_units_write_time(files->set_cost_s, cost, sizeof cost);
    keel_units_write_time(files->beyond_mtbf_s, beyond, sizeof beyond);
    keel_units_write_time(files->interval_s, interval, sizeof interval);
    keel_units_write_time(files->interval_s * files->checkpoints, sets, sizeof sets);
    fprintf(stream,
            "\nfiles: a checkpoint in files is complete after %s and costs %s; %s between failures beyond parity\n"
            "a checkpoint every %s, and one of %u, every %s, in files: %.2f %% of the run's time\n"
            "assumed: %s\n",
            set, cost, beyond, interval, files->checkpoints, sets, files->lost * 100, keel_plan_assumed);
}

/* The value of KEEL_FILE_MTBF, which has a maximum. */
static double keel_plan_advice_file_mtbf(const keel_plan_choice_t *choice)
{
    return fmin(choice->files.beyond_mtbf_s, 1e10);
}

/* The value of KEEL_CKPT_INTERVAL. */
static const char *keel_plan_advice_interval(const keel_plan_options_t *options, const keel_plan_choice_t *choice,
                                             char *text, size_t length)
{
    if ((options->file_rate == 0) || choice->files.is_daly) {
        return "daly";
    }
    snprintf(text, length, "%.4gs", choice->files.interval_s);
    return text;
}

/* Simulates the library's layout, which differs from the formula's. */
static int keel_plan_advice_simulate(const keel_plan_options_t *options, const keel_plan_advice_t *advice,
                                     const keel_plan_progress_t *progress, FILE *stream)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    const uint64_t samples = 500000;
    const keel_plan_layout_params_t params = {options->ranks, best->aware,          best->group_size,
                                              best->parities, KEEL_PLAN_PLACE_KEEL, options->ranks_per_node};
    keel_plan_layout_t layout;
    keel_plan_estimate_t estimate;
    keel_plan_random_t random;
    keel_plan_error_t error;
    int rc;

    if (keel_plan_layout_make(&advice->machine, &params, &layout, &error)) {
        return -1;
    }
    keel_plan_random_seed(&random, options->seed);
    rc = keel_plan_simulate(&advice->machine, &layout, samples, &random, progress, NULL, &estimate);
    keel_plan_layout_release(&layout);
    if ((rc == 0) && (estimate.high <= 3 * estimate.value)) {
        fprintf(stream, "simulated on the groups that Keel forms: %.2e (95 %% interval %.2e to %.2e)\n", estimate.value,
                estimate.low, estimate.high);
    } else if (rc == 0) {
        fprintf(stream, "too rare to be simulated on the groups that Keel forms\n");
    }
    return rc;
}

/* Prints how the job learns of the level: nodes alone need no setting. */
static void keel_plan_advice_hint(const char *level, FILE *stream)
{
    if (!strcmp(level, "node") || !strcmp(level, "none")) {
        return;
    }
    if (!strcmp(level, "numa") || !strcmp(level, "package")) {
        fprintf(stream, "# KEEL_TOPO_MACHINE has to be set: it makes the level %s\n", level);
    } else if (!strncmp(level, "switch", strlen("switch"))) {
        fprintf(stream,
                "# KEEL_TOPO_FILE with a level named %s, or KEEL_TOPO_SLURM, has to say which hosts are in which\n",
                level);
    } else {
        fprintf(stream, "# KEEL_TOPO_FILE, with a level named %s, has to say which hosts are in which\n", level);
    }
}

/* Prints any path in shell syntax. */
static void keel_plan_advice_path(const char *variable, const char *path, FILE *stream)
{
    fprintf(stream, "export %s='", variable);
    for (; *path != '\0'; path++) {
        fputs((*path == '\'') ? "'\\''" : (char[2]){*path, '\0'}, stream);
    }
    fputs("'\n", stream);
}

static void keel_plan_advice_settings(const keel_plan_options_t *options, const keel_plan_advice_t *advice,
                                      FILE *stream)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    const char *level = keel_plan_level_name(&advice->machine, best->aware);
    char interval[32];

    fputc('\n', stream);
    if (options->topology != NULL) {
        keel_plan_advice_path("KEEL_TOPO_FILE", options->topology, stream);
    } else {
        keel_plan_advice_hint(level, stream);
    }
    fprintf(stream,
            "export KEEL_GROUP_SIZE=%u\nexport KEEL_PARITIES=%u\nexport KEEL_TOPO_LEVEL=%s\n"
            "export KEEL_CKPT_INTERVAL=%s\nexport KEEL_MTBF=%.6gs\n",
            best->setting, best->parities, level, keel_plan_advice_interval(options, best, interval, sizeof interval),
            advice->mtbf_s);
    if (options->file_rate > 0) {
        fprintf(stream, "export KEEL_FILE_INTERVAL=%ucheckpoints\nexport KEEL_FILE_MTBF=%.6gs\n",
                best->files.checkpoints, keel_plan_advice_file_mtbf(best));
    }
}

/* ---- for programs ---- */

static void keel_plan_advice_csv(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    keel_plan_logs_t logs;
    unsigned i;

    keel_plan_cost_logs(options, &logs);
    fprintf(stream, "parities,group_size,level,memory,parity_memory,log_memory,stop_s,work_s,safe_s,rebuild_s,interval_"
                    "s,time_share,risk,"
                    "run_risk,chosen,file_interval_s,file_checkpoints,file_time_share\n");
    for (i = 0; i < advice->choice_count; i++) {
        const keel_plan_choice_t *choice = &advice->choices[i];
        fprintf(stream, "%u,%u,%s,%.0f,%.0f,%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6e,", choice->parities,
                choice->setting, keel_plan_level_name(&advice->machine, choice->aware), choice->memory, choice->parity,
                logs.oplog + logs.getlog, choice->stop_s, choice->work_s, choice->safe_s, choice->rebuild_s,
                choice->interval_s, choice->lost, choice->risk);
        if (options->run_s > 0) {
            fprintf(stream, "%.6e", keel_plan_risk_of_run(choice, options->run_s));
        }
        fprintf(stream, ",%d,", i == advice->best);
        if (options->file_rate > 0) {
            fprintf(stream, "%.6g,%u,%.6g\n", choice->files.interval_s, choice->files.checkpoints, choice->files.lost);
        } else {
            fputs(",,\n", stream);
        }
    }
}

static void keel_plan_advice_json(const keel_plan_options_t *options, const keel_plan_advice_t *advice, FILE *stream)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    keel_plan_logs_t logs;
    char interval[32];
    unsigned i;

    keel_plan_cost_logs(options, &logs);
    fprintf(stream,
            "{\"mtbf_s\": %.6g, \"target_met\": %s, \"log_memory\": %.0f,\n \"settings\": {\"KEEL_GROUP_SIZE\": "
            "\"%u\", \"KEEL_PARITIES\": "
            "\"%u\", \"KEEL_TOPO_LEVEL\": \"%s\", \"KEEL_CKPT_INTERVAL\": \"%s\", \"KEEL_MTBF\": \"%.6gs\"",
            advice->mtbf_s, advice->is_met ? "true" : "false", logs.oplog + logs.getlog, best->setting, best->parities,
            keel_plan_level_name(&advice->machine, best->aware),
            keel_plan_advice_interval(options, best, interval, sizeof interval), advice->mtbf_s);
    if (options->file_rate > 0) {
        fprintf(stream,
                ", \"KEEL_FILE_INTERVAL\": \"%ucheckpoints\", \"KEEL_FILE_MTBF\": \"%.6gs\"},\n \"assumed\": \"%s\"",
                best->files.checkpoints, keel_plan_advice_file_mtbf(best), keel_plan_assumed);
    } else {
        fputc('}', stream);
    }
    fputs(",\n \"choices\": [", stream);
    for (i = 0; i < advice->choice_count; i++) {
        const keel_plan_choice_t *choice = &advice->choices[i];
        fprintf(stream,
                "%s\n  {\"parities\": %u, \"group_size\": %u, \"level\": \"%s\", \"memory\": %.0f, \"parity_memory\": "
                "%.0f, "
                "\"stop_s\": %.6g, \"work_s\": %.6g, \"safe_s\": %.6g, \"rebuild_s\": %.6g, \"interval_s\": %.6g, "
                "\"time_share\": %.6g, "
                "\"risk\": %.6e",
                (i > 0) ? "," : "", choice->parities, choice->setting,
                keel_plan_level_name(&advice->machine, choice->aware), choice->memory, choice->parity, choice->stop_s,
                choice->work_s, choice->safe_s, choice->rebuild_s, choice->interval_s, choice->lost, choice->risk);
        if (options->run_s > 0) {
            fprintf(stream, ", \"run_risk\": %.6e", keel_plan_risk_of_run(choice, options->run_s));
        }
        if (options->file_rate > 0) {
            fprintf(stream, ", \"file_interval_s\": %.6g, \"file_checkpoints\": %u, \"file_time_share\": %.6g",
                    choice->files.interval_s, choice->files.checkpoints, choice->files.lost);
        }
        fputc('}', stream);
    }
    fprintf(stream, "\n]}\n");
}

static int keel_plan_advice_verdict(const keel_plan_options_t *options, const keel_plan_advice_t *advice,
                                    keel_plan_error_t *error)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    char need[32], mtbf[32];

    if (best->is_too_large) {
        keel_units_write_bytes(keel_plan_cost_node(options, best), need, sizeof need);
        snprintf(error->text, sizeof error->text, "no choice fits into the node's memory; this one takes %s", need);
    } else if (best->lost >= 1) {
        keel_units_write_time(advice->mtbf_s, mtbf, sizeof mtbf);
        snprintf(error->text, sizeof error->text,
                 "no choice leaves time to compute: an MTBF of %s is too short for checkpoints that take %.3g s", mtbf,
                 best->stop_s + best->safe_s);
    } else if (!advice->is_met) {
        snprintf(error->text, sizeof error->text, "no choice reaches a risk of %g per day; the safest has %.2e",
                 options->target, best->risk);
    }
    return (error->text[0] == '\0') ? 0 : -1;
}

int keel_plan_answer_advice(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                            const keel_plan_progress_t *progress, FILE *stream, keel_plan_error_t *error)
{
    keel_plan_advice_t advice;

    if (keel_plan_advise(options, machine, &advice, error)) {
        return -1;
    }
    switch (options->form) {
    case KEEL_PLAN_CSV:
        keel_plan_advice_csv(options, &advice, stream);
        break;
    case KEEL_PLAN_JSON:
        keel_plan_advice_json(options, &advice, stream);
        break;
    case KEEL_PLAN_TEXT:
        keel_plan_advice_head(options, &advice, stream);
        keel_plan_advice_table(options, &advice, stream);
        keel_plan_advice_levels(&advice, stream);
        keel_plan_advice_run(options, &advice, stream);
        if (keel_plan_advice_simulate(options, &advice, progress, stream)) {
            snprintf(error->text, sizeof error->text, "not enough memory to simulate");
            return -1;
        }
        keel_plan_advice_files(options, &advice, stream);
        keel_plan_advice_settings(options, &advice, stream);
        break;
    }
    return keel_plan_advice_verdict(options, &advice, error);
}
