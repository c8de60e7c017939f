/*
 * keelrun: runs a job of ranks on emulated nodes of this machine, kills ranks on request and
 * replaces them (usage: options.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <runtime/pmix_events.h>

#include "areas.h"
#include "leftover.h"
#include "master.h"
#include "report.h"

/*
 * Runs the job again on its request, or if a rank died before all had met. A job that requests a
 * restart has computed: its second run has none of the requested kills. If the job has computed
 * nothing, kills not done yet stay.
 */
static int run_job(options_t *options)
{
    stop_t stop = {.signal = 0};
    uint32_t restarts = 0;
    int status;

    for (;;) {
        master_end_t end;
        char text[16];

        snprintf(text, sizeof text, "%u", restarts);
        setenv("KEELRUN_JOB", text, 1);
        if (getrandom(options->secret, sizeof options->secret, 0) != sizeof options->secret) {
            report("no random numbers");
            return KEELRUN_STATUS_FAILED;
        }
        status = master_run(options, &stop, &end);
        /* the environment owns the string now */
        if (end.setting != NULL && putenv(end.setting) == 0) {
            report("the job is started anew with %s", end.setting);
            continue;
        }
        if ((status != KEELRUN_STATUS_AGAIN && !end.is_unmet) || options->rehearse ||
            restarts == options->job_restarts) {
            stop_release(&stop);
            return status;
        }
        restarts++;
        options->kill_count = end.is_unmet ? options->kill_count : 0;
        for (size_t i = 0; i < options->kill_count; i++) {
            options->kills[i].is_due = false; /* a marker has to be written again */
        }
        report("the job is started anew (%u of %u)", restarts, options->job_restarts);
    }
}

int main(int argc, char **argv)
{
    uint64_t start = clock_now_ns();
    options_t options;
    char text[32];
    int status;

    while ((status = open("/dev/null", O_RDWR)) >= 0 && status <= STDERR_FILENO) {
        /* descriptors 0 to 2 exist from here on */
    }
    close(status);
    report_setup(false, start);
    status = options_read(argc, argv, &options);
    if (status == 0 && (ferror(stdout) || fflush(stdout) != 0)) { /* of --help or --version */
        report("standard output cannot be written: %s", strerror(errno));
        return KEELRUN_STATUS_FAILED;
    }
    if (status >= 0) {
        return status;
    }
    report_setup(options.verbose, start);
    snprintf(text, sizeof text, "%llu", (unsigned long long)start);
    setenv(KEELRUN_ENV_START, text, 1);
    options.start_ns = start;
    leftover_clean(false);
    status = areas_prepare(options.timeline) ? run_job(&options) : KEELRUN_STATUS_FAILED;
    areas_remove();
    free(options.path);
    return status;
}
