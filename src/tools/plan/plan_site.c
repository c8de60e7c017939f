#define _GNU_SOURCE
#include "plan_site.h"

#include "plan_load.h"

#include "base/memory.h"
#include "tools/tool_hosts.h"
#include "topo/topology.h"

#include <stdlib.h>
#include <string.h>

#define KEEL_PLAN_SITE_TEXT_MAX ((size_t)1 << 20)

static int keel_plan_site_refuse(const char *format, const char *name, const char *other)
{
    fprintf(stderr, "keel_plan: ");
    fprintf(stderr, format, name, other);
    fputc('\n', stderr);
    return -1;
}

/* ---- the hierarchy ---- */

static void keel_plan_site_report(void *arg, int is_warning, const char *text)
{
    fprintf(stderr, "keel_plan: %s\n", text);
}

static int keel_plan_site_compare(const void *left, const void *right, void *arg)
{
    const keel_domains_t *domains = arg;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t j, e, f;

    for (j = domains->level_count; j-- > 0;) { /* the coarsest level decides */
        e = domains->levels[j].of_rank[a];
        f = domains->levels[j].of_rank[b];
        if (e != f) {
            return (e > f) - (e < f);
        }
    }
    return (a > b) - (a < b);
}

/* Sorts the ranks so that those of each element are adjacent. */
static keel_status_t keel_plan_site_sort(const keel_domains_t *domains, keel_domains_t *sorted)
{
    uint32_t *order = keel_alloc(domains->ranks * sizeof *order, "plan order"), r;
    keel_status_t status;

    if (order == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (r = 0; r < domains->ranks; r++) {
        order[r] = r;
    }
    qsort_r(order, domains->ranks, sizeof *order, keel_plan_site_compare, (void *)domains);
    status = keel_domains_select(domains, domains->ranks, order, sorted);
    keel_free(order);
    return status;
}

static int keel_plan_site_domains(const keel_plan_options_t *options, const tool_hosts_t *hosts, keel_domains_t *sorted)
{
    keel_topology_params_t params = {
        .ranks = hosts->count, .host = (const char *const *)hosts->host, .say = keel_plan_site_report};
    char *text = keel_alloc(KEEL_PLAN_SITE_TEXT_MAX + 1, "plan topology");
    keel_domains_t domains = {0};
    keel_tree_error_t error;
    keel_status_t status;

    if (text == NULL) {
        return keel_plan_site_refuse("not enough memory%s%s", "", "");
    }
    if (options->topology != NULL) {
        if (keel_plan_read_file(options->topology, "a topology file", KEEL_PLAN_SITE_TEXT_MAX, text,
                                &params.user.length, stderr)) {
            keel_free(text);
            return -1;
        }
        params.user.path = options->topology;
        params.user.text = text;
    }
    status = keel_topology_make(&params, &domains, &error);
    if (status == KEEL_ERR_INVALID_PARAM) {
        fprintf(stderr, "keel_plan: %s\n", error.text);
    } else if (status == KEEL_OK) {
        status = keel_plan_site_sort(&domains, sorted);
        keel_domains_release(&domains);
    }
    if ((status != KEEL_OK) && (status != KEEL_ERR_INVALID_PARAM)) {
        fprintf(stderr, "keel_plan: %s\n", keel_status_string(status));
    }
    keel_free(text);
    return (status == KEEL_OK) ? 0 : -1;
}

/* ---- failures of the site ---- */

static int keel_plan_site_level(const keel_plan_machine_t *given, const keel_domain_level_t *level,
                                keel_plan_machine_t *machine)
{
    const uint32_t j = machine->level_count++;
    uint32_t i;

    snprintf(machine->level_name[j], KEEL_PLAN_NAME_MAX, "%.31s", level->name);
    machine->levels[j].count = level->count;
    machine->levels[j].failures =
        (keel_failures_t){.kind = KEEL_FAILURES_TABLE, .table = machine->tables[j], .table_len = 0};
    for (i = 0; (given != NULL) && (i < given->level_count); i++) {
        if (strcmp(given->level_name[i], level->name) != 0) {
            continue;
        }
        if (level->count > given->levels[i].count) {
            return keel_plan_site_refuse("the job has more elements of level '%s' than %s", level->name, given->name);
        }
        machine->levels[j] = given->levels[i];
        memcpy(machine->tables[j], given->tables[i], sizeof machine->tables[j]);
        machine->levels[j].failures.table = machine->tables[j];
    }
    return 0;
}

static int keel_plan_site_has(const keel_domains_t *domains, const char *name)
{
    uint32_t j;

    for (j = 0; (j < domains->level_count) && (strcmp(domains->levels[j].name, name) != 0); j++) {
    }
    return j < domains->level_count;
}

static int keel_plan_site_machine(const keel_plan_options_t *options, const keel_plan_machine_t *given,
                                  const keel_domains_t *domains, keel_plan_machine_t *machine)
{
    uint32_t j;

    for (j = 0; (given != NULL) && (j < given->level_count); j++) {
        if (!keel_plan_site_has(domains, given->level_name[j])) {
            return keel_plan_site_refuse(
                "level '%s' of %s is not in the job's topology: what fails with it is not known", given->level_name[j],
                given->name);
        }
    }
    if (domains->level_count > KEEL_PLAN_LEVELS_MAX) {
        return keel_plan_site_refuse("the job's topology has too many levels%s%s", "", "");
    }
    snprintf(machine->name, sizeof machine->name, "%s", (given != NULL) ? given->name : "job");
    machine->domains = domains;
    machine->has_window = (given != NULL) && given->has_window;
    for (j = 0; j < domains->level_count; j++) {
        if (keel_plan_site_level(given, &domains->levels[j], machine)) {
            return -1;
        }
        if ((given == NULL) && !strcmp(domains->levels[j].name, "node")) {
            machine->levels[j].failures.kind = KEEL_FAILURES_ELEMENT;
            machine->levels[j].failures.mtbf_s = options->mtbf_s * domains->levels[j].count;
        }
    }
    keel_plan_machine_set_window(machine, (given != NULL) ? given->window_s : 1);
    return 0;
}

/* ---- interface ---- */

int keel_plan_site_read(keel_plan_options_t *options, const keel_plan_machine_t *given, keel_plan_site_t *site)
{
    uint64_t most[KEEL_PLAN_LEVELS_MAX];
    tool_hosts_t hosts;
    uint32_t j;
    int rc;

    memset(site, 0, sizeof *site);
    rc = (tool_hosts_read("keel_plan", options->hosts, &hosts) == KEEL_OK) ? 0 : -1;
    if (rc == 0) {
        rc = keel_plan_site_domains(options, &hosts, &site->domains);
    }
    tool_hosts_release(&hosts);
    if ((rc != 0) || keel_plan_site_machine(options, given, &site->domains, &site->machine)) {
        return -1;
    }
    options->ranks = site->domains.ranks;
    keel_plan_most_ranks(&site->machine, options->ranks, 0, most);
    for (j = 0; j < site->machine.level_count; j++) {
        if (!strcmp(site->machine.level_name[j], "node")) {
            options->ranks_per_node = (uint32_t)most[j];
        }
    }
    return (options->ranks >= 2) ? 0 : keel_plan_site_refuse("one rank has nobody to keep its parity%s%s", "", "");
}

void keel_plan_site_release(keel_plan_site_t *site)
{
    keel_domains_release(&site->domains);
}
