/*
 * Marks in a rank's output for keelrun: an image was taken here, or an image was restored. keelrun
 * drops the output that a re-execution repeats. The marks are control strings that terminals
 * ignore.
 */
#ifndef KEEL_RUNTIME_PMIX_OUTPUT_H_
#define KEEL_RUNTIME_PMIX_OUTPUT_H_

#include <runtime_ops.h>

#define KEELRUN_ENV_OUTPUT "KEELRUN_OUTPUT" /* "once": keelrun reads marks */

/* followed by s or r, the number in decimal, and the end */
#define KEELRUN_MARK_BEGIN  "\033_keel:"
#define KEELRUN_MARK_END    "\033\\"
#define KEELRUN_MARK_SAVED  's'
#define KEELRUN_MARK_BACK   'r'
#define KEELRUN_MARK_LENGTH 32 /* of one mark, at most */

typedef struct keel_pmix_output {
    /*
     * inodes of keelrun's pipes for standard output and error; 0: another file, or keelrun reads no
     * marks
     */
    uint64_t pipes[2];
} keel_pmix_output_t;

void keel_pmix_output_open(keel_pmix_output_t *output);
void keel_pmix_output_mark(const keel_pmix_output_t *output, keel_mark_t mark, uint32_t number);

#endif
