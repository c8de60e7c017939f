/* A shared library with a variable used by name. */
#ifndef KEEL_TEST_COUNTING_H_
#define KEEL_TEST_COUNTING_H_

extern int counted;
int count(void); /* increments the variable */

#endif
