/*
 * A thread of the lowest priority that writes files of sets while the program runs. One job at a
 * time; all calls come from one thread.
 *
 * Safety: the thread reads the memory of a job in chunks into a buffer, under a lock that
 * keel_writer_detach() takes. So the caller never waits for file operations but in
 * keel_writer_join() and keel_writer_destroy(), and the memory may change after
 * keel_writer_detach() has returned. After keel_writer_leave() the thread reads no memory of a job.
 */
#ifndef KEEL_FILES_WRITER_H_
#define KEEL_FILES_WRITER_H_

#include "files/folder.h"
#include "files/manifest.h"

#include <keel/status.h>

typedef struct keel_writer keel_writer_t;

typedef enum {
    KEEL_WRITE_RANK,     /* writes the file of a rank */
    KEEL_WRITE_MANIFEST, /* completes a set */
    /* removes all sets but the newest @a keep complete ones and the one of the job */
    KEEL_WRITE_PRUNE
} keel_write_kind_t;

typedef struct keel_write_job {
    keel_write_kind_t kind;
    keel_set_id_t id;
    uint32_t rank;
    const void *memory; /* RANK: contents, unchanged until the job ends or is detached */
    uint64_t bytes;
    int is_hurried;                  /* RANK: without regard to the rate */
    const keel_manifest_t *manifest; /* MANIFEST: unchanged until the job ends */
    int meets_request;               /* MANIFEST: then removes KEEL_FILES_TAKEN */
    unsigned keep;                   /* PRUNE */
} keel_write_job_t;

typedef struct keel_write_result {
    keel_write_job_t job;
    int error; /* errno; 0: done; ECANCELED: given up */
    /* MANIFEST: errno of KEEL_FILES_TAKEN, PRUNE: of a set, that could not be removed; 0: none */
    int remove_error;
    uint32_t crc;       /* RANK: of the contents */
    double processor_s; /* seconds of a processor that the thread took */
    double synced_s;    /* RANK: seconds from the begin of the job until the file was synced */
} keel_write_result_t;

/* @param folder       the writer's as long as the writer lives; opened again before the file of a
 *                     rank is written
 * @param is_watching  looks for requests and KEEL_FILES_STOP from time to time
 * @param rate         bytes per second that are written, and then read back; 0: no limit */
keel_status_t keel_writer_create(keel_folder_t *folder, int is_watching, uint64_t rate, keel_writer_t **writer_p);
/* Cancels the job and asks the thread to end. @a is_over: the program has ended, so the thread
 * first marks the sets (keel_folder_end()). */
void keel_writer_leave(keel_writer_t *writer, int is_over);
/* After keel_writer_leave(): waits at most so long for the end of the thread. Returns 0 if the
 * thread has not ended, since the file system does not answer. Otherwise the result of a job that
 * was not cancelled can still be taken. */
int keel_writer_join(keel_writer_t *writer, uint64_t within_ns);
/* After keel_writer_join() has returned 0: once the file operation that hangs has ended, the thread
 * begins no further change of the folder, because another job may have the folder then. The library
 * stays in memory after dlclose(), with the code of the thread. */
void keel_writer_give_up(keel_writer_t *writer);
/* Sets that were not marked. Precondition: keel_writer_join() has returned 1. */
keel_folder_end_t keel_writer_folder_end(const keel_writer_t *writer);
/* Ends the thread, waits without a limit, and releases the writer. NULL: no effect. */
void keel_writer_destroy(keel_writer_t *writer);
/* Begins a job. Precondition: the result of the previous job was taken. */
void keel_writer_begin(keel_writer_t *writer, const keel_write_job_t *job);
/* The job goes on without regard to the rate. Without a job no effect. */
void keel_writer_hurry(keel_writer_t *writer);
/* True from keel_writer_begin() until the result is taken. */
int keel_writer_is_busy(const keel_writer_t *writer);
/* Takes the result of an ended job. Returns 0 if no job has ended. */
int keel_writer_take(keel_writer_t *writer, keel_write_result_t *result_p);
/* Call before the memory of a job may change. For a job RANK of a generation before @a used, copies
 * the bytes that the thread has not read yet. Without memory for the copy the job ends with
 * ECANCELED. */
void keel_writer_detach(keel_writer_t *writer, uint32_t used);
/* True if KEEL_FILES_TAKEN existed at the last look. A look renames KEEL_FILES_REQUEST to that name
 * if there is none yet: a request that is made meanwhile stays for a later set. */
int keel_writer_is_requested(const keel_writer_t *writer);
/* True if KEEL_FILES_STOP existed at the last look. */
int keel_writer_is_stopping(const keel_writer_t *writer);
/* Number of successful looks for KEEL_FILES_STOP. The second look from here on begins after this
 * call. */
uint64_t keel_writer_looks(const keel_writer_t *writer);
/* Has the thread make KEEL_FILES_STOP between two file operations. */
void keel_writer_ask_stop(keel_writer_t *writer);
/* After keel_writer_ask_stop(): returns 0 while the file is not made; then *error_p is 0 or the
 * errno. */
int keel_writer_has_asked_stop(keel_writer_t *writer, int *error_p);
/* Removes KEEL_FILES_STOP. */
void keel_writer_end_stop(keel_writer_t *writer);

#endif
