/* Joins the sources of the hierarchy by their levels. */
#include "topo/topology.h"

#include "topo/resolve.h"
#include "topo/slurm.h"
#include "topo/slurm_yaml.h"
#include "topo/topofile.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* two files, and the levels at and below the node */
#define KEEL_TOPOLOGY_LEVELS_MAX (3 * KEEL_TREE_LEVELS_MAX)

static void __attribute__((format(printf, 3, 4)))
keel_topology_report(const keel_topology_params_t *params, int is_warning, const char *format, ...)
{
    char text[320];
    va_list args;

    if (params->say != NULL) {
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        params->say(params->arg, is_warning, text);
    }
}

/* ---- files ---- */

/* first statement of a file, after blanks and comments */
static const char *keel_topology_first(const keel_topology_file_t *file)
{
    const char *at = file->text, *end = at + file->length;

    at += keel_tree_mark(file->text, file->length);
    while ((at < end) && (strchr(" \t\r\n#", *at) != NULL) && (*at != '\0')) {
        if (*at == '#') {
            const char *next = memchr(at, '\n', (size_t)(end - at));

            at = (next == NULL) ? end - 1 : next;
        }
        at++;
    }
    return at;
}

/* does the file begin with one of Slurm's keys and an equals sign? */
static int keel_topology_is_conf(const keel_topology_file_t *file)
{
    static const char *const keys[] = {"SwitchName", "BlockName", "BlockSizes", NULL};
    const char *first = keel_topology_first(file), *end = file->text + file->length;
    unsigned i;

    for (i = 0; keys[i] != NULL; i++) {
        const char *at = first + strlen(keys[i]);

        if ((at < end) && (strncasecmp(first, keys[i], strlen(keys[i])) == 0)) {
            for (; (at < end) && ((*at == ' ') || (*at == '\t')); at++) {
            }
            return (at < end) && (*at == '=');
        }
    }
    return 0;
}

/* does the file begin like a YAML document, list, directive or flow style? */
static int keel_topology_is_yaml(const keel_topology_file_t *file)
{
    const char *first = keel_topology_first(file);

    return (first < file->text + file->length) && (memchr("-%[{", *first, 4) != NULL);
}

static keel_status_t keel_topology_parse(const keel_topology_file_t *file, int is_slurm, keel_tree_t *tree,
                                         keel_tree_error_t *error)
{
    if (keel_topology_is_yaml(file)) {
        return keel_slurm_yaml_parse(file->text, file->length, tree, error);
    }
    if (is_slurm || keel_topology_is_conf(file)) {
        return keel_slurm_parse(file->text, file->length, tree, error);
    }
    return keel_topofile_parse(file->text, file->length, tree, error);
}

/* a file and the listener for remarks */
typedef struct keel_topology_source {
    const keel_topology_params_t *params;
    const keel_topology_file_t *file;
} keel_topology_source_t;

static void keel_topology_pass_on(void *arg, int is_warning, uint32_t line, const char *text)
{
    const keel_topology_source_t *source = arg;

    if (line > 0) {
        keel_topology_report(source->params, is_warning, "%s:%u: %s", source->file->path, line, text);
    } else {
        keel_topology_report(source->params, is_warning, "%s: %s", source->file->path, text);
    }
}

/* reads the levels of a file, over hosts */
static keel_status_t keel_topology_read(const keel_topology_params_t *params, const keel_topology_file_t *file,
                                        int is_slurm, const keel_hosts_t *hosts, keel_domains_t *domains_p,
                                        keel_tree_error_t *error)
{
    keel_topology_source_t source = {.params = params, .file = file};
    const keel_tree_listener_t listener = {.say = keel_topology_pass_on, .arg = &source};
    keel_tree_t tree;
    keel_tree_error_t inner;
    keel_status_t status;

    status = keel_topology_parse(file, is_slurm, &tree, &inner);
    if (status == KEEL_OK) {
        status = keel_tree_resolve(&tree, hosts, &listener, domains_p, &inner);
        keel_tree_release(&tree);
    }
    if ((status == KEEL_ERR_INVALID_PARAM) && (inner.line > 0)) {
        keel_tree_refuse(error, inner.line, "%.70s:%u: %.110s", file->path, inner.line, inner.text);
    } else if (status == KEEL_ERR_INVALID_PARAM) {
        keel_tree_refuse(error, 0, "%.70s: %.120s", file->path, inner.text);
    }
    return status;
}

/* ---- joining ---- */

/* does every element of @a lower lie in one of @a upper? -1: no memory */
static int keel_topology_is_finer(uint32_t ranks, const keel_domain_level_t *lower, const keel_domain_level_t *upper)
{
    keel_domain_level_t pair[2] = {*lower, *upper};
    const keel_domains_t domains = {.ranks = ranks, .level_count = 2, .levels = pair};
    const keel_status_t status = keel_domains_check(&domains);

    return (status == KEEL_ERR_NO_MEMORY) ? -1 : (status == KEEL_OK);
}

/*
 * Finds the place of @a level such that all levels before it are finer and all levels from it on
 * are coarser. Between levels of equal partition: the last such place, or with @a is_inside the
 * first. UINT32_MAX: none.
 */
static keel_status_t keel_topology_find_place(const keel_domains_t *domains, const keel_domain_level_t *level,
                                              int is_inside, uint32_t *place_p)
{
    uint32_t l, last = 0, first = domains->level_count;
    int is_finer;

    for (l = 0; l < domains->level_count; l++) {
        is_finer = keel_topology_is_finer(domains->ranks, &domains->levels[l], level);
        if (is_finer < 0) {
            return KEEL_ERR_NO_MEMORY;
        }
        last += (is_finer && (last == l));
    }
    for (l = domains->level_count; l > 0; l--) {
        is_finer = keel_topology_is_finer(domains->ranks, level, &domains->levels[l - 1]);
        if (is_finer < 0) {
            return KEEL_ERR_NO_MEMORY;
        }
        first -= (is_finer && (first == l));
    }
    *place_p = (first > last) ? UINT32_MAX : (is_inside ? first : last);
    return KEEL_OK;
}

static int keel_topology_has_name(const keel_domains_t *domains, const char *name)
{
    uint32_t l;

    for (l = 0; l < domains->level_count; l++) {
        if (strcmp(domains->levels[l].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* moves fitting levels of @a from to @a into, which has room for them */
static keel_status_t keel_topology_join(const keel_topology_params_t *params, const char *source, int is_inside,
                                        keel_domains_t *into, keel_domains_t *from)
{
    keel_status_t status;
    uint32_t l, place;

    for (l = 0; l < from->level_count; l++) {
        keel_domain_level_t *level = &from->levels[l];

        if (keel_topology_has_name(into, level->name)) {
            keel_topology_report(params, 1, "%s: its level %s is left out: a source of higher precedence has that name",
                                 source, level->name);
            continue;
        }
        status = keel_topology_find_place(into, level, is_inside, &place);
        if (status != KEEL_OK) {
            return status;
        }
        if ((place == UINT32_MAX) || (into->level_count == KEEL_TOPOLOGY_LEVELS_MAX)) {
            keel_topology_report(params, 1, "%s: its level %s is left out: it is not nested with what is known", source,
                                 level->name);
            continue;
        }
        memmove(&into->levels[place + 1], &into->levels[place], (into->level_count - place) * sizeof(*into->levels));
        into->levels[place] = *level;
        into->level_count++;
        *level = (keel_domain_level_t){0};
    }
    return KEEL_OK;
}

/* Converts levels over hosts to levels over ranks. Elements keep their numbers, since hosts are
 * in the order of their first ranks. */
static keel_status_t keel_topology_spread(const keel_hosts_t *hosts, keel_domains_t *domains)
{
    uint32_t l, r;

    for (l = 0; l < domains->level_count; l++) {
        uint32_t *of_rank = keel_alloc(hosts->ranks * sizeof(*of_rank), "element of rank");

        if (of_rank == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        for (r = 0; r < hosts->ranks; r++) {
            of_rank[r] = domains->levels[l].of_rank[hosts->of_rank[r]];
        }
        keel_free(domains->levels[l].of_rank);
        domains->levels[l].of_rank = of_rank;
    }
    domains->ranks = hosts->ranks;
    return KEEL_OK;
}

/* ---- sources, in order ---- */

static keel_status_t keel_topology_add_file(const keel_topology_params_t *params, const keel_topology_file_t *file,
                                            int is_slurm, const keel_hosts_t *hosts, keel_domains_t *into,
                                            keel_tree_error_t *error)
{
    keel_domains_t from = {0};
    keel_status_t status;

    if (file->path == NULL) {
        return KEEL_OK;
    }
    status = keel_topology_read(params, file, is_slurm, hosts, &from, error);
    if (status == KEEL_OK) {
        status = keel_topology_spread(hosts, &from);
    }
    if (status == KEEL_OK) {
        status = keel_topology_join(params, file->path, 0, into, &from);
    }
    keel_domains_release(&from);
    return status;
}

/* adds the level "node", with the names of hosts */
static keel_status_t keel_topology_add_nodes(const keel_hosts_t *hosts, keel_domains_t *into)
{
    keel_domains_t nodes;
    keel_status_t status;
    uint32_t h;

    status = keel_domains_of_nodes(hosts->ranks, hosts->of_rank, &nodes);
    if (status != KEEL_OK) {
        return status;
    }
    into->levels[into->level_count++] = nodes.levels[0];
    keel_free(nodes.levels);
    into->levels[0].element_name = keel_alloc(hosts->count * sizeof(char *), "names of nodes");
    if (into->levels[0].element_name == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (h = 0; h < hosts->count; h++) {
        const size_t bytes = strlen(hosts->name[h]) + 1;

        into->levels[0].element_name[h] = keel_alloc(bytes, "name of a node");
        if (into->levels[0].element_name[h] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        memcpy(into->levels[0].element_name[h], hosts->name[h], bytes);
    }
    return KEEL_OK;
}

static keel_status_t keel_topology_add_inside(const keel_topology_params_t *params, keel_domains_t *into)
{
    keel_domains_t copy = {0};
    keel_status_t status;

    if (params->inside == NULL) {
        return KEEL_OK;
    }
    status = keel_domains_copy(params->inside, &copy);
    if (status == KEEL_OK) {
        status = keel_topology_join(params, "the machine", 1, into, &copy);
        keel_domains_release(&copy);
    }
    return status;
}

keel_status_t keel_topology_make(const keel_topology_params_t *params, keel_domains_t *domains_p,
                                 keel_tree_error_t *error)
{
    keel_domains_t domains = {.ranks = params->ranks};
    keel_hosts_t hosts;
    keel_status_t status;

    memset(error, 0, sizeof(*error));
    status = keel_hosts_make(params->ranks, params->host, &hosts);
    if (status != KEEL_OK) {
        return status;
    }
    domains.levels = keel_alloc(KEEL_TOPOLOGY_LEVELS_MAX * sizeof(*domains.levels), "failure domains");
    status = (domains.levels == NULL) ? KEEL_ERR_NO_MEMORY : keel_topology_add_nodes(&hosts, &domains);
    if (status == KEEL_OK) {
        status = keel_topology_add_file(params, &params->user, 0, &hosts, &domains, error);
    }
    if (status == KEEL_OK) {
        status = keel_topology_add_file(params, &params->slurm, 1, &hosts, &domains, error);
    }
    if (status == KEEL_OK) {
        status = keel_topology_add_inside(params, &domains);
    }
    keel_hosts_release(&hosts);
    if (status != KEEL_OK) {
        keel_domains_release(&domains);
        return status;
    }
    *domains_p = domains;
    return KEEL_OK;
}
