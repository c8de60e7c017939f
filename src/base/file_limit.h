/* How many files a process may open. */
#ifndef KEEL_BASE_FILE_LIMIT_H_
#define KEEL_BASE_FILE_LIMIT_H_

#include <stddef.h>

size_t keel_files_limit(void); /* the soft limit; SIZE_MAX: none */
size_t keel_files_most(void);  /* what it may be raised to */
size_t keel_files_open(void);  /* now; 0: not known */

#endif
