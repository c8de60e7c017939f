/*
 * Messages between the master and a node over a stream socket. Both ends run the same program, so
 * messages have neither version nor crc.
 */
#ifndef KEELRUN_CHANNEL_H_
#define KEELRUN_CHANNEL_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* node to master */
    /* value: errno, text: the failed step; 0: ready; cookie: pid of the node */
    MESSAGE_HELLO,
    /* rank, incarnation, value: pid; the process does not run the program yet */
    MESSAGE_STARTED,
    MESSAGE_NOT_STARTED, /* rank, incarnation, value: errno, text: the failed step */
    MESSAGE_CONNECTED,   /* rank has called PMIx_Init */
    MESSAGE_MET,         /* rank has passed the startup fence; a replacement: keel_init() */
    MESSAGE_OVER,        /* rank knows that the job's last gsync is over */
    MESSAGE_FINALIZED,   /* rank has called PMIx_Finalize */
    MESSAGE_EXITED,      /* rank, incarnation, value: wait status */
    MESSAGE_ABORT,       /* rank, value: status, text: reason */
    MESSAGE_MARKER,      /* rank, value: index of the kill with this marker */
    MESSAGE_UNWRITTEN,   /* value: errno; ranks' output cannot be written; sent once per node */
    MESSAGE_SUSPECT,     /* rank, incarnation; payload: suspicion_t */
    MESSAGE_FENCE,       /* cookie; payload: ranks (fence.h), then data */
    /* both directions; rank: the launcher's process, value: its rank in the job */
    MESSAGE_JOIN, /* rank, incarnation, value, payload: address */
    MESSAGE_CALL, /* rank of the job, incarnation, value: the launcher's process to take the rank */
    MESSAGE_NEED, /* rank, payload: sizes for the spares */
    /* master to node */
    /* rank, incarnation, value: count of ranks on the node, the new rank included */
    MESSAGE_START,
    MESSAGE_DEATH,      /* rank, incarnation */
    MESSAGE_EXIT,       /* rank, incarnation */
    MESSAGE_GONE,       /* rank, incarnation; after its death: nothing replaces the rank */
    MESSAGE_FENCE_DONE, /* cookie, value: pmix_status_t, payload: data */
    MESSAGE_CUT,        /* take the node off the network */
    MESSAGE_QUIT        /* kill all ranks, write out their output, leave */
} message_type_t;

typedef struct suspicion {
    uint32_t accuser, heard, live, repeats; /* runtime_ops.h: keel_suspicion_t */
    uint64_t silence_ns;
} suspicion_t;

typedef struct message {
    uint32_t type, length; /* bytes of the payload that follows */
    uint32_t rank, incarnation;
    int64_t value;
    uint64_t cookie;
} message_t;

typedef struct channel {
    int fd;
    /* the node's end blocks; the master queues instead, so the two never wait for each other */
    bool may_block;
    pthread_mutex_t lock; /* guards sends: a node also sends from PMIx's thread */
    char *out, *in;
    size_t out_length, out_size, in_length, in_size, in_taken;
} channel_t;

void channel_open(channel_t *channel, int fd, bool may_block);
void channel_close(channel_t *channel);
/* Sets message->length and sends. Errors show at the next receive, as the end of the channel. */
void channel_send(channel_t *channel, message_t *message, const void *payload, size_t length);
bool channel_has_output(channel_t *channel);
void channel_flush(channel_t *channel); /* writes as much of the queue as fits */
/*
 * Returns 1 and a message, with a payload valid until the next call; 0: no message; -1: the other
 * end is gone.
 */
int channel_receive(channel_t *channel, message_t *message, const char **payload_p);

/* grows or allocates; out of memory ends the launcher */
void *must_allocate(void *old, size_t bytes);

#endif
