/* Command line and batch files. */
#include "perf_plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LINE_WORDS_MAX 64
#define BATCHES_MAX    4
#define DEFAULT_PORT   13338 /* ucx_perftest's is 13337 */

typedef struct parser {
    perf_plan_t *plan;
    int is_speaker, is_version;
    const char *batch[BATCHES_MAX];
    unsigned batches;
    const char *where; /* "", or the batch file's name and line */
} parser_t;

static const char *const peer_options[PERF_PEERS] = {"none", "ucx", "stores", "memcpy"};
static const char *const lane_names[PERF_LANES] = {"auto", "shm", "tcp"};

__attribute__((format(printf, 2, 3))) static int refuse(const parser_t *parser, const char *format, ...)
{
    va_list args;

    if (parser->is_speaker) {
        fprintf(stderr, "keel_perftest: %s", parser->where);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fprintf(stderr, " (-h lists the options)\n");
    }
    return 2;
}

/* ---- values ---- */

static int parse_number(const char *text, unsigned long min, unsigned long max, unsigned long *value_p)
{
    unsigned shift = 0;
    char *end;

    errno = 0;
    *value_p = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno != 0) {
        return -1;
    }
    switch (*end) {
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    case '\0':
        end--;
        break;
    default:
        return -1;
    }
    if (end[1] != '\0' || *value_p > (max >> shift)) {
        return -1;
    }
    *value_p <<= shift;
    return (*value_p < min) ? -1 : 0;
}

/* the index of @a text in @a names, or -1 */
static int parse_word(const char *text, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!strcmp(text, names[i])) {
            return (int)i;
        }
    }
    return -1;
}

static int parse_kind(const char *text, perf_kind_id_t *id_p)
{
    for (unsigned k = 0; k < PERF_KINDS; k++) {
        if (!strcmp(text, perf_kinds[k].name)) {
            *id_p = perf_kinds[k].id;
            return 0;
        }
    }
    return -1;
}

/* ---- options ---- */

enum { PATTERN = 256, SEED, ROUNDS, VS_UCX, VS, UCX, CHANGED, REPLAY, LOG_BYTES, WAITS, MIXED, VERSION };

static const struct option long_options[] = {
    {"pattern", required_argument, NULL, PATTERN},
    {"seed", required_argument, NULL, SEED},
    {"rounds", required_argument, NULL, ROUNDS},
    {"vs-ucx", no_argument, NULL, VS_UCX},
    {"vs", required_argument, NULL, VS},
    {"ucx", required_argument, NULL, UCX},
    {"changed", required_argument, NULL, CHANGED},
    {"replay", required_argument, NULL, REPLAY},
    {"log-bytes", required_argument, NULL, LOG_BYTES},
    {"waits", no_argument, NULL, WAITS},
    {"mixed", no_argument, NULL, MIXED},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

#define KIND(_id)  (1u << (_id))
#define COLLECTIVE (KIND(PERF_GSYNC) | KIND(PERF_CKPT) | KIND(PERF_RESTORE))

/* Options that must know whether they were given, and the kinds without a use for them. */
static const struct {
    int option;
    const char *name;
    unsigned not_of;
} limited[] = {
    {'s', "-s", KIND(PERF_FLUSH) | KIND(PERF_GSYNC)},
    {'w', "-w", 0},
    {'O', "-O", KIND(PERF_PUT_LAT) | KIND(PERF_FLUSH) | COLLECTIVE},
    {PATTERN, "--pattern", COLLECTIVE},
    {SEED, "--seed", COLLECTIVE},
    {ROUNDS, "--rounds", KIND(PERF_RESTORE)},
    {CHANGED, "--changed", ~KIND(PERF_CKPT)},
    {REPLAY, "--replay", ~KIND(PERF_RESTORE)},
};
#define LIMITED (sizeof limited / sizeof limited[0])

static unsigned given_bit(int option)
{
    for (unsigned i = 0; i < LIMITED; i++) {
        if (limited[i].option == option) {
            return 1u << i;
        }
    }
    return 0;
}

/* An option of one test. Returns 0, -1 for a bad value, 1 if the option is none of a test. */
static int test_option(perf_test_t *test, int option, const char *value)
{
    unsigned long number;
    int word = 0, bad = 0;
    char *end;

    test->given |= given_bit(option);
    switch (option) {
    case 't':
        return parse_kind(value, &test->id);
    case 's':
        bad = parse_number(value, 1, PERF_COUNT_MAX, &number);
        test->size = number;
        return bad;
    case 'n':
        return parse_number(value, 1, PERF_COUNT_MAX, &test->iterations);
    case 'w':
        return parse_number(value, 0, PERF_COUNT_MAX, &test->warmup);
    case 'O':
        return parse_number(value, 1, PERF_OUTSTANDING_MAX, &test->outstanding);
    case 'R':
        test->percentile = strtod(value, &end);
        return (end == value || *end != '\0' || !(test->percentile >= 0 && test->percentile <= 100)) ? -1 : 0;
    case PATTERN:
        word = parse_word(value, perf_pattern_names, PERF_PATTERNS);
        test->pattern = (perf_pattern_t)word;
        return (word < 0) ? -1 : 0;
    case SEED:
        bad = parse_number(value, 0, 1ul << 40, &number);
        test->seed = number;
        return bad;
    case ROUNDS:
        return parse_number(value, 1, PERF_ROUNDS_MAX, &test->rounds);
    case VS_UCX:
        test->peer = PERF_PEER_UCX;
        return 0;
    case VS:
        word = parse_word(value, peer_options, PERF_PEERS);
        test->peer = (perf_peer_t)word;
        return (word < 0) ? -1 : 0;
    case CHANGED:
        return parse_number(value, 0, 100, &test->changed);
    case REPLAY:
        return parse_number(value, 1, PERF_REPLAY_MAX, &test->replay);
    default:
        return 1;
    }
}

/* An option of the whole run. Returns 0 or -1. */
static int run_option(parser_t *parser, int option, const char *value)
{
    perf_plan_t *plan = parser->plan;
    unsigned long number = 0;
    const char *equals = strchr(value != NULL ? value : "", '=');
    int word, bad;

    switch (option) {
    case 'b':
        if (parser->batches == BATCHES_MAX) {
            return -1;
        }
        parser->batch[parser->batches++] = value;
        return 0;
    case 'P':
        if (perf_protect_find(value) == NULL) {
            return -1;
        }
        snprintf(plan->protect, sizeof plan->protect, "%s", value);
        return 0;
    case 'x':
        word = parse_word(value, lane_names, PERF_LANES);
        plan->lane = (perf_lane_t)word;
        return (word < 0) ? -1 : 0;
    case 'p':
        bad = parse_number(value, 1, 65535, &number);
        plan->port = (unsigned)number;
        return bad;
    case UCX:
        return (equals == NULL || equals == value || equals[1] == '\0' ||
                snprintf(plan->ucx_option, sizeof plan->ucx_option, "%s", value) >= (int)sizeof plan->ucx_option)
                   ? -1
                   : 0;
    case LOG_BYTES:
        return parse_number(value, 1u << 20, 1ul << 40, &plan->log_bytes);
    case WAITS:
        plan->has_waits = 1;
        return 0;
    case MIXED:
        plan->is_mixed = 1;
        return 0;
    case 'f':
        plan->is_final_only = 1;
        return 0;
    case 'v':
        plan->format = PERF_CSV;
        return 0;
    default:
        return -1;
    }
}

/*
 * Returns 0, the exit status, or -1 for help or the version. @a is_line: a line of a batch file,
 * which allows options of a test only.
 */
static int parse_words(parser_t *parser, int argc, char **argv, int is_line, perf_test_t *test)
{
    int option, bad;

    optind = 0; /* glibc: start again */
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:s:n:w:O:R:b:P:x:p:fvh", long_options, NULL)) != -1) {
        if ((option == 'h' || option == VERSION) && !is_line) {
            parser->is_version = (option == VERSION);
            return -1;
        }
        if (option == ':' || option == '?') {
            return refuse(parser, option == ':' ? "%s needs a value" : "%s is no option", argv[optind - 1]);
        }
        /* the columns have a single head */
        bad = (option == 'R' && is_line) ? 1 : test_option(test, option, optarg);
        if (bad > 0 && !is_line) {
            bad = run_option(parser, option, optarg);
        } else if (bad > 0) {
            return refuse(parser, "%s is for the whole run", argv[optind - 1]);
        }
        if (bad != 0) {
            return refuse(parser, "bad value %s", optarg);
        }
    }
    return 0;
}

/* ---- tests ---- */

static unsigned long default_iterations(const perf_test_t *test)
{
    unsigned long count = 200000;

    if (test->id == PERF_CKPT || test->id == PERF_RESTORE) {
        return 9;
    }
    if (test->id == PERF_GSYNC) {
        return 2000;
    }
    if (test->size > 4096) {
        count = count * 4096 / test->size;
    }
    return (count < 180) ? 180 : count;
}

static unsigned long default_warmup(const perf_test_t *test)
{
    switch (test->id) {
    case PERF_CKPT:
        return 2; /* both copies are faulted in */
    case PERF_RESTORE:
        return 0; /* no spare may be used up */
    default:
        return test->iterations / 10;
    }
}

/* Checks that the given options have a meaning. Returns 0 or the exit status. */
static int given_check(const parser_t *parser, const perf_test_t *test)
{
    const perf_kind_t *kind = perf_kind(test);

    for (unsigned i = 0; i < LIMITED; i++) {
        if ((test->given & (1u << i)) && (limited[i].not_of & KIND(kind->id))) {
            return refuse(parser, "%s means nothing to %s", limited[i].name, kind->name);
        }
    }
    if ((test->given & given_bit(SEED)) && test->pattern != PERF_RANDOM) {
        return refuse(parser, "--seed is for --pattern random");
    }
    if (test->peer != PERF_PEER_NONE && !(kind->peers & (1u << test->peer))) {
        return refuse(parser, "%s cannot be compared with %s", kind->name, peer_options[test->peer]);
    }
    if ((kind->flags & PERF_IS_ATOMIC) && test->size != 0 && test->size != 4 && test->size != 8) {
        return refuse(parser, "atomics are of 4 or 8 bytes");
    }
    if (test->size > (1ul << perf_size_shift(kind))) {
        return refuse(parser, "a message of more than 1 GiB");
    }
    return 0;
}

/* Makes each iteration of checkpoints and deaths a round. Returns 0 or the exit status. */
static int rounds_settle(const parser_t *parser, perf_test_t *test, int is_iterations_given)
{
    const char *name = perf_kind(test)->name;

    if (test->id != PERF_CKPT && test->id != PERF_RESTORE) {
        return 0;
    }
    if (test->iterations > PERF_ROUNDS_MAX) {
        return refuse(parser, "%s: at most %d iterations", name, PERF_ROUNDS_MAX);
    }
    if (!(test->given & given_bit(ROUNDS))) {
        test->rounds = test->iterations;
    } else if (!is_iterations_given) {
        test->iterations = test->rounds;
    }
    return test->rounds == test->iterations ? 0 : refuse(parser, "%s: each iteration is a round", name);
}

static int test_add(parser_t *parser, const perf_test_t *given)
{
    perf_plan_t *plan = parser->plan;
    perf_test_t *test = &plan->tests[plan->count];
    const perf_kind_t *kind = perf_kind(given);
    int status;

    if (plan->count == PERF_TESTS_MAX) {
        return refuse(parser, "more than %d tests", PERF_TESTS_MAX);
    }
    status = given_check(parser, given);
    if (status != 0) {
        return status;
    }
    *test = *given;
    test->size = (test->size == 0) ? kind->size : test->size;
    test->outstanding = (test->outstanding == 0) ? kind->outstanding : test->outstanding;
    test->iterations = (test->iterations == 0) ? default_iterations(test) : test->iterations;
    test->warmup = (test->given & given_bit('w')) ? test->warmup : default_warmup(test);
    if (test->name[0] == '\0') {
        snprintf(test->name, sizeof test->name, "%s", kind->name);
    }
    plan->count++;
    return rounds_settle(parser, test, given->iterations != 0);
}

/* Appends the line's name to that of the previous batch file. Returns 0 or the exit status. */
static int name_add(const parser_t *parser, perf_test_t *test, const char *name)
{
    const size_t length = strlen(test->name), room = sizeof test->name - length;

    if (strchr(name, ',') != NULL) {
        return refuse(parser, "a name with a comma: %s", name);
    }
    if (snprintf(test->name + length, room, "%s%s", length > 0 ? "/" : "", name) >= (int)room) {
        return refuse(parser, "the name is too long: %s", name);
    }
    return 0;
}

/* Combines every line of batch file @a level with every line of the later files. */
static int batch_read(parser_t *parser, unsigned level, const perf_test_t *base)
{
    FILE *file = fopen(parser->batch[level], "r");
    char line[1024], where[1200];
    unsigned number = 0;
    int status = 0, is_whole;

    if (file == NULL) {
        return refuse(parser, "batch file %s: %s", parser->batch[level], strerror(errno));
    }
    while (status == 0 && fgets(line, sizeof line, file) != NULL) {
        char *words[LINE_WORDS_MAX + 1] = {NULL}, *rest = line;
        perf_test_t test = *base;
        int count = 0;

        number++;
        snprintf(where, sizeof where, "%.900s:%u: ", parser->batch[level], number);
        parser->where = where;
        is_whole = (strchr(line, '\n') != NULL || feof(file));
        while (count < LINE_WORDS_MAX && (words[count] = strtok_r(rest, " \t\r\n", &rest)) != NULL) {
            count++;
        }
        if (is_whole && (count == 0 || words[0][0] == '#')) {
            continue;
        }
        if (!is_whole || count == LINE_WORDS_MAX) {
            status = refuse(parser, "the line is too long");
        } else {
            status = name_add(parser, &test, words[0]);
        }
        if (status == 0) {
            status = parse_words(parser, count, words, 1, &test);
        }
        if (status == 0 && optind < count) {
            status = refuse(parser, "%s is no option", words[optind]);
        }
        if (status == 0) {
            status = (level + 1 < BATCHES_MAX && level + 1 < parser->batches) ? batch_read(parser, level + 1, &test)
                                                                              : test_add(parser, &test);
        }
    }
    parser->where = "";
    fclose(file);
    return status;
}

static int has_raw_ucx(const perf_plan_t *plan)
{
    unsigned t = 0;

    while (t < plan->count && plan->tests[t].peer != PERF_PEER_UCX) {
        t++;
    }
    return t < plan->count;
}

int perf_plan_parse(int argc, char **argv, int is_speaker, perf_plan_t *plan)
{
    parser_t parser = {.plan = plan, .is_speaker = is_speaker, .where = ""};
    perf_test_t base = {.rounds = 9, .percentile = 50, .seed = 1, .changed = 100, .replay = 4};
    int status;

    memset(plan, 0, sizeof *plan);
    plan->port = DEFAULT_PORT;
    plan->log_bytes = 48ul << 20;
    status = parse_words(&parser, argc, argv, 0, &base);
    if (status == -1) {
        if (is_speaker) {
            perf_help_print(parser.is_version);
        }
        return 0;
    }
    if (status == 0 && optind < argc) {
        if (snprintf(plan->host, sizeof plan->host, "%s", argv[optind++]) >= (int)sizeof plan->host) {
            status = refuse(&parser, "the host's name is too long");
        }
    }
    if (status == 0 && optind < argc) {
        status = refuse(&parser, "%s is one argument too many", argv[optind]);
    }
    if (status == 0) {
        plan->is_batch = (parser.batches > 0);
        status = plan->is_batch ? batch_read(&parser, 0, &base) : test_add(&parser, &base);
    }
    for (unsigned t = 0; status == 0 && t < plan->count; t++) {
        if ((perf_kind(&plan->tests[t])->flags & PERF_IS_ALONE) && plan->count > 1) {
            status = refuse(&parser, "%s runs alone", perf_kind(&plan->tests[t])->name);
        }
    }
    if (status == 0 && plan->count == 0) {
        status = refuse(&parser, "the batch file has no test");
    }
    if (status == 0 && plan->ucx_option[0] != '\0' && !has_raw_ucx(plan)) {
        status = refuse(&parser, "--ucx is for --vs-ucx");
    }
    if (status == 0) {
        return -1;
    }
    /* any other first status ends the job, perhaps before the speaker has printed */
    return is_speaker ? status : 0;
}
