/* Writes marks to standard output and error while these are still keelrun's pipes. */
#include "pmix_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The inode of a pipe, as its identity; 0: fd is no pipe. */
static uint64_t pipe_of(int fd)
{
    struct stat about;

    return (fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode)) ? (uint64_t)about.st_ino : 0;
}

void keel_pmix_output_open(keel_pmix_output_t *output)
{
    const char *how = getenv(KEELRUN_ENV_OUTPUT);

    for (int i = 0; i < 2; i++) {
        output->pipes[i] = (how != NULL && strcmp(how, "once") == 0) ? pipe_of(STDOUT_FILENO + i) : 0;
    }
}

void keel_pmix_output_mark(const keel_pmix_output_t *output, keel_mark_t mark, uint32_t number)
{
    char text[KEELRUN_MARK_LENGTH + 1];
    const int length = snprintf(text, sizeof(text), KEELRUN_MARK_BEGIN "%c%u" KEELRUN_MARK_END,
                                (mark == KEEL_MARK_SAVED) ? KEELRUN_MARK_SAVED : KEELRUN_MARK_BACK, number);

    (void)fflush(NULL); /* output from before an image is not repeated after the image */
    for (int i = 0; i < 2; i++) {
        if (output->pipes[i] != 0 && pipe_of(STDOUT_FILENO + i) == output->pipes[i]) {
            /* in one write: shorter than PIPE_BUF */
            const ssize_t written = write(STDOUT_FILENO + i, text, (size_t)length);

            (void)written;
        }
    }
}
