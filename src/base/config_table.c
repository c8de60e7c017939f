#include "base/config_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLE_MAX = 64, ALLOWED_MAX = 256 };

/* Value of variable name in "NAME=VALUE" strings. NULL: not present. */
static const char *find(const char *const *env, const char *name)
{
    const size_t length = strlen(name);
    const char *value = NULL;

    for (; (env != NULL) && (*env != NULL); env++) {
        if (!strncmp(*env, name, length) && ((*env)[length] == '=')) {
            value = *env + length + 1;
        }
    }
    return value;
}

/* "[a|b|c]" for an enumeration */
static void describe_allowed(const keel_config_field_t *field, char *text, size_t max)
{
    size_t used = 0;
    unsigned i;

    if (field->type->allowed != NULL) {
        snprintf(text, max, "%s", field->type->allowed);
        return;
    }
    for (i = 0; (field->names[i] != NULL) && (used < max); i++) {
        used += (size_t)snprintf(text + used, max - used, "%c%s", (i == 0) ? '[' : '|', field->names[i]);
    }
    assert(used + 1 < max);
    snprintf(text + used, max - used, "]");
}

static keel_status_t set(const keel_message_t *message, const keel_config_field_t *field, const char *name,
                         const char *value, void *opts)
{
    const keel_status_t status = field->type->read(field, value, (char *)opts + field->offset);
    char allowed[ALLOWED_MAX];

    if (status == KEEL_ERR_INVALID_PARAM) {
        describe_allowed(field, allowed, sizeof allowed);
        keel_error(message, "invalid value for %s: '%s', expected %s", name, value, allowed);
    }
    return status;
}

keel_status_t keel_config_table_fill(const keel_config_table_t *table, const keel_message_t *message,
                                     const char *const *env, void *opts)
{
    const keel_config_field_t *field;
    keel_status_t status, result = KEEL_OK;
    const char *value;
    char name[VARIABLE_MAX];

    for (field = table->fields; field->name != NULL; field++) {
        snprintf(name, sizeof name, "%s%s", table->prefix, field->name);
        status = set(message, field, name, field->initial, opts);
        assert(status != KEEL_ERR_INVALID_PARAM); /* a default refused by its own type */
        value = find(env, name);
        value = (value != NULL) ? value : getenv(name);
        if ((status == KEEL_OK) && (value != NULL)) {
            status = set(message, field, name, value, opts);
        }
        if (status == KEEL_ERR_NO_MEMORY) {
            return status;
        }
        result = (status != KEEL_OK) ? status : result;
    }
    return result;
}

void keel_config_table_release(const keel_config_table_t *table, void *opts)
{
    const keel_config_field_t *field;

    for (field = table->fields; field->name != NULL; field++) {
        if (field->type->release != NULL) {
            field->type->release((char *)opts + field->offset);
        }
    }
}

static void print_docs(const keel_config_field_t *field, FILE *stream)
{
    const char *line = field->docs;
    char allowed[ALLOWED_MAX];
    int length;

    describe_allowed(field, allowed, sizeof allowed);
    fprintf(stream, "#\n");
    for (; *line != '\0'; line += length + (line[length] == '\n')) {
        length = (int)strcspn(line, "\n");
        fprintf(stream, "# %.*s\n", length, line);
    }
    fprintf(stream, "#\n# syntax:    %s\n#\n", allowed);
}

void keel_config_table_print(const keel_config_table_t *table, const void *opts, unsigned flags, FILE *stream)
{
    const keel_config_field_t *field;

    for (field = table->fields; field->name != NULL; field++) {
        if (field->is_hidden && !(flags & KEEL_CONFIG_PRINT_HIDDEN)) {
            continue;
        }
        if (flags & KEEL_CONFIG_PRINT_DOCS) {
            print_docs(field, stream);
        }
        fprintf(stream, "%s%s=", table->prefix, field->name);
        field->type->write(field, (const char *)opts + field->offset, stream);
        fprintf(stream, (flags & KEEL_CONFIG_PRINT_DOCS) ? "\n\n" : "\n");
    }
}

int keel_config_table_has(const keel_config_table_t *table, const char *variable, size_t length)
{
    const size_t prefix = strlen(table->prefix);
    const keel_config_field_t *field;

    for (field = table->fields; field->name != NULL; field++) {
        if ((length == prefix + strlen(field->name)) && !strncmp(variable + prefix, field->name, length - prefix)) {
            return 1;
        }
    }
    return 0;
}
