/* Number of draws of a test. */
#ifndef KEEL_TESTS_UNIT_ROUNDS_H_
#define KEEL_TESTS_UNIT_ROUNDS_H_

/* Returns @a n, or an eighth with the address sanitizer, which takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define UNIT_ROUNDS(n) (((n) + 7) / 8)
#else
#define UNIT_ROUNDS(n) (n)
#endif

#endif
