/* Walks lists of names with ranges. Nothing is stored, so a short text with large ranges only
 * costs time. */
#include "topo/hostlist.h"

#include <stdio.h>
#include <string.h>

#define KEEL_HOSTLIST_DIGITS_MAX 9 /* digits of a number in brackets */

typedef struct keel_hostlist_walk {
    keel_hostlist_cb_t each;
    void *arg;
    uint32_t *remaining;
    const char *why;
    char name[KEEL_HOSTLIST_NAME_MAX + 1];
} keel_hostlist_walk_t;

static keel_status_t keel_hostlist_refuse(keel_hostlist_walk_t *walk, const char *why)
{
    walk->why = why;
    return KEEL_ERR_INVALID_PARAM;
}

/* Reads a number of decimal digits at *text and advances *text; *width_p is the number of
 * digits. 0: no number, or too long. */
static int keel_hostlist_number(const char **text, uint32_t *value_p, int *width_p)
{
    *value_p = 0;
    for (*width_p = 0; (**text >= '0') && (**text <= '9'); (*text)++) {
        *value_p = *value_p * 10 + (uint32_t)(**text - '0');
        if (++*width_p > KEEL_HOSTLIST_DIGITS_MAX) {
            return 0;
        }
    }
    return *width_p > 0;
}

static keel_status_t keel_hostlist_expand(keel_hostlist_walk_t *walk, size_t used, const char *rest, const char *end,
                                          unsigned depth);

/* Expands one "low" or "low-high" of a bracket and advances *text. @a after is the text behind
 * the bracket. */
static keel_status_t keel_hostlist_range(keel_hostlist_walk_t *walk, size_t used, const char **text, const char *after,
                                         const char *end, unsigned depth)
{
    keel_status_t status = KEEL_OK;
    uint32_t low, high, value;
    int width, high_width;

    if (!keel_hostlist_number(text, &low, &width)) {
        return keel_hostlist_refuse(walk, "brackets hold numbers of up to 9 digits and ranges of them");
    }
    high = low;
    if (**text == '-') {
        (*text)++;
        if (!keel_hostlist_number(text, &high, &high_width)) {
            return keel_hostlist_refuse(walk, "a range in brackets has no end");
        }
    }
    if (high < low) {
        return keel_hostlist_refuse(walk, "a range in brackets runs backwards");
    }
    if (used + KEEL_HOSTLIST_DIGITS_MAX > KEEL_HOSTLIST_NAME_MAX) {
        return keel_hostlist_refuse(walk, "a name is too long");
    }
    for (value = low; (value <= high) && (status == KEEL_OK); value++) {
        const int digits = snprintf(walk->name + used, KEEL_HOSTLIST_DIGITS_MAX + 1, "%0*u", width, value);

        status = keel_hostlist_expand(walk, used + (size_t)digits, after, end, depth + 1);
    }
    return status;
}

static keel_status_t keel_hostlist_bracket(keel_hostlist_walk_t *walk, size_t used, const char *text, const char *end,
                                           unsigned depth)
{
    const char *close = memchr(text, ']', (size_t)(end - text));
    keel_status_t status;

    if (close == NULL) {
        return keel_hostlist_refuse(walk, "a bracket is not closed");
    }
    if (depth == KEEL_HOSTLIST_GROUPS_MAX) {
        return keel_hostlist_refuse(walk, "a name has too many brackets");
    }
    for (;;) {
        status = keel_hostlist_range(walk, used, &text, close + 1, end, depth);
        if ((status != KEEL_OK) || (text == close)) {
            return status;
        }
        if (*text++ != ',') {
            return keel_hostlist_refuse(walk, "brackets hold numbers of up to 9 digits and ranges of them");
        }
    }
}

/* expands names with the first @a used characters in walk->name and the rest from @a rest up to
 * @a end */
static keel_status_t keel_hostlist_expand(keel_hostlist_walk_t *walk, size_t used, const char *rest, const char *end,
                                          unsigned depth)
{
    for (; rest < end; rest++) {
        if (*rest == '[') {
            return keel_hostlist_bracket(walk, used, rest + 1, end, depth);
        }
        if (*rest == ']') {
            return keel_hostlist_refuse(walk, "a bracket is closed that was not opened");
        }
        if (used == KEEL_HOSTLIST_NAME_MAX) {
            return keel_hostlist_refuse(walk, "a name is too long");
        }
        walk->name[used++] = *rest;
    }
    if (*walk->remaining == 0) {
        walk->why = "too many names";
        return KEEL_ERR_BUDGET;
    }
    (*walk->remaining)--;
    walk->name[used] = '\0';
    return walk->each(walk->arg, walk->name);
}

/* end of the name that begins at @a text: the next separator outside brackets */
static const char *keel_hostlist_end(const char *text)
{
    int is_inside = 0;

    for (; (*text != '\0') && (is_inside || (strchr(", \t", *text) == NULL)); text++) {
        is_inside = (*text == '[') || (is_inside && (*text != ']'));
    }
    return text;
}

keel_status_t keel_hostlist_walk(const char *list, keel_hostlist_cb_t each, void *arg, uint32_t *remaining_p,
                                 const char **why_p)
{
    keel_hostlist_walk_t walk = {.each = each, .arg = arg, .remaining = remaining_p};
    keel_status_t status = KEEL_OK;

    for (list += strspn(list, ", \t"); (*list != '\0') && (status == KEEL_OK); list += strspn(list, ", \t")) {
        const char *end = keel_hostlist_end(list);

        status = keel_hostlist_expand(&walk, 0, list, end, 0);
        list = end;
    }
    *why_p = walk.why;
    return status;
}
