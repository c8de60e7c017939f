/* Messages between the master and a node over a stream socket. Both ends are the same program: no version, no crc. */
#ifndef KEELRUN_CHANNEL_H_
#define KEELRUN_CHANNEL_H_

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    /* node to master */
    MESSAGE_HELLO,       /* value: errno, text: what failed; 0: ready; cookie: pid of the node */
    MESSAGE_STARTED,     /* rank, incarnation, value: pid; it runs nothing of the program yet */
    MESSAGE_NOT_STARTED, /* rank, incarnation, value: errno, text: what failed */
    MESSAGE_CONNECTED,   /* rank has called PMIx_Init */
    MESSAGE_MET,         /* rank has passed the startup fence; a replacement: keel_init() */
    MESSAGE_OVER,        /* rank knows that the job's last gsync is over */
    MESSAGE_FINALIZED,   /* rank has called PMIx_Finalize */
    MESSAGE_EXITED,      /* rank, incarnation, value: wait status */
    MESSAGE_ABORT,       /* rank, value: status, text: reason */
    MESSAGE_MARKER,      /* rank, value: index of the kill whose text was seen */
    MESSAGE_UNWRITTEN,   /* value: errno; what ranks print cannot be written; sent once a node */
    MESSAGE_SUSPECT,     /* rank, incarnation; payload: suspicion_t */
    MESSAGE_FENCE,       /* cookie; payload: ranks (fence.h), then data */
    /* both ways; rank: the process of the launcher, value: the rank of the job that it has */
    MESSAGE_JOIN, /* rank, incarnation, value, payload: address */
    MESSAGE_CALL, /* rank of the job, incarnation, value: the launcher's process that is to take it */
    MESSAGE_NEED, /* rank, payload: for the spares */
    /* master to node */
    MESSAGE_START,      /* rank, incarnation, value: ranks on the node with it */
    MESSAGE_DEATH,      /* rank, incarnation */
    MESSAGE_EXIT,       /* rank, incarnation */
    MESSAGE_FENCE_DONE, /* cookie, value: pmix_status_t, payload: data */
    MESSAGE_CUT,        /* take the node off the network */
    MESSAGE_QUIT        /* kill what runs, write out what it said, leave */
} message_type_t;

typedef struct suspicion {
    uint32_t accuser, heard, live, repeats; /* runtime.h: keel_suspicion_t */
    uint64_t silence_ns;
} suspicion_t;

typedef struct message {
    uint32_t type, length; /* bytes of payload that follow */
    uint32_t rank, incarnation;
    int64_t value;
    uint64_t cookie;
} message_t;

typedef struct channel {
    int fd;
    bool may_block; /* the node's end; the master's queues instead, so that neither waits for the other in a circle */
    pthread_mutex_t lock; /* of sending: a node sends from PMIx's thread too */
    char *out, *in;
    size_t out_length, out_size, in_length, in_size, in_taken;
} channel_t;

void channel_open(channel_t *channel, int fd, bool may_block);
void channel_close(channel_t *channel);
/* sets message->length; errors show as the end of the channel when it is read */
void channel_send(channel_t *channel, message_t *message, const void *payload, size_t length);
bool channel_has_output(channel_t *channel);
void channel_flush(channel_t *channel); /* writes as much of the queue as fits */
/* 1 and a message, its payload valid until the next call; 0: none now; -1: the other end is gone */
int channel_receive(channel_t *channel, message_t *message, const char **payload_p);

void *must_allocate(void *old, size_t bytes); /* grows or makes; the launcher ends when memory is out */

#endif
