/* The statuses of Keel's calls. Negative values are errors. */
#ifndef KEEL_STATUS_H_
#define KEEL_STATUS_H_

#include <keel/def.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    KEEL_OK = 0,                 /**< done */
    KEEL_INPROGRESS = 1,         /**< started; a request shows completion */
    KEEL_ERR_NO_MEMORY = -1,     /**< an allocation failed */
    KEEL_ERR_INVALID_PARAM = -2, /**< an argument is wrong; a message names it */
    KEEL_ERR_RANGE = -3,         /**< the access leaves the window */
    KEEL_ERR_RANK = -4,          /**< no such rank */
    KEEL_ERR_ALIGNMENT = -5,     /**< an atomic's target is not aligned to its size */
    KEEL_ERR_UNSUPPORTED = -6,   /**< operation or size that Keel does not offer */
    KEEL_ERR_BUDGET = -7,        /**< a configured budget is too small */
    KEEL_ERR_GROUPS = -8,        /**< groups cannot be formed on these nodes */
    KEEL_ERR_STATE = -9,         /**< not allowed at this moment (order of calls) */
    KEEL_ERR_CORRUPT = -10,      /**< length, version or crc of remote bytes is wrong */
    KEEL_ERR_UNREACHABLE = -11,  /**< a peer cannot be reached */
    KEEL_ERR_ROLLED_BACK = -12,  /**< the job rolls back: call keel_restore() */
    KEEL_ERR_CATASTROPHIC = -13, /**< more deaths in a group than parity covers */
    KEEL_ERR_RUNTIME = -14,      /**< the launcher or its library failed */
    KEEL_ERR_TRANSPORT = -15,    /**< the network library failed */
    KEEL_ERR_IO = -16,           /**< a system call failed */
    KEEL_ERR_CHECKSUM = -18,     /**< the job is over; this rank held parity */
    KEEL_ERR_ISOLATED = -19,     /**< cut off from the job, or declared dead: must end */
    KEEL_ERR_LIMIT = -20,        /**< a counter has reached its end */
    KEEL_ERR_LOST = -21,         /**< no copy of some data in a store is left */
    KEEL_ERR_LAST = -22
} keel_status_t;

/** Constant lower-case text of @a status; never NULL. Thread safe. */
KEEL_API const char *keel_status_string(keel_status_t status);

#ifdef __cplusplus
}
#endif
#endif
