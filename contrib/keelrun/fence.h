/*
 * Fences over nodes: the master collects the contributions of each node's ranks and gives the whole
 * to all nodes. Fences belong to the startup: after the first death they fail at once, on all
 * nodes, since PMIx can no longer pair them.
 */
#ifndef KEELRUN_FENCE_H_
#define KEELRUN_FENCE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FENCE_ALL_RANKS UINT32_MAX

/* Head of MESSAGE_FENCE's payload: the count and the list of participating ranks. */
size_t fence_head_bytes(size_t count);
void fence_write_head(char *payload, const uint32_t *ranks, size_t count);

typedef struct fence {
    struct fence *next;
    char *head; /* copy from the message: fences with equal heads belong together */
    size_t head_length;
    bool *has_come;    /* by node */
    uint64_t *cookies; /* by node */
    char *data;
    size_t length;
} fence_t;

/* Adds a node's contribution to its fence, made if there is none. NULL: malformed payload. */
fence_t *fence_add(fence_t **fences, uint32_t nodes, uint32_t node, uint64_t cookie, const char *payload,
                   size_t length);
bool fence_has_rank(const fence_t *fence, uint32_t rank);
void fence_remove(fence_t **fences, fence_t *fence);

#endif
