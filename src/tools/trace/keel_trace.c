/* keel_trace: makes files from the areas of a job killed together with the launcher, or of a
 * running job. */
#include <keel/version.h>

#include "tools/tool_output.h"
#include "trace/trace_folder.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE     2
#define OPTION_VERSION 256
#define OPTION_REMOVE  257

static void usage(FILE *stream)
{
    fputs("Usage: keel_trace [options] DIRECTORY\n"
          "Makes files from the areas in which the processes of a job record events and statistics: FILE.parts beside\n"
          "the FILE of KEEL_TRACE or KEEL_STATS. keelrun does so at the end of a job, and under other launchers the\n"
          "last rank that leaves; the areas stay if that did not come, and can be read while the job runs.\n"
          "Options, of which at least one is needed:\n"
          "  -t, --trace FILE     a trace in Chrome's format, which Perfetto opens\n"
          "  -s, --stats FILE     statistics; as JSON if FILE ends in .json\n"
          "  -l, --timeline FILE  a figure of the recovery (SVG)\n"
          "      --remove         remove the areas afterwards; not while the job runs\n"
          "  -h, --help           show this help\n"
          "      --version        show the version\n"
          "\n"
          "Exit status: 0; 1 a file cannot be written; 2 wrong options; 3 the directory cannot be read.\n",
          stream);
}

static int run(const char *folder, const keel_trace_files_t *files, int is_removing)
{
    const char *failed;
    const int error = keel_trace_folder_write(folder, files, &failed);

    if (error != 0) {
        fprintf(stderr, "keel_trace: %s: %s\n", failed, strerror(error));
        return (failed == folder) ? 3 : EXIT_FAILURE;
    }
    if (is_removing) {
        keel_trace_folder_remove(folder);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"trace", required_argument, NULL, 't'},
                                          {"stats", required_argument, NULL, 's'},
                                          {"timeline", required_argument, NULL, 'l'},
                                          {"remove", no_argument, NULL, OPTION_REMOVE},
                                          {"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPTION_VERSION},
                                          {NULL, 0, NULL, 0}};
    keel_trace_files_t files = {.trace = NULL};
    int option, is_removing = 0;

    while ((option = getopt_long(argc, argv, "t:s:l:h", names, NULL)) != -1) {
        switch (option) {
        case 't':
            files.trace = optarg;
            break;
        case 's':
            files.stats = optarg;
            break;
        case 'l':
            files.timeline = optarg;
            break;
        case OPTION_REMOVE:
            is_removing = 1;
            break;
        case 'h':
            usage(stdout);
            return tool_output_end("keel_trace", EXIT_SUCCESS);
        case OPTION_VERSION:
            puts("keel_trace " KEEL_VERSION_STRING);
            return tool_output_end("keel_trace", EXIT_SUCCESS);
        default: /* getopt has reported the error */
            usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (argc - optind != 1 || (files.trace == NULL && files.stats == NULL && files.timeline == NULL && !is_removing)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    return run(argv[optind], &files, is_removing);
}
