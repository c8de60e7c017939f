/*
 * Turns the elements of a topology file into a hierarchy over hosts, level by level from the finest: an element takes
 * the hosts that its lists name and all hosts of the finer elements that they name.
 */
#include "topo/tree.h"

#include "topo/hostlist.h"

#include "base/memory.h"

#include <string.h>

#define KEEL_NOWHERE UINT32_MAX

typedef struct keel_resolve {
    const keel_tree_t *tree;
    const keel_hosts_t *hosts;
    keel_tree_error_t *error;
    const keel_members_t *members; /* being walked */
    uint32_t left;                 /* names that may still come */
    uint32_t *of_host;             /* level by level: element of each host */
    uint32_t *up;                  /* of each element: the element of the level in work that it lies in */
} keel_resolve_t;

static const char *keel_resolve_name(const keel_resolve_t *resolve, uint32_t element)
{
    return resolve->tree->elements[element].name;
}

static keel_status_t keel_resolve_put(keel_resolve_t *resolve, uint32_t *where, const char *what, uint32_t element,
                                      uint32_t line)
{
    if ((*where != KEEL_NOWHERE) && (*where != element)) {
        return keel_tree_refuse(resolve->error, line, "%.40s is in %.40s and in %.40s", what,
                                keel_resolve_name(resolve, *where), keel_resolve_name(resolve, element));
    }
    *where = element;
    return KEEL_OK;
}

static keel_status_t keel_resolve_member(void *arg, const char *name)
{
    keel_resolve_t *resolve = arg;
    const keel_members_t *members = resolve->members;
    const uint32_t level = resolve->tree->elements[members->element].level;
    uint32_t finer = UINT32_MAX, host;

    if (members->kind != KEEL_MEMBERS_HOSTS) {
        finer = keel_tree_find(resolve->tree, name, level);
    }
    if (finer != UINT32_MAX) {
        return keel_resolve_put(resolve, &resolve->up[finer], name, members->element, members->line);
    }
    if (members->kind == KEEL_MEMBERS_ELEMENTS) {
        return keel_tree_refuse(resolve->error, members->line, "%.80s is not defined", name);
    }
    host = keel_hosts_find(resolve->hosts, name);
    if (host == KEEL_HOST_NONE) {
        return KEEL_OK; /* no host of this job */
    }
    return keel_resolve_put(resolve, &resolve->of_host[(size_t)level * resolve->hosts->count + host], name,
                            members->element, members->line);
}

/* hosts follow the finer elements that they are in; those that are nowhere on this level stay in the finer one */
static keel_status_t keel_resolve_follow(keel_resolve_t *resolve, uint32_t level)
{
    const uint32_t count = resolve->hosts->count;
    uint32_t *own = resolve->of_host + (size_t)level * count;
    uint32_t h, finer, element;

    for (h = 0; h < count; h++) {
        for (finer = 0; finer < level; finer++) {
            element = resolve->of_host[(size_t)finer * count + h];
            if ((element != KEEL_NOWHERE) && (resolve->up[element] != KEEL_NOWHERE)) {
                const uint32_t up = resolve->up[element];
                const keel_status_t status =
                    keel_resolve_put(resolve, &own[h], resolve->hosts->name[h], up, resolve->tree->elements[up].line);

                if (status != KEEL_OK) {
                    return status;
                }
            }
        }
        if ((own[h] == KEEL_NOWHERE) && (level > 0)) {
            own[h] = own[h - (ptrdiff_t)count];
        }
    }
    return KEEL_OK;
}

static keel_status_t keel_resolve_level(keel_resolve_t *resolve, uint32_t level)
{
    const keel_tree_t *tree = resolve->tree;
    keel_status_t status = KEEL_OK;
    const char *why;
    uint32_t m;

    memset(resolve->up, 0xff, tree->element_count * sizeof(*resolve->up));
    for (m = 0; m < tree->members_count; m++) {
        resolve->members = &tree->members[m];
        if (tree->elements[resolve->members->element].level != level) {
            continue;
        }
        status = keel_hostlist_walk(resolve->members->list, keel_resolve_member, resolve, &resolve->left, &why);
        if (why != NULL) {
            return keel_tree_refuse(resolve->error, resolve->members->line, "%s", why);
        }
        if (status != KEEL_OK) {
            return status;
        }
    }
    return keel_resolve_follow(resolve, level);
}

/* ---- from elements to numbers ------------------------------------------------------------------------------ */

/* the element of a host on a level, or what stands for one: itself alone, or the hosts that the file does not mention */
static uint32_t keel_resolve_key(const keel_resolve_t *resolve, uint32_t level, uint32_t host)
{
    const uint32_t elements = resolve->tree->element_count, count = resolve->hosts->count;
    const uint32_t own = resolve->of_host[(size_t)level * count + host];
    const uint32_t top = resolve->of_host[(size_t)(resolve->tree->level_count - 1) * count + host];

    if (own != KEEL_NOWHERE) {
        return own;
    }
    return (top != KEEL_NOWHERE) ? elements + host : elements + count; /* hosts never leave on coarser levels */
}

static const char *keel_resolve_key_name(const keel_resolve_t *resolve, uint32_t key)
{
    const uint32_t elements = resolve->tree->element_count, count = resolve->hosts->count;

    if (key < elements) {
        return resolve->tree->elements[key].name;
    }
    return (key < elements + count) ? resolve->hosts->name[key - elements] : "?";
}

static char *keel_resolve_copy(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = keel_alloc(bytes, "name");

    return (copy == NULL) ? NULL : memcpy(copy, text, bytes);
}

/* @a number has room for every key */
static keel_status_t keel_resolve_number(const keel_resolve_t *resolve, uint32_t l, uint32_t *number,
                                         keel_domain_level_t *level)
{
    const uint32_t count = resolve->hosts->count;
    uint32_t h;

    level->name = keel_resolve_copy(resolve->tree->level_names[l]);
    level->of_rank = keel_alloc(count * sizeof(*level->of_rank), "element of host");
    level->element_name = keel_alloc(count * sizeof(*level->element_name), "names of elements");
    if ((level->name == NULL) || (level->of_rank == NULL) || (level->element_name == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(number, 0xff, ((size_t)resolve->tree->element_count + count + 1) * sizeof(*number));
    for (h = 0; h < count; h++) {
        const uint32_t key = keel_resolve_key(resolve, l, h);

        if (number[key] == UINT32_MAX) {
            level->element_name[level->count] = keel_resolve_copy(keel_resolve_key_name(resolve, key));
            if (level->element_name[level->count] == NULL) {
                return KEEL_ERR_NO_MEMORY;
            }
            number[key] = level->count++;
        }
        level->of_rank[h] = number[key];
    }
    return KEEL_OK;
}

static keel_status_t keel_resolve_domains(keel_resolve_t *resolve, keel_domains_t *domains, uint32_t *unplaced_p)
{
    const uint32_t levels = resolve->tree->level_count, count = resolve->hosts->count;
    uint32_t *number, l, h;
    keel_status_t status = KEEL_OK;

    number = keel_alloc(((size_t)resolve->tree->element_count + count + 1) * sizeof(*number), "numbers of elements");
    domains->levels = keel_alloc(levels * sizeof(*domains->levels), "failure domains");
    if ((number == NULL) || (domains->levels == NULL)) {
        keel_free(number);
        return KEEL_ERR_NO_MEMORY;
    }
    for (l = 0; (l < levels) && (status == KEEL_OK); l++) {
        domains->level_count++;
        status = keel_resolve_number(resolve, l, number, &domains->levels[l]);
    }
    keel_free(number);
    *unplaced_p = 0;
    for (h = 0; h < count; h++) {
        *unplaced_p += (resolve->of_host[(size_t)(levels - 1) * count + h] == KEEL_NOWHERE);
    }
    if (status == KEEL_OK) {
        status = keel_domains_check(domains);
        if (status == KEEL_ERR_INVALID_PARAM) {
            return keel_tree_refuse(resolve->error, 0, "an element lies in several elements of the level above it");
        }
    }
    return status;
}

keel_status_t keel_tree_resolve(const keel_tree_t *tree, const keel_hosts_t *hosts, keel_domains_t *domains_p,
                                uint32_t *unplaced_p, keel_tree_error_t *error)
{
    const size_t cells = (size_t)tree->level_count * hosts->count;
    keel_resolve_t resolve = {.tree = tree, .hosts = hosts, .error = error, .left = KEEL_HOSTLIST_NAMES_MAX};
    keel_domains_t domains = {.ranks = hosts->count};
    keel_status_t status = KEEL_OK;
    uint32_t level;

    if (tree->level_count == 0) {
        return keel_tree_refuse(error, 0, "it has no levels");
    }
    resolve.of_host = keel_alloc(cells * sizeof(*resolve.of_host), "element of host");
    resolve.up = keel_alloc(tree->element_count * sizeof(*resolve.up), "element above");
    if ((resolve.of_host == NULL) || (resolve.up == NULL)) {
        status = KEEL_ERR_NO_MEMORY;
        goto out;
    }
    memset(resolve.of_host, 0xff, cells * sizeof(*resolve.of_host));
    for (level = 0; (level < tree->level_count) && (status == KEEL_OK); level++) {
        status = keel_resolve_level(&resolve, level);
    }
    if (status == KEEL_OK) {
        status = keel_resolve_domains(&resolve, &domains, unplaced_p);
    }
out:
    keel_free(resolve.up);
    keel_free(resolve.of_host);
    if (status != KEEL_OK) {
        keel_domains_release(&domains);
    } else {
        *domains_p = domains;
    }
    return status;
}
