#include "stencil_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char stencil_help[] =
    "usage: stencil [options]       under a launcher, on any number of ranks\n"
    "  -s, --size ROWSxCOLUMNS      grid (256x256)\n"
    "  -n, --iterations N           sweeps (100)\n"
    "      --ckpt-every K           explicit checkpoint every K sweeps (none)\n"
    "      --atomics                add the change of each sweep up at rank 0, by atomics\n"
    "      --no-verify              without the serial computation at the end\n"
    "  -v, --verbose                a line every tenth of the run\n"
    "      --json, --csv            the last line for scripts\n"
    "      --die RANK@STEP.PHASE    that rank kills itself there in its first life; with :stop it stops, with\n"
    "                               :hold it waits for a death, its own or another (step 0: start values; phases 0, "
    "1)\n"
    "  -h, --help                   this text\n"
    "exit status 0: verified, 1: wrong, 2: usage, 3: an error of Keel's\n";

/* Parses without a write to the text: a replacement may be started with the present arguments. */
static int stencil_parse_size(const char *text, stencil_options_t *options)
{
    const char *times = strchr(text, 'x');
    char rows[32];

    if (times == NULL || (size_t)(times - text) >= sizeof rows) {
        return -1;
    }
    memcpy(rows, text, (size_t)(times - text));
    rows[times - text] = '\0';
    return (kernel_parse_number(rows, 1, &options->rows) == 0) ? kernel_parse_number(times + 1, 1, &options->columns)
                                                               : -1;
}

int stencil_parse(int argc, char **argv, stencil_options_t *options)
{
    enum { OPT_CKPT = 256, OPT_ATOMICS, OPT_NO_VERIFY, OPT_JSON, OPT_CSV, OPT_DIE };
    static const struct option table[] = {
        {"size", required_argument, NULL, 's'},
        {"iterations", required_argument, NULL, 'n'},
        {"ckpt-every", required_argument, NULL, OPT_CKPT},
        {"atomics", no_argument, NULL, OPT_ATOMICS},
        {"no-verify", no_argument, NULL, OPT_NO_VERIFY},
        {"verbose", no_argument, NULL, 'v'},
        {"json", no_argument, NULL, OPT_JSON},
        {"csv", no_argument, NULL, OPT_CSV},
        {"die", required_argument, NULL, OPT_DIE},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option, bad = 0;

    *options = (stencil_options_t){.rows = 256, .columns = 256, .sweeps = 100, .is_verifying = 1};
    opterr = 0;
    while (!bad && ((option = getopt_long(argc, argv, "s:n:vh", table, NULL)) != -1)) {
        switch (option) {
        case 's':
            bad = stencil_parse_size(optarg, options);
            break;
        case 'n':
            bad = kernel_parse_number(optarg, 1, &options->sweeps);
            break;
        case OPT_CKPT:
            bad = kernel_parse_number(optarg, 1, &options->ckpt_every);
            break;
        case OPT_ATOMICS:
            options->has_atomics = 1;
            break;
        case OPT_NO_VERIFY:
            options->is_verifying = 0;
            break;
        case 'v':
            options->is_verbose = 1;
            break;
        case OPT_JSON:
            options->format = KERNEL_FORMAT_JSON;
            break;
        case OPT_CSV:
            options->format = KERNEL_FORMAT_CSV;
            break;
        case OPT_DIE:
            bad = kernel_parse_death(optarg, &options->death);
            break;
        case 'h':
            fputs(kernel_is_speaker() ? stencil_help : "", stdout);
            return KERNEL_EXIT_OK;
        default:
            bad = 1;
        }
    }
    if (bad || (optind != argc)) {
        return kernel_usage_error(STENCIL_PROGRAM, "bad argument %s", argv[bad ? optind - 1 : optind]);
    }
    return -1;
}
