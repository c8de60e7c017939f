/* Reads topology files and owns the hierarchy of a job. */
#include "engine/site.h"

#include "base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define KEEL_SITE_NAME_MAX 16 /* "node" and a number */

/* ---- files ---- */

static keel_status_t site_read(const char *path, const char *variable, const keel_message_t *message,
                               keel_topology_file_t *file)
{
    size_t room = 0, length = 0, got;
    FILE *stream;
    char *text = NULL;
    int error;

    if (path == NULL) {
        return KEEL_OK;
    }
    stream = fopen(path, "r");
    if (stream == NULL) {
        goto err_message;
    }
    do { /* one byte too many makes the parser report the length */
        room = (room == 0) ? 4096 : 2 * room;
        text = keel_realloc(text, room, "topology file");
        if (text == NULL) {
            fclose(stream);
            return KEEL_ERR_NO_MEMORY;
        }
        got = fread(text + length, 1, room - length, stream);
        length += got;
    } while ((got > 0) && (length <= KEEL_TREE_TEXT_MAX));
    if (ferror(stream)) {
        goto err_close;
    }
    fclose(stream);
    *file = (keel_topology_file_t){.path = path, .text = text, .length = length};
    return KEEL_OK;

err_close:
    error = errno;
    fclose(stream);
    errno = error;
err_message:
    keel_error(message, "%s: cannot read %s: %s", variable, path, strerror(errno));
    keel_free(text);
    return KEEL_ERR_IO;
}

static void site_forget(keel_topology_file_t *file)
{
    keel_free((char *)(uintptr_t)file->text);
}

/* ---- the hierarchy ---- */

typedef struct site_voice {
    const keel_message_t *message;
    uint32_t leader;
} site_voice_t;

static void site_say(void *arg, int is_warning, const char *text)
{
    const site_voice_t *voice = arg;
    const keel_message_t *message = voice->message;

    if ((message->rank != voice->leader) && (message->rank != KEEL_MESSAGE_NO_RANK)) {
        return;
    }
    if (is_warning) {
        keel_warn(message, "%s", text);
    } else {
        keel_info(message, "%s", text);
    }
}

/* Host of each rank and then each spare, with room for one more. A runtime without host names
 * gets made-up ones. */
static const char **site_hosts(const keel_runtime_t *runtime, char **made_p)
{
    const size_t count = (size_t)runtime->size + runtime->spares;
    const char **host = keel_alloc((count + 1) * sizeof(*host), "hosts of ranks");
    size_t r;

    *made_p = NULL;
    if ((host != NULL) && (runtime->host == NULL)) {
        *made_p = keel_alloc(count * KEEL_SITE_NAME_MAX, "host names");
    }
    if ((host == NULL) || ((runtime->host == NULL) && (*made_p == NULL))) {
        keel_free(host);
        return NULL;
    }
    for (r = 0; r < count; r++) {
        if (runtime->host != NULL) {
            host[r] = runtime->host[runtime->node[r]];
        } else {
            host[r] = *made_p + KEEL_SITE_NAME_MAX * r;
            snprintf(*made_p + KEEL_SITE_NAME_MAX * r, KEEL_SITE_NAME_MAX, "node%u", runtime->node[r]);
        }
    }
    return host;
}

/* Node of each rank and each spare, with room for one more. */
static uint32_t *site_nodes(const keel_runtime_t *runtime)
{
    const size_t count = (size_t)runtime->size + runtime->spares;
    uint32_t *node = keel_alloc((count + 1) * sizeof(*node), "nodes");

    if (node != NULL) {
        memcpy(node, runtime->node, count * sizeof(*node));
    }
    return node;
}

/* Node of the present place of the process: a new number if the host is not part of the job. */
static uint32_t site_place_node(const keel_runtime_t *runtime)
{
    uint32_t r, node = 0;

    for (r = 0; r < runtime->size + runtime->spares; r++) {
        if (strcmp(runtime->host[runtime->node[r]], runtime->place) == 0) {
            return runtime->node[r];
        }
        node = (runtime->node[r] >= node) ? runtime->node[r] + 1 : node;
    }
    return node;
}

/* Makes one hierarchy of params->ranks ranks. */
static keel_status_t site_join(const keel_site_t *site, const uint32_t *node, keel_topology_params_t *params,
                               keel_domains_t *domains_p, const keel_message_t *message)
{
    keel_domains_t inside = {0};
    keel_tree_error_t error;
    keel_status_t status = KEEL_OK;

    if (site->machine != NULL) {
        status = keel_machine_levels(site->machine, params->ranks, node, &inside);
        params->inside = &inside;
    }
    if (status == KEEL_OK) {
        status = keel_topology_make(params, domains_p, &error);
    }
    params->inside = NULL;
    keel_domains_release(&inside);
    if (status == KEEL_ERR_INVALID_PARAM) {
        keel_error(message, "%s", error.text);
    }
    return status;
}

/* Further places come after those of the ranks, so the ranks' elements keep their numbers. */
static keel_status_t site_make(keel_site_t *site, const keel_runtime_t *runtime, keel_topology_params_t *params,
                               const char **host, const keel_message_t *message)
{
    uint32_t *node = site_nodes(runtime), l;
    keel_status_t status;

    if (node == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    params->host = host;
    status = site_join(site, node, params, &site->domains, message);
    params->say = NULL;
    if ((status == KEEL_OK) && (runtime->spares > 0)) {
        params->ranks = runtime->size + runtime->spares;
        status = site_join(site, node, params, &site->wide, message);
    }
    if ((status == KEEL_OK) && (runtime->place != NULL)) {
        params->ranks = runtime->size + 1;
        host[runtime->size] = runtime->place;
        node[runtime->size] = site_place_node(runtime);
        status = site_join(site, node, params, &site->moved, message);
        for (l = 0; (status == KEEL_OK) && (l < site->moved.level_count); l++) {
            uint32_t *of_rank = site->moved.levels[l].of_rank;

            of_rank[runtime->rank] = of_rank[runtime->size];
        }
    }
    keel_free(node);
    return status;
}

static keel_status_t site_load_machine(keel_site_t *site, const char *what, const keel_message_t *message)
{
    keel_tree_error_t error;
    keel_status_t status;

    if (what == NULL) {
        return KEEL_OK;
    }
    status = keel_machine_load(what, &site->machine, &error);
    if (status == KEEL_ERR_INVALID_PARAM) {
        keel_error(message, "KEEL_TOPO_MACHINE: %s", error.text);
    }
    return status;
}

keel_status_t keel_site_init(keel_site_t *site, const keel_runtime_t *runtime, const keel_config_t *config,
                             const keel_message_t *message)
{
    site_voice_t voice = {.message = message, .leader = runtime->leader};
    keel_topology_params_t params = {.ranks = runtime->size, .say = site_say, .arg = &voice};
    keel_status_t status;
    const char **host;
    char *made;

    memset(site, 0, sizeof(*site));
    site->rank = runtime->rank;
    host = site_hosts(runtime, &made);
    if (host == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = site_read(config->topo_file, "KEEL_TOPO_FILE", message, &params.user);
    if (status == KEEL_OK) {
        status = site_read(config->topo_slurm, "KEEL_TOPO_SLURM", message, &params.slurm);
    }
    if (status == KEEL_OK) {
        status = site_load_machine(site, config->topo_machine, message);
    }
    if (status == KEEL_OK) {
        status = site_make(site, runtime, &params, host, message);
    }
    if ((status == KEEL_OK) && (runtime->spares > 0)) {
        site->place = keel_alloc(runtime->spares * sizeof(*site->place), "places of spares");
        status = (site->place == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    site_forget(&params.user);
    site_forget(&params.slurm);
    keel_free(made);
    keel_free(host);
    if (status != KEEL_OK) {
        keel_site_release(site);
    }
    return status;
}

void keel_site_check_binding(const keel_site_t *site, const keel_runtime_t *runtime, const keel_message_t *message)
{
    uint32_t r, local = 0;
    keel_binding_t binding;

    if ((site->machine == NULL) || (runtime->place != NULL)) {
        return;
    }
    for (r = 0; r < runtime->rank; r++) {
        local += (runtime->node[r] == runtime->node[runtime->rank]);
    }
    binding = keel_machine_binding(site->machine, local);
    if (binding == KEEL_BINDING_ELSEWHERE) {
        keel_warn(message, "this process is bound to another package than KEEL_TOPO_MACHINE takes it to be on");
    } else if ((binding == KEEL_BINDING_NONE) && (runtime->rank == runtime->leader)) {
        keel_warn(message, "KEEL_TOPO_MACHINE: processes are not bound: where they run below the node is a guess");
    }
}

keel_status_t keel_site_use_groups(keel_site_t *site, const keel_groups_t *groups, uint32_t parities)
{
    site->groups = groups;
    site->parities = parities;
    site->promised = site->domains.level_count;
    return (groups->count == 0) ? KEEL_OK : keel_groups_reach(&site->domains, groups, parities, &site->promised);
}

void keel_site_check_move(const keel_site_t *site, const keel_message_t *message)
{
    const keel_groups_t *groups = site->groups;
    uint32_t level, held;

    if (site->promised >= site->moved.level_count) {
        return; /* not moved, or nothing promised */
    }
    keel_groups_check_move(&site->moved, groups, site->rank, site->parities, site->promised, &level, &held);
    if (level <= site->promised) {
        const keel_domain_level_t *one = &site->moved.levels[level];

        keel_warn(message,
                  "this replacement runs on %s %s, which now holds %u of group %u: losing it would lose more than "
                  "parity covers",
                  one->name, one->element_name[one->of_rank[site->rank]], held, groups->of_rank[site->rank]);
    }
}

void keel_site_order_spares(void *arg, uint32_t rank, uint32_t *spare)
{
    const keel_site_t *site = arg;
    const uint32_t spares = site->wide.ranks - site->domains.ranks;
    /* without a promised level, keep the property as far as possible */
    const uint32_t level = (site->promised < site->wide.level_count) ? site->promised : 0;
    uint32_t s;

    if (site->groups->count > 0) {
        keel_groups_order_spares(&site->wide, site->groups, site->domains.ranks, rank, site->parities, level,
                                 site->place);
    }
    for (s = 0; s < spares; s++) {
        spare[s] = (site->groups->count > 0) ? site->place[s].spare : s;
    }
}

void keel_site_release(keel_site_t *site)
{
    keel_free(site->place);
    keel_domains_release(&site->wide);
    if (site->machine != NULL) {
        keel_machine_release(site->machine);
    }
    keel_domains_release(&site->domains);
    keel_domains_release(&site->moved);
}
