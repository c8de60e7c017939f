/* Advice as text, CSV and JSON; the text ends with lines that a shell can read. */
#include "plan_advice.h"
#include "plan_answers.h"
#include "plan_report.h"
#include "base/units.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* ---- text --------------------------------------------------------------------------------------------------- */

static void keel_plan_advice_head(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                                  const keel_plan_advice_t *advice, FILE *stream)
{
    char memory[32], mtbf[32];

    keel_units_write_bytes(options->memory, memory, sizeof memory);
    keel_units_write_time(advice->mtbf_s, mtbf, sizeof mtbf);
    fprintf(stream, "%u ranks, %u a node, %s each; MTBF of the job %s%s\n", options->ranks, options->ranks_per_node,
            memory, mtbf,
            advice->is_mtbf_of_machine ? ", by the machine's failure rates: give --mtbf if you know better" : "");
    if (machine == NULL) {
        fprintf(stream, "no --machine: nodes are taken to fail one by one, switches and racks never\n");
    }
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
                choice->group_size, keel_plan_level_name(advice->machine, choice->aware), memory,
                choice->parity / options->memory / 2 * 100, stop, work, safe, rebuild, interval, choice->lost * 100,
                choice->risk, (i == advice->best) ? " <" : "");
    }
    fprintf(
        stream,
        "\nmemory   of a rank, beyond its own: two images, and two shares of parity of so many %% of an image\n"
        "stop     of the program for a checkpoint; work: for parity, in its calls; safe: until the parity is there\n"
        "rebuild  of a dead node's images; interval: between checkpoints\n"
        "time     of the run, for checkpoints and for what deaths undo\n"
        "risk     probability of a catastrophic failure, per day: at most\n");
}

static void keel_plan_advice_levels(const keel_plan_advice_t *advice, FILE *stream)
{
    uint32_t j;

    fprintf(stream, "\nrisk of this group size by the level that the placement heeds:");
    for (j = 0; j <= advice->machine->level_count; j++) {
        if (advice->risk_by_level[j] <= 1) {
            fprintf(stream, " %s %.2e", keel_plan_level_name(advice->machine, j), advice->risk_by_level[j]);
        }
    }
    fputc('\n', stream);
}

/* the formula's layout is not the library's */
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

    if (keel_plan_layout_make(advice->machine, &params, &layout, &error)) {
        return -1;
    }
    keel_plan_random_seed(&random, options->seed);
    rc = keel_plan_simulate(advice->machine, &layout, samples, &random, progress, NULL, &estimate);
    keel_plan_layout_release(&layout);
    if ((rc == 0) && (estimate.high <= 3 * estimate.value)) {
        fprintf(stream, "simulated on the groups that Keel forms: %.2e (95 %% interval %.2e to %.2e)\n", estimate.value,
                estimate.low, estimate.high);
    } else if (rc == 0) {
        fprintf(stream, "too rare to be simulated on the groups that Keel forms\n");
    }
    return rc;
}

static void keel_plan_advice_settings(const keel_plan_advice_t *advice, FILE *stream)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];

    if (best->aware > 1) {
        fprintf(stream, "\n# KEEL_TOPO_FILE or KEEL_TOPO_SLURM has to say which %s a node is in",
                keel_plan_level_name(advice->machine, best->aware));
    }
    fprintf(stream,
            "\nexport KEEL_GROUP_SIZE=%u\nexport KEEL_PARITIES=%u\nexport KEEL_TOPO_LEVEL=%s\n"
            "export KEEL_CKPT_INTERVAL=daly\nexport KEEL_MTBF=%.6gs\n",
            best->group_size, best->parities, keel_plan_level_name(advice->machine, best->aware), advice->mtbf_s);
}

/* ---- for programs ------------------------------------------------------------------------------------------- */

static void keel_plan_advice_csv(const keel_plan_advice_t *advice, FILE *stream)
{
    unsigned i;

    fprintf(stream,
            "parities,group_size,level,memory,parity_memory,stop_s,work_s,safe_s,rebuild_s,interval_s,time_share,risk,"
            "chosen\n");
    for (i = 0; i < advice->choice_count; i++) {
        const keel_plan_choice_t *choice = &advice->choices[i];
        fprintf(stream, "%u,%u,%s,%.0f,%.0f,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6e,%d\n", choice->parities,
                choice->group_size, keel_plan_level_name(advice->machine, choice->aware), choice->memory,
                choice->parity, choice->stop_s, choice->work_s, choice->safe_s, choice->rebuild_s, choice->interval_s,
                choice->lost, choice->risk, i == advice->best);
    }
}

static void keel_plan_advice_json(const keel_plan_advice_t *advice, FILE *stream)
{
    const keel_plan_choice_t *best = &advice->choices[advice->best];
    unsigned i;

    fprintf(stream,
            "{\"mtbf_s\": %.6g, \"target_met\": %s,\n \"settings\": {\"KEEL_GROUP_SIZE\": \"%u\", \"KEEL_PARITIES\": "
            "\"%u\", \"KEEL_TOPO_LEVEL\": \"%s\", \"KEEL_CKPT_INTERVAL\": \"daly\", \"KEEL_MTBF\": \"%.6gs\"},\n "
            "\"choices\": [",
            advice->mtbf_s, advice->is_met ? "true" : "false", best->group_size, best->parities,
            keel_plan_level_name(advice->machine, best->aware), advice->mtbf_s);
    for (i = 0; i < advice->choice_count; i++) {
        const keel_plan_choice_t *choice = &advice->choices[i];
        fprintf(stream,
                "%s\n  {\"parities\": %u, \"group_size\": %u, \"level\": \"%s\", \"memory\": %.0f, \"parity_memory\": "
                "%.0f, "
                "\"stop_s\": %.6g, \"work_s\": %.6g, \"safe_s\": %.6g, \"rebuild_s\": %.6g, \"interval_s\": %.6g, "
                "\"time_share\": %.6g, "
                "\"risk\": %.6e}",
                (i > 0) ? "," : "", choice->parities, choice->group_size,
                keel_plan_level_name(advice->machine, choice->aware), choice->memory, choice->parity, choice->stop_s,
                choice->work_s, choice->safe_s, choice->rebuild_s, choice->interval_s, choice->lost, choice->risk);
    }
    fprintf(stream, "\n]}\n");
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
        keel_plan_advice_csv(&advice, stream);
        break;
    case KEEL_PLAN_JSON:
        keel_plan_advice_json(&advice, stream);
        break;
    case KEEL_PLAN_TEXT:
        keel_plan_advice_head(options, machine, &advice, stream);
        keel_plan_advice_table(options, &advice, stream);
        keel_plan_advice_levels(&advice, stream);
        if (keel_plan_advice_simulate(options, &advice, progress, stream)) {
            snprintf(error->text, sizeof error->text, "not enough memory to simulate");
            return -1;
        }
        keel_plan_advice_settings(&advice, stream);
        break;
    }
    if (!advice.is_met) {
        snprintf(error->text, sizeof error->text, "no choice reaches a risk of %g per day; the safest has %.2e",
                 options->target, advice.choices[advice.best].risk);
        return -1;
    }
    return 0;
}
