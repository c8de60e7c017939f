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
    int is_speaker;
    const char *batch[BATCHES_MAX];
    unsigned batches;
    const char *where; /* "", or the batch file's name and line */
} parser_t;

static const char *const peer_options[PERF_PEERS] = {"none", "ucx", "stores", "memcpy"};
static const char *const lane_names[PERF_LANES] = {"auto", "shm", "tcp"};
static const char *const protect_names[] = {"none", "ckpt", "puts", "gets", "all"};

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

enum { PATTERN = 256, SEED, ROUNDS, VS_UCX, VS, UCX, CHANGED, REPLAY, LOG_BYTES, WAITS };

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
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* of one test; 0, -1 for a bad value, 1 for an option that is none of a test's */
static int test_option(perf_test_t *test, int option, const char *value)
{
    unsigned long number;
    int word = 0, bad = 0;
    char *end;

    switch (option) {
    case 't':
        return parse_kind(value, &test->id);
    case 's':
        bad = parse_number(value, 1, 1ul << 40, &number);
        test->size = number;
        return bad;
    case 'n':
        return parse_number(value, 1, 1ul << 40, &test->iterations);
    case 'w':
        bad = parse_number(value, 0, 1ul << 40, &test->warmup);
        test->warmup++; /* 0: not given */
        return bad;
    case 'O':
        return parse_number(value, 1, 1ul << 20, &test->outstanding);
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
        return parse_number(value, 1, 1000, &test->replay);
    default:
        return 1;
    }
}

/* of the whole run; 0 or -1 */
static int run_option(parser_t *parser, int option, const char *value)
{
    perf_plan_t *plan = parser->plan;
    unsigned long number = 0;
    int word, bad;

    switch (option) {
    case 'b':
        if (parser->batches == BATCHES_MAX) {
            return -1;
        }
        parser->batch[parser->batches++] = value;
        return 0;
    case 'P':
        word = parse_word(value, protect_names, sizeof protect_names / sizeof protect_names[0]);
        snprintf(plan->protect, sizeof plan->protect, "%s", (word < 0) ? "" : value);
        return (word < 0) ? -1 : 0;
    case 'x':
        word = parse_word(value, lane_names, PERF_LANES);
        plan->lane = (perf_lane_t)word;
        return (word < 0) ? -1 : 0;
    case 'p':
        bad = parse_number(value, 1, 65535, &number);
        plan->port = (unsigned)number;
        return bad;
    case UCX:
        return (strchr(value, '=') == NULL ||
                snprintf(plan->ucx_option, sizeof plan->ucx_option, "%s", value) >= (int)sizeof plan->ucx_option)
                   ? -1
                   : 0;
    case LOG_BYTES:
        return parse_number(value, 1u << 20, 1ul << 40, &plan->log_bytes);
    case WAITS:
        plan->has_waits = 1;
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

/* 0, or the exit status; @a is_line: of a batch file, where only what belongs to a test is allowed; -1: help */
static int parse_words(parser_t *parser, int argc, char **argv, int is_line, perf_test_t *test)
{
    int option, bad;

    optind = 0; /* glibc: start again */
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:s:n:w:O:R:b:P:x:p:fvh", long_options, NULL)) != -1) {
        if (option == 'h' && !is_line) {
            return -1;
        }
        if (option == ':' || option == '?') {
            return refuse(parser, option == ':' ? "%s needs a value" : "%s is no option", argv[optind - 1]);
        }
        bad = test_option(test, option, optarg);
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
        return 2; /* each of both copies is faulted in */
    case PERF_RESTORE:
        return 0; /* none of the spares may be meant for it */
    default:
        return test->iterations / 10;
    }
}

static int test_add(parser_t *parser, const perf_test_t *given)
{
    perf_plan_t *plan = parser->plan;
    perf_test_t *test = &plan->tests[plan->count];
    const perf_kind_t *kind = perf_kind(given);

    if (plan->count == PERF_TESTS_MAX) {
        return refuse(parser, "more than %d tests", PERF_TESTS_MAX);
    }
    *test = *given;
    if (test->peer != PERF_PEER_NONE && !(kind->peers & (1u << test->peer))) {
        return refuse(parser, "%s cannot be compared with %s", kind->name, peer_options[test->peer]);
    }
    if ((kind->flags & PERF_IS_ATOMIC) && test->size != 0 && test->size != 4 && test->size != 8) {
        return refuse(parser, "atomics are of 4 or 8 bytes");
    }
    test->size = (test->size == 0) ? kind->size : test->size;
    if (test->size > (1ul << 30) && !(kind->flags & PERF_IS_COLLECTIVE)) {
        return refuse(parser, "a message of more than 1 GiB");
    }
    if (test->outstanding == 0 || kind->outstanding == 1) {
        test->outstanding = kind->outstanding;
    }
    test->iterations = (test->iterations == 0) ? default_iterations(test) : test->iterations;
    if (test->id == PERF_CKPT || test->id == PERF_RESTORE) {
        if (test->iterations > PERF_ROUNDS_MAX) {
            return refuse(parser, "%s: at most %d iterations", kind->name, PERF_ROUNDS_MAX);
        }
        test->rounds = test->iterations;
    }
    test->warmup = (test->warmup == 0) ? default_warmup(test) : test->warmup - 1;
    if (test->name[0] == '\0') {
        snprintf(test->name, sizeof test->name, "%s", kind->name);
    }
    plan->count++;
    return 0;
}

/* every line of batch file @a level with every line of those after it */
static int batch_read(parser_t *parser, unsigned level, const perf_test_t *base)
{
    FILE *file = fopen(parser->batch[level], "r");
    char line[1024], where[1200];
    unsigned number = 0;
    int status = 0;

    if (file == NULL) {
        return refuse(parser, "batch file %s: %s", parser->batch[level], strerror(errno));
    }
    while (status == 0 && fgets(line, sizeof line, file) != NULL) {
        char *words[LINE_WORDS_MAX + 1] = {NULL}, *rest = line;
        perf_test_t test = *base;
        int count = 0;

        number++;
        while (count < LINE_WORDS_MAX && (words[count] = strtok_r(rest, " \t\r\n", &rest)) != NULL) {
            count++;
        }
        if (count == 0 || words[0][0] == '#') {
            continue;
        }
        snprintf(where, sizeof where, "%.900s:%u: ", parser->batch[level], number);
        parser->where = where;
        snprintf(test.name + strlen(test.name), sizeof test.name - strlen(test.name), "%s%s",
                 test.name[0] != '\0' ? "/" : "", words[0]);
        status = parse_words(parser, count, words, 1, &test);
        if (status == 0 && optind < count) {
            status = refuse(parser, "%s is no option", words[optind]);
        }
        if (status == 0) {
            status = (level + 1 < parser->batches) ? batch_read(parser, level + 1, &test) : test_add(parser, &test);
        }
        parser->where = "";
    }
    fclose(file);
    return status;
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
            perf_help_print();
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
    if (status == 0) {
        return -1;
    }
    return is_speaker ? status : 0; /* the first other status ends the job, perhaps before the speaker has spoken */
}
