/* Detects a process that no peer has ever answered. A single silent peer is detected by its
 * neighbour; silence of all peers has another cause. */
#ifndef KEEL_SERVICE_SILENCE_H_
#define KEEL_SERVICE_SILENCE_H_

#include <keel/def.h>

typedef struct keel_service_silence {
    int is_counting; /* peers are connected, and none has ever answered */
    /* accumulated time without an answer, and time of the last check */
    uint64_t time_ns, checked_ns;
    int has_answer; /* a peer has answered */
} keel_service_silence_t;

void keel_service_silence_begin(keel_service_silence_t *silence); /* a peer is connected */
void keel_service_silence_end(keel_service_silence_t *silence);   /* a peer has answered */
/* Called in progress(). Returns 1 once, after @a limit_s seconds without an answer during which
 * this process ran. */
int keel_service_silence_is_too_long(keel_service_silence_t *silence, unsigned limit_s);

#endif
