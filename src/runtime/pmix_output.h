/*
 * Marks in what a rank writes, for keelrun, which drops what is written again: where an image was taken, and that one was restored.
 * They are control strings that terminals leave out.
 */
#ifndef KEEL_RUNTIME_PMIX_OUTPUT_H_
#define KEEL_RUNTIME_PMIX_OUTPUT_H_

#include <runtime.h>

#define KEELRUN_ENV_OUTPUT "KEELRUN_OUTPUT" /* "once": keelrun reads marks */

#define KEELRUN_MARK_BEGIN  "\033_keel:" /* then which, s or r, its number in decimal, and the end */
#define KEELRUN_MARK_END    "\033\\"
#define KEELRUN_MARK_SAVED  's'
#define KEELRUN_MARK_BACK   'r'
#define KEELRUN_MARK_LENGTH 32 /* of one, at most */

typedef struct keel_pmix_output {
    uint64_t pipes[2]; /* standard output and error, as keelrun made them; 0: another file, or keelrun does not ask */
} keel_pmix_output_t;

void keel_pmix_output_open(keel_pmix_output_t *output);
void keel_pmix_output_mark(const keel_pmix_output_t *output, keel_mark_t mark, uint32_t number);

#endif
