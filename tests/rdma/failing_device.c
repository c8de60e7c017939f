/*
 * A device that fails during a job, as hardware does: preloaded in front of libibverbs. Once the
 * file FAILING_FILE exists, the devices opened by processes of the emulated node FAILING_NODE
 * announce a fatal error, accept requests and complete none. Soft-RoCE has no such failure: a
 * device exists as long as a process uses it. With FAILING_MEMORY set the devices go on, but the
 * processes' service threads can register no more memory.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CONTEXTS = 8, LOOK_US = 20000 };

static atomic_int has_failed;
static struct {
    int events, file; /* the context's event file, and the file watched in its place */
} contexts[CONTEXTS];
static atomic_uint count;
static int (*real_post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
static int (*real_poll_cq)(struct ibv_cq *, int, struct ibv_wc *);

/* Finds a function of the next library. dlsym() returns a data pointer, so the function pointer is
 * copied. */
static void find(const char *name, void *function_p)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL) {
        abort();
    }
    memcpy(function_p, &found, sizeof(found));
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    return atomic_load(&has_failed) ? 0 : real_post_send(qp, request, bad);
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
    return atomic_load(&has_failed) ? 0 : real_poll_cq(cq, max, wcs);
}

static void *look(void *arg)
{
    const uint64_t one = 1;

    while (access(arg, F_OK) != 0) {
        usleep(LOOK_US);
    }
    atomic_store(&has_failed, 1);
    for (unsigned i = 0; i < atomic_load(&count); i++) {
        (void)!write(contexts[i].file, &one, sizeof(one));
    }
    return NULL;
}

static int is_of_failing_node(void)
{
    const char *node = getenv("KEELRUN_NODE"), *failing = getenv("FAILING_NODE");

    return node != NULL && failing != NULL && strcmp(node, failing) == 0 && getenv("FAILING_FILE") != NULL;
}

static int is_to_fail(void)
{
    return is_of_failing_node() && getenv("FAILING_MEMORY") == NULL;
}

static int has_memory(void)
{
    char name[16] = "";

    if (!is_of_failing_node() || is_to_fail() || access(getenv("FAILING_FILE"), F_OK) != 0) {
        return 1;
    }
    (void)pthread_getname_np(pthread_self(), name, sizeof(name));
    errno = ENOMEM;
    return strcmp(name, "keel-service") != 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *base, size_t bytes, int access)
{
    struct ibv_mr *(*real)(struct ibv_pd *, void *, size_t, int);

    find("ibv_reg_mr", &real);
    return has_memory() ? real(pd, base, bytes, access) : NULL;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *(*real)(struct ibv_device *), *context;
    const unsigned place = atomic_load(&count);
    pthread_t thread;

    find("ibv_open_device", &real);
    context = real(device);
    if (context == NULL || !is_to_fail() || place == CONTEXTS) {
        return context;
    }
    contexts[place].events = context->async_fd;
    contexts[place].file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    real_post_send = context->ops.post_send;
    real_poll_cq = context->ops.poll_cq;
    context->ops.post_send = post_send;
    context->ops.poll_cq = poll_cq;
    atomic_store(&count, place + 1);
    if (place == 0 && pthread_create(&thread, NULL, look, getenv("FAILING_FILE")) == 0) {
        pthread_detach(thread);
    }
    return context;
}

static int watched_for(int file)
{
    for (unsigned i = 0; i < atomic_load(&count); i++) {
        if (contexts[i].events == file) {
            return contexts[i].file;
        }
    }
    return file;
}

/* Another file may get the same number next. */
int ibv_close_device(struct ibv_context *context)
{
    int (*real)(struct ibv_context *);

    for (unsigned i = 0; i < atomic_load(&count); i++) {
        if (contexts[i].events == context->async_fd) {
            contexts[i].events = -1;
        }
    }
    find("ibv_close_device", &real);
    return real(context);
}

int epoll_ctl(int epoll, int operation, int file, struct epoll_event *event)
{
    int (*real)(int, int, int, struct epoll_event *);

    find("epoll_ctl", &real);
    return real(epoll, operation, watched_for(file), event);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    int (*real)(struct ibv_context *, struct ibv_async_event *);
    const int file = watched_for(context->async_fd);
    uint64_t number;

    if (file != context->async_fd && read(file, &number, sizeof(number)) == sizeof(number)) {
        *event = (struct ibv_async_event){.event_type = IBV_EVENT_DEVICE_FATAL};
        return 0;
    }
    find("ibv_get_async_event", &real);
    return real(context, event);
}

/* An event of a whole device has no waiter. */
void ibv_ack_async_event(struct ibv_async_event *event)
{
    void (*real)(struct ibv_async_event *);

    if (event->event_type != IBV_EVENT_DEVICE_FATAL) {
        find("ibv_ack_async_event", &real);
        real(event);
    }
}
