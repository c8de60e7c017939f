/*
 * Results in the format of ucx_perftest. With several initiators all numbers are the means of one:
 * on fewer cores than ranks they take turns, and a sum would exceed the machine's rate. The ratio
 * is Keel's rate against the peer's, or for latencies Keel's time against the peer's: median over
 * the rounds, quartiles.
 */
#include "perf_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGE_NS 1000000000ull

/* One side of a result, of all initiators together. */
typedef struct side {
    double percentile_us, average_us, overall_us;
    double average_mbs, overall_mbs, average_rate, overall_rate;
} side_t;

static int is_speaking(const perf_run_t *run)
{
    return run->rank == 0;
}

static double rate(double ns)
{
    return ns > 0 ? 1e9 / ns : 0;
}

static side_t side_make(const perf_test_t *test, double percentile, double average, double overall)
{
    const double mib = (double)test->size / (1 << 20);
    side_t side = {.percentile_us = percentile * 1e-3, .average_us = average * 1e-3, .overall_us = overall * 1e-3};

    side.average_rate = rate(average);
    side.overall_rate = rate(overall);
    if (test->id != PERF_FLUSH && test->id != PERF_GSYNC) {
        side.average_mbs = side.average_rate * mib;
        side.overall_mbs = side.overall_rate * mib;
    }
    return side;
}

static side_t side_of_all(const perf_run_t *run, const perf_test_t *test, const perf_result_t *all, int is_peer)
{
    double percentile = 0, average = 0, overall = 0;
    const double count = run->initiators;

    for (uint32_t r = 0; r < run->initiators; r++) {
        const perf_side_t *one = is_peer ? &all[r].peer : &all[r].keel;

        percentile += one->percentile / count;
        average += one->average / count;
        overall += one->overall / count;
    }
    return side_make(test, percentile, average, overall);
}

/* ---- head ---- */

static const char rule[] =
    "+--------------+--------------+------------------------------+---------------------+-----------------------+";

static void box_line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void box_line(const char *name, const char *format, ...)
{
    char text[128], line[160];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(line, sizeof line, "%-13s %s", name, text);
    printf("| %-105s|\n", line);
}

static const char *protect_of(const perf_run_t *run)
{
    const char *name = getenv("KEEL_PROTECT");

    return run->plan->protect[0] != '\0' ? run->plan->protect : name != NULL ? name : "all";
}

static void box_rule(void)
{
    printf("+----------------------------------------------------------------------------------------------------------"
           "+\n");
}

static void table_head(const perf_plan_t *plan)
{
    const perf_test_t *first = &plan->tests[0];

    printf("%s\n", rule);
    printf("|              |              |        %8s (usec)       |   bandwidth (MB/s)  |  message rate (msg/s) |\n",
           plan->is_batch                                ? "time    "
           : (perf_kind(first)->flags & PERF_IS_LATENCY) ? "latency "
                                                         : "overhead");
    printf(
        "%s\n",
        "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+");
    printf("|    Stage     | # iterations | %4.1f%%ile | average | overall |  average |  overall |  average  |  "
           "overall  |\n",
           first->percentile);
    printf(
        "%s\n",
        "+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+");
}

void perf_report_head(const perf_run_t *run)
{
    const perf_plan_t *plan = run->plan;

    if (!is_speaking(run)) {
        return;
    }
    if (plan->format == PERF_CSV) {
        printf(
            "test,kind,size,outstanding,pattern,ranks,protect,lane,iterations,%.1f_percentile_lat,avg_lat,overall_lat,"
            "avg_bw,overall_bw,avg_mr,overall_mr,peer,peer_percentile_lat,peer_overall_lat,peer_overall_mr,ratio,"
            "quartile1,quartile3,rounds,detail\n",
            plan->tests[0].percentile);
    } else if (plan->is_batch) {
        table_head(plan);
    }
    fflush(stdout);
}

void perf_report_test(const perf_run_t *run, const perf_test_t *test)
{
    const perf_plan_t *plan = run->plan;

    if (!is_speaking(run) || plan->format == PERF_CSV) {
        return;
    }
    if (plan->is_batch) {
        char line[128];

        snprintf(line, sizeof line, "%s", rule);
        memcpy(line + 1, test->name, strlen(test->name));
        printf("%s\n", line);
        return;
    }
    if (!plan->is_final_only) {
        box_rule();
        box_line("Test:", "%s", perf_kind(test)->describe);
        box_line("Message size:", "%zu", test->size);
        box_line("Outstanding:", "%lu a flush", test->outstanding);
        box_line("Ranks:", "%u, %s; %ld cores here", run->size,
                 run->pair != NULL ? "client and server" : "of a launcher", sysconf(_SC_NPROCESSORS_ONLN));
        if (perf_kind(test)->flags & PERF_IS_COLLECTIVE) {
            box_line("Pattern:", "all together");
        } else if (test->pattern == PERF_RANDOM) {
            box_line("Pattern:", "random, seed %" PRIu64, test->seed);
        } else {
            box_line("Pattern:", "%s", perf_pattern_name(test->pattern));
        }
        box_line("Protection:", "%s", protect_of(run));
        box_line("Lane:", "%s",
                 test->id == PERF_RESTORE ? "as configured"
                 : run->is_shm            ? "direct (shared memory)"
                                          : "served (messages)");
    }
    table_head(plan);
    fflush(stdout);
}

/* ---- lines ---- */

static void print_side(const char *stage, uint64_t iterations, const side_t *side)
{
    printf("%-14s %14" PRIu64 " %10.3f %9.3f %9.3f %10.2f %10.2f %11.0f %11.0f\n", stage, iterations,
           side->percentile_us, side->average_us, side->overall_us, side->average_mbs, side->overall_mbs,
           side->average_rate, side->overall_rate);
}

void perf_report_stage(perf_run_t *run, const perf_result_t *result, unsigned long round)
{
    const uint64_t now = perf_now_ns();
    side_t side;

    if (!is_speaking(run) || run->plan->is_final_only || run->plan->format == PERF_CSV || !run->is_initiator ||
        (run->stage_ns != 0 && now - run->stage_ns < STAGE_NS)) {
        return;
    }
    if (run->stage_ns != 0) {
        side = side_make(run->test, result->keel.rounds[round], result->keel.average,
                         result->keel.overall / (double)(round + 1));
        print_side("[thread 0]", result->iterations, &side);
        fflush(stdout);
    }
    run->stage_ns = now;
}

/* The ratios of all rounds, from the mean time of an access over the initiators. */
static void ratios_make(const perf_run_t *run, const perf_test_t *test, const perf_result_t *all, double *ratios)
{
    double keel[PERF_ROUNDS_MAX] = {0}, peer[PERF_ROUNDS_MAX] = {0};

    for (uint32_t r = 0; r < run->initiators; r++) {
        for (unsigned long i = 0; i < test->rounds; i++) {
            keel[i] += all[r].keel.rounds[i];
            peer[i] += all[r].peer.rounds[i];
        }
    }
    perf_ratios_make(keel, peer, test->rounds, (perf_kind(test)->flags & PERF_IS_LATENCY) != 0, ratios);
}

/* ---- the end of a test ---- */

typedef struct final {
    side_t keel, peer;
    uint64_t iterations;
    perf_counts_t counts;
    double ratios[PERF_ROUNDS_MAX], quartiles[3];
} final_t;

/* The sum over all ranks. */
static perf_counts_t counts_sum(const perf_run_t *run, const perf_result_t *all)
{
    perf_counts_t sum = {.turns = all[0].counts.turns};

    for (uint32_t r = 0; r < run->size; r++) {
        const perf_counts_t *one = &all[r].counts;

        sum.accesses += one->accesses;
        sum.peer_accesses += one->peer_accesses;
        sum.untimed += one->untimed;
        sum.put_log += one->put_log;
        sum.get_log += one->get_log;
        sum.reached[0] += one->reached[0];
    }
    return sum;
}

static int has_counts(const perf_test_t *test)
{
    return test->id != PERF_CKPT && test->id != PERF_RESTORE;
}

static void print_counts(const perf_counts_t *counts)
{
    printf("accesses=%" PRIu64 ";peer_accesses=%" PRIu64 ";untimed=%" PRIu64 ";turns=%" PRIu64 ";reached=%" PRIu64
           ";put_log=%" PRIu64 ";get_log=%" PRIu64,
           counts->accesses, counts->peer_accesses, counts->untimed, counts->turns, counts->reached[0], counts->put_log,
           counts->get_log);
}

static void print_ratios(const double *ratios, unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        printf("%s%.4f", i > 0 ? "/" : "ratios=", ratios[i]);
    }
    printf(";");
}

static void print_csv(const perf_run_t *run, const perf_test_t *test, const perf_result_t *all, const final_t *end)
{
    const side_t *keel = &end->keel, *peer = &end->peer;
    const int is_collective = (perf_kind(test)->flags & PERF_IS_COLLECTIVE) != 0;

    printf("%s,%s,%zu,%lu,%s,%u,%s,%s,%" PRIu64 ",%.4f,%.4f,%.4f,%.2f,%.2f,%.0f,%.0f,", test->name,
           perf_kind(test)->name, test->size, test->outstanding,
           is_collective ? "together" : perf_pattern_name(test->pattern), run->size, protect_of(run),
           run->is_shm ? "shm" : "tcp", end->iterations, keel->percentile_us, keel->average_us, keel->overall_us,
           keel->average_mbs, keel->overall_mbs, keel->average_rate, keel->overall_rate);
    if (test->peer != PERF_PEER_NONE) {
        printf("%s,%.4f,%.4f,%.0f,%.3f,%.3f,%.3f,%lu,", perf_peer_name(test->peer), peer->percentile_us,
               peer->overall_us, peer->overall_rate, end->quartiles[1], end->quartiles[0], end->quartiles[2],
               test->rounds);
        print_ratios(end->ratios, test->rounds);
    } else {
        printf(",,,,,,,,");
    }
    for (unsigned p = 0; p < PERF_PARTS && all[0].parts[p].name[0] != '\0'; p++) {
        const perf_part_t *part = &all[0].parts[p];

        printf("%s%s=%.3f:%.3f:%.3f", p > 0 ? ";" : "", part->name, part->values[1], part->values[0], part->values[2]);
    }
    if (has_counts(test)) {
        print_counts(&end->counts);
    }
    printf("\n");
}

static void print_text(const perf_test_t *test, const perf_result_t *all, const final_t *end)
{
    const char *peer_name = perf_peer_name(test->peer);
    char label[PERF_PART_NAME + 2];

    print_side("Final:", end->iterations, &end->keel);
    if (test->peer != PERF_PEER_NONE) {
        snprintf(label, sizeof label, "%s:", peer_name);
        print_side(label, end->iterations, &end->peer);
        printf("Ratio:         Keel's %s / that of %s: %.3f [%.3f, %.3f], median and quartiles of %lu rounds\n",
               test->id == PERF_CKPT                        ? "time stopped"
               : (perf_kind(test)->flags & PERF_IS_LATENCY) ? "time"
                                                            : "rate",
               peer_name, end->quartiles[1], end->quartiles[0], end->quartiles[2], test->rounds);
    }
    if (end->counts.accesses > 0) {
        printf("Logged:        %.1f bytes an access, and %.1f of gets\n",
               (double)end->counts.put_log / (double)end->counts.accesses,
               (double)end->counts.get_log / (double)end->counts.accesses);
    }
    for (unsigned p = 0; p < PERF_PARTS && all[0].parts[p].name[0] != '\0'; p++) {
        const perf_part_t *part = &all[0].parts[p];

        snprintf(label, sizeof label, "%s:", part->name);
        printf("%-14s %9.2f %s [%.2f, %.2f]\n", label, part->values[1], part->unit, part->values[0], part->values[2]);
    }
}

void perf_report_final(const perf_run_t *run, const perf_test_t *test, const perf_result_t *all)
{
    const int is_collective = (perf_kind(test)->flags & PERF_IS_COLLECTIVE) != 0;
    final_t end = {.keel = side_of_all(run, test, all, 0), .peer = side_of_all(run, test, all, 1)};

    for (uint32_t r = 0; r < run->initiators; r++) {
        end.iterations += (is_collective && r > 0) ? 0 : all[r].iterations;
    }
    if (has_counts(test)) { /* a restore has the result of rank 0 only */
        end.counts = counts_sum(run, all);
    }
    if (test->peer != PERF_PEER_NONE) {
        ratios_make(run, test, all, end.ratios);
        for (unsigned q = 0; q < 3; q++) {
            end.quartiles[q] = perf_percentile(end.ratios, test->rounds, 25.0 * (q + 1));
        }
    }
    if (run->plan->format == PERF_CSV) {
        print_csv(run, test, all, &end);
    } else {
        print_text(test, all, &end);
    }
    fflush(stdout);
}
