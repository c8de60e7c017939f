/*
 * Intervals of checkpoints on two levels: in memory with parity, and one of several also in files.
 *
 * The scheme is that of N. Vaidya, "A case for two-level recovery schemes" (IEEE Transactions on
 * Computers 47(6), 1998), and of A. Moody, G. Bronevetsky, K. Mohror and B. de Supinski, "Design,
 * modeling, and evaluation of a scalable multi-level checkpointing system" (SC 2010). Here the
 * files are written while the program runs.
 *
 * The process:
 * - Failures are two independent Poisson processes: those that parity covers, of rate l1, and those
 *   beyond parity, of rate l2. L = l1 + l2.
 * - A checkpoint of cost c1 follows each interval tau of work: a segment s = tau + c1. A covered
 *   failure takes the job back to the start of the segment, after a recovery r1. Another covered
 *   failure repeats the recovery.
 * - A set of files begins with each k-th checkpoint and is complete after D. The writing delays the
 *   program by c2 in the next segment. Covered failures do not end the writing.
 * - A failure beyond parity takes the job back to the newest complete set, after a restart r2. Any
 *   failure repeats the restart.
 * - D <= k s: a set is complete before the next one begins.
 *
 * The expected time of k segments. Without failures beyond parity a segment takes X, a random time.
 * It ends before the next failure beyond parity with the probability E[exp(-l2 X)] = exp(-h(s)),
 *     h(s) = ln(1 + l2 (exp(L s) - 1) / (l2 + l1 exp(-L r1))),
 * by the recursion over the first failure. Until a job with a complete set has done k segments or
 * has met a failure beyond parity, (1 - exp(-k h)) / l2 pass on average. The recursion over that
 * failure, with the restart E2 = (exp(L r2) - 1) / L and the work of the previous k segments if it
 * comes within D, gives the time from one k-th checkpoint to the next:
 *     W = exp(l2 D) (1 / l2 + E2) (exp(k h(s)) - exp(-h(s + c2) + h(s))).
 * For l2 = 0: k - 1 times exp(l1 r1) (exp(l1 s) - 1) / l1, and the same of s + c2.
 *
 * W / (k tau) is the time per second of work. r2 is a factor of W, so the best tau and k do not
 * depend on it. For a given tau the best real k is x / h, where (1 - x) exp(x) = exp(h(s) - h(s +
 * c2)).
 */
#ifndef KEEL_CKPT_TWO_LEVEL_H_
#define KEEL_CKPT_TWO_LEVEL_H_

#include <stdint.h>

#define KEEL_TWO_LEVEL_CHECKPOINTS_MAX (1u << 20)

/* All times in seconds. At least one of the mean times between failures is finite. */
typedef struct keel_two_level {
    double covered_mtbf_s; /* 1 / l1; INFINITY: no failures that parity covers */
    double beyond_mtbf_s;  /* 1 / l2; INFINITY: no failures beyond parity */
    double cost_s;         /* c1: the program stands still for a checkpoint, above 0 */
    double recovery_s;     /* r1 */
    double set_cost_s;     /* c2: the writing of a set delays the program */
    double set_time_s;     /* D: from the checkpoint to the complete set */
    double restart_s;      /* r2 */
    double least_s;        /* least interval for keel_two_level_best() */
} keel_two_level_t;

/* Expected time per second of work, at least 1. @a checkpoints: k, a real number of 1 or more.
 * INFINITY if the job makes no progress. */
double keel_two_level_time(const keel_two_level_t *params, double interval_s, double checkpoints);
/* The number of checkpoints from one set to the next with the least time, for a given interval. */
uint32_t keel_two_level_checkpoints(const keel_two_level_t *params, double interval_s);
/* The interval and the number of checkpoints with the least time. */
void keel_two_level_best(const keel_two_level_t *params, double *interval_p, uint32_t *checkpoints_p);

#endif
