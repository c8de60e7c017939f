/* Parses Slurm's topology.conf. */
#include "topo/slurm.h"

#include "topo/hostlist.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KEEL_SLURM_BLANKS " \t\r\f"

typedef struct keel_slurm_line {
    char *name, *nodes, *switches;
    int is_sizes; /* of blocks: nothing to be kept */
} keel_slurm_line_t;

/* one KEY=VALUE; a value may be in double quotes. *at_p moves behind it */
static keel_status_t keel_slurm_pair(char **at_p, char **key_p, char **value_p, uint32_t line, keel_tree_error_t *error)
{
    char *key = *at_p, *equals = key + strcspn(key, "=" KEEL_SLURM_BLANKS), *value = equals + 1, *end;

    if (*equals != '=') {
        return keel_tree_refuse(error, line, "expected KEY=VALUE at '%.40s'", key);
    }
    *equals = '\0';
    if (*value == '"') {
        end = strchr(++value, '"');
        if (end == NULL) {
            return keel_tree_refuse(error, line, "a quote is not closed");
        }
    } else {
        end = value + strcspn(value, KEEL_SLURM_BLANKS);
    }
    *at_p = end + (*end != '\0');
    *at_p += strspn(*at_p, KEEL_SLURM_BLANKS);
    *end = '\0';
    *key_p = key;
    *value_p = value;
    return (*value != '\0') ? KEEL_OK : keel_tree_refuse(error, line, "%.40s has no value", key);
}

static keel_status_t keel_slurm_split(char *at, uint32_t line, keel_slurm_line_t *split, keel_tree_error_t *error)
{
    memset(split, 0, sizeof(*split));
    while (*at != '\0') {
        char *key = NULL, *value = NULL, **slot = NULL;
        const keel_status_t status = keel_slurm_pair(&at, &key, &value, line, error);

        if (status != KEEL_OK) {
            return status;
        }
        if ((strcasecmp(key, "SwitchName") == 0) || (strcasecmp(key, "BlockName") == 0)) {
            slot = &split->name;
        } else if (strcasecmp(key, "Nodes") == 0) {
            slot = &split->nodes;
        } else if (strcasecmp(key, "Switches") == 0) {
            slot = &split->switches;
        } else if (strcasecmp(key, "BlockSizes") == 0) {
            split->is_sizes = 1;
        } else if (strcasecmp(key, "LinkSpeed") != 0) {
            return keel_tree_refuse(error, line, "unknown key %.40s", key);
        }
        if ((slot != NULL) && (*slot != NULL)) {
            return keel_tree_refuse(error, line, "%.40s is given twice", key);
        }
        if (slot != NULL) {
            *slot = value;
        }
    }
    return KEEL_OK;
}

static keel_status_t keel_slurm_line(keel_tree_t *tree, char *text, keel_tree_error_t *error)
{
    const uint32_t line = tree->text.line;
    keel_slurm_line_t split;
    keel_status_t status;
    uint32_t element;

    status = keel_slurm_split(text, line, &split, error);
    if ((status != KEEL_OK) || (split.is_sizes && (split.name == NULL))) {
        return status;
    }
    if (split.name == NULL) {
        return keel_tree_refuse(error, line, "no SwitchName");
    }
    if (strpbrk(split.name, "[],") != NULL) {
        return keel_tree_refuse(error, line, "a switch's name has no brackets or commas");
    }
    if ((split.nodes == NULL) == (split.switches == NULL)) {
        return keel_tree_refuse(error, line, "switch %.40s needs either Nodes or Switches", split.name);
    }
    status = keel_tree_add_element(tree, split.name, 0, &element);
    if ((status == KEEL_OK) && (split.nodes != NULL)) {
        status = keel_tree_add_members(tree, element, split.nodes, KEEL_MEMBERS_HOSTS);
    }
    if ((status == KEEL_OK) && (split.switches != NULL)) {
        status = keel_tree_add_members(tree, element, split.switches, KEEL_MEMBERS_ELEMENTS);
    }
    return status;
}

/* ---- levels ------------------------------------------------------------------------------------------------- */

typedef struct keel_slurm_rise {
    keel_tree_t *tree;
    keel_tree_error_t *error;
    const keel_members_t *members;
    int has_risen;
} keel_slurm_rise_t;

/* a switch lies above each of its switches */
static keel_status_t keel_slurm_rise_over(void *arg, const char *name)
{
    keel_slurm_rise_t *rise = arg;
    keel_element_t *upper = &rise->tree->elements[rise->members->element];
    const uint32_t lower = keel_tree_find(rise->tree, name, UINT32_MAX);
    uint32_t level;

    if (lower == UINT32_MAX) {
        return keel_tree_refuse(rise->error, rise->members->line, "switch %.80s is not defined", name);
    }
    level = rise->tree->elements[lower].level + 1;
    if (level > upper->level) {
        if (level == KEEL_TREE_LEVELS_MAX) {
            return keel_tree_refuse(rise->error, rise->members->line,
                                    "switch %.40s is in itself, or lies above more than %u levels", upper->name,
                                    KEEL_TREE_LEVELS_MAX);
        }
        upper->level = level;
        rise->has_risen = 1;
    }
    return KEEL_OK;
}

/* until nobody rises: a level is final after as many rounds as it is high */
static keel_status_t keel_slurm_levels(keel_tree_t *tree, keel_tree_error_t *error)
{
    keel_slurm_rise_t rise = {.tree = tree, .error = error, .has_risen = 1};
    keel_status_t status = KEEL_OK;
    const char *why;
    uint32_t m, e;

    while (rise.has_risen && (status == KEEL_OK)) {
        uint32_t left = KEEL_HOSTLIST_NAMES_MAX;

        rise.has_risen = 0;
        for (m = 0; (m < tree->members_count) && (status == KEEL_OK); m++) {
            rise.members = &tree->members[m];
            if (rise.members->kind == KEEL_MEMBERS_ELEMENTS) {
                status = keel_hostlist_walk(rise.members->list, keel_slurm_rise_over, &rise, &left, &why);
                if (why != NULL) {
                    return keel_tree_refuse(error, rise.members->line, "%s", why);
                }
            }
        }
    }
    for (e = 0; e < tree->element_count; e++) {
        tree->level_count =
            (tree->elements[e].level >= tree->level_count) ? tree->elements[e].level + 1 : tree->level_count;
    }
    for (e = 0; e < tree->level_count; e++) {
        snprintf(tree->level_names[e], sizeof(tree->level_names[e]), (e == 0) ? "switch" : "switch%u", e + 1);
    }
    return status;
}

static keel_status_t keel_slurm_read(keel_tree_t *tree, keel_tree_error_t *error)
{
    keel_status_t status = KEEL_OK;
    char *line;
    uint32_t i;

    while ((status == KEEL_OK) && ((line = keel_tree_line(&tree->text)) != NULL)) {
        status = keel_slurm_line(tree, line, error);
    }
    if ((status == KEEL_OK) && (tree->element_count == 0)) {
        status = keel_tree_refuse(error, 0, "it has no switches");
    }
    if (status == KEEL_OK) {
        status = keel_tree_index(tree);
    }
    for (i = 0; (status == KEEL_OK) && (i < tree->element_count); i++) {
        if (tree->elements[i].first != i) {
            status =
                keel_tree_refuse(error, tree->elements[i].line, "switch %.40s is given twice", tree->elements[i].name);
        }
    }
    return (status == KEEL_OK) ? keel_slurm_levels(tree, error) : status;
}

keel_status_t keel_slurm_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error)
{
    keel_tree_t tree;
    keel_status_t status;

    status = keel_tree_begin(&tree, text, length, error);
    if (status == KEEL_OK) {
        status = keel_slurm_read(&tree, error);
    }
    if (status != KEEL_OK) {
        keel_tree_release(&tree);
        return status;
    }
    *tree_p = tree;
    return KEEL_OK;
}
