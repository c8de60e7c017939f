/* Limit on locked memory, which a transport that registers memory with a device may reach. */
#ifndef KEEL_SERVICE_LOCKED_H_
#define KEEL_SERVICE_LOCKED_H_

#include <stddef.h>

/* bytes that this process may lock; SIZE_MAX: no limit */
size_t keel_service_lockable(void);

#endif
