/* Joining the job and leaving it, in each of the ways there are. */
#ifndef KEEL_SHMEM_JOB_H_
#define KEEL_SHMEM_JOB_H_

/* what a program says of itself when it joins */
typedef struct keel_shmem_joining {
    int is_promised; /* the promise, which the environment may give as well */
    int waits;       /* it waits for words of its memory; likewise */
    int are_many;    /* several threads will call */
} keel_shmem_joining_t;

/* does nothing when it has been joined */
void keel_shmem_job_join(const keel_shmem_joining_t *joining, const char *call);
void keel_shmem_job_leave(const char *call);
/* the job that this process joined last; not: it has joined none */
int keel_shmem_job_was_left(void);
/* the program may go on by what it gets */
int keel_shmem_job_polls(void);
/* all of it, from one PE */
void keel_shmem_job_end(int status) __attribute__((noreturn));
/* from the program's start, by whoever started it */
void keel_shmem_job_start_anew(const char *call, const char *why) __attribute__((noreturn));

#endif
