/* Processes of this node, known so that their number cannot be mistaken for that of a later process. */
#ifndef KEEL_RUNTIME_PROCESS_H_
#define KEEL_RUNTIME_PROCESS_H_

#include <stdint.h>

typedef struct keel_process {
    int64_t pid;    /* 0: unknown */
    uint64_t start; /* when it was started, in the kernel's ticks: with pid, its name for good */
} keel_process_t;

void keel_process_self(keel_process_t *process);
/* nothing of it runs any more */
int keel_process_is_gone(const keel_process_t *process);
/* SIGKILL, which ends a stopped process too, and waits for the end; whether it has ended within @a timeout_ms */
int keel_process_kill(const keel_process_t *process, int timeout_ms);

#endif
