/*
 * Turns the elements of a topology file into a hierarchy over hosts, level by level from the
 * finest. An element has the hosts in its lists and all hosts of the finer elements in its lists.
 * In Keel's own format no host or element may be in two elements of a level; of Slurm's switches
 * such a level is left out.
 */
#include "topo/resolve.h"

#include "topo/hostlist.h"
#include "topo/number.h"
#include "topo/remarks.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* spines times the elements below them: more than any machine has */
#define KEEL_RESOLVE_STEPS_MAX (1u << 26)

void keel_resolve_report(const keel_resolve_t *resolve, int is_warning, uint32_t line, const char *format, ...)
{
    char text[200];
    va_list args;

    if (resolve->listener != NULL) {
        va_start(args, format);
        vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        resolve->listener->say(resolve->listener->arg, is_warning, line, text);
    }
}

static const char *keel_resolve_name(const keel_resolve_t *resolve, uint32_t element)
{
    return resolve->tree->elements[element].name;
}

static const char *keel_resolve_level_name(const keel_resolve_t *resolve, uint32_t element)
{
    return resolve->tree->level_names[resolve->tree->elements[element].level];
}

/* ---- membership ---- */

static keel_status_t keel_resolve_add(keel_resolve_t *resolve, uint32_t to)
{
    const uint32_t room = (resolve->edge_room == 0) ? 64 : 2 * resolve->edge_room;
    void *edges;

    if (resolve->edge_count == resolve->edge_room) {
        edges = keel_realloc(resolve->edges, room * sizeof(*resolve->edges), "members of elements");
        if (edges == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        resolve->edges = edges;
        resolve->edge_room = room;
    }
    resolve->edges[resolve->edge_count++] =
        (keel_edge_t){.from = resolve->members->element, .to = to, .line = resolve->members->line};
    return KEEL_OK;
}

/* handles a name that is neither a finer element nor a host of this job */
static keel_status_t keel_resolve_unknown_name(keel_resolve_t *resolve, const char *name)
{
    const keel_members_t *members = resolve->members;
    const uint32_t level = resolve->tree->elements[members->element].level;
    const uint32_t other = keel_tree_find_from(resolve->tree, name, level);

    if (members->kind == KEEL_MEMBERS_ELEMENTS) {
        return keel_tree_refuse(resolve->error, members->line, "%.80s is not defined", name);
    }
    if ((members->kind == KEEL_MEMBERS_ANY) && (other != UINT32_MAX) &&
        (strcmp(name, keel_resolve_name(resolve, members->element)) != 0)) {
        return keel_tree_refuse(resolve->error, members->line, "%.40s is a %s: it cannot be in %s %.40s", name,
                                keel_resolve_level_name(resolve, other),
                                keel_resolve_level_name(resolve, members->element),
                                keel_resolve_name(resolve, members->element));
    }
    if (resolve->unknown.count++ == 0) {
        resolve->unknown.element = members->element;
        resolve->unknown.line = members->line;
        snprintf(resolve->unknown.name, sizeof(resolve->unknown.name), "%s", name);
    }
    return KEEL_OK;
}

static keel_status_t keel_resolve_member(void *arg, const char *name)
{
    keel_resolve_t *resolve = arg;
    const keel_members_t *members = resolve->members;
    uint32_t finer = UINT32_MAX, host = KEEL_HOST_NONE;

    if (members->kind != KEEL_MEMBERS_HOSTS) {
        finer = keel_tree_find(resolve->tree, name, resolve->tree->elements[members->element].level);
    }
    if (finer != UINT32_MAX) {
        resolve->named++;
        return keel_resolve_add(resolve, finer);
    }
    if ((members->kind == KEEL_MEMBERS_HOSTS) || (members->kind == KEEL_MEMBERS_ANY)) {
        host = keel_hosts_find(resolve->hosts, name);
    }
    return (host != KEEL_HOST_NONE) ? keel_resolve_add(resolve, resolve->tree->element_count + host)
                                    : keel_resolve_unknown_name(resolve, name);
}

static keel_status_t keel_resolve_collect(keel_resolve_t *resolve)
{
    const keel_tree_t *tree = resolve->tree;
    keel_status_t status;
    const char *why;
    uint32_t m;

    for (m = 0; m < tree->members_count; m++) {
        resolve->members = &tree->members[m];
        resolve->named = resolve->unknown.count = 0;
        status = keel_hostlist_walk(resolve->members->list, keel_resolve_member, resolve, &resolve->left, &why);
        if (why != NULL) {
            return keel_tree_refuse(resolve->error, resolve->members->line, "%s", why);
        }
        if (status != KEEL_OK) {
            return status;
        }
        if ((resolve->named > 0) && (resolve->unknown.count > 0)) {
            const uint32_t others = resolve->all_unknown.count;

            resolve->all_unknown = (others == 0) ? resolve->unknown : resolve->all_unknown;
            resolve->all_unknown.count = others + resolve->unknown.count;
        }
    }
    return KEEL_OK;
}

/* sorts edges by their elements, in the order of the file */
static keel_status_t keel_resolve_sort(keel_resolve_t *resolve)
{
    const uint32_t elements = resolve->tree->element_count;
    uint32_t e, i;

    resolve->begin = keel_alloc(((size_t)elements + 2) * sizeof(*resolve->begin), "members of elements");
    resolve->sorted = keel_alloc(((size_t)resolve->edge_count + 1) * sizeof(*resolve->sorted), "members of elements");
    resolve->seen = keel_alloc(elements * sizeof(*resolve->seen), "elements");
    resolve->stack = keel_alloc(elements * sizeof(*resolve->stack), "elements");
    if ((resolve->begin == NULL) || (resolve->sorted == NULL) || (resolve->seen == NULL) || (resolve->stack == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (i = 0; i < resolve->edge_count; i++) {
        resolve->begin[resolve->edges[i].from + 2]++;
    }
    for (e = 2; e < elements + 2; e++) {
        resolve->begin[e] += resolve->begin[e - 1];
    }
    for (i = 0; i < resolve->edge_count; i++) { /* afterwards begin[e] is the start of element e */
        resolve->sorted[resolve->begin[resolve->edges[i].from + 1]++] = i;
    }
    return KEEL_OK;
}

/* ---- level by level ---- */

static keel_status_t keel_resolve_report_duplicate(keel_resolve_t *resolve, const char *what, uint32_t line,
                                                   uint32_t one, uint32_t other)
{
    const uint32_t level = resolve->tree->elements[one].level;

    if (resolve->tree->is_strict) {
        return keel_tree_refuse(resolve->error, line, "%.40s is in %.40s and in %.40s", what,
                                keel_resolve_name(resolve, one), keel_resolve_name(resolve, other));
    }
    if (!resolve->is_left_out[level]) {
        keel_resolve_report(resolve, 1, line, "its level %s is left out: %.40s is in %.40s and in %.40s",
                            resolve->tree->level_names[level], what, keel_resolve_name(resolve, one),
                            keel_resolve_name(resolve, other));
    }
    resolve->is_left_out[level] = 1;
    return KEEL_OK;
}

/* assigns all hosts below @a element */
static keel_status_t keel_resolve_expand(keel_resolve_t *resolve, uint32_t element)
{
    const uint32_t elements = resolve->tree->element_count;
    uint32_t *of_host = resolve->of_host + (size_t)resolve->tree->elements[element].level * resolve->hosts->count;
    uint32_t depth = 0, i;
    keel_status_t status = KEEL_OK;

    resolve->stack[depth++] = element;
    while ((depth > 0) && (status == KEEL_OK)) {
        const uint32_t at = resolve->stack[--depth];

        for (i = resolve->begin[at]; (i < resolve->begin[at + 1]) && (status == KEEL_OK); i++) {
            const keel_edge_t *edge = &resolve->edges[resolve->sorted[i]];
            const uint32_t host = edge->to - elements;

            if (resolve->steps-- == 0) {
                return keel_tree_refuse(resolve->error, 0, "too many elements have the same hosts");
            }
            if (edge->to < elements) {
                if (resolve->seen[edge->to] != element + 1) {
                    resolve->seen[edge->to] = element + 1;
                    resolve->stack[depth++] = edge->to;
                }
            } else if (of_host[host] == KEEL_NOWHERE) {
                of_host[host] = element;
            } else if (of_host[host] != element) {
                status = keel_resolve_report_duplicate(
                    resolve, resolve->hosts->name[host],
                    (at == element) ? edge->line : resolve->tree->elements[element].line, of_host[host], element);
            }
        }
    }
    return status;
}

/* Keel's own format: no element may be in two elements of a level, even without hosts of this
 * job. resolve->stack: the element above each. */
static keel_status_t keel_resolve_check(keel_resolve_t *resolve, uint32_t level)
{
    const keel_tree_t *tree = resolve->tree;
    uint32_t *up = resolve->stack, i;
    keel_status_t status = KEEL_OK;

    memset(up, 0xff, tree->element_count * sizeof(*up));
    for (i = 0; (i < resolve->edge_count) && (status == KEEL_OK); i++) {
        const keel_edge_t *edge = &resolve->edges[i];

        if ((edge->to >= tree->element_count) || (tree->elements[edge->from].level != level)) {
            continue;
        }
        if ((up[edge->to] != KEEL_NOWHERE) && (up[edge->to] != edge->from)) {
            status = keel_resolve_report_duplicate(resolve, keel_resolve_name(resolve, edge->to), edge->line,
                                                   up[edge->to], edge->from);
        }
        up[edge->to] = edge->from;
    }
    return status;
}

static keel_status_t keel_resolve_levels(keel_resolve_t *resolve)
{
    const keel_tree_t *tree = resolve->tree;
    keel_status_t status = KEEL_OK;
    uint32_t level, e;

    for (level = 0; level < tree->level_count; level++) {
        resolve->is_left_out[level] = 1;
    }
    for (e = 0; e < tree->element_count; e++) {
        resolve->is_left_out[tree->elements[e].level] = 0;
    }
    for (level = 0; (level < tree->level_count) && (status == KEEL_OK); level++) {
        if (resolve->is_left_out[level]) {
            keel_resolve_report(resolve, 1, 0, "its level %s is left out: it has no elements",
                                tree->level_names[level]);
        }
        status = tree->is_strict ? keel_resolve_check(resolve, level) : KEEL_OK;
        for (e = 0; (e < tree->element_count) && (status == KEEL_OK); e++) {
            if ((tree->elements[e].level == level) && (tree->elements[e].first == e)) {
                status = keel_resolve_expand(resolve, e);
            }
        }
    }
    return status;
}

/* hosts without an element on a level get the finer element */
static void keel_resolve_fill_gaps(keel_resolve_t *resolve)
{
    const uint32_t count = resolve->hosts->count;
    uint32_t level, h, element;

    for (h = 0; h < count; h++) {
        element = KEEL_NOWHERE;
        for (level = 0; level < resolve->tree->level_count; level++) {
            uint32_t *own = &resolve->of_host[(size_t)level * count + h];

            if (!resolve->is_left_out[level]) {
                *own = (*own == KEEL_NOWHERE) ? element : *own;
                element = *own;
            }
        }
    }
}

static void keel_resolve_release(keel_resolve_t *resolve)
{
    keel_free(resolve->edges);
    keel_free(resolve->begin);
    keel_free(resolve->sorted);
    keel_free(resolve->of_host);
    keel_free(resolve->seen);
    keel_free(resolve->stack);
}

keel_status_t keel_tree_resolve(const keel_tree_t *tree, const keel_hosts_t *hosts,
                                const keel_tree_listener_t *listener, keel_domains_t *domains_p,
                                keel_tree_error_t *error)
{
    const size_t cells = (size_t)tree->level_count * hosts->count;
    keel_resolve_t resolve = {.tree = tree,
                              .hosts = hosts,
                              .listener = listener,
                              .error = error,
                              .left = KEEL_HOSTLIST_NAMES_MAX,
                              .steps = KEEL_RESOLVE_STEPS_MAX};
    keel_domains_t domains = {.ranks = hosts->count};
    keel_status_t status;

    if (tree->level_count == 0) {
        return keel_tree_refuse(error, 0, "it has no levels");
    }
    resolve.of_host = keel_alloc(cells * sizeof(*resolve.of_host), "element of host");
    status = (resolve.of_host == NULL) ? KEEL_ERR_NO_MEMORY : keel_resolve_collect(&resolve);
    status = (status == KEEL_OK) ? keel_resolve_sort(&resolve) : status;
    if (status == KEEL_OK) {
        memset(resolve.of_host, 0xff, cells * sizeof(*resolve.of_host));
        status = keel_resolve_levels(&resolve);
    }
    status = (status == KEEL_OK) ? keel_resolve_remark(&resolve) : status;
    if (status == KEEL_OK) {
        keel_resolve_fill_gaps(&resolve);
        status = keel_resolve_number(&resolve, &domains);
    }
    keel_resolve_release(&resolve);
    if (status != KEEL_OK) {
        keel_domains_release(&domains);
    } else {
        *domains_p = domains;
    }
    return status;
}
