/* Replicated data [R IV-D]: exact, approximate and simulated, as text, CSV and JSON. */
#include "plan_answers.h"

#include "store/store_place.h"
#include "tools/topo/replica_loss.h"

#include <string.h>

static void keel_plan_loss_add(uint64_t f, uint64_t least, keel_plan_replicas_t *result)
{
    if ((f >= least) && ((result->asked_count == 0) || (result->asked[result->asked_count - 1] != f))) {
        result->asked[result->asked_count++] = f;
    }
}

/*
 * Sets the numbers of failures: as requested, or some shares of the processes or nodes. With few of
 * these most shares cannot lose data; then takes even steps from @a least up to all.
 */
static void keel_plan_loss_ask(uint64_t failures, uint64_t least, uint64_t all, keel_plan_replicas_t *result)
{
    static const double shares[KEEL_PLAN_ASKED_MAX] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1};
    unsigned i;

    memset(result, 0, sizeof *result);
    if (failures > 0) {
        result->asked[result->asked_count++] = failures;
        return;
    }
    for (i = 0; i < KEEL_PLAN_ASKED_MAX; i++) {
        keel_plan_loss_add((uint64_t)(shares[i] * (double)all), least, result);
    }
    if (result->asked_count < KEEL_PLAN_ASKED_MAX / 2) {
        result->asked_count = 0;
        for (i = 0; i < KEEL_PLAN_ASKED_MAX; i++) {
            keel_plan_loss_add(least + (all - least) * i / (KEEL_PLAN_ASKED_MAX - 1), least, result);
        }
    }
}

static void keel_plan_loss_text(const keel_plan_options_t *options, const keel_replicas_t *replicas,
                                const keel_plan_replicas_t *result, FILE *stream)
{
    const double p = (double)replicas->processes;
    const double expected = keel_replicas_failures_expected(replicas);
    const double approximate = keel_replicas_failures_approximate(replicas);
    const keel_plan_estimate_t *mean = &result->failures;
    unsigned i;

    fprintf(stream, "%llu processes, %llu replicas\n\nfailures until data is lost\n",
            (unsigned long long)replicas->processes, (unsigned long long)replicas->replicas);
    fprintf(stream, "  expected            %.8g (%.4g %%)\n", expected, expected / p * 100);
    fprintf(stream, "  approximation is 1  %.8g (%.4g %%)\n", approximate, approximate / p * 100);
    if (options->samples > 0) {
        fprintf(stream, "  simulated           %.8g (%.4g %%), 95 %% interval %.8g to %.8g, %llu samples\n",
                mean->value, mean->value / p * 100, mean->low, mean->high, (unsigned long long)mean->samples);
        fprintf(stream, "  a tenth, half, nine tenths of the samples by %.8g, %.8g, %.8g\n", result->tenth,
                result->median, result->ninetieth);
    }
    fprintf(stream, "\nprobability that data is lost\n%12s %10s %14s %14s %14s", "by failure", "share", "exact",
            "at this one", "approximate");
    fprintf(stream, (options->samples > 0) ? " %12s   %s\n" : "\n", "simulated", "95 % interval");
    for (i = 0; i < result->asked_count; i++) {
        const uint64_t f = result->asked[i];
        fprintf(stream, "%12llu %8.4g %% %14.6e %14.6e %14.6e", (unsigned long long)f, (double)f / p * 100,
                keel_replicas_loss(replicas, f), keel_replicas_loss_at(replicas, f),
                keel_replicas_loss_approximate(replicas, f));
        if (options->samples > 0) {
            fprintf(stream, " %12.4e   %.4e to %.4e", result->lost[i].value, result->lost[i].low, result->lost[i].high);
        }
        fputc('\n', stream);
    }
}

static void keel_plan_loss_csv(const keel_plan_options_t *options, const keel_replicas_t *replicas,
                               const keel_plan_replicas_t *result, FILE *stream)
{
    unsigned i;

    fprintf(stream, "processes,replicas,failures,exact,exact_at,approximate,simulated,low,high\n");
    for (i = 0; i < result->asked_count; i++) {
        fprintf(stream, "%llu,%llu,%llu,%.8e,%.8e,%.8e,", (unsigned long long)replicas->processes,
                (unsigned long long)replicas->replicas, (unsigned long long)result->asked[i],
                keel_replicas_loss(replicas, result->asked[i]), keel_replicas_loss_at(replicas, result->asked[i]),
                keel_replicas_loss_approximate(replicas, result->asked[i]));
        if (options->samples > 0) {
            fprintf(stream, "%.6e,%.6e,%.6e\n", result->lost[i].value, result->lost[i].low, result->lost[i].high);
        } else {
            fprintf(stream, ",,\n");
        }
    }
}

static void keel_plan_loss_json(const keel_plan_options_t *options, const keel_replicas_t *replicas,
                                const keel_plan_replicas_t *result, FILE *stream)
{
    unsigned i;

    fprintf(stream, "{\"processes\": %llu, \"replicas\": %llu, \"expected\": %.8e, \"approximate\": %.8e",
            (unsigned long long)replicas->processes, (unsigned long long)replicas->replicas,
            keel_replicas_failures_expected(replicas), keel_replicas_failures_approximate(replicas));
    if (options->samples > 0) {
        fprintf(stream,
                ", \"seed\": %llu, \"samples\": %llu, \"simulated\": %.8e, \"low\": %.8e, \"high\": %.8e, "
                "\"tenth\": %.8g, \"median\": %.8g, \"ninetieth\": %.8g",
                (unsigned long long)options->seed, (unsigned long long)result->failures.samples, result->failures.value,
                result->failures.low, result->failures.high, result->tenth, result->median, result->ninetieth);
    }
    fprintf(stream, ", \"results\": [");
    for (i = 0; i < result->asked_count; i++) {
        fprintf(stream, "%s\n  {\"failures\": %llu, \"exact\": %.8e, \"exact_at\": %.8e, \"approximate\": %.8e",
                (i > 0) ? "," : "", (unsigned long long)result->asked[i],
                keel_replicas_loss(replicas, result->asked[i]), keel_replicas_loss_at(replicas, result->asked[i]),
                keel_replicas_loss_approximate(replicas, result->asked[i]));
        if (options->samples > 0) {
            fprintf(stream, ", \"simulated\": %.6e, \"low\": %.6e, \"high\": %.6e", result->lost[i].value,
                    result->lost[i].low, result->lost[i].high);
        }
        fputc('}', stream);
    }
    fprintf(stream, "\n]}\n");
}

/* Failures of nodes of several ranks. */
static int keel_plan_answer_nodes(const keel_plan_options_t *options, const keel_plan_placed_t *placed,
                                  const keel_plan_progress_t *progress, FILE *stream, keel_plan_error_t *error)
{
    const uint32_t nodes = keel_plan_placed_nodes(placed);
    keel_plan_random_t random;
    keel_plan_replicas_t result;

    if (options->failures > nodes) {
        snprintf(error->text, sizeof error->text, "of %u nodes %llu cannot fail", nodes,
                 (unsigned long long)options->failures);
        return -1;
    }
    keel_plan_loss_ask(options->failures, 1, nodes, &result);
    keel_plan_random_seed(&random, options->seed);
    if (keel_plan_simulate_placed(placed, options->samples, &random, progress, &result)) {
        snprintf(error->text, sizeof error->text, "not enough memory to simulate, or more than %u replicas",
                 KEEL_STORE_COPIES_MAX);
        return -1;
    }
    switch (options->form) {
    case KEEL_PLAN_TEXT:
        keel_plan_nodes_text(placed, &result, stream);
        break;
    case KEEL_PLAN_CSV:
        keel_plan_nodes_csv(placed, &result, stream);
        break;
    case KEEL_PLAN_JSON:
        keel_plan_nodes_json(placed, &result, options->seed, stream);
        break;
    }
    return 0;
}

/* The groups of ranks that the replicas divide are all alike, so no placement has to be made. */
static int keel_plan_loss_simulate(const keel_plan_options_t *options, const keel_replicas_t *replicas,
                                   const keel_plan_progress_t *progress, keel_plan_replicas_t *result)
{
    const keel_plan_placed_t placed = {options->ranks, 1, options->replicas};
    keel_plan_random_t random;

    keel_plan_random_seed(&random, options->seed);
    return (options->ranks % options->replicas == 0)
               ? keel_plan_simulate_replicas(replicas, options->samples, &random, progress, result)
               : keel_plan_simulate_placed(&placed, options->samples, &random, progress, result);
}

int keel_plan_answer_replicas(const keel_plan_options_t *options, const keel_plan_progress_t *progress, FILE *stream,
                              keel_plan_error_t *error)
{
    const keel_replicas_t replicas = {options->ranks, options->replicas};
    const keel_plan_placed_t placed = {options->ranks, options->ranks_per_node, options->replicas};
    keel_plan_replicas_t result;

    memset(error, 0, sizeof *error);
    if (keel_replicas_check(&replicas) != KEEL_OK) {
        snprintf(error->text, sizeof error->text, "%llu replicas do not divide %u processes%s",
                 (unsigned long long)options->replicas, options->ranks,
                 (options->replicas > options->ranks) ? "" : ", as more than 16 have to");
        return -1;
    }
    if (options->ranks_per_node > 1) {
        return keel_plan_answer_nodes(options, &placed, progress, stream, error);
    }
    if (options->failures > options->ranks) {
        snprintf(error->text, sizeof error->text, "of %u processes %llu cannot fail", options->ranks,
                 (unsigned long long)options->failures);
        return -1;
    }
    keel_plan_loss_ask(options->failures, options->replicas, options->ranks, &result);
    if ((options->samples > 0) && keel_plan_loss_simulate(options, &replicas, progress, &result)) {
        snprintf(error->text, sizeof error->text, "not enough memory to simulate");
        return -1;
    }
    switch (options->form) {
    case KEEL_PLAN_TEXT:
        keel_plan_loss_text(options, &replicas, &result, stream);
        break;
    case KEEL_PLAN_CSV:
        keel_plan_loss_csv(options, &replicas, &result, stream);
        break;
    case KEEL_PLAN_JSON:
        keel_plan_loss_json(options, &replicas, &result, stream);
        break;
    }
    return 0;
}
