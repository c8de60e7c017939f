/* Processes of this node, known so that their number cannot be mistaken for that of a later process. */
#ifndef KEEL_RUNTIME_PROCESS_H_
#define KEEL_RUNTIME_PROCESS_H_

#include <stdint.h>

typedef struct keel_process {
    int64_t pid;    /* 0: unknown */
    uint64_t start; /* when it was started, in the kernel's ticks: with pid, its name for good */
} keel_process_t;

/* a thread as the kernel shows it */
typedef struct keel_sight {
    int64_t pid;        /* of its process; 0: it could not be seen */
    char state;         /* of /proc: R, S, D, T (stopped), Z (ended), ... */
    uint64_t lived_ns;  /* since it was started */
    uint64_t ran_ns;    /* of these, on a core, */
    uint64_t waited_ns; /* and waiting for one, until it was last given one; both 0 where the kernel does not count */
} keel_sight_t;

void keel_process_self(keel_process_t *process);
/* nothing of it runs any more */
int keel_process_is_gone(const keel_process_t *process);
/* SIGKILL, which ends a stopped process too, and waits for the end; whether it has ended within @a timeout_ms */
int keel_process_kill(const keel_process_t *process, int timeout_ms);
/* Looks at the thread of that name, or at the first one when it is NULL or there is none; whether there was one of that name. */
int keel_process_see(int64_t pid, const char *thread, keel_sight_t *sight_p);

#endif
