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
#include "once.h"
#include "report.h"

#define OUTPUT_LINE_MAX 65536 /* a longer line is written in several pieces */
#define OUTPUT_TAG_MAX  16

/* The output record of a rank and target, shared by its successive processes. */
typedef struct record {
    struct record *next;
    uint32_t rank;
    int target;
    once_t *once;
} record_t;

typedef struct stream {
    uint32_t rank;
    int fd, target;
    once_t *once; /* NULL: pass everything on */
    bool is_begun;
    char *data;
    size_t length;
} stream_t;

struct output {
    const options_t *options;
    output_callbacks_t callbacks;
    bool is_unwritten; /* on_unwritten was called */
    pthread_t thread;
    int wake;
    atomic_bool is_draining;
    bool *marker_seen; /* by index of the kill; used by the thread alone */
    record_t *records;
    /* guards streams and count: the node adds, the thread alone removes and reads */
    pthread_mutex_t lock;
    stream_t *streams;
    size_t count;
};

/* Writes output. If the reader has gone, the output is not wanted, which is no failure. */
static void output_write(output_t *output, int fd, const char *data, size_t length)
{
    while (length != 0) {
        ssize_t count = write(fd, data, length);

        if (count < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};

            poll(&room, 1, -1);
            continue;
        }
        if (count < 0 && errno != EINTR) {
            if (errno != EPIPE && errno != ECONNRESET && !output->is_unwritten) {
                output->is_unwritten = true;
                output->callbacks.on_unwritten(output->callbacks.arg, errno);
            }
            return;
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
            output->callbacks.on_marker(output->callbacks.arg, stream->rank, i);
            return; /* one line triggers one kill */
        }
    }
}

/*
 * True for a line of UCX's log: "[1764384123.402311] [node1:4711:0] tcp_ep.c:1184 UCX WARN ...".
 * The time differs in each life.
 */
static bool output_is_ucx_log(const char *piece, size_t length)
{
    const char *end;

    if (length < 2 || piece[0] != '[' || piece[1] < '0' || piece[1] > '9') {
        return false;
    }
    end = memchr(piece, ']', length);
    return end != NULL && strspn(piece + 1, "0123456789.") == (size_t)(end - piece - 1) &&
           memmem(end, length - (size_t)(end - piece), " UCX  ", strlen(" UCX  ")) != NULL;
}

static bool output_is_new(const stream_t *stream, const char *piece, size_t length)
{
    const char *expected;
    size_t expected_length;
    bool is_new;

    if (stream->once == NULL || output_is_ucx_log(piece, length)) {
        return true;
    }
    is_new = once_take(stream->once, piece, length, &expected, &expected_length);
    if (expected != NULL && stream->target == STDOUT_FILENO) {
        report("rank %u writes otherwise than before: '%.*s', not '%.*s'", stream->rank,
               (int)(length - (piece[length - 1] == '\n')), piece,
               (int)(expected_length - (expected[expected_length - 1] == '\n')), expected);
    }
    return is_new;
}

/*
 * Length of the line at @a data, or of its part before a mark; *skipped_p: length of the mark,
 * which is not written.
 */
static size_t output_piece(const stream_t *stream, const char *data, size_t length, size_t *skipped_p)
{
    const char *newline = memchr(data, '\n', length);
    size_t mark_length;

    *skipped_p = 0;
    length = newline != NULL ? (size_t)(newline - data) + 1 : length;
    if (stream->once != NULL) {
        length = once_find_mark(data, length, &mark_length);
        *skipped_p = mark_length;
    }
    return length;
}

/* Collects writes of at most PIPE_BUF, which the kernel does not mix with those of other nodes. */
typedef struct batch {
    output_t *output;
    int target;
    size_t used;
    char data[PIPE_BUF];
} batch_t;

static void batch_add(batch_t *batch, const char *tag, const char *piece, size_t length)
{
    const size_t tag_length = strlen(tag);

    if (batch->used + tag_length + length > sizeof batch->data) {
        output_write(batch->output, batch->target, batch->data, batch->used);
        batch->used = 0;
    }
    memcpy(batch->data + batch->used, tag, tag_length);
    batch->used += tag_length;
    if (batch->used + length > sizeof batch->data) {
        output_write(batch->output, batch->target, batch->data, batch->used);
        output_write(batch->output, batch->target, piece, length);
        batch->used = 0;
    } else {
        memcpy(batch->data + batch->used, piece, length);
        batch->used += length;
    }
}

static void output_lines(output_t *output, stream_t *stream, size_t end)
{
    batch_t batch = {.output = output, .target = stream->target};
    char tag[OUTPUT_TAG_MAX] = "";
    size_t start = 0, mark;

    if (output->options->tag) {
        snprintf(tag, sizeof tag, "[%u] ", stream->rank);
    }
    while (start < end) {
        const char *line = stream->data + start;
        const size_t length = output_piece(stream, line, end - start, &mark);
        const bool is_cut = mark > 0 && once_mark_cuts(stream->once, line + length, mark);

        if (length > 0 && !is_cut && output_is_new(stream, line, length)) {
            batch_add(&batch, tag, line, length);
        }
        if (length > 0) {
            output_search(output, stream, line, length);
        }
        if (mark > 0) {
            once_take_mark(stream->once, line + length, mark);
        }
        start += length + mark;
    }
    output_write(batch.output, batch.target, batch.data, batch.used);
    stream->length -= end;
    memmove(stream->data, stream->data + end, stream->length);
}

/* Length of the text that can be passed on: whole lines, and text before a mark. */
static size_t output_whole(const stream_t *stream)
{
    const char *last = memrchr(stream->data, '\n', stream->length);
    size_t end = last != NULL ? (size_t)(last - stream->data) + 1 : 0, at, mark;

    while (stream->once != NULL) {
        at = once_find_mark(stream->data + end, stream->length - end, &mark);
        if (mark == 0) {
            break;
        }
        end += at + mark;
    }
    return end;
}

/* Reads a stream. Returns false at its end, or if no data is there now. */
static bool output_read(output_t *output, stream_t *stream, bool *at_end_p)
{
    ssize_t count = read(stream->fd, stream->data + stream->length, OUTPUT_LINE_MAX - stream->length);

    *at_end_p = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (count > 0) {
        size_t end;

        stream->length += (size_t)count;
        end = output_whole(stream);
        if (end != 0) {
            output_lines(output, stream, end);
        } else if (stream->length == OUTPUT_LINE_MAX) {
            output_lines(output, stream, stream->length);
        }
    }
    return count > 0;
}

/* Writes a last line without a newline: in a single write if PIPE_BUF allows. */
static void output_unfinished(output_t *output, uint32_t rank, int target, const char *rest, size_t length)
{
    batch_t batch = {.output = output, .target = target};
    char tag[OUTPUT_TAG_MAX] = "";

    if (output->options->tag) {
        snprintf(tag, sizeof tag, "[%u] ", rank);
    }
    batch_add(&batch, tag, rest, length);
    if (output->options->tag) {
        batch_add(&batch, "", "\n", 1);
    }
    output_write(batch.output, batch.target, batch.data, batch.used);
}

static void output_close(output_t *output, stream_t *stream)
{
    if (stream->length != 0 && stream->once != NULL) {
        once_take_unfinished(stream->once, stream->data, stream->length);
    } else if (stream->length != 0) {
        output_unfinished(output, stream->rank, stream->target, stream->data, stream->length);
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

static stream_t output_stream(output_t *output, size_t i)
{
    stream_t stream;

    pthread_mutex_lock(&output->lock); /* the array may move during an addition */
    stream = output->streams[i];
    pthread_mutex_unlock(&output->lock);
    return stream;
}

static void output_set_stream(output_t *output, size_t i, const stream_t *stream)
{
    pthread_mutex_lock(&output->lock);
    output->streams[i] = *stream;
    pthread_mutex_unlock(&output->lock);
}

/*
 * Begins a new stream of a rank. Returns false if it has no data yet. First reads all output of the
 * rank's previous process; an unfinished line of that process is dropped.
 */
static bool output_begin(output_t *output, size_t i, stream_t *stream)
{
    struct pollfd has = {.fd = stream->fd, .events = POLLIN};

    if (stream->once == NULL || stream->is_begun) {
        return true;
    }
    if (poll(&has, 1, 0) <= 0) {
        return false;
    }
    for (size_t j = 0; j < i; j++) {
        stream_t before = output_stream(output, j);
        bool at_end;

        if (before.once == stream->once && before.fd >= 0) {
            while (output_read(output, &before, &at_end)) {
            }
            before.length = 0;
            output_set_stream(output, j, &before);
        }
    }
    once_begin(stream->once);
    stream->is_begun = true;
    return true;
}

/* Reads each stream while data is there; the last pass runs after all writers are gone. */
static void output_pass(output_t *output, size_t count, bool is_last)
{
    for (size_t i = 0; i < count; i++) {
        stream_t stream = output_stream(output, i);
        bool at_end = false;

        if (output_begin(output, i, &stream)) {
            while (output_read(output, &stream, &at_end) && is_last) {
            }
        }
        if (at_end || is_last) {
            output_close(output, &stream);
        }
        output_set_stream(output, i, &stream);
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

output_t *output_start(const options_t *options, const output_callbacks_t *callbacks)
{
    output_t *output = must_allocate(NULL, sizeof *output);
    int error;

    memset(output, 0, sizeof *output);
    output->options = options;
    output->callbacks = *callbacks;
    output->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output->marker_seen = must_allocate(NULL, options->kill_count * sizeof(bool));
    memset(output->marker_seen, 0, options->kill_count * sizeof(bool));
    pthread_mutex_init(&output->lock, NULL);
    error = pthread_create(&output->thread, NULL, output_run, output);
    if (error != 0) {
        free(output->marker_seen);
        free(output);
        errno = error;
        return NULL;
    }
    return output;
}

static void output_wake(output_t *output)
{
    uint64_t one = 1;

    if (write(output->wake, &one, sizeof one) < 0) {
        return; /* full: the thread is awake */
    }
}

static once_t *output_record(output_t *output, uint32_t rank, int target)
{
    record_t *record = output->records;

    while (record != NULL && (record->rank != rank || record->target != target)) {
        record = record->next;
    }
    if (record == NULL) {
        record = must_allocate(NULL, sizeof *record);
        *record = (record_t){.next = output->records, .rank = rank, .target = target, .once = once_create()};
        output->records = record;
    }
    return record->once;
}

void output_add(output_t *output, uint32_t rank, int fd, int target)
{
    stream_t stream = {.rank = rank, .fd = fd, .target = target, .data = must_allocate(NULL, OUTPUT_LINE_MAX)};

    fcntl(fd, F_SETFL, O_NONBLOCK);
    pthread_mutex_lock(&output->lock);
    stream.once = output->options->once ? output_record(output, rank, target) : NULL;
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
    while (output->records != NULL) {
        record_t *record = output->records;
        size_t length;
        const char *rest = once_unfinished(record->once, &length);

        if (rest != NULL) {
            output_unfinished(output, record->rank, record->target, rest, length);
        }
        output->records = record->next;
        once_destroy(record->once);
        free(record);
    }
    free(output->marker_seen);
    free(output->streams);
    free(output);
}
