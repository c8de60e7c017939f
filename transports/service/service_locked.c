/* The limit on locked memory. */
#include "service_locked.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CAP_IPC_LOCK_BIT = 14 };

static int may_lock_all(void)
{
    unsigned long long capabilities = 0;
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "CapEff:", 7) == 0) {
            capabilities = strtoull(line + 7, NULL, 16);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return (capabilities >> CAP_IPC_LOCK_BIT) & 1;
}

size_t keel_service_lockable(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || may_lock_all()) {
        return SIZE_MAX;
    }
    return (size_t)limit.rlim_cur;
}
