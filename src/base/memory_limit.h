/* How much memory a process may take. */
#ifndef KEEL_BASE_MEMORY_LIMIT_H_
#define KEEL_BASE_MEMORY_LIMIT_H_

#include <stddef.h>

/*
 * Bytes of memory that the machine has or, where that is less, that the process's control group may take, or one around it
 * (version 2, or the memory controller of version 1). @a root: where /proc and /sys/fs/cgroup are looked for, "" but for tests.
 */
size_t keel_memory_limit(const char *root);
/*
 * The same of memory that nobody has taken, or that the kernel takes back from its caches, and of swap space; SIZE_MAX when nothing
 * is known. An estimate: others take theirs at the same moment.
 */
size_t keel_memory_available(const char *root);
/*
 * The kernel promises more than it has and kills who takes it; so ask first. Others may ask at the same moment and be told the same:
 * so memory is taken part by part. Returns how much of the @a left bytes to take before asking again; 0 when they are more than
 * @a available_p, or nearly. Parts get smaller with what is there: hundreds of processes at once find out before it is used up.
 */
size_t keel_memory_part(size_t left, size_t *available_p);
/* 1: memory that is mapped and not written counts nowhere. 0: the kernel promises no more than it has, or address space is limited */
int keel_memory_is_lazy(const char *root);

#endif
