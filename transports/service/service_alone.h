/* Whether a process that has peers has ever been answered by one: a peer that is silent is its neighbour's to find out, that all are
 * is no peer's fault. */
#ifndef KEEL_SERVICE_ALONE_H_
#define KEEL_SERVICE_ALONE_H_

#include <keel/def.h>

typedef struct keel_service_alone {
    int is_counting;             /* peers were connected, and none has ever answered, */
    uint64_t time_ns, looked_ns; /* for so long, when last looked */
    int has_met;                 /* a peer has answered */
} keel_service_alone_t;

void keel_service_alone_begin(keel_service_alone_t *alone); /* a peer is connected */
void keel_service_alone_met(keel_service_alone_t *alone);   /* one has answered */
/* in progress(); 1 once, when nobody has answered for @a limit_s seconds in which this process ran */
int keel_service_alone_is_over(keel_service_alone_t *alone, unsigned limit_s);

#endif
