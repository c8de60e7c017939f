/* Text of a topology file, and its elements. */
#include "topo/tree.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEL_TREE_BLANKS " \t\r\v\f"

keel_status_t keel_tree_refuse(keel_tree_error_t *error, uint32_t line, const char *format, ...)
{
    va_list args;

    error->line = line;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return KEEL_ERR_INVALID_PARAM;
}

/* is a backslash at @a at the last character of its line? */
static int keel_tree_is_continued(const char *at)
{
    at += 1 + strspn(at + 1, KEEL_TREE_BLANKS);
    return *at == '\n';
}

/* Replaces comments by blanks. The end of a continued line becomes a vertical tab, a blank that
 * counts as a line. */
static void keel_tree_clean(char *text)
{
    int is_comment = 0;

    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            is_comment = 0;
        } else if (is_comment || (*text == '#') || (*text == '\v')) {
            is_comment |= (*text == '#');
            *text = ' ';
        } else if ((*text == '\\') && keel_tree_is_continued(text)) {
            for (; *text != '\n'; text++) {
                *text = ' ';
            }
            *text = '\v';
        }
    }
}

size_t keel_tree_mark(const char *text, size_t length)
{
    return ((length >= 3) && (memcmp(text, "\xef\xbb\xbf", 3) == 0)) ? 3 : 0;
}

keel_status_t keel_tree_begin(keel_tree_t *tree, const char *text, size_t length, keel_tree_error_t *error)
{
    memset(tree, 0, sizeof(*tree));
    memset(error, 0, sizeof(*error));
    if (length > KEEL_TREE_TEXT_MAX) {
        return keel_tree_refuse(error, 0, "it is longer than %zu bytes", KEEL_TREE_TEXT_MAX);
    }
    if (memchr(text, '\0', length) != NULL) {
        return keel_tree_refuse(error, 0, "it has a zero byte: this is no text");
    }
    tree->text.copy = keel_alloc(length + 1, "topology file");
    if (tree->text.copy == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(tree->text.copy, text, length);
    keel_tree_clean(tree->text.copy);
    tree->text.at = tree->text.copy + keel_tree_mark(text, length);
    tree->text.next = 1;
    return KEEL_OK;
}

char *keel_tree_line(keel_tree_text_t *text)
{
    while (*text->at != '\0') {
        char *line = text->at, *end = line + strcspn(line, "\n");
        char *c;

        text->line = text->next;
        text->at = end + (*end == '\n');
        text->next += (*end == '\n');
        *end = '\0';
        for (c = line; c < end; c++) {
            text->next += (*c == '\v');
            *c = (*c == '\v') ? ' ' : *c;
        }
        while ((end > line) && (strchr(KEEL_TREE_BLANKS, end[-1]) != NULL)) {
            *--end = '\0';
        }
        text->column = (uint32_t)strspn(line, KEEL_TREE_BLANKS);
        line += text->column;
        if (*line != '\0') {
            return line;
        }
    }
    return NULL;
}

/* makes room for another entry */
static keel_status_t keel_tree_grow(void *array_p, uint32_t count, uint32_t *room, size_t size)
{
    const uint32_t more = (*room == 0) ? 16 : 2 * *room;
    void *array;

    if (count < *room) {
        return KEEL_OK;
    }
    memcpy(&array, array_p, sizeof(array));
    array = keel_realloc(array, more * size, "topology");
    if (array == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(array_p, &array, sizeof(array));
    *room = more;
    return KEEL_OK;
}

keel_status_t keel_tree_add_element(keel_tree_t *tree, const char *name, uint32_t level, uint32_t *element_p)
{
    keel_status_t status;

    status = keel_tree_grow(&tree->elements, tree->element_count, &tree->element_room, sizeof(*tree->elements));
    if (status != KEEL_OK) {
        return status;
    }
    *element_p = tree->element_count++;
    tree->elements[*element_p] = (keel_element_t){.name = name, .level = level, .line = tree->text.line};
    return KEEL_OK;
}

keel_status_t keel_tree_add_members(keel_tree_t *tree, uint32_t element, const char *list, keel_member_kind_t kind)
{
    keel_status_t status;

    status = keel_tree_grow(&tree->members, tree->members_count, &tree->members_room, sizeof(*tree->members));
    if (status != KEEL_OK) {
        return status;
    }
    tree->members[tree->members_count++] =
        (keel_members_t){.element = element, .line = tree->text.line, .list = list, .kind = kind};
    return KEEL_OK;
}

keel_status_t keel_tree_index(keel_tree_t *tree)
{
    uint32_t i, m, first[KEEL_TREE_LEVELS_MAX];
    keel_name_t *names;

    keel_free(tree->names);
    tree->name_count = 0;
    tree->names = names = keel_alloc(tree->element_count * sizeof(*names), "names of elements");
    if (names == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (i = 0; i < tree->element_count; i++) {
        names[i] = (keel_name_t){.text = tree->elements[i].name, .value = i};
    }
    keel_names_sort(names, tree->element_count);
    for (i = 0; i < tree->element_count; i++) {
        const keel_name_t own = names[i];
        keel_element_t *element = &tree->elements[own.value];

        if ((tree->name_count == 0) || (strcmp(own.text, names[tree->name_count - 1].text) != 0)) {
            memset(first, 0xff, sizeof(first));
        }
        if (first[element->level] == UINT32_MAX) {
            first[element->level] = own.value;
            names[tree->name_count++] = own;
        }
        element->first = first[element->level];
    }
    for (m = 0; m < tree->members_count; m++) {
        tree->members[m].element = tree->elements[tree->members[m].element].first;
    }
    return KEEL_OK;
}

uint32_t keel_tree_find(const keel_tree_t *tree, const char *name, uint32_t below_level)
{
    const keel_name_t *found = keel_names_find(tree->names, tree->name_count, name);
    const keel_name_t *end = tree->names + tree->name_count;
    uint32_t best = UINT32_MAX;

    for (; (found != NULL) && (found < end) && (strcmp(found->text, name) == 0); found++) {
        const uint32_t level = tree->elements[found->value].level;

        if ((level < below_level) && ((best == UINT32_MAX) || (level > tree->elements[best].level))) {
            best = found->value;
        }
    }
    return best;
}

uint32_t keel_tree_find_from(const keel_tree_t *tree, const char *name, uint32_t level)
{
    const keel_name_t *found = keel_names_find(tree->names, tree->name_count, name);
    const keel_name_t *end = tree->names + tree->name_count;

    for (; (found != NULL) && (found < end) && (strcmp(found->text, name) == 0); found++) {
        if (tree->elements[found->value].level >= level) {
            return found->value;
        }
    }
    return UINT32_MAX;
}

void keel_tree_release(keel_tree_t *tree)
{
    keel_free(tree->names);
    keel_free(tree->members);
    keel_free(tree->elements);
    keel_free(tree->text.copy);
    memset(tree, 0, sizeof(*tree));
}
