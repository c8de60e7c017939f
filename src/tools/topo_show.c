/* Collects what keel_info -t shows, as keel_init() would find it. */
#include "tools/topo_show.h"

#include "base/config.h"
#include "base/memory.h"
#include "base/message.h"
#include "rma/site.h"
#include "tools/topo_view.h"
#include "topo/hostlist.h"
#include "transports/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW_RANKS_MAX KEEL_HOSTLIST_NAMES_MAX
#define SHOW_LINE_MAX  4096

/* ---- a list of hosts ---------------------------------------------------------------------------------------------- */

typedef struct show_list {
    keel_runtime_t runtime; /* each rank has an entry in host; the first rank of a host stands for it in node */
    uint32_t room, each;
} show_list_t;

static void show_list_release(show_list_t *list)
{
    uint32_t r;

    for (r = 0; r < list->runtime.size; r++) {
        keel_free(list->runtime.host[r]);
    }
    keel_free(list->runtime.host);
    keel_free(list->runtime.node);
}

static keel_status_t show_list_grow(show_list_t *list)
{
    const uint32_t room = (list->room == 0) ? 64 : 2 * list->room;
    void *host = keel_realloc(list->runtime.host, room * sizeof(*list->runtime.host), "hosts");
    void *node;

    if (host == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    list->runtime.host = host;
    node = keel_realloc(list->runtime.node, room * sizeof(*list->runtime.node), "hosts");
    if (node == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    list->runtime.node = node;
    list->room = room;
    return KEEL_OK;
}

static keel_status_t show_list_add(void *arg, const char *name)
{
    show_list_t *list = arg;
    keel_status_t status;
    uint32_t i;

    for (i = 0; i < list->each; i++) {
        const uint32_t rank = list->runtime.size;

        if (rank == SHOW_RANKS_MAX) {
            return KEEL_ERR_BUDGET;
        }
        if ((rank == list->room) && ((status = show_list_grow(list)) != KEEL_OK)) {
            return status;
        }
        list->runtime.host[rank] = keel_alloc(strlen(name) + 1, "host name");
        if (list->runtime.host[rank] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        strcpy(list->runtime.host[rank], name);
        list->runtime.size++;
    }
    return KEEL_OK;
}

/* "HOSTS" or "HOSTS*RANKS", up to a hash sign */
static keel_status_t show_list_line(show_list_t *list, char *line, const char **why_p)
{
    uint32_t left = SHOW_RANKS_MAX;
    keel_status_t status;
    char *star, *end;
    unsigned long each;

    *why_p = NULL;
    line[strcspn(line, "#\r\n")] = '\0';
    star = strchr(line, '*');
    list->each = 1;
    if (star != NULL) {
        each = strtoul(star + 1, &end, 10);
        end += strspn(end, " \t");
        if ((star[1] < '0') || (star[1] > '9') || (*end != '\0') || (each == 0) || (each > SHOW_RANKS_MAX)) {
            *why_p = "after * stands the number of ranks a host";
            return KEEL_ERR_INVALID_PARAM;
        }
        list->each = (uint32_t)each;
        *star = '\0';
    }
    status = keel_hostlist_walk(line, show_list_add, list, &left, why_p);
    if (status == KEEL_ERR_BUDGET) {
        *why_p = "too many ranks";
    }
    return status;
}

static keel_status_t show_list_number(show_list_t *list)
{
    const uint32_t ranks = list->runtime.size;
    uint32_t *first, r;
    keel_hosts_t hosts;
    keel_status_t status;

    status = keel_hosts_make(ranks, (const char *const *)list->runtime.host, &hosts);
    if (status != KEEL_OK) {
        return status;
    }
    first = keel_alloc(hosts.count * sizeof(*first), "first ranks of hosts");
    for (r = ranks; (first != NULL) && (r > 0); r--) {
        first[hosts.of_rank[r - 1]] = r - 1;
    }
    for (r = 0; (first != NULL) && (r < ranks); r++) {
        list->runtime.node[r] = first[hosts.of_rank[r]];
    }
    status = (first == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    keel_free(first);
    keel_hosts_release(&hosts);
    return status;
}

static keel_status_t show_list_read(const char *path, show_list_t *list)
{
    keel_status_t status = KEEL_OK;
    char line[SHOW_LINE_MAX];
    const char *why = NULL;
    unsigned number = 0;
    FILE *stream;

    stream = fopen(path, "r");
    if (stream == NULL) {
        fprintf(stderr, "keel_info: cannot read %s: %s\n", path, strerror(errno));
        return KEEL_ERR_IO;
    }
    while ((status == KEEL_OK) && (fgets(line, sizeof(line), stream) != NULL)) {
        number++;
        if ((strchr(line, '\n') == NULL) && !feof(stream)) {
            why = "the line is too long";
            status = KEEL_ERR_INVALID_PARAM;
        } else {
            status = show_list_line(list, line, &why);
        }
    }
    if ((status == KEEL_OK) && ferror(stream)) {
        fprintf(stderr, "keel_info: cannot read %s: %s\n", path, strerror(errno));
        status = KEEL_ERR_IO;
    } else if (why != NULL) {
        fprintf(stderr, "keel_info: %s:%u: %s\n", path, number, why);
    } else if (status != KEEL_OK) {
        fprintf(stderr, "keel_info: %s\n", keel_status_string(status));
    } else if (list->runtime.size == 0) {
        fprintf(stderr, "keel_info: %s names no hosts\n", path);
        status = KEEL_ERR_INVALID_PARAM;
    }
    fclose(stream);
    return (status == KEEL_OK) ? show_list_number(list) : status;
}

/* ---- showing ---------------------------------------------------------------------------------------------------------- */

static keel_status_t show_print(const topo_view_t *view, const char *format)
{
    if (strcmp(format, "json") == 0) {
        topo_print_json(stdout, view);
    } else if (strcmp(format, "svg") == 0) {
        return topo_print_svg(stdout, view);
    } else {
        topo_print_text(stdout, view);
    }
    return KEEL_OK;
}

static keel_status_t show_spares(topo_view_t *view, keel_site_t *site, const keel_runtime_t *runtime,
                                 topo_spares_t *spares)
{
    keel_status_t status;

    if ((view->groups == NULL) || (runtime->spares == 0)) {
        return KEEL_OK;
    }
    status = keel_site_use_groups(site, view->groups, view->parities);
    if (status == KEEL_OK) {
        status = topo_spares_find(site, runtime, spares);
        view->spares = (status == KEEL_OK) ? spares : NULL;
    }
    return status;
}

/* the same groups as keel_init() makes; a refusal is shown, with the hierarchy it is of */
static keel_status_t show_groups(topo_view_t *view, keel_site_t *site, const keel_runtime_t *runtime,
                                 const keel_config_t *config, const char *format)
{
    const uint32_t ranks = view->domains->ranks;
    char note[KEEL_TOPOLOGY_NOTE_MAX] = "KEEL_GROUP_SIZE is 0, or there is one rank";
    keel_groups_t groups = {0};
    topo_spares_t spares = {0};
    keel_status_t placed = KEEL_OK, status;

    view->group_size = config->group_size;
    if ((config->group_size > ranks) && config->is_group_auto) {
        view->group_size = ranks;
    }
    view->parities = config->parities;
    view->is_dedicated = config->checksum_ranks > 0 && config->checksum_ranks < ranks;
    view->level = config->topo_level;
    view->note = note;
    if (view->is_dedicated) {
        const uint32_t programs = ranks - config->checksum_ranks;
        const uint32_t count = config->checksum_ranks / config->parities;

        view->group_size = (programs + count - 1) / count;
        placed = keel_topology_place_dedicated(view->domains, view->level, programs, view->parities, &groups, note,
                                               sizeof(note));
        view->groups = (placed == KEEL_OK) ? &groups : NULL;
    } else if (view->group_size >= 2) {
        placed = keel_topology_place(view->domains, view->level, view->group_size, view->parities, &groups, note,
                                     sizeof(note));
        view->groups = (placed == KEEL_OK) ? &groups : NULL;
    }
    status = topo_view_begin(view);
    if (status == KEEL_OK) {
        status = show_spares(view, site, runtime, &spares);
    }
    if (status == KEEL_OK) {
        status = show_print(view, format);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "keel_info: %s\n", keel_status_string(status));
    }
    if (placed != KEEL_OK) {
        fprintf(stderr, "keel_info: KEEL_TOPO_LEVEL=%s: %s\n", view->level, note);
    }
    topo_view_release(view);
    topo_spares_release(&spares);
    keel_groups_release(&groups);
    return (status == KEEL_OK) ? placed : status;
}

/* @a all: its last ranks are spares, if there are to be some */
static keel_status_t show_runtime(const keel_runtime_t *all, const keel_config_t *config, const char *format)
{
    const keel_message_t message = {.level = KEEL_MSG_WARN, .rank = KEEL_MESSAGE_NO_RANK};
    keel_runtime_t runtime = *all;
    topo_view_t view = {0};
    keel_site_t site;
    keel_status_t status;

    if (config->spares >= all->size) {
        fprintf(stderr, "keel_info: KEEL_SPARES of %u leaves no rank of %u\n", config->spares, all->size);
        return KEEL_ERR_INVALID_PARAM;
    }
    runtime.spares = config->spares;
    runtime.size -= config->spares;
    status = keel_site_init(&site, &runtime, config, &message);
    if (status != KEEL_OK) {
        return status;
    }
    view.domains = &site.domains;
    view.machine = site.machine;
    status = show_groups(&view, &site, &runtime, config, format);
    keel_site_release(&site);
    return status;
}

/* the job that this process is one of: rank 0 speaks for all */
static keel_status_t show_job(const keel_config_t *config, const char *format)
{
    const keel_runtime_ops_t *ops = keel_runtime_table(0);
    keel_runtime_t *runtime;
    keel_status_t status;

    if (ops == NULL) {
        fputs("keel_info: no runtime is compiled in: -H FILE lists the hosts of the ranks\n", stderr);
        return KEEL_ERR_UNSUPPORTED;
    }
    status = ops->open(NULL, &runtime);
    if (status != KEEL_OK) {
        return status;
    }
    if (runtime->rank == 0) {
        status = show_runtime(runtime, config, format);
    }
    ops->close(runtime);
    return status;
}

keel_status_t topo_show(const char *hosts, const char *format)
{
    show_list_t list = {0};
    keel_config_t config;
    keel_status_t status;

    status = keel_config_read(NULL, &config);
    if (status != KEEL_OK) {
        return status;
    }
    if (hosts == NULL) {
        status = show_job(&config, format);
    } else {
        status = show_list_read(hosts, &list);
        if (status == KEEL_OK) {
            status = show_runtime(&list.runtime, &config, format);
        }
        show_list_release(&list);
    }
    keel_config_release(&config);
    return status;
}
