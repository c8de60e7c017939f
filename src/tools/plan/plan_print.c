/* Formats of a report: a table, or one line per level and share; comma-separated values; JSON. */
#include "plan_report.h"

#define KEEL_PLAN_MANY 0.1 /* a day; from here on more than a twentieth above the probability */

static double keel_plan_none(const keel_plan_report_t *report)
{
    double none = 0;
    uint32_t j;

    for (j = 0; j < report->machine->level_count; j++) {
        none += keel_failures_of_job(&report->machine->levels[j]);
    }
    return (none < 1) ? none : 1;
}

static void keel_plan_print_head(const keel_plan_report_t *report, FILE *stream)
{
    const keel_plan_machine_t *machine = report->machine;

    fprintf(stream, "%s%s%s\n", machine->name, (machine->text[0] != '\0') ? ": " : "", machine->text);
    if (report->options->ranks > 0) {
        fprintf(stream, "%u ranks, ", report->options->ranks);
    }
    fprintf(stream, "%u %s a group; probability of a catastrophic failure, per day\n\n", report->options->parities,
            (report->options->parities == 1) ? "parity" : "parities");
}

/* ---- text ---- */

static void keel_plan_print_table(const keel_plan_report_t *report, FILE *stream)
{
    unsigned row, column;

    fprintf(stream, "%8s %6s", "parity", "group");
    for (column = 0; column < report->column_count; column++) {
        fprintf(stream, " %10s", keel_plan_level_name(report->machine, report->cells[0][column].aware));
    }
    fputc('\n', stream);
    for (row = 0; row < report->row_count; row++) {
        fprintf(stream, "%6.4g %% %6u", report->cells[row][0].share * 100, report->cells[row][0].group_size);
        for (column = 0; column < report->column_count; column++) {
            if (report->cells[row][column].is_possible) {
                fprintf(stream, " %10.3e", report->cells[row][column].paper);
            } else {
                fprintf(stream, " %10s", "-");
            }
        }
        fputc('\n', stream);
    }
    fprintf(stream, "\nby equation 9; - where there are too few ranks or elements for such a group\n");
}

static void keel_plan_print_list(const keel_plan_report_t *report, FILE *stream)
{
    const double none = keel_plan_none(report);
    const int simulated = (report->options->samples > 0);
    unsigned row, column;

    fprintf(stream, "%-12s %8s %6s %11s %9s %11s", "level", "parity", "group", "equation 9", "safer by", "exact");
    if (report->options->ranks > 0) {
        fprintf(stream, " %11s", "at most");
    }
    fprintf(stream, simulated ? " %11s   %s\n" : "\n", "simulated", "95 % interval");
    for (row = 0; row < report->row_count; row++) {
        for (column = 0; column < report->column_count; column++) {
            const keel_plan_cell_t *cell = &report->cells[row][column];
            fprintf(stream, "%-12s %6.4g %% %6u", keel_plan_level_name(report->machine, cell->aware), cell->share * 100,
                    cell->group_size);
            if (!cell->is_possible) {
                fprintf(stream, " too few ranks or elements for such a group\n");
                continue;
            }
            fprintf(stream, " %11.4e %9.3g %11.4e", cell->paper, none / cell->paper, cell->exact);
            if ((report->options->ranks > 0) && (cell->bound <= 1)) {
                fprintf(stream, " %11.4e", cell->bound);
            } else if (report->options->ranks > 0) {
                fprintf(stream, " %11s", "-");
            }
            if (simulated) {
                fprintf(stream, " %11.4e   %.4e to %.4e%s", cell->simulated.value, cell->simulated.low,
                        cell->simulated.high, (cell->worst > report->options->parities) ? ", crowded" : "");
            }
            fputc('\n', stream);
        }
    }
}

static void keel_plan_print_parts(const keel_plan_report_t *report, FILE *stream)
{
    const keel_plan_machine_t *machine = report->machine;
    const keel_plan_cell_t *cell = &report->cells[0][0];
    double joint = 0, sum = 0;
    uint32_t j;

    fprintf(stream, "\n%-12s %8s %11s %11s %11s", "failures of", "elements", "any", "equation 9", "exact");
    fprintf(stream, (report->options->samples > 0) ? " %11s   %s\n" : "\n", "simulated", "95 % interval");
    for (j = 0; j < machine->level_count; j++) {
        const double any = keel_failures_of_job(&machine->levels[j]);
        fprintf(stream, "%-12s %8llu %11.4e %11.4e %11.4e", machine->level_name[j],
                (unsigned long long)keel_hazard_used(&machine->levels[j]), any, cell->paper_level[j],
                cell->exact_level[j]);
        if (report->options->samples > 0) {
            fprintf(stream, " %11.4e   %.4e to %.4e", cell->simulated_level[j].value, cell->simulated_level[j].low,
                    cell->simulated_level[j].high);
        }
        fputc('\n', stream);
        joint += any * sum;
        sum += any;
    }
    fprintf(stream, "not counted: failures of two levels on one day, at most %.2e\n", joint);
}

/*
 * Warns of large values: independent failures are counted per day, and large counts are no
 * probability.
 */
static void keel_plan_print_many(const keel_plan_report_t *report, FILE *stream)
{
    double most = 0;
    unsigned row, column;

    for (row = 0; row < report->row_count; row++) {
        for (column = 0; column < report->column_count; column++) {
            const keel_plan_cell_t *cell = &report->cells[row][column];

            if (cell->is_possible) {
                most = (cell->paper > most) ? cell->paper : most;
                most = (cell->exact > most) ? cell->exact : most;
            }
        }
    }
    if (most >= KEEL_PLAN_MANY) {
        fprintf(stream,
                "values from %g on are failures a day, shown up to 1: the probability of one or more is less, 1 - "
                "exp(-value)\n",
                KEEL_PLAN_MANY);
    }
}

/* ---- for programs ---- */

static void keel_plan_print_csv(const keel_plan_report_t *report, FILE *stream)
{
    unsigned row, column;

    fprintf(stream, "level,parity,group_size,parities,equation_9,exact,at_most,simulated,low,high\n");
    for (row = 0; row < report->row_count; row++) {
        for (column = 0; column < report->column_count; column++) {
            const keel_plan_cell_t *cell = &report->cells[row][column];
            fprintf(stream, "%s,%g,%u,%u,", keel_plan_level_name(report->machine, cell->aware), cell->share,
                    cell->group_size, report->options->parities);
            if (cell->is_possible) {
                fprintf(stream, "%.6e,%.6e,", cell->paper, cell->exact);
            } else {
                fprintf(stream, ",,");
            }
            if (cell->is_possible && (report->options->ranks > 0) && (cell->bound <= 1)) {
                fprintf(stream, "%.6e", cell->bound);
            }
            if (cell->is_possible && (report->options->samples > 0)) {
                fprintf(stream, ",%.6e,%.6e,%.6e\n", cell->simulated.value, cell->simulated.low, cell->simulated.high);
            } else {
                fprintf(stream, ",,,\n");
            }
        }
    }
}

/* Names of machines and levels need no escapes in JSON. */
static void keel_plan_print_json(const keel_plan_report_t *report, FILE *stream)
{
    const char *separator = "";
    unsigned row, column;

    fprintf(stream,
            "{\"machine\": \"%s\", \"ranks\": %u, \"parities\": %u, \"samples\": %llu, \"seed\": %llu, \"results\": [",
            report->machine->name, report->options->ranks, report->options->parities,
            (unsigned long long)report->options->samples, (unsigned long long)report->options->seed);
    for (row = 0; row < report->row_count; row++) {
        for (column = 0; column < report->column_count; column++) {
            const keel_plan_cell_t *cell = &report->cells[row][column];
            fprintf(stream, "%s\n  {\"level\": \"%s\", \"parity\": %g, \"group_size\": %u, \"possible\": %s", separator,
                    keel_plan_level_name(report->machine, cell->aware), cell->share, cell->group_size,
                    cell->is_possible ? "true" : "false");
            if (cell->is_possible) {
                fprintf(stream, ", \"equation_9\": %.6e, \"exact\": %.6e", cell->paper, cell->exact);
            }
            if (cell->is_possible && (report->options->ranks > 0) && (cell->bound <= 1)) {
                fprintf(stream, ", \"at_most\": %.6e", cell->bound);
            }
            if (cell->is_possible && (report->options->samples > 0)) {
                fprintf(stream, ", \"simulated\": %.6e, \"low\": %.6e, \"high\": %.6e, \"most_on_one_element\": %u",
                        cell->simulated.value, cell->simulated.low, cell->simulated.high, cell->worst);
            }
            fputc('}', stream);
            separator = ",";
        }
    }
    fprintf(stream, "\n]}\n");
}

void keel_plan_report_print(const keel_plan_report_t *report, FILE *stream)
{
    const int is_single = (report->row_count == 1) && (report->column_count == 1);

    switch (report->options->form) {
    case KEEL_PLAN_CSV:
        keel_plan_print_csv(report, stream);
        break;
    case KEEL_PLAN_JSON:
        keel_plan_print_json(report, stream);
        break;
    case KEEL_PLAN_TEXT:
        keel_plan_print_head(report, stream);
        if ((report->row_count == 1) || (report->options->samples > 0)) {
            keel_plan_print_list(report, stream);
        } else {
            keel_plan_print_table(report, stream);
        }
        if (is_single) {
            keel_plan_print_parts(report, stream);
        }
        keel_plan_print_many(report, stream);
        break;
    }
}
