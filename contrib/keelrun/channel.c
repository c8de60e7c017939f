/* Framing and queues of the channel between the master and a node. */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "report.h"

#define CHANNEL_READ_BYTES 65536

void *must_allocate(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes != 0 ? bytes : 1);

    if (memory == NULL) {
        report_failure("realloc", ENOMEM);
        _exit(1); /* the janitor cleans up */
    }
    return memory;
}

void channel_open(channel_t *channel, int fd, bool may_block)
{
    memset(channel, 0, sizeof *channel);
    channel->fd = fd;
    channel->may_block = may_block;
    pthread_mutex_init(&channel->lock, NULL);
}

void channel_close(channel_t *channel)
{
    if (channel->fd >= 0) {
        close(channel->fd);
    }
    free(channel->out);
    free(channel->in);
    channel->out = channel->in = NULL;
    channel->fd = -1;
}

static void channel_queue(channel_t *channel, const void *data, size_t length)
{
    if (channel->out_length + length > channel->out_size) {
        channel->out_size = 2 * (channel->out_length + length);
        channel->out = must_allocate(channel->out, channel->out_size);
    }
    memcpy(channel->out + channel->out_length, data, length);
    channel->out_length += length;
}

static void channel_write(channel_t *channel)
{
    size_t done = 0;

    while (done < channel->out_length) {
        ssize_t count = send(channel->fd, channel->out + done, channel->out_length - done,
                             MSG_NOSIGNAL | (channel->may_block ? 0 : MSG_DONTWAIT));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        }
        if (count < 0) {
            done = channel->out_length; /* the other end is gone: the reader of this end notices */
            break;
        }
        done += (size_t)count;
    }
    if (done != 0) {
        memmove(channel->out, channel->out + done, channel->out_length - done);
    }
    channel->out_length -= done;
}

void channel_send(channel_t *channel, message_t *message, const void *payload, size_t length)
{
    if (channel->fd < 0) {
        return;
    }
    message->length = (uint32_t)length;
    pthread_mutex_lock(&channel->lock);
    channel_queue(channel, message, sizeof *message);
    if (length != 0) {
        channel_queue(channel, payload, length);
    }
    channel_write(channel);
    pthread_mutex_unlock(&channel->lock);
}

bool channel_has_output(channel_t *channel)
{
    return channel->fd >= 0 && channel->out_length != 0;
}

void channel_flush(channel_t *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel_write(channel);
    pthread_mutex_unlock(&channel->lock);
}

static int channel_take(channel_t *channel, message_t *message, const char **payload_p)
{
    if (channel->in_length < sizeof *message) {
        return 0;
    }
    memcpy(message, channel->in, sizeof *message);
    if (channel->in_length < sizeof *message + message->length) {
        return 0;
    }
    *payload_p = channel->in + sizeof *message;
    channel->in_taken = sizeof *message + message->length;
    return 1;
}

int channel_receive(channel_t *channel, message_t *message, const char **payload_p)
{
    if (channel->in_taken != 0) {
        channel->in_length -= channel->in_taken;
        memmove(channel->in, channel->in + channel->in_taken, channel->in_length);
        channel->in_taken = 0;
    }
    while (!channel_take(channel, message, payload_p)) {
        ssize_t count;

        if (channel->in_size - channel->in_length < CHANNEL_READ_BYTES) {
            channel->in_size = 2 * channel->in_size + CHANNEL_READ_BYTES;
            channel->in = must_allocate(channel->in, channel->in_size);
        }
        count =
            recv(channel->fd, channel->in + channel->in_length, channel->in_size - channel->in_length, MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return 0;
        }
        if (count <= 0) {
            return -1;
        }
        channel->in_length += (size_t)count;
    }
    return 1;
}
