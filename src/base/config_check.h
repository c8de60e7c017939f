/* Checks of the values of KEEL_* variables, for config.c. */
#ifndef KEEL_BASE_CONFIG_CHECK_H_
#define KEEL_BASE_CONFIG_CHECK_H_

#include "base/config.h"

/* Verifies values that the table has read, before conversion. @param spin_s: KEEL_SPIN, seconds.
 * KEEL_ERR_INVALID_PARAM: out of range, with a message for each value. */
keel_status_t keel_config_check(const keel_message_t *message, const keel_config_t *config, double spin_s);

#endif
