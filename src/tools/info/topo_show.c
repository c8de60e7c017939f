/* Collects the data of keel_info -t in the way of keel_init(). */
#include "tools/info/topo_show.h"

#include "base/config.h"
#include "base/memory.h"
#include "base/message.h"
#include "engine/site.h"
#include "tools/tool_hosts.h"
#include "tools/info/topo_lost.h"
#include "tools/info/topo_view.h"
#include "transports/table.h"
#include "topo/choose.h"
#include "topo/cover.h"

#include <stdio.h>
#include <string.h>

/* ---- a list of hosts ---- */

/* Numbers the nodes: a host's node number is its first rank. */
static keel_status_t show_list_number(const tool_hosts_t *list, keel_runtime_t *runtime)
{
    const uint32_t ranks = list->count;
    uint32_t *first, r;
    keel_hosts_t hosts;
    keel_status_t status;

    status = keel_hosts_make(ranks, (const char *const *)list->host, &hosts);
    if (status != KEEL_OK) {
        return status;
    }
    runtime->host = list->host;
    runtime->size = ranks;
    runtime->node = keel_alloc(ranks * sizeof(*runtime->node), "nodes");
    first = keel_alloc(hosts.count * sizeof(*first), "first ranks of hosts");
    for (r = ranks; (first != NULL) && (runtime->node != NULL) && (r > 0); r--) {
        first[hosts.of_rank[r - 1]] = r - 1;
    }
    for (r = 0; (first != NULL) && (runtime->node != NULL) && (r < ranks); r++) {
        runtime->node[r] = first[hosts.of_rank[r]];
    }
    status = ((first == NULL) || (runtime->node == NULL)) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    keel_free(first);
    keel_hosts_release(&hosts);
    return status;
}

/* ---- showing ---- */

static keel_status_t show_print(const topo_view_t *view, const topo_show_params_t *params)
{
    const char *format = params->format;

    if (strcmp(format, "json") == 0) {
        topo_print_json(stdout, view);
    } else if (strcmp(format, "svg") == 0) {
        return topo_print_svg(stdout, view);
    } else {
        topo_print_text(stdout, view);
        return (params->lost != NULL) ? topo_print_lost(stdout, view, params->lost) : KEEL_OK;
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

/* Makes the same groups as keel_init(). A refusal is printed together with the hierarchy. */
static keel_status_t show_groups(topo_view_t *view, keel_site_t *site, const keel_runtime_t *runtime,
                                 const keel_config_t *config, const topo_show_params_t *params)
{
    const uint32_t ranks = view->domains->ranks;
    char note[KEEL_TOPOLOGY_NOTE_MAX] = "KEEL_GROUP_SIZE is 0, or there is one rank";
    keel_groups_t groups = {0};
    topo_spares_t spares = {0};
    keel_status_t placed = KEEL_OK, status;

    view->group_size = config->group_size;
    if (config->is_group_auto) {
        const keel_cover_params_t cover = {.domains = view->domains,
                                           .level = config->topo_level,
                                           .group_size = config->group_size,
                                           .parities = config->parities};

        view->group_size = keel_cover_auto_size(&cover);
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
        status = show_print(view, params);
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

/* @a all: the last ranks are spares if KEEL_SPARES is set. */
static keel_status_t show_runtime(const keel_runtime_t *all, const keel_config_t *config,
                                  const topo_show_params_t *params)
{
    /* for readers of topology files */
    const keel_message_t message = {.level = KEEL_MSG_INFO, .rank = KEEL_MESSAGE_NO_RANK};
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
    status = show_groups(&view, &site, &runtime, config, params);
    keel_site_release(&site);
    return status;
}

/* Shows the job of this process; rank 0 prints for all. */
static keel_status_t show_job(const keel_config_t *config, const topo_show_params_t *params)
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
    if (runtime->rank == runtime->leader) {
        status = show_runtime(runtime, config, params);
    }
    ops->close(runtime);
    return status;
}

keel_status_t topo_show(const topo_show_params_t *params)
{
    keel_runtime_t runtime = {0};
    tool_hosts_t list;
    keel_config_t config;
    keel_status_t status;

    status = keel_config_read(NULL, &config);
    if (status != KEEL_OK) {
        return status;
    }
    if (params->hosts == NULL) {
        status = show_job(&config, params);
    } else {
        status = tool_hosts_read("keel_info", params->hosts, &list);
        if (status == KEEL_OK) {
            status = show_list_number(&list, &runtime);
        }
        if (status == KEEL_OK) {
            status = show_runtime(&runtime, &config, params);
        }
        keel_free(runtime.node);
        tool_hosts_release(&list);
    }
    keel_config_release(&config);
    return status;
}
