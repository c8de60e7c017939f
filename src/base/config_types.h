/* Types of configuration values that UCS has none for: counts, groups, times, sizes and intervals. For config.c's table. */
#ifndef KEEL_BASE_CONFIG_TYPES_H_
#define KEEL_BASE_CONFIG_TYPES_H_

#include "base/config.h"

#include <ucs/config/parser.h>
#include <ucs/sys/string.h>

#include <stddef.h>
#include <stdint.h>

#define KEEL_CONFIG_TIME_MAX   1e10 /* seconds */
#define KEEL_CONFIG_GROUP_AUTO UINT32_MAX

typedef struct keel_config_interval {
    keel_interval_mode_t mode;
    double value;
} keel_config_interval_t;

/* UCS's callbacks: 1: it was read, or written */
int keel_config_read_count(const char *text, void *dest, const void *arg);
int keel_config_read_group(const char *text, void *dest, const void *arg);
int keel_config_write_group(char *text, size_t max, const void *src, const void *arg);
int keel_config_read_interval(const char *text, void *dest, const void *arg);
int keel_config_write_interval(char *text, size_t max, const void *src, const void *arg);
ucs_status_t keel_config_clone_interval(const void *src, void *dest, const void *arg);
int keel_config_read_time(const char *text, void *dest, const void *arg);
int keel_config_read_size(const char *text, void *dest, const void *arg);
int keel_config_write_time(char *text, size_t max, const void *src, const void *arg);

#define KEEL_CONFIG_TYPE_COUNT                                                                          \
    {                                                                                                   \
        keel_config_read_count, ucs_config_sprintf_uint, ucs_config_clone_uint, ucs_config_release_nop, \
            ucs_config_help_generic, "unsigned integer"                                                 \
    }
#define KEEL_CONFIG_TYPE_GROUP                                                                          \
    {                                                                                                   \
        keel_config_read_group, keel_config_write_group, ucs_config_clone_uint, ucs_config_release_nop, \
            ucs_config_help_generic, "unsigned integer or auto"                                         \
    }
#define KEEL_CONFIG_TYPE_TIME                                                                           \
    {                                                                                                   \
        keel_config_read_time, keel_config_write_time, ucs_config_clone_double, ucs_config_release_nop, \
            ucs_config_help_generic, "a time such as 50us, 500ms, 90s, 30m, 12h or 7d"                  \
    }
#define KEEL_CONFIG_TYPE_SIZE                                                                               \
    {                                                                                                       \
        keel_config_read_size, ucs_config_sprintf_memunits, ucs_config_clone_ulong, ucs_config_release_nop, \
            ucs_config_help_generic, "a size such as 64k, 16m or 1.5g, auto or inf"                         \
    }
#define KEEL_CONFIG_TYPE_INTERVAL                                                                                  \
    {                                                                                                              \
        keel_config_read_interval, keel_config_write_interval, keel_config_clone_interval, ucs_config_release_nop, \
            ucs_config_help_generic, "off, daly, <n>gsyncs, or a time such as 250ms, 90s or 2h"                    \
    }

#endif
