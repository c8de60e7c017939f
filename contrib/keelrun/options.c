/* The command line: reads, checks, and finds the program. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <keel/version.h>

#include "channel.h"
#include "leftover.h"
#include "report.h"

#define OPTIONS_RANKS_MAX    4096
#define OPTIONS_NODES_MAX    250 /* each needs an address of 10.77.0.0/24 */
#define OPTIONS_RESTARTS     10
#define OPTIONS_RESTARTS_MAX 1000000
#define OPTIONS_STOP_WITHIN  60.0 /* seconds */

static const char options_help[] =
    "Usage: keelrun [options] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs PROGRAM as a job of several ranks on this machine, on emulated nodes, and starts a rank again that was\n"
    "killed by a signal. The job's status is keelrun's own: 0 when every rank left with 0.\n"
    "\n"
    "  -n, --ranks N            number of ranks (1)\n"
    "      --nodes N            number of emulated nodes (1); each has its own host name\n"
    "      --map block|cyclic   rank r on node r / ceil(ranks / nodes) (block), or on node r modulo nodes\n"
    "      --netns              each node gets its own network namespace; status 77 where the machine refuses\n"
    "      --spares N           N processes more, which wait in keel_init() to take the place of a dead rank; none is\n"
    "                           started again then\n"
    "      --kill RANK@TIME     kill a rank with SIGKILL; may be given several times\n"
    "                           RANK: a number or random\n"
    "                           TIME: SECONDS after all ranks have met, random[:MAX_SECONDS] (2 s), marker:TEXT: when\n"
    "                           a line of its output contains TEXT, or anyone:TEXT: of any rank's output; all that\n"
    "                           wait for the same TEXT are killed at once\n"
    "      --kill-node NODE@TIME  kill a node with all its ranks; they move to the one with\n"
    "                           the fewest ranks\n"
    "      --stop RANK@TIME     stop a rank with SIGSTOP, as if it hung\n"
    "      --stop-node NODE@TIME  stop a node with all its ranks\n"
    "      --cut-node NODE@TIME  take a node off the network; needs --netns\n"
    "      --seed S             seed of what is random (printed when something is)\n"
    "      --restarts N         how often one rank is started again before the job is given up (10, and 2 where it\n"
    "                           does not come through keel_init(); with N given N in either case)\n"
    "      --no-restart         a killed rank ends the job with status 128 + signal\n"
    "      --job-restarts N     how often a job is started anew (KEEL_JOB_RESTARTS, or 1): one that ends with status "
    "75,\n"
    "                           which a program asks for where nothing can be recovered, without the kills asked for\n"
    "                           here; and one of which a rank is killed before all ranks have met\n"
    "      --rehearse           kill each rank once, behind a gsync, and compare what its replacement does again with\n"
    "                           what it had done; ends the job at the first difference (contrib/doc/rehearsing.md)\n"
    "      --output once|all    once: output that a rank repeats after a death is dropped, and a message names the\n"
    "                           first line of standard output that differs (once; all with --no-restart)\n"
    "      --tag                \"[rank] \" in front of each line of output\n"
    "      --timeout SECONDS    end the job after this time with status 124\n"
    "      --stop-within SECONDS  with KEEL_FILE_DIR, SIGTERM and SIGUSR1 ask the job for a checkpoint there; it ends "
    "with\n"
    "                           status 121 when that is complete, else as by other signals after this time (60) or "
    "at\n"
    "                           a second signal\n"
    "      --timeline FILE      draw the recovery of the job, as SVG (contrib/doc/seeing.md)\n"
    "  -x NAME=VALUE            set a variable for the program\n"
    "  -v, --verbose            say what happens, with times since the start, on stderr\n"
    "      --clean              remove what jobs of this user left behind, and run nothing: every start does so first\n"
    "  -h, --help               this text\n"
    "      --version            the version\n"
    "\n"
    "The program finds its incarnation (how often its rank was started again) in KEEL_INCARNATION, its node in\n"
    "KEELRUN_NODE, how often the job was started anew in KEELRUN_JOB, and keelrun's start "
    "(CLOCK_MONOTONIC, ns: zero "
    "of keelrun's times) in KEELRUN_START_NS.\n"
    "Its standard input is empty. With KEELRUN_DEBUG set, the messages of keelrun's PMIx servers are shown.\n"
    "\n"
    "status: the first non-zero one of a rank; 128 + signal of a rank not started again; 1 keelrun failed, or output "
    "of\n"
    "ranks could not be written; 2 wrong arguments; 77 no network namespaces; 121 stopped, with a checkpoint;\n"
    "122 nothing was rehearsed; 123 a\n"
    "rehearsal found a difference; 124 timeout; 126 PROGRAM not executable; 127 not found; 128 + signal that ended\n"
    "keelrun.\n";

enum {
    OPTION_NODES = 256,
    OPTION_MAP,
    OPTION_NETNS,
    OPTION_SPARES,
    OPTION_KILL,
    OPTION_KILL_NODE,
    OPTION_STOP,
    OPTION_STOP_NODE,
    OPTION_CUT_NODE,
    OPTION_SEED,
    OPTION_RESTARTS,
    OPTION_NO_RESTART,
    OPTION_JOB_RESTARTS,
    OPTION_REHEARSE,
    OPTION_OUTPUT,
    OPTION_TAG,
    OPTION_TIMEOUT,
    OPTION_STOP_WITHIN,
    OPTION_TIMELINE,
    OPTION_CLEAN,
    OPTION_VERSION
};

static const struct option options_long[] = {
    {"ranks", required_argument, NULL, 'n'},
    {"nodes", required_argument, NULL, OPTION_NODES},
    {"map", required_argument, NULL, OPTION_MAP},
    {"netns", no_argument, NULL, OPTION_NETNS},
    {"spares", required_argument, NULL, OPTION_SPARES},
    {"kill", required_argument, NULL, OPTION_KILL},
    {"kill-node", required_argument, NULL, OPTION_KILL_NODE},
    {"stop", required_argument, NULL, OPTION_STOP},
    {"stop-node", required_argument, NULL, OPTION_STOP_NODE},
    {"cut-node", required_argument, NULL, OPTION_CUT_NODE},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"restarts", required_argument, NULL, OPTION_RESTARTS},
    {"no-restart", no_argument, NULL, OPTION_NO_RESTART},
    {"job-restarts", required_argument, NULL, OPTION_JOB_RESTARTS},
    {"rehearse", no_argument, NULL, OPTION_REHEARSE},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"tag", no_argument, NULL, OPTION_TAG},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"stop-within", required_argument, NULL, OPTION_STOP_WITHIN},
    {"timeline", required_argument, NULL, OPTION_TIMELINE},
    {"clean", no_argument, NULL, OPTION_CLEAN},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static bool options_number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *value_p)
{
    char *end;

    errno = 0;
    *value_p = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *value_p < low || *value_p > high) {
        report("%s needs a number from %llu to %llu, not '%s'", name, (unsigned long long)low, (unsigned long long)high,
               text);
        return false;
    }
    return true;
}

static bool options_number32(const char *name, const char *text, uint32_t low, uint32_t high, uint32_t *value_p)
{
    uint64_t value;

    if (!options_number(name, text, low, high, &value)) {
        return false;
    }
    *value_p = (uint32_t)value;
    return true;
}

static bool options_add_kill(options_t *options, const char *text, const char *name, kill_plan_action_t action)
{
    bool is_node = strstr(name, "-node") != NULL;
    const char *wrong;

    options->kills = must_allocate(options->kills, (options->kill_count + 1) * sizeof *options->kills);
    wrong = kill_plan_parse(text, is_node, &options->kills[options->kill_count]);
    if (wrong != NULL) {
        report("%s '%s': %s", name, text, wrong);
        return false;
    }
    options->kills[options->kill_count].action = action;
    options->kill_count++;
    return true;
}

static bool options_set_seconds(const char *name, const char *text, double *seconds_p)
{
    char *end;

    *seconds_p = strtod(text, &end);
    if (end == text || *end != '\0' || !(*seconds_p > 0.0 && *seconds_p < 1e6)) {
        report("%s needs seconds, not '%s'", name, text);
        return false;
    }
    return true;
}

static bool options_set_variable(char *text)
{
    const char *equals = strchr(text, '=');

    if (equals == NULL || equals == text) {
        report("-x needs NAME=VALUE, not '%s'", text);
        return false;
    }
    putenv(text);
    return true;
}

static bool options_set_map(options_t *options, const char *text)
{
    options->cyclic = strcmp(text, "cyclic") == 0;
    if (!options->cyclic && strcmp(text, "block") != 0) {
        report("--map needs block or cyclic, not '%s'", text);
        return false;
    }
    return true;
}

static bool options_set_output(options_t *options, const char *text)
{
    options->once = strcmp(text, "once") == 0;
    options->has_output = true;
    if (!options->once && strcmp(text, "all") != 0) {
        report("--output needs once or all, not '%s'", text);
        return false;
    }
    return true;
}

/* Takes one option. Returns false after a message. */
static bool options_take(options_t *options, int option, char *value)
{
    switch (option) {
    case 'n':
        return options_number32("-n", value, 1, OPTIONS_RANKS_MAX, &options->ranks);
    case 'x':
        return options_set_variable(value);
    case 'v':
        options->verbose = true;
        return true;
    case OPTION_NODES:
        return options_number32("--nodes", value, 1, OPTIONS_NODES_MAX, &options->nodes);
    case OPTION_MAP:
        return options_set_map(options, value);
    case OPTION_NETNS:
        options->netns = true;
        return true;
    case OPTION_SPARES:
        return options_number32("--spares", value, 0, OPTIONS_RANKS_MAX, &options->spares);
    case OPTION_KILL:
        return options_add_kill(options, value, "--kill", KILL_PLAN_KILL);
    case OPTION_KILL_NODE:
        return options_add_kill(options, value, "--kill-node", KILL_PLAN_KILL);
    case OPTION_STOP:
        return options_add_kill(options, value, "--stop", KILL_PLAN_STOP);
    case OPTION_STOP_NODE:
        return options_add_kill(options, value, "--stop-node", KILL_PLAN_STOP);
    case OPTION_CUT_NODE:
        return options_add_kill(options, value, "--cut-node", KILL_PLAN_CUT);
    case OPTION_SEED:
        options->has_seed = true;
        return options_number("--seed", value, 0, UINT64_MAX, &options->seed);
    case OPTION_RESTARTS:
        options->has_restarts = true;
        return options_number32("--restarts", value, 0, OPTIONS_RESTARTS_MAX, &options->restarts);
    case OPTION_NO_RESTART:
        options->no_restart = true;
        return true;
    case OPTION_JOB_RESTARTS:
        return options_number32("--job-restarts", value, 0, OPTIONS_RESTARTS_MAX, &options->job_restarts);
    case OPTION_REHEARSE:
        options->rehearse = true;
        return true;
    case OPTION_OUTPUT:
        return options_set_output(options, value);
    case OPTION_TAG:
        options->tag = true;
        return true;
    case OPTION_TIMEOUT:
        return options_set_seconds("--timeout", value, &options->timeout_s);
    case OPTION_TIMELINE:
        options->timeline = value;
        return true;
    case OPTION_STOP_WITHIN:
        return options_set_seconds("--stop-within", value, &options->stop_within_s);
    default:
        return false;
    }
}

static bool options_check_rehearsal(options_t *options)
{
    if (options->rehearse && (options->spares > 0 || options->no_restart)) {
        report("--rehearse has every rank started again: it goes with neither --spares nor --no-restart");
        return false;
    }
    if (options->rehearse && !options->has_restarts) {
        options->restarts = 1; /* deaths by the program's own fault should be visible */
        options->has_restarts = true;
    }
    return true;
}

static shrink_t options_shrink(void)
{
    const char *value = getenv("KEEL_SHRINK");

    return (value == NULL)                    ? SHRINK_NO
           : (strcasecmp(value, "now") == 0)  ? SHRINK_NOW
           : (strcasecmp(value, "last") == 0) ? SHRINK_LAST
                                              : SHRINK_NO;
}

static bool options_check(options_t *options)
{
    bool is_random = false;
    char text[32];

    if (!options_check_rehearsal(options)) {
        return false;
    }
    if (!options->has_output) {
        options->once = !options->no_restart;
    }
    options->shrink = options_shrink();

    if (options->nodes > options->ranks) {
        report("%u nodes need at least as many ranks, not %u", options->nodes, options->ranks);
        return false;
    }
    if (options->spares > 0) {
        options->ranks += options->spares;
        snprintf(text, sizeof text, "%u", options->spares);
        setenv("KEEL_SPARES", text, 1);
    }
    for (size_t i = 0; i < options->kill_count; i++) {
        const kill_plan_t *plan = &options->kills[i];
        uint32_t limit = plan->is_node ? options->nodes : options->ranks;

        if (!plan->random_victim && plan->victim >= limit) {
            report("cannot kill %s %u: the job has %u, numbered from 0", plan->is_node ? "node" : "rank", plan->victim,
                   limit);
            return false;
        }
        if (plan->action == KILL_PLAN_CUT && !options->netns) {
            report("--cut-node needs --netns: without it the nodes have one network");
            return false;
        }
        is_random = is_random || kill_plan_is_random(plan);
    }
    if (is_random) {
        if (!options->has_seed && getrandom(&options->seed, sizeof(uint32_t), 0) < 0) {
            options->seed = clock_now_ns() & UINT32_MAX;
        }
        report("seed %llu", (unsigned long long)options->seed);
    }
    kill_plan_draw(options->kills, options->kill_count, options->ranks - options->spares, options->nodes,
                   options->seed);
    return true;
}

/* Returns -1 and options->path, or a status after a message. */
static int options_try_program(options_t *options, const char *path, const char *name)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return KEELRUN_STATUS_NOT_FOUND;
    }
    if (S_ISDIR(status.st_mode) || access(path, X_OK) != 0) {
        report("cannot run '%s': %s", name, S_ISDIR(status.st_mode) ? "it is a directory" : strerror(errno));
        return KEELRUN_STATUS_NOT_EXECUTABLE;
    }
    options->path = strdup(path);
    return -1;
}

static int options_find_program(options_t *options)
{
    const char *name = options->program[0];
    const char *search = getenv("PATH");
    int status = KEELRUN_STATUS_NOT_FOUND;

    if (strchr(name, '/') != NULL) {
        status = options_try_program(options, name, name);
    } else if (search != NULL && *name != '\0') {
        while (status == KEELRUN_STATUS_NOT_FOUND && *search != '\0') {
            size_t length = strcspn(search, ":");
            char path[4096];

            snprintf(path, sizeof path, "%.*s/%s", (int)length, length != 0 ? search : ".", name);
            status = options_try_program(options, path, name);
            search += length + (search[length] == ':');
        }
    }
    if (status == KEELRUN_STATUS_NOT_FOUND) {
        report("cannot run '%s': no such program", name);
    }
    return status;
}

int options_read(int argc, char **argv, options_t *options)
{
    int option;

    memset(options, 0, sizeof *options);
    options->ranks = options->nodes = 1;
    options->restarts = OPTIONS_RESTARTS;
    options->job_restarts = 1;
    options->stop_within_s = OPTIONS_STOP_WITHIN;
    opterr = 0;
    if (getenv("KEEL_JOB_RESTARTS") != NULL && !options_number32("KEEL_JOB_RESTARTS", getenv("KEEL_JOB_RESTARTS"), 0,
                                                                 OPTIONS_RESTARTS_MAX, &options->job_restarts)) {
        return KEELRUN_STATUS_USAGE;
    }
    while ((option = getopt_long(argc, argv, "+:n:x:vh", options_long, NULL)) != -1) {
        if (option == 'h') {
            fputs(options_help, stdout);
            return 0;
        }
        if (option == OPTION_CLEAN) {
            leftover_clean(true);
            return 0;
        }
        if (option == OPTION_VERSION) {
            puts("keelrun " KEEL_VERSION_STRING);
            return 0;
        }
        if (option == '?' || option == ':') {
            report(option == '?' ? "unknown option '%s'; see keelrun --help" : "'%s' needs a value", argv[optind - 1]);
            return KEELRUN_STATUS_USAGE;
        }
        if (!options_take(options, option, optarg)) {
            return KEELRUN_STATUS_USAGE;
        }
    }
    if (optind == argc) {
        report("no program given; see keelrun --help");
        return KEELRUN_STATUS_USAGE;
    }
    options->program = argv + optind;
    if (!options_check(options)) {
        return KEELRUN_STATUS_USAGE;
    }
    return options_find_program(options);
}

uint32_t options_node_of(const options_t *options, uint32_t rank)
{
    uint32_t ranks = options->ranks - options->spares;
    uint32_t block = (ranks + options->nodes - 1) / options->nodes;

    if (rank >= ranks) {
        /* spares: from the last node on */
        return options->nodes - 1 - (rank - ranks) % options->nodes;
    }

    return options->cyclic ? rank % options->nodes : rank / block;
}
