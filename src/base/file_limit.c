/* Limit of the process (ulimit -n), and open files from /proc. */
#include "base/file_limit.h"

#include <dirent.h>
#include <stdint.h>
#include <sys/resource.h>

static size_t number_of(rlim_t limit)
{
    return (limit == RLIM_INFINITY) ? SIZE_MAX : (size_t)limit;
}

size_t keel_files_limit(void)
{
    struct rlimit limit;

    return (getrlimit(RLIMIT_NOFILE, &limit) == 0) ? number_of(limit.rlim_cur) : SIZE_MAX;
}

size_t keel_files_hard_limit(void)
{
    struct rlimit limit;

    return (getrlimit(RLIMIT_NOFILE, &limit) == 0) ? number_of(limit.rlim_max) : SIZE_MAX;
}

size_t keel_files_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    size_t count = 0;

    if (folder == NULL) {
        return 0;
    }
    while ((entry = readdir(folder)) != NULL) {
        count += (entry->d_name[0] != '.');
    }
    closedir(folder);
    return count - (count > 0); /* without the folder itself */
}
