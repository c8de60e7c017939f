/* A shared library of a program. */
#include "counting.h"

int counted;

int count(void)
{
    return ++counted;
}
