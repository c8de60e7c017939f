/*
 * Contents of a topology file: named elements on levels, with lists of members. Created by the
 * parsers of slurm.h and topofile.h, and converted to a hierarchy over the hosts of a job
 * (resolve.h). Files come from users: every number is bounded, every name is looked up, and errors
 * are reported with their line.
 */
#ifndef KEEL_TOPO_TREE_H_
#define KEEL_TOPO_TREE_H_

#include "topo/domain.h"
#include "topo/hosts.h"

#include <stddef.h>

#define KEEL_TREE_LEVELS_MAX 16u
#define KEEL_TREE_TEXT_MAX   ((size_t)16 << 20)

/* error in a file */
typedef struct keel_tree_error {
    uint32_t line; /* 0: the whole file */
    char text[200];
} keel_tree_error_t;

/* text of a file, read line by line: comments removed, continued lines joined */
typedef struct keel_tree_text {
    char *copy, *at;
    uint32_t line;   /* first line number of the line read last */
    uint32_t next;   /* line number at @a at */
    uint32_t column; /* blanks in front of the line read last */
} keel_tree_text_t;

typedef struct keel_element {
    const char *name; /* inside the text */
    uint32_t level, line;
    /* first element with this name and level, which has the members of all of them */
    uint32_t first;
} keel_element_t;

typedef enum {
    KEEL_MEMBERS_HOSTS,
    KEEL_MEMBERS_ELEMENTS, /* each must be defined */
    KEEL_MEMBERS_KNOWN,    /* undefined ones are ignored */
    KEEL_MEMBERS_ANY       /* an element if one has the name, otherwise a host */
} keel_member_kind_t;

typedef struct keel_members {
    uint32_t element, line;
    const char *list; /* in the form of hostlist.h, inside the text */
    keel_member_kind_t kind;
} keel_members_t;

typedef struct keel_tree {
    keel_tree_text_t text;
    uint32_t level_count;
    char level_names[KEEL_TREE_LEVELS_MAX][32];
    uint32_t element_count, element_room, members_count, members_room, name_count;
    keel_element_t *elements;
    keel_members_t *members;
    keel_name_t *names; /* names of elements, sorted; equal names are on different levels */
    /* a member may not be in two elements of a level; otherwise such a level is left out */
    int is_strict;
} keel_tree_t;

/* receives remarks on a readable file */
typedef struct keel_tree_listener {
    /* @a is_warning: a likely mistake; @a line 0: the whole file */
    void (*say)(void *arg, int is_warning, uint32_t line, const char *text);
    void *arg;
} keel_tree_listener_t;

/* copies @a text without a byte order mark; KEEL_ERR_INVALID_PARAM if it is too long or has a
 * zero byte */
keel_status_t keel_tree_begin(keel_tree_t *tree, const char *text, size_t length, keel_tree_error_t *error);
/* bytes of a byte order mark at the start of the text */
size_t keel_tree_mark(const char *text, size_t length);
/* next line that is not empty, without blanks at both ends; NULL: the end */
char *keel_tree_line(keel_tree_text_t *text);
keel_status_t keel_tree_add_element(keel_tree_t *tree, const char *name, uint32_t level, uint32_t *element_p);
keel_status_t keel_tree_add_members(keel_tree_t *tree, uint32_t element, const char *list, keel_member_kind_t kind);
/* sorts the names and unites elements of equal name and level, after all were added */
keel_status_t keel_tree_index(keel_tree_t *tree);
/* coarsest element with @a name on a level finer than @a below_level; UINT32_MAX: none */
uint32_t keel_tree_find(const keel_tree_t *tree, const char *name, uint32_t below_level);
/* element with @a name on @a level or a coarser level; UINT32_MAX: none */
uint32_t keel_tree_find_from(const keel_tree_t *tree, const char *name, uint32_t level);

void keel_tree_release(keel_tree_t *tree);

/* fills in @a error, returns KEEL_ERR_INVALID_PARAM */
keel_status_t keel_tree_refuse(keel_tree_error_t *error, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
