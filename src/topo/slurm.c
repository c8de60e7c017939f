/* Parses Slurm's topology.conf, and the output of scontrol for it. */
#include "topo/slurm.h"

#include "topo/hostlist.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEEL_SLURM_BLANKS " \t\r\f"

/* Reads one KEY=VALUE, with or without blanks around the equals sign; a value may be in double
 * quotes. Advances *at_p. */
static keel_status_t keel_slurm_pair(char **at_p, char **key_p, char **value_p, uint32_t line, keel_tree_error_t *error)
{
    char *key = *at_p, *key_end = key + strcspn(key, "=" KEEL_SLURM_BLANKS);
    char *equals = key_end + strspn(key_end, KEEL_SLURM_BLANKS), *value, *end;

    if ((*equals != '=') || (key_end == key)) {
        return keel_tree_refuse(error, line, "expected KEY=VALUE at '%.40s'", key);
    }
    value = equals + 1 + strspn(equals + 1, KEEL_SLURM_BLANKS);
    *key_end = '\0';
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
    /* a value with an equals sign is the next pair */
    return ((*value != '\0') && (strchr(value, '=') == NULL))
               ? KEEL_OK
               : keel_tree_refuse(error, line, "%.40s has no value", key);
}

/* keys without information about failures */
static int keel_slurm_is_ignored(const char *key)
{
    static const char *const keys[] = {"LinkSpeed", "BlockSizes", "BlockSize", "BlockIndex"};
    unsigned i;

    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcasecmp(key, keys[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* *is_other_p: the line describes no switch or block */
static keel_status_t keel_slurm_split(char *at, uint32_t line, keel_slurm_switch_t *split, int *is_other_p,
                                      keel_tree_error_t *error)
{
    memset(split, 0, sizeof(*split));
    *is_other_p = 0;
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
        } else if (strcasecmp(key, "Level") == 0) {
            slot = &split->level;
        } else if (strcasecmp(key, "AggregatedBlock") == 0) { /* blocks that jobs may span */
            *is_other_p = 1;
        } else if (!keel_slurm_is_ignored(key)) {
            return keel_tree_refuse(error, line, "unknown key %.40s", key);
        }
        *is_other_p |= (strcasecmp(key, "BlockSizes") == 0);
        if ((slot != NULL) && (*slot != NULL)) {
            return keel_tree_refuse(error, line, "%.40s is given twice", key);
        }
        if (slot != NULL) {
            *slot = value;
        }
    }
    return KEEL_OK;
}

keel_status_t keel_slurm_add(keel_tree_t *tree, const keel_slurm_switch_t *one, keel_tree_error_t *error)
{
    const uint32_t line = tree->text.line;
    const int is_shown = (one->level != NULL);
    unsigned long level = 0;
    keel_status_t status;
    uint32_t element;
    char *end;

    if (strpbrk(one->name, "[], \t") != NULL) {
        return keel_tree_refuse(error, line, "a switch's name has no brackets or commas");
    }
    if (((one->nodes == NULL) == (one->switches == NULL)) && (!is_shown || (one->nodes == NULL))) {
        return keel_tree_refuse(error, line, "switch %.40s needs either nodes or switches", one->name);
    }
    if (is_shown) {
        level = strtoul(one->level, &end, 10);
        if ((*end != '\0') || (end == one->level) || (level >= KEEL_TREE_LEVELS_MAX)) {
            return keel_tree_refuse(error, line, "Level of %.40s is not one of 0 to %u", one->name,
                                    KEEL_TREE_LEVELS_MAX - 1);
        }
    }
    status = keel_tree_add_element(tree, one->name, (uint32_t)level, &element);
    if ((status == KEEL_OK) && (one->nodes != NULL)) {
        status = keel_tree_add_members(tree, element, one->nodes, KEEL_MEMBERS_HOSTS);
    }
    if ((status == KEEL_OK) && (one->switches != NULL)) {
        status = keel_tree_add_members(tree, element, one->switches,
                                       (is_shown && (one->nodes != NULL)) ? KEEL_MEMBERS_KNOWN : KEEL_MEMBERS_ELEMENTS);
    }
    return status;
}

static keel_status_t keel_slurm_line(keel_tree_t *tree, char *text, keel_tree_error_t *error)
{
    static const char include[] = "include";
    const uint32_t line = tree->text.line;
    keel_slurm_switch_t split;
    keel_status_t status;
    int is_other;

    if ((strncasecmp(text, include, sizeof(include) - 1) == 0) &&
        (strchr(KEEL_SLURM_BLANKS, text[sizeof(include) - 1]) != NULL)) {
        return keel_tree_refuse(error, line, "Include is not followed: give what scontrol show topology prints");
    }
    status = keel_slurm_split(text, line, &split, &is_other, error);
    if ((status != KEEL_OK) || (is_other && (split.name == NULL))) {
        return status;
    }
    return (split.name != NULL) ? keel_slurm_add(tree, &split, error) : keel_tree_refuse(error, line, "no SwitchName");
}

/* ---- levels ---- */

typedef struct keel_slurm_rise {
    keel_tree_t *tree;
    keel_tree_error_t *error;
    const keel_members_t *members;
    int has_risen;
} keel_slurm_rise_t;

/* a switch is above each of its switches */
static keel_status_t keel_slurm_raise_above(void *arg, const char *name)
{
    keel_slurm_rise_t *rise = arg;
    keel_element_t *upper = &rise->tree->elements[rise->members->element];
    const uint32_t lower = keel_tree_find(rise->tree, name, UINT32_MAX);
    uint32_t level;

    if ((lower == UINT32_MAX) && (rise->members->kind == KEEL_MEMBERS_KNOWN)) {
        return KEEL_OK;
    }
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

/* Repeats until no level rises: a level is final after as many rounds as its height. */
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
            if (rise.members->kind != KEEL_MEMBERS_HOSTS) {
                status = keel_hostlist_walk(rise.members->list, keel_slurm_raise_above, &rise, &left, &why);
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

keel_status_t keel_slurm_finish(keel_tree_t *tree, keel_tree_error_t *error)
{
    keel_status_t status;
    uint32_t i;

    if (tree->element_count == 0) {
        return keel_tree_refuse(error, 0, "it has no switches");
    }
    status = keel_tree_index(tree);
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
    char *line;

    status = keel_tree_begin(&tree, text, length, error);
    while ((status == KEEL_OK) && ((line = keel_tree_line(&tree.text)) != NULL)) {
        status = keel_slurm_line(&tree, line, error);
    }
    status = (status == KEEL_OK) ? keel_slurm_finish(&tree, error) : status;
    if (status != KEEL_OK) {
        keel_tree_release(&tree);
        return status;
    }
    *tree_p = tree;
    return KEEL_OK;
}
