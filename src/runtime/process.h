/* Processes of this node, identified beyond the reuse of a process number. */
#ifndef KEEL_RUNTIME_PROCESS_H_
#define KEEL_RUNTIME_PROCESS_H_

#include <stdint.h>

typedef struct keel_process {
    int64_t pid;    /* 0: unknown */
    uint64_t start; /* start time in the kernel's ticks: unique together with pid */
} keel_process_t;

/* State of a thread in the kernel. */
typedef struct keel_sight {
    int64_t pid;       /* of its process; 0: not readable */
    char state;        /* of /proc: R, S, D, T (stopped), Z (ended), ... */
    uint64_t lived_ns; /* time since the start */
    uint64_t ran_ns;   /* time on a core; 0 if the kernel does not count */
    /* time spent waiting for cores, up to the last grant; 0 if the kernel does not count */
    uint64_t waited_ns;
} keel_sight_t;

void keel_process_self(keel_process_t *process);
/* True if no part of the process runs any more. */
int keel_process_is_gone(const keel_process_t *process);
/*
 * Sends SIGKILL, which also ends a stopped process, and waits. Returns whether the process ended
 * within @a timeout_ms.
 */
int keel_process_kill(const keel_process_t *process, int timeout_ms);
/*
 * Looks at the thread of that name, or at the first thread if @a thread is NULL or not found.
 * Returns whether the name was found.
 */
int keel_process_see(int64_t pid, const char *thread, keel_sight_t *sight_p);

#endif
