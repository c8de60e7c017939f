#include "kernel_outcome.h"

#include <inttypes.h>
#include <stdio.h>

enum { COMMON_FIELDS = 15, TRAILING_FIELDS = 1 };

/* Prints a count without decimals, any other number with six. */
static void print_number(double number)
{
    printf("%.*f", (number == (double)(long long)number) ? 0 : 6, number);
}

/* Printed counts stay exact: a double holds integers up to 2^53. */
static size_t common_fields(const kernel_outcome_t *outcome, char *hash, size_t bytes, kernel_field_t *fields)
{
    const keel_stats_t *stats = &outcome->stats;
    const kernel_field_t common[COMMON_FIELDS] = {
        {"seconds", NULL, outcome->seconds},
        {"verified",
         !outcome->is_verified ? "skipped"
         : outcome->is_right   ? "yes"
                               : "no",
         0},
        {"memory", hash, 0},
        {"puts", NULL, (double)stats->puts},
        {"gets", NULL, (double)stats->gets},
        {"atomics", NULL, (double)stats->atomics},
        {"put_bytes", NULL, (double)stats->put_bytes},
        {"put_log_peak", NULL, (double)stats->put_log_peak},
        {"get_log_peak", NULL, (double)stats->get_log_peak},
        {"checkpoints", NULL, (double)stats->checkpoints},
        {"checkpoint_bytes", NULL, (double)stats->checkpoint_bytes},
        {"deaths", NULL, (double)stats->deaths},
        {"recoveries", NULL, (double)stats->recoveries},
        {"rollbacks", NULL, (double)stats->rollbacks},
        {"rollbacks_in_doubt", NULL, (double)stats->rollbacks_in_doubt},
    };
    size_t i;

    snprintf(hash, bytes, "%016" PRIx64, outcome->hash);
    for (i = 0; i < COMMON_FIELDS; i++) {
        fields[i] = common[i];
    }
    if (outcome->last.name == NULL) {
        return COMMON_FIELDS;
    }
    fields[COMMON_FIELDS] = outcome->last;
    return COMMON_FIELDS + TRAILING_FIELDS;
}

static void print_json(const kernel_field_t *fields, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (fields[i].text != NULL) {
            printf(", \"%s\": \"%s\"", fields[i].name, fields[i].text);
        } else {
            printf(", \"%s\": ", fields[i].name);
            print_number(fields[i].number);
        }
    }
}

static void print_csv(const kernel_field_t *fields, size_t count, int is_head)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (is_head || (fields[i].text != NULL)) {
            printf(",%s", is_head ? fields[i].name : fields[i].text);
        } else {
            printf(",");
            print_number(fields[i].number);
        }
    }
}

static void print_text(const kernel_outcome_t *outcome, const kernel_field_t *fields, size_t count)
{
    size_t i;

    printf("%s: %u ranks, %.3f s", outcome->kernel, outcome->ranks, outcome->seconds);
    for (i = 0; i < count; i++) {
        if (fields[i].text != NULL) {
            printf(", %s %s", fields[i].name, fields[i].text);
        } else {
            printf(", %s ", fields[i].name);
            print_number(fields[i].number);
        }
    }
    printf("\n%s: memory %016" PRIx64 "\n", outcome->kernel, outcome->hash);
    printf("%s: verification %s\n", outcome->kernel,
           !outcome->is_verified ? "skipped"
           : outcome->is_right   ? "PASSED"
                                 : "FAILED");
}

void kernel_print_outcome(const kernel_outcome_t *outcome, kernel_format_t format, const kernel_field_t *fields,
                          size_t count)
{
    kernel_field_t common[COMMON_FIELDS + TRAILING_FIELDS];
    char hash[17];
    const size_t common_count = common_fields(outcome, hash, sizeof hash, common);

    switch (format) {
    case KERNEL_FORMAT_TEXT:
        print_text(outcome, fields, count);
        break;
    case KERNEL_FORMAT_JSON:
        printf("{\"kernel\": \"%s\", \"ranks\": %u", outcome->kernel, outcome->ranks);
        print_json(fields, count);
        print_json(common, common_count);
        printf("}\n");
        break;
    case KERNEL_FORMAT_CSV:
        printf("kernel,ranks");
        print_csv(fields, count, 1);
        print_csv(common, common_count, 1);
        printf("\n%s,%u", outcome->kernel, outcome->ranks);
        print_csv(fields, count, 0);
        print_csv(common, common_count, 0);
        printf("\n");
        break;
    }
}
