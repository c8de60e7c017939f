/* Groups of ranks. */
#ifndef KEEL_API_COLLECTIVE_H_
#define KEEL_API_COLLECTIVE_H_

#include "api/context.h"

/* those that the program has not freed: a jump to its restart point leaves them */
void keel_collectives_release(keel_context_h ctx);

#endif
