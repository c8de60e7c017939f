/* Names of a report's fields in JSON, for the writer and the reader. */
#ifndef KEEL_PRELOAD_FIELDS_H_
#define KEEL_PRELOAD_FIELDS_H_

#include <stddef.h>

typedef enum {
    PRELOAD_FIELD_COUNT,  /* uint64_t */
    PRELOAD_FIELD_SIGNED, /* int64_t */
    PRELOAD_FIELD_REAL,   /* double */
    PRELOAD_FIELD_TEXT,   /* char[] */
    PRELOAD_FIELD_UID     /* uint64_t, a hexadecimal string: JSON's numbers have 53 bits */
} preload_field_type_t;

typedef struct preload_field {
    const char *name; /* NULL ends a table */
    preload_field_type_t type;
    size_t offset;
    size_t size; /* of a text, with its end */
} preload_field_t;

extern const preload_field_t preload_report_fields[];
extern const preload_field_t preload_target_fields[];

#endif
