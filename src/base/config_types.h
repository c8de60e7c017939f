/* Types of configuration values for a table of settings. Each type reads the whole text or
 * refuses it. */
#ifndef KEEL_BASE_CONFIG_TYPES_H_
#define KEEL_BASE_CONFIG_TYPES_H_

#include "base/config.h"
#include "base/config_table.h"

#include <stdint.h>

#define KEEL_CONFIG_TIME_MAX   1e10 /* seconds */
#define KEEL_CONFIG_GROUP_AUTO UINT32_MAX
#define KEEL_CONFIG_SIZE_INF   SIZE_MAX
#define KEEL_CONFIG_SIZE_AUTO  (SIZE_MAX - 1)

typedef struct keel_config_interval {
    keel_interval_mode_t mode;
    double value;
} keel_config_interval_t;

extern const keel_config_type_t keel_config_enum;   /* an enum of C; in either case of letters */
extern const keel_config_type_t keel_config_bool;   /* int: 0 or 1 */
extern const keel_config_type_t keel_config_string; /* char *, allocated */
extern const keel_config_type_t keel_config_count;  /* unsigned */
extern const keel_config_type_t keel_config_group;  /* unsigned, or KEEL_CONFIG_GROUP_AUTO */
extern const keel_config_type_t keel_config_time;   /* double, seconds */
/* size_t, bytes, or KEEL_CONFIG_SIZE_AUTO or KEEL_CONFIG_SIZE_INF */
extern const keel_config_type_t keel_config_size;
extern const keel_config_type_t keel_config_interval; /* keel_config_interval_t */
extern const keel_config_type_t keel_config_files;    /* keel_file_interval_t */

/* Type, and names, of a field. */
#define KEEL_CONFIG_TYPE_ENUM(_names) .type = &keel_config_enum, .names = (_names)
#define KEEL_CONFIG_TYPE_BOOL         .type = &keel_config_bool
#define KEEL_CONFIG_TYPE_STRING       .type = &keel_config_string
#define KEEL_CONFIG_TYPE_COUNT        .type = &keel_config_count
#define KEEL_CONFIG_TYPE_GROUP        .type = &keel_config_group
#define KEEL_CONFIG_TYPE_TIME         .type = &keel_config_time
#define KEEL_CONFIG_TYPE_SIZE         .type = &keel_config_size
#define KEEL_CONFIG_TYPE_INTERVAL     .type = &keel_config_interval
#define KEEL_CONFIG_TYPE_FILES        .type = &keel_config_files

#endif
