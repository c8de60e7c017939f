#include "plan_options.h"

#include "base/units.h"

#include <getopt.h>
#include <string.h>

#define KEEL_PLAN_RANKS_MAX    ((uint64_t)1 << 26)
#define KEEL_PLAN_SAMPLES_MAX  1000000000ull
#define KEEL_PLAN_PARITIES_MAX 64
#define KEEL_PLAN_BYTES_MAX    0x1p50
#define KEEL_PLAN_TIME_MAX     1e10 /* seconds, as KEEL_MTBF */

enum {
    OPT_MACHINE = 1,
    OPT_RANKS,
    OPT_LEVEL,
    OPT_PARITY,
    OPT_GROUP_SIZE,
    OPT_PARITIES,
    OPT_SIMULATE,
    OPT_PLACEMENT,
    OPT_SEED,
    OPT_LIMIT,
    OPT_CSV,
    OPT_JSON,
    OPT_PICTURE,
    OPT_REPLICAS,
    OPT_FAILURES,
    OPT_ADVISE,
    OPT_MEMORY,
    OPT_MTBF,
    OPT_NETWORK,
    OPT_MEMORY_BANDWIDTH,
    OPT_RANKS_PER_NODE,
    OPT_TARGET,
    OPT_RUN,
    OPT_NODE_MEMORY,
    OPT_HOSTS,
    OPT_TOPOLOGY,
    OPT_FILE_RATE,
    OPT_FILE_LATENCY,
    OPT_LAST
};

enum { FOR_SAFETY = 1 << KEEL_PLAN_SAFETY, FOR_REPLICAS = 1 << KEEL_PLAN_REPLICAS, FOR_ADVICE = 1 << KEEL_PLAN_ADVICE };

/* questions to which each option belongs */
static const unsigned char keel_plan_modes[OPT_LAST] = {
    [OPT_MACHINE] = FOR_SAFETY | FOR_ADVICE,
    [OPT_RANKS] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_LEVEL] = FOR_SAFETY,
    [OPT_PARITY] = FOR_SAFETY,
    [OPT_GROUP_SIZE] = FOR_SAFETY | FOR_ADVICE,
    [OPT_PARITIES] = FOR_SAFETY | FOR_ADVICE,
    [OPT_SIMULATE] = FOR_SAFETY | FOR_REPLICAS,
    [OPT_PLACEMENT] = FOR_SAFETY,
    [OPT_SEED] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_LIMIT] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_CSV] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_JSON] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_PICTURE] = FOR_SAFETY,
    [OPT_REPLICAS] = FOR_REPLICAS,
    [OPT_FAILURES] = FOR_REPLICAS,
    [OPT_ADVISE] = FOR_ADVICE,
    [OPT_MEMORY] = FOR_ADVICE,
    [OPT_MTBF] = FOR_ADVICE,
    [OPT_NETWORK] = FOR_ADVICE,
    [OPT_MEMORY_BANDWIDTH] = FOR_ADVICE,
    [OPT_RANKS_PER_NODE] = FOR_SAFETY | FOR_REPLICAS | FOR_ADVICE,
    [OPT_TARGET] = FOR_ADVICE,
    [OPT_RUN] = FOR_ADVICE,
    [OPT_NODE_MEMORY] = FOR_ADVICE,
    [OPT_HOSTS] = FOR_ADVICE,
    [OPT_TOPOLOGY] = FOR_ADVICE,
    [OPT_FILE_RATE] = FOR_ADVICE,
    [OPT_FILE_LATENCY] = FOR_ADVICE,
};

static const struct option keel_plan_long[] = {{"machine", required_argument, NULL, OPT_MACHINE},
                                               {"ranks", required_argument, NULL, OPT_RANKS},
                                               {"level", required_argument, NULL, OPT_LEVEL},
                                               {"parity", required_argument, NULL, OPT_PARITY},
                                               {"group-size", required_argument, NULL, OPT_GROUP_SIZE},
                                               {"parities", required_argument, NULL, OPT_PARITIES},
                                               {"simulate", required_argument, NULL, OPT_SIMULATE},
                                               {"placement", required_argument, NULL, OPT_PLACEMENT},
                                               {"seed", required_argument, NULL, OPT_SEED},
                                               {"limit", required_argument, NULL, OPT_LIMIT},
                                               {"csv", no_argument, NULL, OPT_CSV},
                                               {"json", no_argument, NULL, OPT_JSON},
                                               {"picture", required_argument, NULL, OPT_PICTURE},
                                               {"replicas", required_argument, NULL, OPT_REPLICAS},
                                               {"failures", required_argument, NULL, OPT_FAILURES},
                                               {"advise", no_argument, NULL, OPT_ADVISE},
                                               {"memory", required_argument, NULL, OPT_MEMORY},
                                               {"mtbf", required_argument, NULL, OPT_MTBF},
                                               {"network", required_argument, NULL, OPT_NETWORK},
                                               {"memory-bandwidth", required_argument, NULL, OPT_MEMORY_BANDWIDTH},
                                               {"ranks-per-node", required_argument, NULL, OPT_RANKS_PER_NODE},
                                               {"target", required_argument, NULL, OPT_TARGET},
                                               {"run", required_argument, NULL, OPT_RUN},
                                               {"node-memory", required_argument, NULL, OPT_NODE_MEMORY},
                                               {"hosts", required_argument, NULL, OPT_HOSTS},
                                               {"topology", required_argument, NULL, OPT_TOPOLOGY},
                                               {"file-rate", required_argument, NULL, OPT_FILE_RATE},
                                               {"file-latency", required_argument, NULL, OPT_FILE_LATENCY},
                                               {"help", no_argument, NULL, 'h'},
                                               {"version", no_argument, NULL, 'V'},
                                               {NULL, 0, NULL, 0}};

void keel_plan_usage(FILE *stream)
{
    fputs(
        "Usage: keel_plan --machine MACHINE [options]       how likely a job is lost, per day\n"
        "       keel_plan --replicas R --ranks N [options]  how many failures replicated data survives\n"
        "       keel_plan --advise (--ranks N | --hosts FILE) --memory SIZE --network RATE --memory-bandwidth RATE\n"
        "                 (--mtbf TIME | --machine MACHINE) [options]   which KEEL_* settings to use\n"
        "  --machine NAME|FILE   an installed machine (tsubame2) or a file; contrib/doc/reliability.md has the format\n"
        "  --ranks N             ranks of the job\n"
        "  --level NAME          the placement heeds levels up to this one; none; default: all in turn\n"
        "  --parity SHARE[,...]  checksum processes (or parity memory) as a share, such as 5%; default: a table\n"
        "  --group-size K        the same, given as the size of a group with its parity\n"
        "  --parities M          parities of a group, so many members may be dead at once; 1\n"
        "  --simulate SAMPLES    beside the formula: random failures of the actual placement, with 95 % intervals\n"
        "  --placement P         keel (default), aligned (what the formula assumes) or neighbours\n"
        "  --seed S              of the random failures; 1\n"
        "  --limit TIME          the simulation ends after this, with fewer samples; 300s\n"
        "  --csv, --json         for programs; default: text\n"
        "  --picture FILE        draw the table as SVG (needs gnuplot)\n"
        "  --failures F          with --replicas: the probability that F failures lose something\n"
        "  --ranks-per-node N    1; with --replicas and --simulate: nodes of N ranks fail, and not single ranks\n"
        "with --advise:\n"
        "  --memory SIZE         windows and protected regions of a rank, such as 4g\n"
        "  --mtbf TIME           mean time between failures of the job, such as 12h; default: what the machine says\n"
        "  --network RATE        of a node, such as 12GB/s or 100Gbit/s\n"
        "  --memory-bandwidth R  of a node, such as 50GB/s\n"
        "  --target P            acceptable probability of losing the job, per day; 1e-5\n"
        "  --run TIME            how long the job runs, such as 30d: the risk of all of it is told too\n"
        "  --node-memory SIZE    of a node: what does not fit is not advised\n"
        "  --file-rate RATE      of KEEL_FILE_DIR, for all ranks together, such as 2GB/s: KEEL_FILE_INTERVAL is "
        "advised, too;\n"
        "                        what perf/files writes in a second, or the bytes of all images divided by the seconds "
        "of\n"
        "                        'checkpoint ... after' with KEEL_LOG_LEVEL=info\n"
        "  --file-latency TIME   of a checkpoint in files beyond that, as of one of empty images; 0\n"
        "  --hosts FILE          instead of --ranks: where they run, lines HOSTS or HOSTS*RANKS as n[01-16]*4\n"
        "  --topology FILE       with --hosts: the job's KEEL_TOPO_FILE; levels of the machine's names fail as there\n"
        "  -h, --help            show this help\n"
        "  --version             show the version\n"
        "Exit status: 0, 1 a failure, 2 wrong options.\n",
        stream);
}

static int keel_plan_complain(FILE *errors, const char *what, const char *value, const char *expected)
{
    fprintf(errors, "keel_plan: invalid value for --%s: '%s', expected %s\n", what, value, expected);
    return -1;
}

static int keel_plan_read_range(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *value_p,
                                FILE *errors)
{
    char expected[64];

    if (keel_units_read_count(text, value_p) && (*value_p >= min) && (*value_p <= max)) {
        return 0;
    }
    snprintf(expected, sizeof expected, "a whole number from %llu to %llu", (unsigned long long)min,
             (unsigned long long)max);
    return keel_plan_complain(errors, name, text, expected);
}

static int keel_plan_read_shares(const char *text, keel_plan_options_t *options, FILE *errors)
{
    char word[32];
    size_t length;

    options->share_count = 0;
    for (;; text += length + 1) {
        length = strcspn(text, ",");
        if ((length >= sizeof word) || (options->share_count == KEEL_PLAN_SHARES_MAX)) {
            return keel_plan_complain(errors, "parity", text, "at most 32 shares such as 5%");
        }
        memcpy(word, text, length);
        word[length] = '\0';
        if (!keel_units_read_share(word, &options->shares[options->share_count]) ||
            (options->shares[options->share_count] < 1e-6)) {
            return keel_plan_complain(errors, "parity", word, "a share above 0 such as 5% or 0.05");
        }
        options->share_count++;
        if (text[length] == '\0') {
            return 0;
        }
    }
}

static int keel_plan_read_place(const char *text, keel_plan_options_t *options, FILE *errors)
{
    static const char *const names[] = {"keel", "aligned", "neighbours"};
    unsigned i;

    for (i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(text, names[i])) {
            options->place = (keel_plan_place_t)i;
            return 0;
        }
    }
    return keel_plan_complain(errors, "placement", text, "keel, aligned or neighbours");
}

/* Reads a number with a range. Returns -2 if the option is no number. */
static int keel_plan_option_count(int option, const char *name, const char *text, keel_plan_options_t *options,
                                  FILE *errors)
{
    uint32_t *small = NULL;
    uint64_t value, *large = NULL, min = 1, max = KEEL_PLAN_RANKS_MAX;
    int rc;

    switch (option) {
    case OPT_RANKS:
        small = &options->ranks;
        break;
    case OPT_GROUP_SIZE:
        small = &options->group_size;
        min = 2;
        break;
    case OPT_PARITIES:
        small = &options->parities;
        max = KEEL_PLAN_PARITIES_MAX;
        break;
    case OPT_RANKS_PER_NODE:
        small = &options->ranks_per_node;
        max = 65536;
        break;
    case OPT_SIMULATE:
        large = &options->samples;
        max = KEEL_PLAN_SAMPLES_MAX;
        break;
    case OPT_SEED:
        large = &options->seed;
        min = 0;
        max = UINT64_MAX;
        break;
    case OPT_REPLICAS:
        large = &options->replicas;
        max = 255;
        break;
    case OPT_FAILURES:
        large = &options->failures;
        break;
    default:
        return -2;
    }
    rc = keel_plan_read_range(name, text, min, max, &value, errors);
    if (rc == 0) {
        *(small != NULL ? small : &(uint32_t){0}) = (uint32_t)value;
        *(large != NULL ? large : &(uint64_t){0}) = value;
    }
    return rc;
}

static int keel_plan_option_unit(int option, const char *name, const char *text, keel_plan_options_t *options,
                                 FILE *errors)
{
    double *const value = (option == OPT_MEMORY)             ? &options->memory
                          : (option == OPT_NETWORK)          ? &options->network
                          : (option == OPT_MEMORY_BANDWIDTH) ? &options->memory_bandwidth
                          : (option == OPT_MTBF)             ? &options->mtbf_s
                          : (option == OPT_LIMIT)            ? &options->limit_s
                          : (option == OPT_TARGET)           ? &options->target
                          : (option == OPT_RUN)              ? &options->run_s
                          : (option == OPT_NODE_MEMORY)      ? &options->node_memory
                          : (option == OPT_FILE_RATE)        ? &options->file_rate
                          : (option == OPT_FILE_LATENCY)     ? &options->file_latency_s
                                                             : NULL;

    switch (option) {
    case OPT_MEMORY:
    case OPT_NODE_MEMORY:
        return (keel_units_read_bytes(text, KEEL_UNITS_NEEDED, value) && (*value >= 1) &&
                (*value <= KEEL_PLAN_BYTES_MAX))
                   ? 0
                   : keel_plan_complain(errors, name, text, "bytes with a unit such as 4g, at most 1024t");
    case OPT_NETWORK:
    case OPT_MEMORY_BANDWIDTH:
    case OPT_FILE_RATE:
        return (keel_units_read_rate(text, value) && (*value >= 1) && (*value <= KEEL_PLAN_BYTES_MAX))
                   ? 0
                   : keel_plan_complain(errors, name, text,
                                        "bytes or bits per second such as 12GB/s or 100Gbit/s, from 1 to 1024t bytes");
    case OPT_MTBF:
    case OPT_LIMIT:
    case OPT_RUN:
    case OPT_FILE_LATENCY:
        return (keel_units_read_time(text, KEEL_UNITS_NEEDED, value) && (*value >= 1e-3) &&
                (*value <= KEEL_PLAN_TIME_MAX))
                   ? 0
                   : keel_plan_complain(errors, name, text,
                                        "a time with a unit such as 600s, 12h or 30d, from 1ms to 1e10s");
    case OPT_TARGET:
        return (keel_units_read_number(text, value) && (*value > 0) && (*value < 1))
                   ? 0
                   : keel_plan_complain(errors, name, text, "a probability between 0 and 1, such as 1e-5");
    default:
        return -2;
    }
}

static int keel_plan_option(int option, const char *name, const char *text, keel_plan_options_t *options, FILE *errors)
{
    int rc;

    rc = keel_plan_option_count(option, name, text, options, errors);
    rc = (rc == -2) ? keel_plan_option_unit(option, name, text, options, errors) : rc;
    if (rc != -2) {
        return rc;
    }
    switch (option) {
    case OPT_MACHINE:
        options->machine = text;
        return 0;
    case OPT_LEVEL:
        options->level = text;
        return 0;
    case OPT_PICTURE:
        options->picture = text;
        return 0;
    case OPT_HOSTS:
        options->hosts = text;
        return 0;
    case OPT_TOPOLOGY:
        options->topology = text;
        return 0;
    case OPT_PARITY:
        return keel_plan_read_shares(text, options, errors);
    case OPT_PLACEMENT:
        return keel_plan_read_place(text, options, errors);
    case OPT_CSV:
        options->form = KEEL_PLAN_CSV;
        return 0;
    case OPT_JSON:
        options->form = KEEL_PLAN_JSON;
        return 0;
    case OPT_ADVISE:
        options->is_advice = 1;
        return 0;
    case 'V':
        options->mode = KEEL_PLAN_VERSION;
        return 0;
    default:
        options->mode = KEEL_PLAN_HELP;
        return 0;
    }
}

/* ---- consistency ---- */

static int keel_plan_missing(const char *text, FILE *errors)
{
    fprintf(errors, "keel_plan: %s\n", text);
    return -1;
}

/* Refuses an option that does not concern the question. */
static int keel_plan_check_given(keel_plan_mode_t mode, uint64_t given, FILE *errors)
{
    static const char *const questions[] = {
        [KEEL_PLAN_SAFETY] = "", [KEEL_PLAN_REPLICAS] = "--replicas", [KEEL_PLAN_ADVICE] = "--advise"};
    const struct option *option;

    for (option = keel_plan_long; option->name != NULL; option++) {
        if ((option->val >= OPT_LAST) || !(given >> option->val & 1) || (keel_plan_modes[option->val] & (1 << mode))) {
            continue;
        }
        if (mode == KEEL_PLAN_SAFETY) {
            fprintf(errors, "keel_plan: --%s needs %s\n", option->name,
                    questions[(keel_plan_modes[option->val] & FOR_ADVICE) ? KEEL_PLAN_ADVICE : KEEL_PLAN_REPLICAS]);
        } else {
            fprintf(errors, "keel_plan: --%s does not go with %s\n", option->name, questions[mode]);
        }
        return -1;
    }
    if ((given >> OPT_CSV & 1) && (given >> OPT_JSON & 1)) {
        return keel_plan_missing("--csv and --json exclude each other", errors);
    }
    if ((mode != KEEL_PLAN_ADVICE) && !(given >> OPT_SIMULATE & 1) &&
        (given & (1ull << OPT_SEED | 1ull << OPT_LIMIT | 1ull << OPT_PLACEMENT))) {
        return keel_plan_missing("--seed, --limit and --placement need --simulate", errors);
    }
    if ((mode == KEEL_PLAN_REPLICAS) && (given >> OPT_RANKS_PER_NODE & 1) && !(given >> OPT_SIMULATE & 1)) {
        return keel_plan_missing("--ranks-per-node with --replicas needs --simulate", errors);
    }
    if ((given >> OPT_RANKS_PER_NODE & 1) && !(given >> OPT_RANKS & 1) && !(given >> OPT_HOSTS & 1)) {
        return keel_plan_missing("--ranks-per-node needs --ranks", errors);
    }
    return 0;
}

static int keel_plan_check_advice(keel_plan_options_t *options, FILE *errors)
{
    if ((options->machine == NULL) && (options->mtbf_s == 0)) {
        return keel_plan_missing("--advise needs --mtbf, or --machine with its failure rates", errors);
    }
    if (((options->ranks == 0) && (options->hosts == NULL)) || (options->memory == 0) || (options->network == 0) ||
        (options->memory_bandwidth == 0)) {
        return keel_plan_missing("--advise needs --ranks or --hosts, --memory, --network and --memory-bandwidth",
                                 errors);
    }
    if ((options->file_latency_s > 0) && (options->file_rate == 0)) {
        return keel_plan_missing("--file-latency needs --file-rate", errors);
    }
    if (options->hosts != NULL) { /* the hosts define the ranks */
        return ((options->ranks == 0) && (options->ranks_per_node == 0))
                   ? 0
                   : keel_plan_missing("--hosts says how many ranks there are: no --ranks, no --ranks-per-node",
                                       errors);
    }
    if (options->topology != NULL) {
        return keel_plan_missing("--topology needs --hosts", errors);
    }
    options->ranks_per_node += (options->ranks_per_node == 0);
    return (options->ranks >= 2) ? 0 : keel_plan_missing("one rank has nobody to keep its parity", errors);
}

static int keel_plan_check(keel_plan_options_t *options, uint64_t given, FILE *errors)
{
    static const double shares[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.0625, 0.08, 0.1, 0.125, 0.15, 0.2, 0.25};

    if (options->is_advice && (options->replicas > 0)) {
        return keel_plan_missing("--advise and --replicas exclude each other", errors);
    }
    options->mode = options->is_advice        ? KEEL_PLAN_ADVICE
                    : (options->replicas > 0) ? KEEL_PLAN_REPLICAS
                                              : KEEL_PLAN_SAFETY;
    if (keel_plan_check_given(options->mode, given, errors)) {
        return -1;
    }
    if (options->is_advice) {
        return keel_plan_check_advice(options, errors);
    }
    options->parities += (options->parities == 0);
    if (options->replicas > 0) {
        return (options->ranks > 0) ? 0 : keel_plan_missing("--replicas needs --ranks", errors);
    }
    if (options->machine == NULL) {
        return keel_plan_missing("--machine is missing (--help shows the options)", errors);
    }
    if ((options->samples > 0) && (options->ranks == 0)) {
        return keel_plan_missing("--simulate needs --ranks", errors);
    }
    if ((options->group_size > 0) && (options->share_count > 0)) {
        return keel_plan_missing("--parity and --group-size exclude each other", errors);
    }
    if ((options->group_size > 0) && (options->group_size <= options->parities)) {
        return keel_plan_missing("a group has to be larger than its --parities", errors);
    }
    if ((options->group_size == 0) && (options->share_count == 0)) {
        memcpy(options->shares, shares, sizeof shares);
        options->has_usual_shares = 1;
        options->share_count = sizeof shares / sizeof *shares;
    }
    return 0;
}

int keel_plan_options_read(int argc, char **argv, keel_plan_options_t *options, FILE *errors)
{
    int option, which = 0;
    uint64_t given = 0;

    memset(options, 0, sizeof *options);
    options->seed = 1;
    options->limit_s = 300;
    options->target = 1e-5;
    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":h", keel_plan_long, &which)) != -1) {
        if ((option == '?') || (option == ':')) {
            fprintf(errors,
                    (option == '?') ? "keel_plan: unknown option '%s' (--help shows the options)\n"
                                    : "keel_plan: option '%s' needs a value\n",
                    argv[optind - 1]);
            return -1;
        }
        if (keel_plan_option(option, keel_plan_long[which].name, optarg, options, errors)) {
            return -1;
        }
        if (options->mode == KEEL_PLAN_HELP || options->mode == KEEL_PLAN_VERSION) {
            return 0;
        }
        given |= 1ull << option;
    }
    if (optind < argc) {
        fprintf(errors, "keel_plan: unexpected argument '%s'\n", argv[optind]);
        return -1;
    }
    return keel_plan_check(options, given, errors);
}
