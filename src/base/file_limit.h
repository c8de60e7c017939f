/* Limit on the open files of a process. */
#ifndef KEEL_BASE_FILE_LIMIT_H_
#define KEEL_BASE_FILE_LIMIT_H_

#include <stddef.h>

size_t keel_files_limit(void);      /* soft limit; SIZE_MAX: none */
size_t keel_files_hard_limit(void); /* maximum soft limit */
size_t keel_files_open(void);       /* currently open files; 0: unknown */

#endif
