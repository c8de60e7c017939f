/*
 * keel_info: prints Keel's build and settings, the available transports, and the placement of ranks
 * and groups.
 */
#include <keel/version.h>

#include "base/config.h"
#include "base/config_table.h"
#include "runtime/fabric.h"
#include "tools/info/topo_show.h"
#include "tools/tool_output.h"
#include "transports/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE     2
#define OPTION_VERSION 256

enum { SHOW_VERSION = 1, SHOW_CONFIG = 2, SHOW_DOCS = 4, SHOW_DRIVERS = 8, SHOW_TOPOLOGY = 16, SHOW_HIDDEN = 32 };

static void usage(FILE *stream)
{
    fputs("Usage: keel_info [options]\n"
          "At least one of the following options has to be set:\n"
          "  -v   show version and build\n"
          "  -c   show configuration: the KEEL_* variables and their values\n"
          "  -f   with -c: document each variable\n"
          "  -a   with -c: variables for measurements, tests and launchers, too\n"
          "  -d   show transports, lanes, runtimes and network devices\n"
          "  -t   show the failure domains, which rank is where, and the groups: of the job that keel_info\n"
          "       runs as, by the KEEL_* variables\n"
          "  -H FILE  with -t: of ranks on the hosts of this file: a line HOSTS or HOSTS*RANKS, as n[01-16]*4\n"
          "  -F FORMAT  with -t: text, json or svg\n"
          "  -L LIST  with -t, as text: what is lost with these hosts, racks ..., as n[01-02],r2, whether parity\n"
          "       covers it, and the groups that those who are left could form\n"
          "  -h, --help  show this help\n"
          "  --version   show the version\n"
          "\n"
          "KEEL_TOPO_FILE: a line of level names, finest first, then elements with their hosts or finer elements:\n"
          "  levels rack row\n"
          "  rack r1: n[001-036] gpu1\n"
          "  rack r2: n[037-072]\n"
          "  row a: r[1-2]\n"
          "# begins a comment, a \\ at the end continues a line. Slurm's files are taken too.\n"
          "\n"
          "Exit status: 0, 1 a failure, 2 wrong options.\n",
          stream);
}

static void show_version(void)
{
    printf("# Keel %s\n", KEEL_VERSION_STRING);
    printf("# build:     %s, sanitizers %s\n", KEEL_BUILD_TYPE, KEEL_BUILD_SANITIZE);
    printf("# compiler:  %s\n", KEEL_BUILD_COMPILER);
    printf("# libraries: UCX %s, PMIx %s, ISA-L %s\n", KEEL_BUILD_UCX, KEEL_BUILD_PMIX, KEEL_BUILD_ISAL);
    if (keel_transport_ucx_version() != NULL) {
        printf("# runs over: UCX %s\n", keel_transport_ucx_version());
    }
}

static void show_drivers(void)
{
    unsigned i;

    for (i = 0; keel_transport_table(i) != NULL; i++) {
        printf("# transport: %-6s %s%s\n", keel_transport_table(i)->name, keel_transport_table(i)->describe,
               (i == 0) ? " (default)" : "");
    }
    if (i == 0) {
        printf("# transport: none compiled in\n");
    }
    printf("#      lane: direct one-sided, the target takes no part; between ranks of one node\n");
    printf("#      lane: served by messages to the target's service thread; between nodes\n");
    for (i = 0; keel_runtime_table(i) != NULL; i++) {
        printf("#   runtime: %-6s%s\n", keel_runtime_table(i)->name, (i == 0) ? " (default)" : "");
    }
    if (i == 0) {
        printf("#   runtime: none compiled in\n");
    }
}

static void show_devices(void)
{
    const keel_fabric_ops_t *ops = &keel_fabric_verbs_ops;
    keel_fabric_port_t ports[16];
    void *devices = (ops->open == NULL) ? NULL : ops->open(NULL);
    const unsigned count = (devices == NULL) ? 0 : ops->ports(devices, ports, sizeof ports / sizeof ports[0]);
    char text[160];
    unsigned i;

    for (i = 0; i < count; i++) {
        keel_fabric_describe(&ports[i], text, sizeof text);
        printf("#    device: %s\n", text);
    }
    if (count == 0) {
        printf("#    device: none%s\n", (ops->open == NULL) ? ": built without libibverbs" : "");
    }
    if (devices != NULL) {
        ops->close(devices);
    }
}

int main(int argc, char **argv)
{
    static const struct option with_names[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, OPTION_VERSION}, {NULL, 0, NULL, 0}};
    topo_show_params_t topology = {0};
    int option, result = EXIT_SUCCESS;
    unsigned show = 0, flags;

    while ((option = getopt_long(argc, argv, "vcfadtH:F:L:h", with_names, NULL)) != -1) {
        switch (option) {
        case 't':
            show |= SHOW_TOPOLOGY;
            break;
        case 'H':
            topology.hosts = optarg;
            break;
        case 'F':
            topology.format = optarg;
            break;
        case 'L':
            topology.lost = optarg;
            break;
        case 'v':
            show |= SHOW_VERSION;
            break;
        case 'c':
            show |= SHOW_CONFIG;
            break;
        case 'f':
            show |= SHOW_DOCS;
            break;
        case 'a':
            show |= SHOW_HIDDEN;
            break;
        case 'd':
            show |= SHOW_DRIVERS;
            break;
        case 'h':
            usage(stdout);
            return tool_output_end("keel_info", EXIT_SUCCESS);
        case OPTION_VERSION:
            puts("keel_info " KEEL_VERSION_STRING);
            return tool_output_end("keel_info", EXIT_SUCCESS);
        default: /* getopt has reported the error */
            usage(stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "keel_info: unexpected argument '%s'\n", argv[optind]);
        return EXIT_USAGE;
    }
    if ((show & ~(unsigned)(SHOW_DOCS | SHOW_HIDDEN)) == 0 ||
        ((topology.hosts != NULL || topology.format != NULL || topology.lost != NULL) && (show & SHOW_TOPOLOGY) == 0)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    topology.format = (topology.format != NULL) ? topology.format : "text";
    if (strcmp(topology.format, "text") && strcmp(topology.format, "json") && strcmp(topology.format, "svg")) {
        fprintf(stderr, "keel_info: -F needs text, json or svg, not '%s'\n", topology.format);
        return EXIT_USAGE;
    }
    if (topology.lost != NULL && strcmp(topology.format, "text") != 0) {
        fprintf(stderr, "keel_info: -L is printed as text, not as %s\n", topology.format);
        return EXIT_USAGE;
    }
    if (show & SHOW_VERSION) {
        show_version();
    }
    flags = ((show & SHOW_DOCS) ? KEEL_CONFIG_PRINT_DOCS : 0) | ((show & SHOW_HIDDEN) ? KEEL_CONFIG_PRINT_HIDDEN : 0);
    if ((show & SHOW_CONFIG) && (keel_config_print(stdout, flags) != KEEL_OK)) {
        result = EXIT_FAILURE;
    }
    if (show & SHOW_DRIVERS) {
        show_drivers();
        show_devices();
    }
    if ((show & SHOW_TOPOLOGY) && (topo_show(&topology) != KEEL_OK)) {
        result = EXIT_FAILURE;
    }
    return tool_output_end("keel_info", result);
}
