/*
 * A table of settings: name, default, documentation and type of each. The functions fill a
 * structure from "NAME=VALUE" strings and the environment, print it and release its strings.
 */
#ifndef KEEL_BASE_CONFIG_TABLE_H_
#define KEEL_BASE_CONFIG_TABLE_H_

#include "base/message.h"

#include <keel/status.h>

#include <stddef.h>
#include <stdio.h>

typedef struct keel_config_field keel_config_field_t;

/* Conversion of a field's value. dest and src point to the field inside the structure. */
typedef struct keel_config_type {
    /* KEEL_ERR_INVALID_PARAM unless the whole text is a value; dest then keeps its old value.
     * KEEL_ERR_NO_MEMORY for strings only. */
    keel_status_t (*read)(const keel_config_field_t *field, const char *text, void *dest);
    void (*write)(const keel_config_field_t *field, const void *src, FILE *stream);
    void (*release)(void *dest); /* NULL: nothing to release */
    const char *allowed;         /* for messages and documentation; NULL: the names of the field */
} keel_config_type_t;

struct keel_config_field {
    const char *name; /* without the prefix; NULL ends the table */
    const char *initial;
    const char *docs; /* lines separated by '\n' */
    size_t offset;    /* offset in the structure */
    const keel_config_type_t *type;
    /* names of an enumeration, in the order of its values, NULL at the end */
    const char *const *names;
    int is_hidden; /* for measurements, tests and launchers: printed on request only */
};

/* A table and the common prefix of its variables. */
typedef struct keel_config_table {
    const char *prefix;
    const keel_config_field_t *fields;
} keel_config_table_t;

/*
 * Sets all fields of opts, which must be zeroed: from env ("NAME=VALUE" strings, may be NULL; the
 * last one counts), else from the environment, else the default. A refused value leaves the default
 * in place and produces one message with the variable, the value and the allowed values; the
 * remaining variables are still read. Release opts in each case.
 */
keel_status_t keel_config_table_fill(const keel_config_table_t *table, const keel_message_t *message,
                                     const char *const *env, void *opts);
void keel_config_table_release(const keel_config_table_t *table, void *opts);
/* flags of keel_config_table_print() */
enum { KEEL_CONFIG_PRINT_DOCS = 1, KEEL_CONFIG_PRINT_HIDDEN = 2 };
/* Prints a "NAME=VALUE" line for each variable, with DOCS after its documentation; hidden variables
 * with HIDDEN only. The output can be read back. */
void keel_config_table_print(const keel_config_table_t *table, const void *opts, unsigned flags, FILE *stream);
/* True if the first length bytes of variable, which begin with the prefix, name a field. */
int keel_config_table_has(const keel_config_table_t *table, const char *variable, size_t length);

#endif
