/*
 * keel_files: lists, verifies, describes and removes checkpoints in files, and asks a running job
 * for one.
 */
#include <keel/version.h>

#include "base/memory.h"
#include "files/asked.h"
#include "files_check.h"
#include "tools/tool_output.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_USAGE     2
#define OPTION_VERSION 256
#define OPTION_JSON    257
#define WAIT_LOOK_US   50000 /* between looks for an awaited checkpoint */

typedef struct command {
    const char *name;
    int dir;
    const char *path;
    set_info_t *sets;
    unsigned count;
    int is_json;
    int has_generation;
    uint32_t generation;
    unsigned keep;
    double wait_s;
} command_t;

static void usage(FILE *stream)
{
    fputs(
        "Usage: keel_files [options] COMMAND DIRECTORY\n"
        "Works on the checkpoints in files of KEEL_FILE_DIR.\n"
        "  list        the checkpoints, the newest first: complete, ended (its job has), or incomplete, and where a "
        "job\n"
        "              begins\n"
        "  check       verifies every byte of the complete ones, and tells where a job begins\n"
        "  show        describes the files of each\n"
        "  prune       removes all but the newest complete ones; not while a job uses the directory\n"
        "  checkpoint  asks the job that uses the directory for a checkpoint at its next safe gsync\n"
        "Options:\n"
        "  -g, --generation N  check, show: only the checkpoint of this number\n"
        "  -k, --keep N        prune: how many complete ones stay (2)\n"
        "  -w, --wait SECONDS  checkpoint: wait until it is there, at most so long\n"
        "      --json          list, check, show: as JSON\n"
        "  -h, --help          show this help\n"
        "      --version       show the version\n"
        "\n"
        "Exit status: 0; 1 something is damaged, there is no complete checkpoint to check, or the awaited one did not\n"
        "come; 2 wrong options; 3 the directory cannot be read.\n",
        stream);
}

static int is_asked_for(const command_t *command, const set_info_t *set)
{
    return !command->has_generation || set->id.generation == command->generation;
}

static const char *written_at(const set_info_t *set, char *text, size_t size)
{
    struct tm when;

    if (set->written == 0 || localtime_r(&set->written, &when) == NULL ||
        strftime(text, size, "%Y-%m-%dT%H:%M:%S", &when) == 0) {
        snprintf(text, size, "-");
    }
    return text;
}

static void print_set_json(const set_info_t *set, const char *before, const char *after)
{
    char when[32];

    printf("%s{\"generation\": %u, \"run\": \"%08x\", \"state\": \"%s\", \"program\": \"%s\", \"ranks\": %u, "
           "\"bytes\": %lu, \"written\": \"%s\"%s",
           before, set->id.generation, set->id.run, set_state_name(set->state), set->manifest.program,
           set->manifest.count, set->bytes, written_at(set, when, sizeof(when)), after);
}

/* The set where a job begins. */
typedef struct start {
    const set_info_t *set; /* NULL: none */
    int is_any_complete;
    int is_newer_lost; /* a newer set is incomplete or damaged */
} start_t;

/* Takes the next older set into account; returns whether a job begins there. */
static int start_take(start_t *start, const set_info_t *set, int is_right)
{
    start->is_any_complete |= set->state == SET_COMPLETE;
    if (start->set != NULL || set->state == SET_ENDED) {
        return 0;
    }
    if (set->state == SET_COMPLETE && is_right) {
        start->set = set;
        return 1;
    }
    start->is_newer_lost = 1;
    return 0;
}

static void start_print(const start_t *start)
{
    char when[32];

    if (start->set != NULL) {
        printf("a job begins at checkpoint %u (%s)%s\n", start->set->id.generation,
               written_at(start->set, when, sizeof(when)), start->is_newer_lost ? "; newer ones are lost" : "");
    } else if (start->is_any_complete) {
        printf("no checkpoint can be restarted from: a job does not begin until the directory is empty\n");
    } else {
        printf("no checkpoint: a job begins at its start\n");
    }
}

static int run_list(const command_t *command)
{
    start_t start = {.set = NULL};
    char when[32];

    if (command->is_json) {
        printf("[");
        for (unsigned i = 0; i < command->count; i++) {
            const set_info_t *set = &command->sets[i];

            print_set_json(set, (i > 0) ? ",\n " : "",
                           start_take(&start, set, set->has_manifest) ? ", \"begins\": true}" : ", \"begins\": false}");
        }
        printf("]\n");
        return EXIT_SUCCESS;
    }
    printf("%-10s %-8s %-10s %6s %14s %-19s %s\n", "generation", "run", "state", "ranks", "bytes", "written",
           "program");
    for (unsigned i = 0; i < command->count; i++) {
        const set_info_t *set = &command->sets[i];

        printf("%10u %08x %-10s %6u %14lu %-19s %s\n", set->id.generation, set->id.run, set_state_name(set->state),
               set->manifest.count, set->bytes, written_at(set, when, sizeof(when)), set->manifest.program);
        (void)start_take(&start, set, set->has_manifest);
    }
    start_print(&start);
    return EXIT_SUCCESS;
}

/* Verifies a set; describes its files if @a is_described. Returns the number of damaged files. */
static uint32_t print_files(const command_t *command, const set_info_t *set, int is_described)
{
    uint32_t damaged = 0;
    int is_first = 1;

    for (uint32_t r = 0; r < set->manifest.count; r++) {
        file_result_t result;

        file_check(command->dir, set, r, &result);
        damaged += result.wrong[0] != '\0';
        if (command->is_json) {
            printf("%s\n   {\"rank\": %u, \"bytes\": %lu, \"crc\": \"%08x\", \"windows\": %u, \"window_bytes\": %lu, "
                   "\"protected\": %u, \"protected_bytes\": %lu, \"wrong\": \"%s\"}",
                   is_first ? "" : ",", r, set->manifest.files[r].bytes, set->manifest.files[r].crc, result.windows,
                   result.window_bytes, result.regions, result.region_bytes, result.wrong);
            is_first = 0;
        } else if (result.wrong[0] != '\0') {
            printf("checkpoint %u, rank %u: %s\n", set->id.generation, r, result.wrong);
        } else if (is_described) {
            printf("checkpoint %u, rank %u: %lu bytes, %u windows with %lu, %u protected regions with %lu\n",
                   set->id.generation, r, set->manifest.files[r].bytes, result.windows, result.window_bytes,
                   result.regions, result.region_bytes);
        }
    }
    return damaged;
}

/* Verifies a set. Returns 1 if the set is damaged. */
static int check_set(const command_t *command, const set_info_t *set, int is_described, start_t *start)
{
    const uint32_t damaged = set->has_manifest ? print_files(command, set, is_described) : 1;
    const int begins = start_take(start, set, damaged == 0);

    if (command->is_json) {
        printf("], \"damaged\": %u, \"begins\": %s}", damaged, begins ? "true" : "false");
    } else if (!set->has_manifest) {
        printf("checkpoint %u: the manifest is damaged\n", set->id.generation);
    } else if (damaged == 0) {
        printf("checkpoint %u: %u files, %lu bytes, all right\n", set->id.generation, set->manifest.count, set->bytes);
    } else {
        printf("checkpoint %u: %u of %u files damaged: it cannot be restarted from\n", set->id.generation, damaged,
               set->manifest.count);
    }
    return damaged > 0;
}

static int run_check(const command_t *command, int is_described)
{
    start_t start = {.set = NULL};
    unsigned sets = 0, bad = 0;

    if (command->is_json) {
        printf("[");
    }
    for (unsigned i = 0; i < command->count; i++) {
        const set_info_t *set = &command->sets[i];

        if (!is_asked_for(command, set)) {
            continue;
        }
        if (set->state == SET_INCOMPLETE) {
            (void)start_take(&start, set, 0);
            continue;
        }
        if (command->is_json) {
            print_set_json(set, (sets > 0) ? ",\n " : "", ", \"files\": [");
        }
        sets++;
        bad += (unsigned)check_set(command, set, is_described, &start);
    }
    if (command->is_json) {
        printf("]\n");
    } else if (command->has_generation) {
        printf("%s", (sets == 0) ? "no complete checkpoint of this number\n" : "");
    } else {
        start_print(&start); /* after a check of all checkpoints only */
    }
    return (sets > 0 && bad == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Under the lock of the directory, so that no job has a newer checkpoint than the list. */
static int prune_locked(command_t *command)
{
    unsigned kept = 0, removed = 0;
    int error = sets_read(command->dir, &command->sets, &command->count);

    for (unsigned i = 0; i < command->count && error == 0; i++) {
        const set_info_t *set = &command->sets[i];

        if (set->state == SET_COMPLETE && set->has_manifest && kept < command->keep) {
            kept++;
            continue;
        }
        error = keel_set_remove(command->dir, set->id);
        removed += error == 0;
    }
    sets_release(command->sets, command->count);
    if (error != 0) {
        fprintf(stderr, "keel_files: %s: %s\n", command->path, strerror(error));
        return EXIT_FAILURE;
    }
    printf("%u removed, %u kept\n", removed, kept);
    return EXIT_SUCCESS;
}

static int run_prune(command_t *command)
{
    int lock, result = keel_set_dir_lock(command->dir, &lock);

    if (result != 0) {
        fprintf(stderr, "keel_files: %s: %s\n", command->path,
                (result == EWOULDBLOCK) ? "a job uses this directory" : strerror(result));
        return EXIT_FAILURE;
    }
    result = prune_locked(command);
    close(lock);
    return result;
}

static int run_checkpoint(const command_t *command)
{
    keel_asked_state_t state;
    keel_asked_t asked;
    double waited = 0;
    const int error = keel_asked_begin(&asked, command->path);

    if (error != 0) {
        fprintf(stderr, "keel_files: %s: %s\n", command->path, strerror(error));
        return EXIT_FAILURE;
    }
    while ((state = keel_asked_look(&asked)) == KEEL_ASKED_AWAITED && waited < command->wait_s) {
        usleep(WAIT_LOOK_US);
        waited += WAIT_LOOK_US * 1e-6;
    }
    keel_asked_end(&asked);
    if (state == KEEL_ASKED_LOST) {
        printf("%s was removed or emptied, and the request with it\n", command->path);
    } else if (state == KEEL_ASKED_AWAITED) {
        printf("a checkpoint is requested in %s, and not complete yet\n", command->path);
    } else {
        printf("the requested checkpoint is complete in %s\n", command->path);
    }
    return (state == KEEL_ASKED_COMPLETE || (state == KEEL_ASKED_AWAITED && command->wait_s == 0)) ? EXIT_SUCCESS
                                                                                                   : EXIT_FAILURE;
}

static int run(command_t *command)
{
    int result;

    if (strcmp(command->name, "checkpoint") == 0) {
        return run_checkpoint(command);
    }
    if (strcmp(command->name, "prune") == 0) {
        return run_prune(command);
    }
    result = sets_read(command->dir, &command->sets, &command->count);
    if (result != 0) {
        fprintf(stderr, "keel_files: %s: %s\n", command->path, strerror(result));
        return 3;
    }
    result = (strcmp(command->name, "list") == 0)    ? run_list(command)
             : (strcmp(command->name, "check") == 0) ? run_check(command, 0)
                                                     : run_check(command, 1);
    sets_release(command->sets, command->count);
    return result;
}

/* Reads a number of an option; returns 0 after a message. */
static int read_number(char option, const char *text, double most, double *number_p)
{
    char *end;

    *number_p = strtod(text, &end);
    if (end != text && *end == '\0' && *number_p >= 0 && *number_p <= most) {
        return 1;
    }
    fprintf(stderr, "keel_files: -%c needs a number, not '%s'\n", option, text);
    return 0;
}

static int is_command(const char *name)
{
    static const char *const names[] = {"list", "check", "show", "prune", "checkpoint"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"generation", required_argument, NULL, 'g'},
                                          {"keep", required_argument, NULL, 'k'},
                                          {"wait", required_argument, NULL, 'w'},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPTION_VERSION},
                                          {NULL, 0, NULL, 0}};
    command_t command = {.keep = 2};
    double number;
    int option;

    while ((option = getopt_long(argc, argv, "g:k:w:h", names, NULL)) != -1) {
        switch (option) {
        case 'g':
        case 'k':
        case 'w':
            if (!read_number((char)option, optarg, (option == 'w') ? 1e9 : UINT32_MAX, &number)) {
                return EXIT_USAGE;
            }
            command.has_generation |= option == 'g';
            command.generation = (option == 'g') ? (uint32_t)number : command.generation;
            command.keep = (option == 'k') ? (unsigned)number : command.keep;
            command.wait_s = (option == 'w') ? number : command.wait_s;
            break;
        case OPTION_JSON:
            command.is_json = 1;
            break;
        case 'h':
            usage(stdout);
            return tool_output_end("keel_files", EXIT_SUCCESS);
        case OPTION_VERSION:
            puts("keel_files " KEEL_VERSION_STRING);
            return tool_output_end("keel_files", EXIT_SUCCESS);
        default: /* getopt has reported the error */
            usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (argc - optind != 2 || !is_command(argv[optind])) {
        usage(stderr);
        return EXIT_USAGE;
    }
    command.name = argv[optind];
    command.path = argv[optind + 1];
    command.dir = open(command.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (command.dir < 0) {
        fprintf(stderr, "keel_files: %s: %s\n", command.path, strerror(errno));
        return 3;
    }
    option = run(&command);
    close(command.dir);
    return tool_output_end("keel_files", option);
}
