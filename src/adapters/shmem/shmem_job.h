/* Joining the job and leaving it, in each of the ways there are. */
#ifndef KEEL_SHMEM_JOB_H_
#define KEEL_SHMEM_JOB_H_

/* does nothing when it has been joined; @a is_promised: the promise, which the environment may give as well */
void keel_shmem_job_join(int is_promised, const char *call);
void keel_shmem_job_leave(const char *call);
/* all of it, from one PE */
void keel_shmem_job_end(int status) __attribute__((noreturn));
/* from the program's start, by whoever started it */
void keel_shmem_job_start_anew(const char *call, const char *why) __attribute__((noreturn));

#endif
