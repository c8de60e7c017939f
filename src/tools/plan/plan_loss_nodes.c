/* Replicated data when whole nodes fail: simulated, as text, CSV and JSON. */
#include "plan_answers.h"

void keel_plan_nodes_text(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, FILE *stream)
{
    const double nodes = keel_plan_placed_nodes(placed);
    const keel_plan_estimate_t *mean = &result->failures;

    fprintf(stream, "%u processes on %.0f nodes, %llu replicas\n\nnode failures until data is lost\n", placed->ranks,
            nodes, (unsigned long long)placed->replicas);
    fprintf(stream, "  simulated           %.8g (%.4g %%), 95 %% interval %.8g to %.8g, %llu samples\n", mean->value,
            mean->value / nodes * 100, mean->low, mean->high, (unsigned long long)mean->samples);
    fprintf(stream, "  a tenth, half, nine tenths of the samples by %.8g, %.8g, %.8g\n", result->tenth, result->median,
            result->ninetieth);
    fprintf(stream, "\nprobability that data is lost\n%12s %10s %12s   %s\n", "by failure", "share", "simulated",
            "95 % interval");
    for (unsigned i = 0; i < result->asked_count; i++) {
        fprintf(stream, "%12llu %8.4g %% %12.4e   %.4e to %.4e\n", (unsigned long long)result->asked[i],
                (double)result->asked[i] / nodes * 100, result->lost[i].value, result->lost[i].low,
                result->lost[i].high);
    }
}

void keel_plan_nodes_csv(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, FILE *stream)
{
    fprintf(stream, "processes,ranks_per_node,replicas,node_failures,simulated,low,high\n");
    for (unsigned i = 0; i < result->asked_count; i++) {
        fprintf(stream, "%u,%u,%llu,%llu,%.6e,%.6e,%.6e\n", placed->ranks, placed->width,
                (unsigned long long)placed->replicas, (unsigned long long)result->asked[i], result->lost[i].value,
                result->lost[i].low, result->lost[i].high);
    }
}

void keel_plan_nodes_json(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, uint64_t seed,
                          FILE *stream)
{
    fprintf(stream,
            "{\"processes\": %u, \"ranks_per_node\": %u, \"replicas\": %llu, \"seed\": %llu, \"samples\": %llu, "
            "\"simulated\": %.8e, \"low\": %.8e, \"high\": %.8e, \"tenth\": %.8g, \"median\": %.8g, "
            "\"ninetieth\": %.8g, \"results\": [",
            placed->ranks, placed->width, (unsigned long long)placed->replicas, (unsigned long long)seed,
            (unsigned long long)result->failures.samples, result->failures.value, result->failures.low,
            result->failures.high, result->tenth, result->median, result->ninetieth);
    for (unsigned i = 0; i < result->asked_count; i++) {
        fprintf(stream, "%s\n  {\"node_failures\": %llu, \"simulated\": %.6e, \"low\": %.6e, \"high\": %.6e}",
                (i > 0) ? "," : "", (unsigned long long)result->asked[i], result->lost[i].value, result->lost[i].low,
                result->lost[i].high);
    }
    fprintf(stream, "\n]}\n");
}
