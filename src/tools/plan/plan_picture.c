/* Draws the table, the counterpart of [F, figure 10c]: feeds commands and numbers to gnuplot. */
#include "plan_report.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* gnuplot's own quoting: a quote within quotes is doubled */
static void keel_plan_quote(const char *text, FILE *stream)
{
    fputc('\'', stream);
    for (; *text != '\0'; text++) {
        fputs((*text == '\'') ? "''" : (char[2]){*text, '\0'}, stream);
    }
    fputc('\'', stream);
}

static int keel_plan_has_points(const keel_plan_report_t *report, unsigned column)
{
    unsigned row, points = 0;

    for (row = 0; row < report->row_count; row++) {
        points += (unsigned)report->cells[row][column].is_possible;
    }
    return points > 0;
}

static void keel_plan_picture_commands(const keel_plan_report_t *report, const char *path, FILE *stream)
{
    const int simulated = (report->options->samples > 0);
    const char *separator = "plot";
    unsigned row, column;

    fprintf(stream, "set terminal svg size 760,480 font 'sans-serif,14' background 'white'\nset output ");
    keel_plan_quote(path, stream);
    fprintf(stream, "\nset linetype 1 lc rgb '#555555' lw 2\nset linetype 2 lc rgb '#0072b2' lw 2\nset linetype 3 lc "
                    "rgb '#009e73' lw 2\n"
                    "set linetype 4 lc rgb '#d55e00' lw 2\nset linetype 5 lc rgb '#cc79a7' lw 2\nset logscale y\nset "
                    "format y '10^{%%T}'\nset grid\nset key outside right top\nset offsets graph "
                    "0.02, graph 0.02\n"
                    "set xlabel 'parity, %% of the computing processes'\n"
                    "set ylabel 'probability of a catastrophic failure, per day'\nset title ");
    keel_plan_quote(report->machine->name, stream);
    fprintf(stream, " noenhanced\n");
    for (column = 0; column < report->column_count; column++) {
        fprintf(stream, "$level%u << EOD\n", column);
        for (row = 0; row < report->row_count; row++) {
            const keel_plan_cell_t *cell = &report->cells[row][column];
            if (cell->is_possible) {
                fprintf(stream, "%.6e %.6e %.6e %.6e %.6e\n", cell->share * 100, cell->paper, cell->simulated.value,
                        cell->simulated.low, cell->simulated.high);
            }
        }
        fprintf(stream, "EOD\n");
    }
    for (column = 0; column < report->column_count; column++) {
        if (!keel_plan_has_points(report, column)) {
            continue;
        }
        fprintf(stream, "%s $level%u using 1:2 with linespoints linetype %u pointtype %u title ", separator, column,
                column + 1, column + 4);
        keel_plan_quote(keel_plan_level_name(report->machine, report->cells[0][column].aware), stream);
        fprintf(stream, " noenhanced");
        separator = ",";
        if (simulated) {
            fprintf(stream, ", $level%u using 1:3:4:5 with yerrorbars linetype %u dashtype 2 pointtype 1 notitle",
                    column, column + 1);
        }
    }
    fprintf(stream, "\n");
}

int keel_plan_picture(const keel_plan_report_t *report, const char *path, keel_plan_error_t *error)
{
    void (*old)(int);
    struct stat drawn;
    FILE *stream;
    int status, failed;

    if ((stream = fopen(path, "w")) == NULL) { /* reported here, with the reason */
        snprintf(error->text, sizeof error->text, "cannot write %.100s: %s", path, strerror(errno));
        return -1;
    }
    if (fclose(stream) != 0) {
        snprintf(error->text, sizeof error->text, "cannot write %.100s: %s", path, strerror(errno));
        return -1;
    }
    old = signal(SIGPIPE, SIG_IGN);
    stream = popen("gnuplot -", "w");
    if (stream == NULL) {
        snprintf(error->text, sizeof error->text, "cannot start gnuplot: %s", strerror(errno));
        signal(SIGPIPE, old);
        return -1;
    }
    keel_plan_picture_commands(report, path, stream);
    failed = ferror(stream);
    status = pclose(stream);
    signal(SIGPIPE, old);
    if (failed || (status == -1) || !WIFEXITED(status) || (WEXITSTATUS(status) != 0)) {
        snprintf(error->text, sizeof error->text, "gnuplot did not draw %.100s%s", path,
                 ((status != -1) && WIFEXITED(status) && (WEXITSTATUS(status) == 127)) ? ": is it installed?" : "");
        unlink(path);
        return -1;
    }
    if ((stat(path, &drawn) != 0) ||
        (S_ISREG(drawn.st_mode) && (drawn.st_size == 0))) { /* gnuplot returns 0 on a full disk */
        snprintf(error->text, sizeof error->text, "gnuplot could not write %.100s", path);
        return -1;
    }
    return 0;
}
