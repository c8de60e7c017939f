/* A shared library with a variable that programs use by its name. */
#ifndef KEEL_TEST_COUNTING_H_
#define KEEL_TEST_COUNTING_H_

extern int counted;
int count(void); /* one more */

#endif
