/*
 * What a topology file says: named elements on levels, with lists of what lies in them. Made by the parsers of
 * slurm.h and topofile.h, turned into a hierarchy over the hosts of a job here. Files come from users: every number is
 * bounded, every name is looked up, and what is wrong is told with its line.
 */
#ifndef KEEL_TOPO_TREE_H_
#define KEEL_TOPO_TREE_H_

#include "topo/domain.h"
#include "topo/hosts.h"

#include <stddef.h>

#define KEEL_TREE_LEVELS_MAX 16u
#define KEEL_TREE_TEXT_MAX   ((size_t)16 << 20)

/* what is wrong with a file */
typedef struct keel_tree_error {
    uint32_t line; /* 0: of the whole */
    char text[200];
} keel_tree_error_t;

/* the text of a file, read line by line: comments gone, continued lines joined */
typedef struct keel_tree_text {
    char *copy, *at;
    uint32_t line;   /* of the line read last: where it begins */
    uint32_t next;   /* line at @a at */
    uint32_t column; /* blanks before that line */
} keel_tree_text_t;

typedef struct keel_element {
    const char *name; /* in the text */
    uint32_t level, line;
    uint32_t first; /* the first of that name and level: members of all of them are its */
} keel_element_t;

typedef enum {
    KEEL_MEMBERS_HOSTS,
    KEEL_MEMBERS_ELEMENTS, /* each has to be defined */
    KEEL_MEMBERS_KNOWN,    /* those elements that are */
    KEEL_MEMBERS_ANY       /* an element where there is one of that name, else a host */
} keel_member_kind_t;

typedef struct keel_members {
    uint32_t element, line;
    const char *list; /* as hostlist.h has it, in the text */
    keel_member_kind_t kind;
} keel_members_t;

typedef struct keel_tree {
    keel_tree_text_t text;
    uint32_t level_count;
    char level_names[KEEL_TREE_LEVELS_MAX][32];
    uint32_t element_count, element_room, members_count, members_room, name_count;
    keel_element_t *elements;
    keel_members_t *members;
    keel_name_t *names; /* of elements, sorted; equal ones are on different levels */
    int is_strict;      /* nothing may be in two elements of a level; else such a level is left out */
} keel_tree_t;

/* what is said of a file that can be read */
typedef struct keel_tree_listener {
    /* @a is_warning: something is likely to be wrong; @a line: 0: of the whole */
    void (*say)(void *arg, int is_warning, uint32_t line, const char *text);
    void *arg;
} keel_tree_listener_t;

/* copies @a text, but for a byte order mark; KEEL_ERR_INVALID_PARAM when it is too long or has a zero byte */
keel_status_t keel_tree_begin(keel_tree_t *tree, const char *text, size_t length, keel_tree_error_t *error);
/* bytes of a byte order mark that the text begins with */
size_t keel_tree_mark(const char *text, size_t length);
/* the next line that is not empty, without blanks at both ends; NULL: no more */
char *keel_tree_line(keel_tree_text_t *text);
keel_status_t keel_tree_add_element(keel_tree_t *tree, const char *name, uint32_t level, uint32_t *element_p);
keel_status_t keel_tree_add_members(keel_tree_t *tree, uint32_t element, const char *list, keel_member_kind_t kind);
/* sorts the names and unites elements of one name and level, when all are there */
keel_status_t keel_tree_index(keel_tree_t *tree);
/* the element of that name on a level of @a below_level or finer that is the coarsest of them; UINT32_MAX: none */
uint32_t keel_tree_find(const keel_tree_t *tree, const char *name, uint32_t below_level);
/* an element of that name on @a level or a coarser one; UINT32_MAX: none */
uint32_t keel_tree_find_from(const keel_tree_t *tree, const char *name, uint32_t level);

void keel_tree_release(keel_tree_t *tree);

/* fills @a error, returns KEEL_ERR_INVALID_PARAM */
keel_status_t keel_tree_refuse(keel_tree_error_t *error, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
