/* barrier_model --help: runs the model with drawn programs and deaths.
 */
#include "barrier.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rule_names[] = {
#define BARRIER_RULE(name, text) #name,
    BARRIER_RULES(BARRIER_RULE)
#undef BARRIER_RULE
};

static const char *const rule_texts[] = {
#define BARRIER_RULE(name, text) text,
    BARRIER_RULES(BARRIER_RULE)
#undef BARRIER_RULE
};

static void print_help(void)
{
    int rule;

    printf("barrier_model [--runs N] [--base SEED] [--ranks N] [--deaths N] [--hunt 0..3] [--nodes] [--show] "
           "[--without RULE] [--refuted]\n"
           "--refuted: a flaw is expected, and the first one ends the program. Rules:\n");
    for (rule = 0; rule < RULES; ++rule) {
        printf("  %-18s %s\n", rule_names[rule], rule_texts[rule]);
    }
}

static int rule_find(const char *name)
{
    int rule;

    for (rule = 0; rule < RULES; ++rule) {
        if (strcmp(name, rule_names[rule]) == 0) {
            return rule;
        }
    }
    fprintf(stderr, "barrier_model: no rule %s\n", name);
    exit(2);
}

static void counts_add(counts_t *sum, const counts_t *counts)
{
    const long *from = (const long *)counts;
    long *to = (long *)sum;
    size_t i;

    for (i = 0; i < sizeof(*sum) / sizeof(*to); ++i) {
        to[i] += from[i];
    }
}

/* 1 when the run is flawed */
static int run(const barrier_options_t *options, uint64_t seed, counts_t *sum)
{
    world_t *world = world_create(options, seed);
    int is_flawed;

    world->counts.runs = 1;
    is_flawed = setjmp(world->on_flaw);
    if (!is_flawed) {
        world_run(world);
    } else {
        world->counts.flawed = 1;
        printf("seed %llu, step %ld: %s\n", (unsigned long long)seed, world->step, world->flaw);
    }
    counts_add(sum, &world->counts);
    is_flawed = (int)world->counts.flawed;
    world_destroy(world);
    return is_flawed;
}

static void options_parse(barrier_options_t *options, int *is_refuted_p, int argc, char **argv)
{
    static const struct option known[] = {
        {"runs", 1, NULL, 'r'},    {"base", 1, NULL, 'b'},  {"ranks", 1, NULL, 'n'}, {"deaths", 1, NULL, 'd'},
        {"hunt", 1, NULL, 'u'},    {"nodes", 0, NULL, 'o'}, {"show", 0, NULL, 's'},  {"without", 1, NULL, 'w'},
        {"refuted", 0, NULL, 'f'}, {"help", 0, NULL, 'h'},  {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (option) {
        case 'r':
            options->runs = atol(optarg);
            break;
        case 'b':
            options->base = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            options->ranks = atoi(optarg);
            break;
        case 'd':
            options->deaths = atoi(optarg);
            break;
        case 'u':
            options->hunt = atoi(optarg);
            break;
        case 'o':
            options->nodes = 1;
            break;
        case 's':
            options->is_shown = 1;
            break;
        case 'w':
            options->without = rule_find(optarg);
            break;
        case 'f':
            *is_refuted_p = 1;
            break;
        default:
            print_help();
            exit((option == 'h') ? 0 : 2);
        }
    }
    if ((options->ranks > RANKS_MAX) || (options->ranks == 1) || (options->deaths > 8)) {
        fprintf(stderr, "barrier_model: 2 to %d ranks, up to 8 deaths\n", RANKS_MAX);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    barrier_options_t options = {.base = 1, .runs = 100, .deaths = -1, .without = -1};
    counts_t sum = {0};
    int is_refuted = 0;
    uint64_t seed;

    options_parse(&options, &is_refuted, argc, argv);
    for (seed = options.base; seed < options.base + (uint64_t)options.runs; ++seed) {
        if (run(&options, seed, &sum) && is_refuted) {
            break;
        }
    }
    printf("runs %ld deaths %ld moved %ld decisions %ld rollbacks %ld recovered %ld released %ld joins %ld holes %ld "
           "generations %ld steps %ld: "
           "flawed %ld\n",
           sum.runs, sum.deaths, sum.moved, sum.decisions, sum.rollbacks, sum.recovered, sum.released, sum.joins,
           sum.holes, sum.generations, sum.steps, sum.flawed);
    return is_refuted ? (sum.flawed == 0) : (sum.flawed > 0);
}
