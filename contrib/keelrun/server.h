/*
 * The PMIx server of a node. Messages of clients go to the master over the channel, and messages of
 * the master go to the clients. PMIx calls back in a thread of its own and without a user argument,
 * so this is the only file with global state: a node has one server.
 */
#ifndef KEELRUN_SERVER_H_
#define KEELRUN_SERVER_H_

#include "channel.h"
#include "options.h"

typedef struct server_params {
    const options_t *options;
    uint32_t node;
    channel_t *channel;
    const char *directory;              /* for PMIx's files */
    const char *job;                    /* PMIx namespace of the job, the same on all nodes */
    void (*on_disconnected)(void *arg); /* a rank's connection is gone; called in PMIx's thread */
    void *arg;
} server_params_t;

/* Returns NULL, or the failed step. */
const char *server_open(const server_params_t *params);
void server_node_name(uint32_t node, char *name, size_t size);

/*
 * Makes the server expect @a rank; @a local: count of ranks on the node, this rank included.
 * Returns the rank's environment (to be freed by PMIx's ARGV_FREE), or NULL.
 */
char **server_expect(uint32_t rank, uint32_t incarnation, uint32_t local);
/*
 * True if PMIx has noticed the end of the rank's connection, or there never was one: only then may
 * the rank be expected again.
 */
bool server_is_disconnected(uint32_t rank);
/* delivers MESSAGE_DEATH, _JOIN, _EXIT to all clients */
void server_deliver(const message_t *message, const char *payload);
void server_fence_done(const message_t *message, const char *payload);

#endif
