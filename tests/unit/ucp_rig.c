/* Ranks as processes: forked, introduced to each other, killed, restarted. */
#define _GNU_SOURCE
#include "ucp_rig.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static ssize_t message_write(int fd, const rig_message_t *message)
{
    return send(fd, message, offsetof(rig_message_t, blob) + message->length, MSG_NOSIGNAL);
}

/* ---- in a rank ---- */

void rank_fail(const rank_t *rank, const char *condition, const char *file, int line)
{
    fprintf(stderr, "rank %u.%u: %s:%d: %s\n", rank->rank, rank->incarnation, file, line, condition);
    _exit(99);
}

static int on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank_t *rank = arg;

    return rank->on_request(rank, header, header_len, data, data_len);
}

static int on_idle(void *arg, int is_late)
{
    rank_t *rank = arg;

    return (rank->on_idle != NULL) ? rank->on_idle(rank, is_late) : 0;
}

static void on_notify(void *arg)
{
    rank_t *rank = arg;

    if (rank->on_notify != NULL) {
        rank->on_notify(rank);
    }
}

static void on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank_t *rank = arg;

    rank->on_reply(rank, header, header_len, data, data_len);
}

static void on_suspect(void *arg, uint32_t peer)
{
}

void rank_open(rank_t *rank, const char *lanes)
{
    const keel_transport_params_t params = {.rank = rank->rank,
                                            .size = rank->size,
                                            .node = rank->node,
                                            .lanes = lanes,
                                            .tls_served = rank->tls_served,
                                            .spin_us = (rank->spin_us > 0) ? rank->spin_us : 50,
                                            .on_request = on_request,
                                            .on_idle = on_idle,
                                            .on_notify = on_notify,
                                            .tick_us = rank->tick_us,
                                            .on_reply = on_reply,
                                            .on_suspect = on_suspect,
                                            .arg = rank};

    rank->ops = &keel_transport_ucp_ops;
    rank_check(rank, rank->ops->open(&params, &rank->transport) == KEEL_OK);
}

void rank_publish_address(rank_t *rank, const void *extra, size_t extra_len)
{
    rig_message_t message = {.type = RIG_ADDRESS, .rank = rank->rank};
    const void *address;
    size_t length;

    rank_check(rank, rank->ops->address(rank->transport, &address, &length) == KEEL_OK);
    rank_check(rank, length + extra_len <= RIG_BLOB);
    message.value[0] = length;
    message.length = (uint32_t)(length + extra_len);
    memcpy(message.blob, address, length);
    if (extra_len > 0) {
        memcpy(message.blob + length, extra, extra_len);
    }
    rank_check(rank, message_write(rank->control, &message) > 0);
}

void rank_connect(rank_t *rank, const rig_message_t *address)
{
    rank_check(rank, rank->ops->connect(rank->transport, address->rank, address->blob, address->value[0],
                                        &rank->lanes[address->rank]) == KEEL_OK);
}

void rank_join(rank_t *rank, const char *lanes)
{
    rig_message_t message;
    uint32_t connected;

    rank_open(rank, lanes);
    rank_publish_address(rank, NULL, 0);
    for (connected = 1; connected < rank->size; connected++) {
        rank_receive(rank, &message, 1);
        rank_check(rank, message.type == RIG_ADDRESS);
        rank_connect(rank, &message);
    }
}

void rank_publish(rank_t *rank, const void *blob, size_t length)
{
    rig_message_t message = {.type = RIG_BLOB_OF, .rank = rank->rank, .length = (uint32_t)length};

    memcpy(message.blob, blob, length);
    rank_check(rank, message_write(rank->control, &message) > 0);
}

int rank_receive(rank_t *rank, rig_message_t *message, int may_block)
{
    const ssize_t length = recv(rank->control, message, sizeof(*message), may_block ? 0 : MSG_DONTWAIT);

    if (length <= 0) {
        rank_check(rank, !may_block && (length < 0) && ((errno == EAGAIN) || (errno == EINTR)));
        return 0;
    }
    rank->generation = message->generation;
    return 1;
}

void rank_tell(rank_t *rank, rig_type_t type, uint64_t value0, uint64_t value1)
{
    const rig_message_t message = {.type = type, .rank = rank->rank, .value = {value0, value1}};

    rank_check(rank, message_write(rank->control, &message) > 0);
}

void rank_barrier(rank_t *rank)
{
    rig_message_t message;

    rank_tell(rank, RIG_BARRIER, 0, 0);
    rank_receive(rank, &message, 1);
    rank_check(rank, message.type == RIG_BARRIER);
}

void rank_barrier_inside(rank_t *rank)
{
    rig_message_t message;

    rank_tell(rank, RIG_BARRIER, 0, 0);
    while (!rank_receive(rank, &message, 0)) {
        rank_progress(rank);
    }
    rank_check(rank, message.type == RIG_BARRIER);
}

void rank_progress(rank_t *rank)
{
    if (rank->ops->progress(rank->transport) > 0) {
        rank->rounds = 0;
    } else {
        rank->ops->wait(rank->transport, ++rank->rounds, 200, 1);
    }
}

/* UCX looks for devices in /sys, which shows the namespace of its mount. */
static void enter_netns(rank_t *rank, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    rank_check(rank, fd >= 0);
    rank_check(rank, setns(fd, CLONE_NEWNET) == 0);
    rank_check(rank, unshare(CLONE_NEWNS) == 0);
    rank_check(rank, mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    rank_check(rank, mount("sysfs", "/sys", "sysfs", 0, NULL) == 0);
    close(fd);
}

static void run_rank(rig_t *rig, uint32_t which, int control)
{
    rank_t rank = {.rank = which,
                   .size = rig->size,
                   .incarnation = rig->incarnation[which],
                   .seed = rig->seed ^ (((uint64_t)which << 32) + rig->incarnation[which]),
                   .control = control,
                   .arg = rig->arg};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memcpy(rank.node, rig->node, sizeof(rank.node));
    if (rig->netns[which % 2][0] != 0) {
        enter_netns(&rank, rig->netns[which % 2]);
    }
    rig->body(&rank);
    exit(0); /* with the sanitizers' checks at exit */
}

/* ---- in the test ---- */

void rig_init(rig_t *rig, uint32_t size, rank_body_t body, void *arg)
{
    const char *netns = getenv("KEELTEST_NETNS");

    *rig = (rig_t){.size = size, .body = body, .arg = arg};
    if (netns != NULL) {
        ck_assert_int_eq(sscanf(netns, "%63[^:]:%63[^:]", rig->netns[0], rig->netns[1]), 2);
    }
}

void rig_spawn(rig_t *rig, uint32_t rank)
{
    uint32_t other;
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    fflush(NULL);
    rig->pid[rank] = fork();
    ck_assert_int_ge(rig->pid[rank], 0);
    if (rig->pid[rank] == 0) {
        close(pair[0]);
        for (other = 0; other < rig->size; other++) {
            if (rig->control[other] > 0) {
                close(rig->control[other]);
            }
        }
        run_rank(rig, rank, pair[1]);
    }
    close(pair[1]);
    rig->control[rank] = pair[0];
    rig->has_address[rank] = 0;
}

void rig_send(rig_t *rig, uint32_t rank, rig_type_t type, uint32_t about, const rig_message_t *content)
{
    rig_message_t message = {0};

    if (content != NULL) {
        memcpy(&message, content, offsetof(rig_message_t, blob) + content->length);
    }
    message.type = type;
    message.rank = about;
    message.generation = rig->generation;
    ck_assert_msg(message_write(rig->control[rank], &message) > 0, "rank %u does not listen", rank);
}

static void rank_ended(rig_t *rig, uint32_t rank)
{
    int status;

    ck_assert_int_eq(waitpid(rig->pid[rank], &status, 0), rig->pid[rank]);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "rank %u.%u ended with status 0x%x", rank,
                  rig->incarnation[rank], status);
    close(rig->control[rank]);
    rig->control[rank] = 0;
    rig->pid[rank] = 0;
}

static void to_others(rig_t *rig, uint32_t rank, rig_type_t type, const rig_message_t *content)
{
    uint32_t other;

    for (other = 0; other < rig->size; other++) {
        if ((other != rank) && (rig->pid[other] != 0) && ((type == RIG_BLOB_OF) || rig->has_address[other])) {
            rig_send(rig, other, type, rank, content);
        }
    }
}

static void introduce(rig_t *rig, uint32_t rank, const rig_message_t *message)
{
    uint32_t other;

    memcpy(&rig->address[rank], message, offsetof(rig_message_t, blob) + message->length);
    rig->generation++;
    to_others(rig, rank, RIG_ADDRESS, message);
    rig->has_address[rank] = 1;
    for (other = 0; other < rig->size; other++) {
        if ((other != rank) && rig->has_address[other]) {
            rig_send(rig, rank, RIG_ADDRESS, other, &rig->address[other]);
        }
    }
}

static void handle(rig_t *rig, uint32_t rank, const rig_message_t *message)
{
    uint32_t other;

    switch (message->type) {
    case RIG_ADDRESS:
        introduce(rig, rank, message);
        break;
    case RIG_BLOB_OF:
        to_others(rig, rank, RIG_BLOB_OF, message);
        break;
    case RIG_BARRIER:
        if (++rig->at_barrier == rig->size) {
            rig->at_barrier = 0;
            for (other = 0; other < rig->size; other++) {
                rig_send(rig, other, RIG_BARRIER, 0, NULL);
            }
        }
        break;
    case RIG_READY:
        rig->ready[rank] = (uint32_t)message->value[0];
        break;
    case RIG_DRAINED:
        rig->is_drained[rank] = 1;
        break;
    case RIG_NUMBER:
        memcpy(rig->number[rank], message->value, sizeof(rig->number[rank]));
        rig->has_number[rank] = 1;
        break;
    default:
        ck_abort_msg("rank %u sent %u", rank, message->type);
    }
}

static void pump(rig_t *rig, int timeout_ms)
{
    struct pollfd fds[RIG_RANKS];
    static rig_message_t message;
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        fds[rank] = (struct pollfd){.fd = (rig->pid[rank] != 0) ? rig->control[rank] : -1, .events = POLLIN};
    }
    if (poll(fds, rig->size, timeout_ms) <= 0) {
        return;
    }
    for (rank = 0; rank < rig->size; rank++) {
        if (fds[rank].revents & POLLIN) {
            if (recv(rig->control[rank], &message, sizeof(message), 0) > 0) {
                handle(rig, rank, &message);
                continue;
            }
        }
        if (fds[rank].revents != 0) {
            rank_ended(rig, rank);
        }
    }
}

void rig_run_until(rig_t *rig, int (*is_done)(rig_t *rig))
{
    const uint64_t deadline = now_ms() + RIG_DEADLINE_S * 1000;

    while (!is_done(rig)) {
        pump(rig, 100);
        ck_assert_msg(now_ms() < deadline, "the ranks hang");
    }
}

void rig_run_ms(rig_t *rig, unsigned ms)
{
    const uint64_t deadline = now_ms() + ms;

    do {
        pump(rig, 1);
    } while (now_ms() < deadline);
}

void rig_silence(rig_t *rig, uint32_t rank)
{
    ck_assert_int_ne(rig->pid[rank], 0);
    kill(rig->pid[rank], SIGKILL);
    ck_assert_int_eq(waitpid(rig->pid[rank], NULL, 0), rig->pid[rank]);
    close(rig->control[rank]);
    rig->control[rank] = 0;
    rig->pid[rank] = 0;
}

void rig_kill(rig_t *rig, uint32_t rank)
{
    rig_silence(rig, rank);
    rig->generation++;
    rig->incarnation[rank]++;
    if (rig->has_address[rank]) {
        rig->has_address[rank] = 0;
        to_others(rig, rank, RIG_DEATH, NULL);
    }
}

static int all_ended(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        if (rig->pid[rank] != 0) {
            return 0;
        }
    }
    return 1;
}

void rig_finish(rig_t *rig)
{
    rig_run_until(rig, all_ended);
}

void rig_run(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        rig_spawn(rig, rank);
    }
    rig_finish(rig);
}
