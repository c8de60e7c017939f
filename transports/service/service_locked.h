/* The limit on locked memory, which a transport that registers memory with a device may meet. */
#ifndef KEEL_SERVICE_LOCKED_H_
#define KEEL_SERVICE_LOCKED_H_

#include <stddef.h>

/* how many bytes this process may lock; SIZE_MAX: any */
size_t keel_service_lockable(void);

#endif
