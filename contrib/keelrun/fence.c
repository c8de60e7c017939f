/* The list of pending fences. */
#include "fence.h"

#include <stdlib.h>
#include <string.h>

#include "channel.h"

size_t fence_head_bytes(size_t count)
{
    return (1 + count) * sizeof(uint32_t);
}

void fence_write_head(char *payload, const uint32_t *ranks, size_t count)
{
    uint32_t count32 = (uint32_t)count;

    memcpy(payload, &count32, sizeof count32);
    if (count != 0) {
        memcpy(payload + sizeof count32, ranks, count * sizeof *ranks);
    }
}

bool fence_has_rank(const fence_t *fence, uint32_t rank)
{
    for (size_t at = sizeof(uint32_t); at < fence->head_length; at += sizeof(uint32_t)) {
        uint32_t member;

        memcpy(&member, fence->head + at, sizeof member);
        if (member == rank || member == FENCE_ALL_RANKS) {
            return true;
        }
    }
    return false;
}

static fence_t *fence_make(uint32_t nodes, const char *head, size_t head_length)
{
    fence_t *fence = must_allocate(NULL, sizeof *fence);

    memset(fence, 0, sizeof *fence);
    fence->head = must_allocate(NULL, head_length);
    memcpy(fence->head, head, head_length);
    fence->head_length = head_length;
    fence->has_come = must_allocate(NULL, nodes * sizeof *fence->has_come);
    memset(fence->has_come, 0, nodes * sizeof *fence->has_come);
    fence->cookies = must_allocate(NULL, nodes * sizeof *fence->cookies);
    return fence;
}

fence_t *fence_add(fence_t **fences, uint32_t nodes, uint32_t node, uint64_t cookie, const char *payload, size_t length)
{
    fence_t *fence = *fences;
    uint32_t count = 0;
    size_t head;

    if (length >= sizeof count) {
        memcpy(&count, payload, sizeof count);
    }
    head = fence_head_bytes(count);
    if (length < head) {
        return NULL;
    }
    while (fence != NULL &&
           (fence->has_come[node] || fence->head_length != head || memcmp(fence->head, payload, head) != 0)) {
        fence = fence->next;
    }
    if (fence == NULL) {
        fence = fence_make(nodes, payload, head);
        fence->next = *fences;
        *fences = fence;
    }
    fence->has_come[node] = true;
    fence->cookies[node] = cookie;
    fence->data = must_allocate(fence->data, fence->length + length - head);
    memcpy(fence->data + fence->length, payload + head, length - head);
    fence->length += length - head;
    return fence;
}

void fence_remove(fence_t **fences, fence_t *fence)
{
    while (*fences != fence) {
        fences = &(*fences)->next;
    }
    *fences = fence->next;
    free(fence->head);
    free(fence->has_come);
    free(fence->cookies);
    free(fence->data);
    free(fence);
}
