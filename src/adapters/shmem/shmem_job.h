/* Joins and leaves the job, in each possible way. */
#ifndef KEEL_SHMEM_JOB_H_
#define KEEL_SHMEM_JOB_H_

/* Properties of the program, given at the join. */
typedef struct keel_shmem_joining {
    int has_promise; /* promise of determinism, also settable by the environment */
    int waits;       /* waits for words of memory, also settable by the environment */
    int is_threaded; /* several threads will call */
} keel_shmem_joining_t;

/* Joins the job; does nothing if already joined. */
void keel_shmem_job_join(const keel_shmem_joining_t *joining, const char *call);
void keel_shmem_job_leave(const char *call);
/* True if this process joined a job before and left it. */
int keel_shmem_job_has_left(void);
/* True if values read by the program may steer it. */
int keel_shmem_job_polls(void);
/* Ends the whole job from one PE. */
void keel_shmem_job_end(int status) __attribute__((noreturn));
/* Has the launcher restart the job from the program's start. */
void keel_shmem_job_restart(const char *call, const char *why) __attribute__((noreturn));

#endif
