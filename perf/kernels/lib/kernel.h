/* Common parts of the kernels: clock, hash of memory, a death on request, options and errors. */
#ifndef KEEL_KERNEL_H_
#define KEEL_KERNEL_H_

#include <keel/keel.h>

/* Returns from the calling function if @a _call returns an error. */
#define KERNEL_TRY(_call)                          \
    do {                                           \
        const keel_status_t try_status_ = (_call); \
        if (try_status_ < 0) {                     \
            return try_status_;                    \
        }                                          \
    } while (0)

enum kernel_exit { KERNEL_EXIT_OK = 0, KERNEL_EXIT_WRONG = 1, KERNEL_EXIT_USAGE = 2, KERNEL_EXIT_KEEL = 3 };

typedef enum { KERNEL_FORMAT_TEXT, KERNEL_FORMAT_JSON, KERNEL_FORMAT_CSV } kernel_format_t;

/*
 * "RANK@STEP.PHASE[:stop|:hold]": the place at which a first life kills or stops itself, chosen by
 * a test; or holds until it is dead or learns of a death, so that an external failure, however
 * late, strikes during the run.
 */
typedef struct {
    int is_set;
    int signal; /* 0: hold */
    unsigned long rank, step, phase;
} kernel_death_t;

/* wall clock, so that a replacement on another machine continues its predecessor's time */
double kernel_now_s(void);

/*
 * Starts the clock once all ranks have their memory: after a gsync, stores the time in *started_p,
 * which is protected and initially 0. Does nothing if already started. If a rollback resets
 * *started_p, the clock keeps this process's start.
 */
keel_status_t kernel_clock_start(keel_context_h ctx, double *started_p);
double kernel_clock_stop(void); /* returns the time; called again after a rollback */
/*
 * Bounds of the CPU time reported by a process that only logs. The first begin and the last end
 * count.
 */
void kernel_cpu_begin(void);
void kernel_cpu_end(void);

/* Faults in private memory before the clock starts. */
void kernel_touch(void *memory, size_t bytes);

/*
 * KERNEL_SPOIL=N in the environment flips a bit of 8-byte word N, modulo the number of words, of a
 * result before verification: tests check that the verification fails.
 */
void kernel_spoil(void *result, size_t bytes);

/* Continues @a hash (KERNEL_HASH_START at first) over @a bytes of memory. */
#define KERNEL_HASH_START 0xcbf29ce484222325ull
uint64_t kernel_hash(uint64_t hash, const void *data, size_t bytes);

/* True in one process of the job; for messages before the process has a rank. */
int kernel_is_speaker(void);
/*
 * Usage error: the speaker prints one line on stderr and exits with KERNEL_EXIT_USAGE. The other
 * processes exit with 0: any other first status ends the job, perhaps before the speaker has
 * printed.
 */
int kernel_usage_error(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keel error: one line on stderr; returns KERNEL_EXIT_KEEL. */
int kernel_keel_error(const char *program, const char *what, keel_status_t status);

/*
 * Reports the steps that this process repeated, of a program of @a steps; printed at the end of
 * the process with KERNEL_CPU. A replacement knows the predecessor's progress from --die only.
 */
void kernel_report_repeated(const kernel_death_t *death, uint32_t rank, uint32_t incarnation, uint64_t steps,
                            uint64_t executed);

/* Parses a whole decimal number of at least @a min; 0 on success. */
int kernel_parse_number(const char *text, unsigned long min, unsigned long *value_p);
int kernel_parse_death(const char *text, kernel_death_t *death_p);

/*
 * Kills, stops or holds this process if @a death names this place and the rank is in its first
 * life.
 */
void kernel_die_here(const kernel_death_t *death, keel_context_h ctx, unsigned long step, unsigned long phase);

#endif
