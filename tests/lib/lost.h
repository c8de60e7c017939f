/* The loss of a whole job, in a test program of checkpoints in files. At each point of the list
 * LOST=RANK@STEP.PLACE,... the process waits until a newer checkpoint is complete in KEEL_FILE_DIR;
 * at the last point it then prints "lost here" and waits for its end. */
#ifndef KEEL_TEST_LOST_H_
#define KEEL_TEST_LOST_H_

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the number of complete checkpoints in KEEL_FILE_DIR, and the newest generation of these;
 * 0: none. */
static inline int lost_sets(unsigned long *newest_p)
{
    const char *path = getenv("KEEL_FILE_DIR");
    DIR *dir = (path != NULL) ? opendir(path) : NULL;
    const struct dirent *entry;
    unsigned long generation;
    int found = 0;

    *newest_p = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char manifest[1024];

        snprintf(manifest, sizeof manifest, "%s/%s/manifest", path, entry->d_name);
        if (sscanf(entry->d_name, "set-%lu-", &generation) == 1 && access(manifest, F_OK) == 0) {
            *newest_p = (generation > *newest_p) ? generation : *newest_p;
            found++;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return found;
}

/* @a progress: a call of the program's library that lets the writing advance */
static inline void lose_when_said(long rank, long step, unsigned place, void (*progress)(void))
{
    static unsigned long before;
    const char *lost = getenv("LOST"), *rest;
    unsigned long newest = 0;
    char here[64];
    size_t length;

    snprintf(here, sizeof here, "%ld@%ld.%u", rank, step, place);
    length = strlen(here);
    for (; lost != NULL; lost = rest) {
        rest = strchr(lost, ',');
        rest += rest != NULL;
        if (strncmp(lost, here, length) != 0 || (lost[length] != '\0' && lost[length] != ',')) {
            continue;
        }
        while (lost_sets(&newest), newest <= before) {
            progress();
            usleep(1000);
        }
        before = newest;
        if (rest == NULL) {
            printf("lost here\n");
            fflush(stdout);
        }
        while (rest == NULL) {
            pause();
        }
    }
}

#endif
