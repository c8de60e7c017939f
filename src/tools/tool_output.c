/* Closing also returns the errors of network file systems, which accept a write and fail later. */
#include "tools/tool_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tool_output_end(const char *program, int status)
{
    const int has_failed = ferror(stdout);

    errno = 0;
    if (fclose(stdout) == 0 && !has_failed) {
        return status;
    }
    fprintf(stderr, "%s: some output could not be written%s%s\n", program, (errno != 0) ? ": " : "",
            (errno != 0) ? strerror(errno) : "");
    return (status == EXIT_SUCCESS) ? EXIT_FAILURE : status;
}
