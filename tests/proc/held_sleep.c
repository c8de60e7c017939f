/*
 * A library to preload into ranks: KEELTEST_HELD=RANK:N makes the N-th usleep() of the first
 * process of RANK wait until the process is killed. A kill by a time or by a line of the output
 * then comes before the end of the job, however late the launcher is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_held(void)
{
    const char *held = getenv("KEELTEST_HELD"), *rank = getenv("PMIX_RANK"), *life = getenv("KEEL_INCARNATION");
    unsigned long victim, number;
    static unsigned long calls;

    return held != NULL && rank != NULL && sscanf(held, "%lu:%lu", &victim, &number) == 2 &&
           victim == strtoul(rank, NULL, 10) && (life == NULL || strcmp(life, "0") == 0) && ++calls == number;
}

int usleep(useconds_t time)
{
    int (*call)(useconds_t) = (int (*)(useconds_t))dlsym(RTLD_NEXT, "usleep");

    if (is_held()) {
        for (;;) {
            pause();
        }
    }
    return call(time);
}
