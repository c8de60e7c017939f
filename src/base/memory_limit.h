/* Memory that a process may use. */
#ifndef KEEL_BASE_MEMORY_LIMIT_H_
#define KEEL_BASE_MEMORY_LIMIT_H_

#include <stddef.h>

/*
 * Bytes of memory of the machine or, if smaller, the limit of the process's control group or a
 * group around it (version 2, or the memory controller of version 1). @a root: prefix of /proc and
 * /sys/fs/cgroup, "" except in tests.
 */
size_t keel_memory_limit(const char *root);
/*
 * The same for unused memory, memory in reclaimable caches, and swap space; SIZE_MAX if unknown. An
 * estimate: other processes allocate at the same time.
 */
size_t keel_memory_available(const char *root);
/*
 * The kernel promises more memory than it has and kills processes that use it, so ask first. Other
 * processes may ask at the same time and get the same answer, so memory is taken part by part.
 * Returns the part of the @a left bytes to take before asking again; 0 if @a left exceeds
 * *available_p, or nearly. Parts shrink with the available memory: hundreds of simultaneous
 * processes notice before memory is exhausted.
 */
size_t keel_memory_part(size_t left, size_t *available_p);
/* 1: mapped memory that is not written counts nowhere. 0: the kernel promises no more than it
 * has, or address space is limited. */
int keel_memory_is_lazy(const char *root);

#endif
