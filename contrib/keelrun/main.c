/* keelrun: runs a job of ranks on emulated nodes of this machine, kills and replaces them (see options.c for its use). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include <runtime/pmix_events.h>

#include "master.h"
#include "report.h"

/* again as long as it asks for that; what was to be killed belonged to the first run */
static int run_job(options_t *options)
{
    uint32_t restarts = 0;
    int status;

    for (;;) {
        char text[16], *setting;

        snprintf(text, sizeof text, "%u", restarts);
        setenv("KEELRUN_JOB", text, 1);
        if (getrandom(options->secret, sizeof options->secret, 0) != sizeof options->secret) {
            report("no random numbers");
            return KEELRUN_STATUS_FAILED;
        }
        status = master_run(options, &setting);
        if (setting != NULL && putenv(setting) == 0) { /* it is the environment's now */
            report("the job is started anew with %s", setting);
            continue;
        }
        if (status != KEELRUN_STATUS_AGAIN || options->rehearse || restarts == options->job_restarts) {
            return status;
        }
        restarts++;
        options->kill_count = 0;
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
    if (status >= 0) {
        return status;
    }
    report_setup(options.verbose, start);
    snprintf(text, sizeof text, "%llu", (unsigned long long)start);
    setenv(KEELRUN_ENV_START, text, 1);
    options.start_ns = start;
    return run_job(&options);
}
