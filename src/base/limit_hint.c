/* Limits by errno. Root has no limit of processes. */
#include "base/limit_hint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    FILES_LOW = 64,     /* a node of keelrun, and a rank, open about as many */
    PROCESSES_LOW = 256 /* threads count, and those of other programs of the user */
};

typedef struct hint {
    char *text;
    size_t used;
} hint_t;

static void add(hint_t *hint, const char *what, unsigned long long limit, const char *option)
{
    hint->used += (size_t)snprintf(hint->text + hint->used, KEEL_LIMIT_HINT_MAX - hint->used, "%s%llu %s (ulimit -%s)",
                                   (hint->used == 0) ? "; the limit is " : ", ", limit, what, option);
}

/* does the process have the limit? */
static int has_limit(int which, unsigned long long *limit_p)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return 0;
    }
    *limit_p = limit.rlim_cur;
    return 1;
}

const char *keel_limit_hint(int error, char *text)
{
    const int saved = errno;
    hint_t hint = {.text = text};
    unsigned long long limit;

    text[0] = '\0';
    if ((error == EMFILE || error == 0) && has_limit(RLIMIT_NOFILE, &limit) && (error != 0 || limit < FILES_LOW)) {
        add(&hint, "open files", limit, "n");
    }
    if ((error == ENOMEM || error == EAGAIN || error == 0) && has_limit(RLIMIT_AS, &limit)) {
        add(&hint, "KiB of address space", limit / 1024, "v");
    }
    if ((error == EAGAIN || error == 0) && geteuid() != 0 && has_limit(RLIMIT_NPROC, &limit) &&
        (error != 0 || limit < PROCESSES_LOW)) {
        add(&hint, "processes and threads of the user", limit, "u");
    }
    errno = saved;
    return text;
}
