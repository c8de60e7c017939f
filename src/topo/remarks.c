/* Likely mistakes in a readable topology file: mistyped names leave gaps. */
#include "topo/remarks.h"
#include "topo/resolve.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define KEEL_REMARK_NAMES_MAX 4 /* further names are counted */

/* list of names in a remark */
typedef struct keel_remark {
    uint32_t count, line;
    char text[140];
} keel_remark_t;

static void keel_remark_add(keel_remark_t *remark, const char *level, const char *name, uint32_t line)
{
    const size_t used = strlen(remark->text);

    if (remark->count < KEEL_REMARK_NAMES_MAX) {
        snprintf(remark->text + used, sizeof(remark->text) - used, "%s%s%s%.20s", (remark->count > 0) ? ", " : "",
                 level, (level[0] != '\0') ? " " : "", name);
    }
    remark->line = (remark->count == 0) ? line : remark->line;
    remark->count++;
}

static const char *keel_remark_text(keel_remark_t *remark)
{
    const size_t used = strlen(remark->text);

    if (remark->count > KEEL_REMARK_NAMES_MAX) {
        snprintf(remark->text + used, sizeof(remark->text) - used, " and %u more",
                 remark->count - KEEL_REMARK_NAMES_MAX);
    }
    return remark->text;
}

/* 1 + number of the coarsest level that places a host; 0: none */
static uint32_t keel_remark_top(const keel_resolve_t *resolve, uint32_t host)
{
    uint32_t level;

    for (level = resolve->tree->level_count; level > 0; level--) {
        if (keel_resolve_at(resolve, level - 1, host) != KEEL_NOWHERE) {
            return level;
        }
    }
    return 0;
}

static void keel_remark_element(const keel_resolve_t *resolve, keel_remark_t *remark, uint32_t element)
{
    const keel_element_t *one = &resolve->tree->elements[element];

    keel_remark_add(remark, resolve->tree->level_names[one->level], one->name, one->line);
}

/* Reports finer elements that no coarser element contains, by name or by hosts. A name among
 * elements that is neither a finer element nor a host of the job is likely mistyped. */
static void keel_remark_loose(const keel_resolve_t *resolve, const uint8_t *is_loose)
{
    const keel_unknown_names_t *unknown = &resolve->all_unknown;
    keel_remark_t loose = {0};
    uint32_t e;

    for (e = 0; e < resolve->tree->element_count; e++) {
        if (is_loose[e]) {
            keel_remark_element(resolve, &loose, e);
        }
    }
    if (loose.count == 0) {
        return;
    }
    keel_resolve_report(resolve, 1, loose.line, "in no element of a coarser level: %s", keel_remark_text(&loose));
    if (unknown->count > 0) {
        keel_resolve_report(resolve, 1, unknown->line, "%s in %s %.40s is no element and no host of this job%s",
                            unknown->name, resolve->tree->level_names[resolve->tree->elements[unknown->element].level],
                            resolve->tree->elements[unknown->element].name,
                            (unknown->count > 1) ? ", nor are others like it" : "");
    }
}

/* A file may describe more hosts than the job has. While all hosts of the job are in the file,
 * elements without hosts indicate no mistake. */
static void keel_remark_empty(const keel_resolve_t *resolve, const uint8_t *has_hosts, int is_warning)
{
    const keel_tree_t *tree = resolve->tree;
    keel_remark_t empty = {0};
    uint32_t e;

    for (e = 0; e < tree->element_count; e++) {
        if (!has_hosts[e] && (tree->elements[e].first == e) && !resolve->is_left_out[tree->elements[e].level]) {
            keel_remark_element(resolve, &empty, e);
        }
    }
    if (empty.count > 0) {
        keel_resolve_report(resolve, is_warning, 0, "without a host of this job: %s", keel_remark_text(&empty));
    }
}

keel_status_t keel_resolve_remark(const keel_resolve_t *resolve)
{
    const keel_tree_t *tree = resolve->tree;
    const uint32_t levels = tree->level_count;
    uint8_t *has_hosts = keel_alloc(2 * (size_t)tree->element_count, "elements");
    uint8_t *is_loose = (has_hosts == NULL) ? NULL : has_hosts + tree->element_count;
    keel_remark_t nowhere = {0};
    uint32_t h, l;

    if (has_hosts == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (h = 0; h < resolve->hosts->count; h++) {
        const uint32_t top = keel_remark_top(resolve, h);

        for (l = 0; l < levels; l++) {
            if (keel_resolve_at(resolve, l, h) != KEEL_NOWHERE) {
                has_hosts[keel_resolve_at(resolve, l, h)] = 1;
            }
        }
        if (top == 0) {
            keel_remark_add(&nowhere, "", resolve->hosts->name[h], 0);
        } else if ((top < levels) && tree->is_strict) {
            /* not for Slurm: its switches need not all lie below one switch */
            is_loose[keel_resolve_at(resolve, top - 1, h)] = 1;
        }
    }
    keel_remark_loose(resolve, is_loose);
    if (nowhere.count > 0) {
        keel_resolve_report(resolve, 1, 0,
                            "%u of %u hosts are not in it: they count as one element of each of its levels: %s",
                            nowhere.count, resolve->hosts->count, keel_remark_text(&nowhere));
    }
    keel_remark_empty(resolve, has_hosts, nowhere.count > 0);
    keel_free(has_hosts);
    return KEEL_OK;
}
