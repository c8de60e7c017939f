/*
 * One node's PMIx server. What its clients say goes to the master over the channel; what the master says goes to its
 * clients. PMIx calls back in a thread of its own and without an argument of ours, so this is the one file with state
 * of the process: there is one server a node.
 */
#ifndef KEELRUN_SERVER_H_
#define KEELRUN_SERVER_H_

#include "channel.h"
#include "options.h"

typedef struct server_params {
    const options_t *options;
    uint32_t node;
    channel_t *channel;
    const char *directory;         /* for PMIx's files */
    const char *job;               /* PMIx namespace of the job, the same on all nodes */
    void (*on_settled)(void *arg); /* a rank's connection is gone; called in PMIx's thread */
    void *arg;
} server_params_t;

/* NULL, or what failed */
const char *server_open(const server_params_t *params);
void server_node_name(uint32_t node, char *name, size_t size);

/* Makes the server expect @a rank; @a local is the number of ranks on the node with it. Returns the environment
 * for it (freed by PMIx's ARGV_FREE), or NULL. */
char **server_expect(uint32_t rank, uint32_t incarnation, uint32_t local);
/* PMIx has noticed that the rank's connection is gone, or never had one: only then may the rank be expected again */
bool server_is_settled(uint32_t rank);
void server_deliver(const message_t *message, const char *payload); /* MESSAGE_DEATH, _JOIN, _EXIT to all clients */
void server_fence_done(const message_t *message, const char *payload);

#endif
