/*
 * Parses Slurm's topology.yaml: as much of YAML as Slurm's documentation and tools write, block
 * style with plain or quoted values. A line's place in the whole is known by the keys above it that
 * are indented less.
 *
 *     - topology: default
 *       cluster_default: true
 *       tree:
 *         switches:
 *           - switch: s0
 *             children: s[1-2]
 *           - switch: s1
 *             nodes: n[01-18]
 */
#include "topo/slurm_yaml.h"
#include "topo/slurm.h"

#include <string.h>
#include <strings.h>

#define KEEL_YAML_BLANKS    " \t\r\f"
#define KEEL_YAML_DEPTH_MAX 16u

typedef struct keel_yaml_key {
    uint32_t column;
    const char *name;
} keel_yaml_key_t;

typedef struct keel_yaml {
    keel_tree_t *tree;
    keel_tree_error_t *error;
    unsigned depth;
    /* keys that contain the current line, the outermost first */
    keel_yaml_key_t key[KEEL_YAML_DEPTH_MAX];
    keel_slurm_switch_t one; /* switch or block being read */
    uint32_t line;           /* first line of it; 0: none */
    int is_default;          /* the topology being read is the cluster's default */
    /* elements and members of the kept topology, which come first */
    uint32_t elements, members;
    int keeps_default;
} keel_yaml_t;

static keel_status_t keel_yaml_refuse(const keel_yaml_t *yaml, const char *what, const char *at)
{
    return keel_tree_refuse(yaml->error, yaml->tree->text.line, "%s at '%.40s'", what, at);
}

/* ---- meaning ---- */

/* adds the complete switch or block */
static keel_status_t keel_yaml_end_switch(keel_yaml_t *yaml)
{
    const uint32_t line = yaml->tree->text.line;
    keel_status_t status = KEEL_OK;

    if (yaml->line > 0) {
        yaml->tree->text.line = yaml->line;
        status = (yaml->one.name != NULL)
                     ? keel_slurm_add(yaml->tree, &yaml->one, yaml->error)
                     : keel_tree_refuse(yaml->error, yaml->line, "a switch or block without a name");
        yaml->tree->text.line = line;
    }
    yaml->line = 0;
    memset(&yaml->one, 0, sizeof(yaml->one));
    return status;
}

/* Keeps one of two topologies: the cluster's default, or the first with switches or blocks. */
static keel_status_t keel_yaml_end_topology(keel_yaml_t *yaml)
{
    keel_tree_t *tree = yaml->tree;
    const keel_status_t status = keel_yaml_end_switch(yaml);
    const uint32_t elements = tree->element_count - yaml->elements, members = tree->members_count - yaml->members;
    uint32_t m;

    if (status != KEEL_OK) {
        return status;
    }
    if ((elements > 0) && ((yaml->elements == 0) || (yaml->is_default && !yaml->keeps_default))) {
        memmove(tree->elements, tree->elements + yaml->elements, elements * sizeof(*tree->elements));
        memmove(tree->members, tree->members + yaml->members, members * sizeof(*tree->members));
        for (m = 0; m < members; m++) {
            tree->members[m].element -= yaml->elements;
        }
        yaml->elements = elements;
        yaml->members = members;
        yaml->keeps_default = yaml->is_default;
    }
    tree->element_count = yaml->elements;
    tree->members_count = yaml->members;
    yaml->is_default = 0;
    return KEEL_OK;
}

static const char *keel_yaml_place(const keel_yaml_t *yaml)
{
    return (yaml->depth > 0) ? yaml->key[yaml->depth - 1].name : "";
}

static int keel_yaml_is_switches(const keel_yaml_t *yaml)
{
    const char *place = keel_yaml_place(yaml);

    return (strcmp(place, "switches") == 0) || (strcmp(place, "blocks") == 0);
}

/* begins an entry of a list */
static keel_status_t keel_yaml_entry(keel_yaml_t *yaml)
{
    keel_status_t status;

    if (yaml->depth == 0) {
        return keel_yaml_end_topology(yaml);
    }
    status = keel_yaml_end_switch(yaml);
    yaml->line = keel_yaml_is_switches(yaml) ? yaml->tree->text.line : 0;
    return status;
}

/* destination of the value of a key of a switch or block; NULL: ignored */
static char **keel_yaml_slot(keel_yaml_t *yaml, const char *key)
{
    if ((strcmp(key, "switch") == 0) || (strcmp(key, "block") == 0)) {
        return &yaml->one.name;
    }
    if (strcmp(key, "nodes") == 0) {
        return &yaml->one.nodes;
    }
    return (strcmp(key, "children") == 0) ? &yaml->one.switches : NULL;
}

static keel_status_t keel_yaml_value(keel_yaml_t *yaml, const char *key, char *value)
{
    char **slot;

    if (yaml->depth == 0) {
        yaml->is_default |= (strcmp(key, "cluster_default") == 0) && (strcasecmp(value, "true") == 0);
    }
    if ((strcmp(key, "tree") == 0) || (strcmp(key, "switches") == 0) || (strcmp(key, "blocks") == 0) ||
        ((strcmp(key, "block") == 0) && !keel_yaml_is_switches(yaml))) {
        return keel_yaml_refuse(yaml, "lines below the key are expected", value);
    }
    if (!keel_yaml_is_switches(yaml)) {
        return KEEL_OK;
    }
    slot = keel_yaml_slot(yaml, key);
    if ((slot != NULL) && ((*slot != NULL) || (yaml->line == 0))) {
        return keel_yaml_refuse(yaml, (yaml->line == 0) ? "a dash is missing" : "the key is given twice", key);
    }
    if (slot != NULL) {
        *slot = value;
    }
    return KEEL_OK;
}

/* ---- syntax ---- */

static keel_status_t keel_yaml_refuse_value(const keel_yaml_t *yaml, const char *value)
{
    return ((*value == '{') || (*value == '['))
               ? keel_yaml_refuse(
                     yaml, "flow style is not read: write one key a line, or give what scontrol show topology prints,",
                     value)
               : keel_yaml_refuse(yaml, "expected a plain value", value);
}

/* a value without its quotes, or unchanged; NULL: not a plain value */
static char *keel_yaml_plain(char *text)
{
    char *end;

    if ((*text == '"') || (*text == '\'')) {
        end = strchr(text + 1, *text);
        if ((end == NULL) || (end[1] != '\0')) {
            return NULL;
        }
        *end = '\0';
        return text + 1;
    }
    return (strchr("[{&*|>!%@`", *text) != NULL) && (*text != '\0') ? NULL : text;
}

/* the colon after a key, or NULL */
static char *keel_yaml_colon(char *text)
{
    char *colon = strchr(text, ':');

    while ((colon != NULL) && (colon[1] != '\0') && (strchr(KEEL_YAML_BLANKS, colon[1]) == NULL)) {
        colon = strchr(colon + 1, ':');
    }
    return colon;
}

/* leaves keys indented as much as the line or more */
static void keel_yaml_leave(keel_yaml_t *yaml, uint32_t column)
{
    while ((yaml->depth > 0) && (yaml->key[yaml->depth - 1].column >= column)) {
        yaml->depth--;
    }
}

static keel_status_t keel_yaml_pair(keel_yaml_t *yaml, char *text, uint32_t column)
{
    char *colon = keel_yaml_colon(text), *key = text, *value;
    keel_status_t status;

    if (colon == NULL) {
        const char *place = keel_yaml_place(yaml);

        return (strcmp(place, "block_sizes") == 0) ? KEEL_OK : keel_yaml_refuse(yaml, "expected KEY: VALUE", text);
    }
    value = colon + 1 + strspn(colon + 1, KEEL_YAML_BLANKS);
    while ((colon > text) && (strchr(KEEL_YAML_BLANKS, colon[-1]) != NULL)) {
        colon--;
    }
    *colon = '\0';
    key = keel_yaml_plain(key);
    if (key == NULL) {
        return keel_yaml_refuse(yaml, "expected KEY: VALUE", text);
    }
    keel_yaml_leave(yaml, column);
    status = keel_yaml_is_switches(yaml) ? KEEL_OK : keel_yaml_end_switch(yaml);
    if (status != KEEL_OK) {
        return status;
    }
    if (*value != '\0') {
        if (strcmp(key, "block_sizes") == 0) {
            return KEEL_OK; /* in brackets */
        }
        text = keel_yaml_plain(value);
        return (text != NULL) ? keel_yaml_value(yaml, key, text) : keel_yaml_refuse_value(yaml, value);
    }
    if (keel_yaml_is_switches(yaml) && (keel_yaml_slot(yaml, key) != NULL)) {
        return keel_yaml_refuse(yaml, "expected a value on the same line", key);
    }
    if (yaml->depth == KEEL_YAML_DEPTH_MAX) {
        return keel_yaml_refuse(yaml, "too many keys within each other", key);
    }
    yaml->key[yaml->depth++] = (keel_yaml_key_t){.column = column, .name = key};
    return KEEL_OK;
}

static keel_status_t keel_yaml_line(keel_yaml_t *yaml, char *text, uint32_t column)
{
    keel_status_t status;
    size_t skipped;

    if ((strcmp(text, "---") == 0) || (strcmp(text, "...") == 0) || (*text == '%')) {
        return KEEL_OK;
    }
    while ((text[0] == '-') && ((text[1] == '\0') || (strchr(KEEL_YAML_BLANKS, text[1]) != NULL))) {
        keel_yaml_leave(yaml, column + 1); /* a list may be indented as much as its key */
        status = keel_yaml_entry(yaml);
        if (status != KEEL_OK) {
            return status;
        }
        skipped = 1 + strspn(text + 1, KEEL_YAML_BLANKS);
        text += skipped;
        column += (uint32_t)skipped;
    }
    if ((*text == '{') || (*text == '[')) {
        return keel_yaml_refuse_value(yaml, text);
    }
    return (*text != '\0') ? keel_yaml_pair(yaml, text, column) : KEEL_OK;
}

keel_status_t keel_slurm_yaml_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error)
{
    keel_tree_t tree;
    keel_yaml_t yaml = {.tree = &tree, .error = error};
    keel_status_t status;
    char *line;

    status = keel_tree_begin(&tree, text, length, error);
    while ((status == KEEL_OK) && ((line = keel_tree_line(&tree.text)) != NULL)) {
        status = keel_yaml_line(&yaml, line, tree.text.column);
    }
    status = (status == KEEL_OK) ? keel_yaml_end_topology(&yaml) : status;
    status = (status == KEEL_OK) ? keel_slurm_finish(&tree, error) : status;
    if (status != KEEL_OK) {
        keel_tree_release(&tree);
        return status;
    }
    *tree_p = tree;
    return KEEL_OK;
}
