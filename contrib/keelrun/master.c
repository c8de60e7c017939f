/* The master's loop: waits for nodes, orphans, due kills and signals. */
#include "master.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "janitor.h"
#include "job.h"
#include "rehearsal.h"
#include "report.h"
#include "stop_request.h"

#define MASTER_LEAVE_NS (5 * 1000000000ull) /* time for nodes to leave a failed job */
#define MASTER_STOP_NS  (50 * 1000000ull)   /* between looks for the checkpoint of a stop */

typedef struct master {
    const options_t *options;
    job_t job;
    janitor_t janitor;
    int signals;
    stop_t *stop;
    uint64_t leave_ns;    /* when the end of a failed job is forced; 0: not ending */
    struct pollfd *polls; /* nodes, ranks, signals */
} master_t;

static void master_end_by_signal(master_t *master, int number)
{
    job_end(&master->job, 128 + number, "%s, the job ends", strsignal(number));
    /* also if the job was already ending */
    master->leave_ns = clock_now_ns() + MASTER_LEAVE_NS;
    job_cancel_restart(&master->job, 128 + number);
}

/* Ends a job that was asked to stop, if its checkpoint is complete or did not come in time. */
static void master_check_stop(master_t *master)
{
    stop_state_t state;

    if (!stop_is_awaited(master->stop) || master->job.is_ending || master->job.is_over) {
        return;
    }
    state = stop_look(master->stop);
    if (state == STOP_COMPLETE) {
        job_end(&master->job, KEELRUN_STATUS_STOPPED,
                "the job has stopped, and its checkpoint is in %s: the same command goes on from there",
                getenv("KEEL_FILE_DIR"));
    } else if (state == STOP_FAILED) {
        master_end_by_signal(master, master->stop->signal);
    } else if (clock_now_ns() >= master->stop->until_ns) {
        report("no checkpoint came within %g s (--stop-within)", master->options->stop_within_s);
        master_end_by_signal(master, master->stop->signal);
    }
}

static void master_on_signal(master_t *master)
{
    struct signalfd_siginfo info;

    while (read(master->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGCHLD) {
            if (master->job.is_ending ||
                !stop_request(master->stop, (int)info.ssi_signo, master->options->stop_within_s)) {
                master_end_by_signal(master, (int)info.ssi_signo);
            }
        } else if (waitpid(master->janitor.pid, NULL, WNOHANG) == master->janitor.pid) {
            job_end(&master->job, KEELRUN_STATUS_FAILED, "the janitor process is gone");
        }
    }
}

static uint64_t master_timeout_ns(const master_t *master)
{
    return master->options->timeout_s > 0.0 ? master->options->start_ns + (uint64_t)(master->options->timeout_s * 1e9)
                                            : UINT64_MAX;
}

/* Milliseconds until the next deadline, rounded up; -1: none. */
static int master_wait_ms(const master_t *master)
{
    uint64_t now = clock_now_ns(), next = UINT64_MAX, timeout = master_timeout_ns(master);

    if (master->leave_ns != 0) {
        next = master->leave_ns;
    } else if (!master->job.is_ending) {
        next = job_next_kill_ns(&master->job);
        next = timeout < next ? timeout : next;
        timeout = job_next_fencing_ns(&master->job);
        next = timeout < next ? timeout : next;
        timeout = stop_is_awaited(master->stop) ? clock_now_ns() + MASTER_STOP_NS : next;
        next = timeout < next ? timeout : next;
    }
    if (next == UINT64_MAX) {
        return -1;
    }
    return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

static bool master_has_nodes(const master_t *master)
{
    for (uint32_t node = 0; node < master->options->nodes; node++) {
        if (!master->job.nodes[node].is_lost) {
            return true;
        }
    }
    return false;
}

static void master_poll(master_t *master)
{
    uint32_t nodes = master->options->nodes, ranks = master->options->ranks;

    for (uint32_t i = 0; i < nodes; i++) {
        job_node_t *node = &master->job.nodes[i];
        short events = POLLIN | (channel_has_output(&node->channel) ? POLLOUT : 0);

        master->polls[i] = (struct pollfd){.fd = node->channel.fd, .events = events};
    }
    for (uint32_t i = 0; i < ranks; i++) {
        bool is_orphan = master->job.ranks[i].state == RANK_ORPHANED;

        master->polls[nodes + i] = (struct pollfd){.fd = is_orphan ? master->job.ranks[i].pidfd : -1, .events = POLLIN};
    }
    master->polls[nodes + ranks] = (struct pollfd){.fd = master->signals, .events = POLLIN};
    poll(master->polls, nodes + ranks + 1, master_wait_ms(master));
}

static void master_read_node(master_t *master, uint32_t node)
{
    channel_t *channel = &master->job.nodes[node].channel;
    const char *payload;
    message_t message;
    int got;

    channel_flush(channel);
    while ((got = channel_receive(channel, &message, &payload)) == 1) {
        job_on_message(&master->job, node, &message, payload);
    }
    if (got < 0) {
        job_on_node_lost(&master->job, node);
    }
}

static void master_read_nodes(master_t *master)
{
    for (uint32_t node = 0; node < master->options->nodes; node++) {
        if (!master->job.nodes[node].is_lost) {
            master_read_node(master, node);
        }
    }
}

static bool master_has_orphan_ended(const master_t *master)
{
    for (uint32_t rank = 0; rank < master->options->ranks; rank++) {
        if (master->polls[master->options->nodes + rank].revents != 0) {
            return true;
        }
    }
    return false;
}

static void master_step(master_t *master)
{
    uint32_t nodes = master->options->nodes, ranks = master->options->ranks;

    master_poll(master);
    for (uint32_t node = 0; node < nodes; node++) {
        if (master->polls[node].revents != 0) {
            master_read_node(master, node);
        }
    }
    if (master_has_orphan_ended(master)) {
        master_read_nodes(master);
    }
    while (!master->job.is_ending && job_note_ends(&master->job)) {
        master_read_nodes(master);
        job_take_ends(&master->job);
    }
    for (uint32_t rank = 0; rank < ranks && !master->job.is_ending; rank++) {
        if (master->polls[nodes + rank].revents != 0 && master->job.ranks[rank].state == RANK_ORPHANED) {
            job_on_orphan_ended(&master->job, rank);
        }
    }
    if (master->polls[nodes + ranks].revents != 0) {
        master_on_signal(master);
    }
    job_fire_kills(&master->job);
    job_check_fencing(&master->job);
    master_check_stop(master);
    if (clock_now_ns() >= master_timeout_ns(master)) {
        job_end(&master->job, KEELRUN_STATUS_TIMEOUT, "the job has not ended within %g s", master->options->timeout_s);
    }
    if (master->job.is_ending && master->job.status != 0 && master->leave_ns == 0) {
        master->leave_ns = clock_now_ns() + MASTER_LEAVE_NS;
    }
}

/* Signals are read, not delivered, and are blocked before the first process starts. */
static int master_open_signals(void)
{
    sigset_t signals;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int master_start(master_t *master)
{
    uint32_t nodes = master->options->nodes;
    int *ours = must_allocate(NULL, nodes * sizeof *ours), *theirs = must_allocate(NULL, nodes * sizeof *theirs);
    int status = -1;

    for (uint32_t node = 0; node < nodes; node++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            report_failure("socketpair", errno);
            goto out;
        }
        ours[node] = pair[0];
        theirs[node] = pair[1];
    }
    status = janitor_start(&master->janitor, master->options, theirs, ours);
    if (status == 0) {
        for (uint32_t node = 0; node < nodes; node++) {
            close(theirs[node]);
        }
        job_init(&master->job, master->options, ours);
    }
out:
    free(ours);
    free(theirs);
    return status;
}

int master_run(const options_t *options, stop_t *stop, master_end_t *end_p)
{
    master_t master;
    int status;

    memset(&master, 0, sizeof master);
    master.options = options;
    master.stop = stop;
    *end_p = (master_end_t){.setting = NULL};
    master.signals = master_open_signals();
    if (master.signals < 0) {
        report_failure("signalfd", errno);
        return KEELRUN_STATUS_FAILED;
    }
    if (master_start(&master) != 0) {
        close(master.signals);
        return KEELRUN_STATUS_FAILED;
    }
    master.polls = must_allocate(NULL, (options->nodes + options->ranks + 1) * sizeof *master.polls);
    while (master_has_nodes(&master) && (master.leave_ns == 0 || clock_now_ns() < master.leave_ns)) {
        master_step(&master);
    }
    job_end(&master.job, KEELRUN_STATUS_FAILED, "all nodes are gone");
    if (master.job.status == 0) {
        job_report_unfired(&master.job);
    }
    status = master.job.status == 0 && master.job.is_unwritten ? KEELRUN_STATUS_FAILED : master.job.status;
    *end_p = (master_end_t){.setting = master.job.setting, .is_unmet = master.job.is_unmet};
    if (options->rehearse && end_p->setting == NULL) {
        status = rehearsal_report(options, master.janitor.session, status);
    }
    janitor_finish(&master.janitor);
    close(master.signals);
    report_verbose("the job ended with status %d", status);
    job_release(&master.job);
    free(master.polls);
    return status;
}
