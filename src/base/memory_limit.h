/* How much memory a process may take. */
#ifndef KEEL_BASE_MEMORY_LIMIT_H_
#define KEEL_BASE_MEMORY_LIMIT_H_

#include <stddef.h>

/*
 * Bytes of memory that the machine has or, where that is less, that the process's control group may take, or one around it
 * (version 2, or the memory controller of version 1). @a root: where /proc and /sys/fs/cgroup are looked for, "" but for tests.
 */
size_t keel_memory_limit(const char *root);
/* 1: memory that is mapped and not written counts nowhere. 0: the kernel promises no more than it has, or address space is limited */
int keel_memory_is_lazy(const char *root);

#endif
