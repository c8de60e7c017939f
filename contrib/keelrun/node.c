/*
 * The node's loop: messages of the master and ends of ranks. PMIx and the output have threads of
 * their own.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <pmix.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <runtime/pmix_events.h>

#include "channel.h"
#include "netns.h"
#include "output.h"
#include "report.h"
#include "server.h"
#include "spawn.h"

/* time for a dead rank's connection to close while a child of the rank still holds it */
#define NODE_DISCONNECT_MS      1000
#define NODE_DISCONNECT_POLL_MS 1 /* interval of looks at such a connection */

typedef struct child {
    struct child *next;
    uint32_t rank, incarnation;
    pid_t pid;
    bool is_reaped;
    int status;
    uint64_t reaped_ns;
} child_t;

typedef struct node {
    const options_t *options;
    uint32_t index;
    channel_t channel;
    output_t *output;
    int signals, wake;
    int outer; /* socket in the bridge's namespace, with --netns */
    int err;   /* stderr of the job */
    child_t *children;
} node_t;

static void node_send(node_t *node, message_type_t type, const child_t *child, int64_t value, const char *text)
{
    message_t message = {.type = type, .rank = child->rank, .incarnation = child->incarnation, .value = value};

    channel_send(&node->channel, &message, text, strlen(text));
}

/* ---- start ---- */

/* Sets the node's own names and network. Returns NULL, or the failed step with *error_p. */
static const char *node_isolate(node_t *node, int netns_error, int *error_p)
{
    char name[32];

    *error_p = 0;
    server_node_name(node->index, name, sizeof name);
    if (unshare(CLONE_NEWUTS) == 0) { /* without the permission, the names in PMIx are enough */
        if (sethostname(name, strlen(name)) != 0) {
            *error_p = errno;
            return "host name";
        }
    }
    if (unshare(CLONE_NEWIPC) != 0) {
        errno = 0; /* if permitted, System V shared memory of a killed rank ends with the node */
    }
    if (node->options->netns) {
        *error_p = netns_error != 0 ? netns_error : netns_join_bridge(node->index, &node->outer);
        if (*error_p != 0) {
            return "network namespaces";
        }
        setenv("KEEL_INTERFACE", NETNS_DEVICE, 0);
        setenv(KEELRUN_ENV_NETNS, "1", 1);
    }
    return NULL;
}

static void node_on_disconnected(void *arg)
{
    node_t *node = arg;
    uint64_t one = 1;

    if (write(node->wake, &one, sizeof one) < 0) {
        return; /* full: the loop is awake */
    }
}

static void node_on_marker(void *arg, uint32_t rank, size_t kill)
{
    node_t *node = arg;
    child_t child = {.rank = rank};

    node_send(node, MESSAGE_MARKER, &child, (int64_t)kill, "");
}

static void node_on_unwritten(void *arg, int error)
{
    child_t child = {.rank = 0};

    node_send(arg, MESSAGE_UNWRITTEN, &child, error, "");
}

/*
 * Silences PMIx's library, which complains on stderr about each connection cut by a death: deaths
 * are the purpose here.
 */
static bool node_silence_pmix(node_t *node)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    node->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (null < 0 || node->err < 0) {
        return false;
    }
    report_move(node->err);
    if (getenv("KEELRUN_DEBUG") == NULL) {
        dup2(null, STDERR_FILENO);
    }
    close(null);
    return true;
}

static const char *node_open_server(node_t *node, const char *session)
{
    static char failure[600];
    char directory[512];
    server_params_t params = {.options = node->options,
                              .node = node->index,
                              .channel = &node->channel,
                              .directory = directory,
                              .job = strrchr(session, '/') + 1,
                              .on_disconnected = node_on_disconnected,
                              .arg = node};

    snprintf(directory, sizeof directory, "%s/node%u", session, node->index);
    if (mkdir(directory, S_IRWXU) != 0) {
        snprintf(failure, sizeof failure, "mkdir '%.400s': %s", directory, strerror(errno));
        return failure;
    }
    setenv("PMIX_MCA_gds", "hash", 1); /* the default store cannot take a rank twice */
    return server_open(&params);
}

static int node_send_hello(node_t *node, const char *what, int error)
{
    message_t hello = {.type = MESSAGE_HELLO, .value = error, .cookie = (uint64_t)getpid()};

    if (what != NULL && error == 0) {
        hello.value = -1; /* the library has reported the reason */
    }
    channel_send(&node->channel, &hello, what != NULL ? what : "", what != NULL ? strlen(what) : 0);
    return what != NULL ? -1 : 0;
}

/* ---- ranks ---- */

/* Starts a rank: pipes, process, gate. So the master knows the pid before the program runs. */
static void node_start_child(node_t *node, child_t *child, char **env)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, gate, error;

    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        node_send(node, MESSAGE_NOT_STARTED, child, errno, "cannot make a pipe");
        return;
    }
    child->pid = spawn_prepare(node->options->path, node->options->program, env, out[1], err[1], &gate);
    error = errno;
    close(out[1]);
    close(err[1]);
    if (child->pid < 0) {
        node_send(node, MESSAGE_NOT_STARTED, child, error, "cannot make a process");
        return;
    }
    output_add(node->output, child->rank, out[0], STDOUT_FILENO);
    output_add(node->output, child->rank, err[0], node->err);
    node_send(node, MESSAGE_STARTED, child, child->pid, "");
    error = spawn_release(gate);
    if (error != 0) {
        node_send(node, MESSAGE_NOT_STARTED, child, error, "cannot run the program");
    }
}

static void node_start_rank(node_t *node, const message_t *message)
{
    child_t *child = must_allocate(NULL, sizeof *child);
    char **env;

    memset(child, 0, sizeof *child);
    child->rank = message->rank;
    child->incarnation = message->incarnation;
    env = server_expect(child->rank, child->incarnation, (uint32_t)message->value);
    if (env == NULL) {
        node_send(node, MESSAGE_NOT_STARTED, child, EPROTO, "PMIx does not take the rank");
        free(child);
        return;
    }
    child->next = node->children;
    node->children = child;
    node_start_child(node, child, env);
    PMIX_ARGV_FREE(env);
}

/* Reaps what has ended. Returns whether anything had. */
static bool node_reap(node_t *node)
{
    bool has_any = false;

    for (child_t *child = node->children; child != NULL; child = child->next) {
        siginfo_t info = {.si_pid = 0};

        if (child->is_reaped || child->pid <= 0 ||
            waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            continue;
        }
        /* ends its children, too, before its process number is free again */
        kill(-child->pid, SIGKILL);
        waitpid(child->pid, &child->status, 0);
        child->is_reaped = has_any = true;
        child->reaped_ns = clock_now_ns();
    }
    return has_any;
}

/* True for a rank that is gone for PMIx, too. */
static bool node_is_gone(const child_t *child)
{
    return child->is_reaped &&
           (server_is_disconnected(child->rank) || clock_now_ns() - child->reaped_ns > NODE_DISCONNECT_MS * 1000000ull);
}

/* Reports ranks that are gone. Returns whether any that has ended is not yet. A rank may fail
 * because of the death of another one, so a failure waits for the deaths that are known. */
static bool node_report_exits(node_t *node)
{
    bool is_waiting = false, has_death = false;

    for (const child_t *child = node->children; child != NULL; child = child->next) {
        has_death |= child->is_reaped && WIFSIGNALED(child->status) && !node_is_gone(child);
    }

    for (child_t **link = &node->children; *link != NULL;) {
        child_t *child = *link;

        if (!child->is_reaped) {
            link = &child->next;
        } else if (node_is_gone(child) && (!has_death || WIFSIGNALED(child->status) || child->status == 0)) {
            node_send(node, MESSAGE_EXITED, child, child->status, "");
            *link = child->next;
            free(child);
        } else {
            is_waiting = true;
            link = &child->next;
        }
    }
    return is_waiting;
}

static void node_quit(node_t *node)
{
    for (child_t *child = node->children; child != NULL; child = child->next) {
        if (!child->is_reaped && child->pid > 0) {
            kill(-child->pid, SIGKILL);
            kill(child->pid, SIGKILL);
            waitpid(child->pid, NULL, 0);
        }
    }
    output_drain(node->output);
}

/* ---- loop ---- */

/* Obeys the master's messages. Returns false if the node has to leave. */
static bool node_obey(node_t *node)
{
    const char *payload;
    message_t message;
    int got;

    while ((got = channel_receive(&node->channel, &message, &payload)) == 1) {
        switch (message.type) {
        case MESSAGE_START:
            node_start_rank(node, &message);
            break;
        case MESSAGE_DEATH:
        case MESSAGE_JOIN:
        case MESSAGE_CALL:
        case MESSAGE_NEED:
        case MESSAGE_EXIT:
        case MESSAGE_GONE:
            server_deliver(&message, payload);
            break;
        case MESSAGE_CUT:
            netns_cut(node->index, node->outer);
            break;
        case MESSAGE_FENCE_DONE:
            server_fence_done(&message, payload);
            break;
        default:
            return false; /* MESSAGE_QUIT */
        }
    }
    return got == 0;
}

static void node_loop(node_t *node)
{
    bool is_waiting = false;

    do {
        struct pollfd polls[3] = {{.fd = node->channel.fd, .events = POLLIN},
                                  {.fd = node->signals, .events = POLLIN},
                                  {.fd = node->wake, .events = POLLIN}};
        struct signalfd_siginfo info;
        uint64_t ignored;

        poll(polls, 3, is_waiting ? NODE_DISCONNECT_POLL_MS : -1);
        if (read(node->signals, &info, sizeof info) > 0) {
            while (node_reap(node)) {
                /* again: of a rank that failed because of a death, the death is known, too */
            }
        }
        if (read(node->wake, &ignored, sizeof ignored) < 0) {
            ignored = 0;
        }
        is_waiting = node_report_exits(node);
    } while (node_obey(node));
}

static int node_open(node_t *node, const char *session, int netns_error)
{
    sigset_t signals;
    const char *failed = NULL;
    int error = 0;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file of limited size is full: the write reports it */
    if (!node_silence_pmix(node)) {
        return node_send_hello(node, "dup", errno);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    node->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    node->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (node->signals < 0 || node->wake < 0) {
        return node_send_hello(node, node->signals < 0 ? "signalfd" : "eventfd", errno);
    }
    failed = node_isolate(node, netns_error, &error);
    if (failed == NULL) {
        failed = node_open_server(node, session);
    }
    if (failed == NULL) {
        const output_callbacks_t callbacks = {
            .on_marker = node_on_marker, .on_unwritten = node_on_unwritten, .arg = node};

        node->output = output_start(node->options, &callbacks);
        error = node->output == NULL ? errno : 0;
        failed = node->output == NULL ? "pthread_create" : NULL;
    }
    return node_send_hello(node, failed, error);
}

int node_run(const options_t *options, uint32_t index, int fd, const char *session, int netns_error)
{
    pid_t janitor = getppid();
    node_t node;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != janitor) {
        return 1;
    }
    setpgid(0, 0);
    prctl(PR_SET_NAME, "keelrun-node");
    memset(&node, 0, sizeof node);
    node.options = options;
    node.index = index;
    channel_open(&node.channel, fd, true);
    if (node_open(&node, session, netns_error) != 0) {
        return 1;
    }
    node_loop(&node);
    node_quit(&node);
    return 0; /* without PMIx's shutdown, which is not needed and may wait */
}
