/*
 * A table of settings: name, default, documentation and type of each. Fills a structure from "NAME=VALUE" strings and from
 * the environment, prints it and releases its strings.
 */
#ifndef KEEL_BASE_CONFIG_TABLE_H_
#define KEEL_BASE_CONFIG_TABLE_H_

#include "base/message.h"

#include <keel/status.h>

#include <stddef.h>
#include <stdio.h>

typedef struct keel_config_field keel_config_field_t;

/* How the value of a field is read and written. dest and src point to the field inside the structure. */
typedef struct keel_config_type {
    /* KEEL_ERR_INVALID_PARAM unless all of text is a value; then dest keeps its old value. KEEL_ERR_NO_MEMORY for strings only. */
    keel_status_t (*read)(const keel_config_field_t *field, const char *text, void *dest);
    void (*write)(const keel_config_field_t *field, const void *src, FILE *stream);
    void (*release)(void *dest); /* NULL: nothing to release */
    const char *allowed;         /* for messages and documentation; NULL: the names of the field */
} keel_config_type_t;

struct keel_config_field {
    const char *name; /* without the prefix; NULL ends the table */
    const char *initial;
    const char *docs; /* lines separated by '\n' */
    size_t offset;    /* in the structure */
    const keel_config_type_t *type;
    const char *const *names; /* of an enumeration, in the order of its values, NULL at the end */
};

/* A table and the prefix that all its variables share. */
typedef struct keel_config_table {
    const char *prefix;
    const keel_config_field_t *fields;
} keel_config_table_t;

/*
 * Sets all fields of opts, which must be zeroed: from env ("NAME=VALUE" strings, may be NULL; the last one counts), else from
 * the environment, else the default. A refused value leaves the default in place and gets one message that names the
 * variable, the value and the allowed values; the remaining variables are still read. Release opts in each case.
 */
keel_status_t keel_config_table_fill(const keel_config_table_t *table, const keel_message_t *message,
                                     const char *const *env, void *opts);
void keel_config_table_release(const keel_config_table_t *table, void *opts);
/* One "NAME=VALUE" line a variable, each after its documentation if with_docs is set. Output can be read back. */
void keel_config_table_print(const keel_config_table_t *table, const void *opts, int with_docs, FILE *stream);
/* True if the first length bytes of variable, which begin with the prefix, name a field. */
int keel_config_table_has(const keel_config_table_t *table, const char *variable, size_t length);

#endif
