/* Parses Keel's own topology file. */
#include "topo/topofile.h"

#include <stdio.h>
#include <string.h>

#define KEEL_TOPOFILE_BLANKS " \t\r\f"

/* cuts off the next word, terminates it with a zero, and advances *rest_p */
static char *keel_topofile_word(char **rest_p)
{
    char *word = *rest_p + strspn(*rest_p, KEEL_TOPOFILE_BLANKS);
    char *end = word + strcspn(word, KEEL_TOPOFILE_BLANKS);

    *rest_p = end + (*end != '\0');
    *end = '\0';
    return word;
}

static uint32_t keel_topofile_level(const keel_tree_t *tree, const char *name)
{
    uint32_t level = 0;

    while ((level < tree->level_count) && (strcmp(tree->level_names[level], name) != 0)) {
        level++;
    }
    return level;
}

static int keel_topofile_is_level_name(const char *name)
{
    const size_t length = strlen(name);

    /* node is the level of hosts; auto and none are settings */
    return (length > 0) && (length < sizeof(((keel_tree_t *)0)->level_names[0])) && (name[0] >= 'a') &&
           (name[0] <= 'z') && (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length) &&
           (strcmp(name, "node") != 0) && (strcmp(name, "levels") != 0) && (strcmp(name, "auto") != 0) &&
           (strcmp(name, "none") != 0);
}

static keel_status_t keel_topofile_levels(keel_tree_t *tree, char *rest, keel_tree_error_t *error)
{
    const uint32_t line = tree->text.line;
    char *name;

    if (tree->level_count > 0) {
        return keel_tree_refuse(error, line, "levels are named twice");
    }
    for (name = keel_topofile_word(&rest); *name != '\0'; name = keel_topofile_word(&rest)) {
        if (!keel_topofile_is_level_name(name)) {
            return keel_tree_refuse(error, line, "'%.40s' cannot be the name of a level", name);
        }
        if (keel_topofile_level(tree, name) < tree->level_count) {
            return keel_tree_refuse(error, line, "level %.40s is named twice", name);
        }
        if (tree->level_count == KEEL_TREE_LEVELS_MAX) {
            return keel_tree_refuse(error, line, "more than %u levels", KEEL_TREE_LEVELS_MAX);
        }
        snprintf(tree->level_names[tree->level_count], sizeof(tree->level_names[0]), "%s", name);
        tree->level_count++;
    }
    return (tree->level_count > 0) ? KEEL_OK : keel_tree_refuse(error, line, "no levels are named");
}

static keel_status_t keel_topofile_element(keel_tree_t *tree, const char *level_name, char *rest,
                                           keel_tree_error_t *error)
{
    const uint32_t line = tree->text.line;
    const uint32_t level = keel_topofile_level(tree, level_name);
    char *colon = strchr(rest, ':'), *name;
    keel_status_t status;
    uint32_t element;

    if (tree->level_count == 0) {
        return keel_tree_refuse(error, line, "the first line has to name the levels: levels NAME...");
    }
    if (level == tree->level_count) {
        return keel_tree_refuse(error, line, "'%.40s' is not one of the levels", level_name);
    }
    if (colon == NULL) {
        return keel_tree_refuse(error, line, "no colon: expected LEVEL NAME: MEMBERS");
    }
    *colon = '\0';
    name = keel_topofile_word(&rest);
    if ((*name == '\0') || (strpbrk(name, "[],") != NULL) || (*keel_topofile_word(&rest) != '\0')) {
        return keel_tree_refuse(error, line, "one name without brackets or commas is expected before the colon");
    }
    status = keel_tree_add_element(tree, name, level, &element);
    return (status == KEEL_OK) ? keel_tree_add_members(tree, element, colon + 1, KEEL_MEMBERS_ANY) : status;
}

static keel_status_t keel_topofile_read(keel_tree_t *tree, keel_tree_error_t *error)
{
    keel_status_t status = KEEL_OK;
    char *line;

    while ((status == KEEL_OK) && ((line = keel_tree_line(&tree->text)) != NULL)) {
        const char *word = keel_topofile_word(&line);

        status = (strcmp(word, "levels") == 0) ? keel_topofile_levels(tree, line, error)
                                               : keel_topofile_element(tree, word, line, error);
    }
    if ((status == KEEL_OK) && (tree->level_count == 0)) {
        status = keel_tree_refuse(error, 0, "it names no levels");
    }
    return (status == KEEL_OK) ? keel_tree_index(tree) : status;
}

keel_status_t keel_topofile_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error)
{
    keel_tree_t tree;
    keel_status_t status;

    status = keel_tree_begin(&tree, text, length, error);
    if (status == KEEL_OK) {
        tree.is_strict = 1;
        status = keel_topofile_read(&tree, error);
    }
    if (status != KEEL_OK) {
        keel_tree_release(&tree);
        return status;
    }
    *tree_p = tree;
    return KEEL_OK;
}
