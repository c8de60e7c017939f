/* Types and macros shared by all public headers. */
#ifndef KEEL_DEF_H_
#define KEEL_DEF_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define KEEL_API __attribute__((visibility("default")))
#else
#define KEEL_API
#endif

#define KEEL_BIT(_i) (1ull << (_i))

typedef struct keel_context *keel_context_h; /**< one process of a job */
typedef struct keel_win *keel_win_h;         /**< memory that all ranks may access */
typedef struct keel_req *keel_req_h;         /**< an outstanding non-blocking access */

#endif
