#include "kernel_options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>

enum { COMMON_CKPT = 256, COMMON_JSON, COMMON_CSV, COMMON_DIE, FIRST_OWN };

static const struct option common_table[] = {
    {"ckpt-every", required_argument, NULL, COMMON_CKPT},
    {"verbose", no_argument, NULL, 'v'},
    {"json", no_argument, NULL, COMMON_JSON},
    {"csv", no_argument, NULL, COMMON_CSV},
    {"die", required_argument, NULL, COMMON_DIE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

enum { COMMON_COUNT = sizeof common_table / sizeof *common_table - 1 };

/* Merges both tables for getopt_long(); @a letters has room for three characters per option. */
static void merge_tables(const kernel_option_t *own, size_t count, struct option *table, char *letters)
{
    size_t i;

    *letters++ = 'v';
    *letters++ = 'h';
    for (i = 0; i < count; i++) {
        const int has_value = (own[i].flag_p == NULL);

        table[i] = (struct option){own[i].name, has_value ? required_argument : no_argument, NULL, FIRST_OWN + (int)i};
        if (own[i].letter != '\0') {
            *letters++ = own[i].letter;
            if (has_value) {
                *letters++ = ':';
            }
        }
    }
    *letters = '\0';
    for (i = 0; i <= COMMON_COUNT; i++) {
        table[count + i] = common_table[i];
    }
}

/* Returns 0, or another number if the value is bad or the option unknown. */
static int take_own(const kernel_option_t *own, size_t count, int option)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if ((option == FIRST_OWN + (int)i) || ((own[i].letter != '\0') && (option == own[i].letter))) {
            if (own[i].flag_p != NULL) {
                *own[i].flag_p = 1;
                return 0;
            }
            return (own[i].number_p != NULL) ? kernel_parse_number(optarg, own[i].min, own[i].number_p)
                                             : own[i].parse(optarg, own[i].value);
        }
    }
    return -1;
}

static int take_common(kernel_common_t *common, int option)
{
    switch (option) {
    case COMMON_CKPT:
        return kernel_parse_number(optarg, 1, &common->ckpt_every);
    case COMMON_DIE:
        return kernel_parse_death(optarg, &common->death);
    case COMMON_JSON:
        common->format = KERNEL_FORMAT_JSON;
        return 0;
    case COMMON_CSV:
        common->format = KERNEL_FORMAT_CSV;
        return 0;
    case 'v':
        common->is_verbose = 1;
        return 0;
    default:
        return -1;
    }
}

int kernel_options_parse(const char *program, const char *help, int argc, char **argv, const kernel_option_t *own,
                         size_t count, kernel_common_t *common)
{
    struct option table[KERNEL_OPTIONS_MAX + COMMON_COUNT + 1];
    char letters[2 * KERNEL_OPTIONS_MAX + 3];
    int option, bad = 0;

    assert(count <= KERNEL_OPTIONS_MAX);
    *common = (kernel_common_t){.format = KERNEL_FORMAT_TEXT};
    merge_tables(own, count, table, letters);
    opterr = 0;
    while (!bad && ((option = getopt_long(argc, argv, letters, table, NULL)) != -1)) {
        if (option == 'h') {
            fputs(kernel_is_speaker() ? help : "", stdout);
            return KERNEL_EXIT_OK;
        }
        bad = (take_common(common, option) != 0) && (take_own(own, count, option) != 0);
    }
    if (bad || (optind != argc)) {
        return kernel_usage_error(program, "bad argument %s", argv[bad ? optind - 1 : optind]);
    }
    return -1;
}
