/* The thread that reads the ranks' pipes and writes lines. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "channel.h"

#define OUTPUT_LINE_MAX 65536 /* a longer line goes out in pieces */
#define OUTPUT_TAG_MAX  16

typedef struct stream {
    uint32_t rank;
    int fd, target;
    char *data;
    size_t length;
} stream_t;

struct output {
    const options_t *options;
    output_marker_cb_t on_marker;
    void *arg;
    pthread_t thread;
    int wake;
    atomic_bool is_draining;
    bool *marker_seen;    /* by index of the kill; the thread's */
    pthread_mutex_t lock; /* of streams and count: the node adds, the thread alone removes and reads */
    stream_t *streams;
    size_t count;
};

static void output_write(int fd, const char *data, size_t length)
{
    while (length != 0) {
        ssize_t count = write(fd, data, length);

        if (count < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            poll(&room, 1, -1);
            continue;
        }
        if (count < 0 && errno != EINTR) {
            return; /* nobody listens */
        }
        if (count > 0) {
            data += count;
            length -= (size_t)count;
        }
    }
}

static void output_search(output_t *output, const stream_t *stream, const char *line, size_t length)
{
    for (size_t i = 0; i < output->options->kill_count; i++) {
        const kill_plan_t *plan = &output->options->kills[i];

        if (plan->marker != NULL && (plan->is_anyones || plan->victim == stream->rank) && !output->marker_seen[i] &&
            memmem(line, length, plan->marker, strlen(plan->marker)) != NULL) {
            output->marker_seen[i] = true;
            output->on_marker(output->arg, stream->rank, i);
            return; /* one line asks for one kill */
        }
    }
}

/* Whole lines in writes of at most PIPE_BUF, which the kernel does not mix with those of other nodes. */
static void output_lines(output_t *output, stream_t *stream, size_t end)
{
    char buffer[PIPE_BUF], tag[OUTPUT_TAG_MAX] = "";
    size_t used = 0, start = 0, tag_length;

    if (output->options->tag) {
        snprintf(tag, sizeof tag, "[%u] ", stream->rank);
    }
    tag_length = strlen(tag);
    while (start < end) {
        const char *line = stream->data + start;
        const char *newline = memchr(line, '\n', end - start);
        size_t length = newline != NULL ? (size_t)(newline - line) + 1 : end - start;

        if (used + tag_length + length > sizeof buffer) {
            output_write(stream->target, buffer, used);
            used = 0;
        }
        memcpy(buffer + used, tag, tag_length);
        used += tag_length;
        if (used + length > sizeof buffer) {
            output_write(stream->target, buffer, used);
            output_write(stream->target, line, length);
            used = 0;
        } else {
            memcpy(buffer + used, line, length);
            used += length;
        }
        output_search(output, stream, line, length);
        start += length;
    }
    output_write(stream->target, buffer, used);
    stream->length -= end;
    memmove(stream->data, stream->data + end, stream->length);
}

/* false at the end of the stream, or when it has nothing now */
static bool output_read(output_t *output, stream_t *stream, bool *at_end_p)
{
    ssize_t count = read(stream->fd, stream->data + stream->length, OUTPUT_LINE_MAX - stream->length);

    *at_end_p = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (count > 0) {
        const char *last;

        stream->length += (size_t)count;
        last = memrchr(stream->data, '\n', stream->length);
        if (last != NULL) {
            output_lines(output, stream, (size_t)(last - stream->data) + 1);
        } else if (stream->length == OUTPUT_LINE_MAX) {
            output_lines(output, stream, stream->length);
        }
    }
    return count > 0;
}

static void output_close(output_t *output, stream_t *stream)
{
    if (stream->length != 0) { /* a last line without its end */
        if (output->options->tag) {
            stream->data[stream->length < OUTPUT_LINE_MAX ? stream->length++ : OUTPUT_LINE_MAX - 1] = '\n';
        }
        output_lines(output, stream, stream->length);
    }
    close(stream->fd);
    free(stream->data);
    stream->fd = -1;
}

static void output_remove_closed(output_t *output)
{
    size_t kept = 0;

    pthread_mutex_lock(&output->lock);
    for (size_t i = 0; i < output->count; i++) {
        if (output->streams[i].fd >= 0) {
            output->streams[kept++] = output->streams[i];
        }
    }
    output->count = kept;
    pthread_mutex_unlock(&output->lock);
}

/* reads each stream while it has something, the last time when all writers are gone */
static void output_pass(output_t *output, size_t count, bool is_last)
{
    for (size_t i = 0; i < count; i++) {
        stream_t stream;
        bool at_end = false;

        pthread_mutex_lock(&output->lock); /* the array may move while it is added to */
        stream = output->streams[i];
        pthread_mutex_unlock(&output->lock);
        while (output_read(output, &stream, &at_end) && is_last) {
        }
        if (at_end || is_last) {
            output_close(output, &stream);
        }
        pthread_mutex_lock(&output->lock);
        output->streams[i] = stream;
        pthread_mutex_unlock(&output->lock);
    }
    output_remove_closed(output);
}

static void *output_run(void *arg)
{
    output_t *output = arg;
    struct pollfd *polls = NULL;
    bool is_last = false;

    while (!is_last) {
        size_t count;
        uint64_t ignored;

        is_last = atomic_load(&output->is_draining);
        pthread_mutex_lock(&output->lock);
        count = output->count;
        polls = must_allocate(polls, (count + 1) * sizeof *polls);
        for (size_t i = 0; i < count; i++) {
            polls[i] = (struct pollfd){.fd = output->streams[i].fd, .events = POLLIN};
        }
        pthread_mutex_unlock(&output->lock);
        polls[count] = (struct pollfd){.fd = output->wake, .events = POLLIN};
        if (!is_last && poll(polls, count + 1, -1) > 0 && polls[count].revents != 0) {
            ignored = (uint64_t)read(output->wake, &ignored, sizeof ignored);
        }
        output_pass(output, count, is_last);
    }
    free(polls);
    return NULL;
}

output_t *output_start(const options_t *options, output_marker_cb_t on_marker, void *arg)
{
    output_t *output = must_allocate(NULL, sizeof *output);

    memset(output, 0, sizeof *output);
    output->options = options;
    output->on_marker = on_marker;
    output->arg = arg;
    output->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output->marker_seen = must_allocate(NULL, options->kill_count * sizeof(bool));
    memset(output->marker_seen, 0, options->kill_count * sizeof(bool));
    pthread_mutex_init(&output->lock, NULL);
    if (pthread_create(&output->thread, NULL, output_run, output) != 0) {
        free(output->marker_seen);
        free(output);
        return NULL;
    }
    return output;
}

static void output_wake(output_t *output)
{
    uint64_t one = 1;

    if (write(output->wake, &one, sizeof one) < 0) {
        return; /* full: it is awake */
    }
}

void output_add(output_t *output, uint32_t rank, int fd, int target)
{
    stream_t stream = {.rank = rank, .fd = fd, .target = target, .data = must_allocate(NULL, OUTPUT_LINE_MAX)};

    fcntl(fd, F_SETFL, O_NONBLOCK);
    pthread_mutex_lock(&output->lock);
    output->streams = must_allocate(output->streams, (output->count + 1) * sizeof stream);
    output->streams[output->count++] = stream;
    pthread_mutex_unlock(&output->lock);
    output_wake(output);
}

void output_drain(output_t *output)
{
    atomic_store(&output->is_draining, true);
    output_wake(output);
    pthread_join(output->thread, NULL);
    free(output->marker_seen);
    free(output->streams);
    free(output);
}
