/* What the kernels share: clock, hash of memory, a death on request, and how options and errors are told. */
#ifndef KEEL_KERNEL_H_
#define KEEL_KERNEL_H_

#include <keel/keel.h>

/* Leaves the calling function with the status of @a _call when that is an error. */
#define KERNEL_TRY(_call)                          \
    do {                                           \
        const keel_status_t try_status_ = (_call); \
        if (try_status_ < 0) {                     \
            return try_status_;                    \
        }                                          \
    } while (0)

enum kernel_exit { KERNEL_EXIT_OK = 0, KERNEL_EXIT_WRONG = 1, KERNEL_EXIT_USAGE = 2, KERNEL_EXIT_KEEL = 3 };

typedef enum { KERNEL_FORMAT_TEXT, KERNEL_FORMAT_JSON, KERNEL_FORMAT_CSV } kernel_format_t;

/* "RANK@STEP.PHASE[:stop|:hold]": where a first life kills or stops itself, so that a test can choose the place; or does not go on
 * before it is dead or knows of a death: what somebody else does to the job, however late, comes amid it. */
typedef struct {
    int is_set;
    int signal; /* 0: it holds */
    unsigned long rank, step, phase;
} kernel_death_t;

double kernel_now_s(void); /* wall clock, so that a replacement on another machine goes on from its predecessor's */

/* The clock of what is timed. It starts when all ranks have their memory: a gsync, and the time it ended in *started_p, which
 * is protected and 0 at first; else nothing happens. Where a rollback unsets it, it keeps what it was in this process. */
keel_status_t kernel_clock_start(keel_context_h ctx, double *started_p);
double kernel_clock_stop(void); /* returns the time; called again after a rollback */
/* The same of a process that only logs: bounds of the cpu time that it tells. The first begin and the last end count. */
void kernel_cpu_begin(void);
void kernel_cpu_end(void);

/* Faults private memory in, before the clock. */
void kernel_touch(void *memory, size_t bytes);

/* KERNEL_SPOIL=N in the environment changes a bit of 8-byte word N, modulo their number, of a result that is about to be
 * verified: so that a test can see that this is seen. */
void kernel_spoil(void *result, size_t bytes);

/* Steps that this process did and somebody had done before; with KERNEL_CPU they are told at its end. */
void kernel_tell_again(uint64_t steps);

/* Continues @a hash (KERNEL_HASH_START at first) over @a bytes of memory. */
#define KERNEL_HASH_START 0xcbf29ce484222325ull
uint64_t kernel_hash(uint64_t hash, const void *data, size_t bytes);

/* True in one process of the job; for messages before the process has a rank. */
int kernel_is_speaker(void);
/* Usage error: one line on stderr, by the speaker, and its exit status, KERNEL_EXIT_USAGE. The others end with 0: the first
 * other status ends the job, perhaps before the speaker has spoken. */
int kernel_usage_error(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keel error: one line on stderr; returns KERNEL_EXIT_KEEL. */
int kernel_keel_error(const char *program, const char *what, keel_status_t status);

/* Parses a whole decimal number of at least @a min; 0 on success. */
int kernel_parse_number(const char *text, unsigned long min, unsigned long *value_p);
int kernel_parse_death(const char *text, kernel_death_t *death_p);

/* Kills, stops or holds this process when @a death names this place and this is the rank's first life. */
void kernel_die_here(const kernel_death_t *death, keel_context_h ctx, unsigned long step, unsigned long phase);

#endif
