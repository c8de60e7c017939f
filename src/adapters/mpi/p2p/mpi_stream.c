/*
 * A message is a head, its data, and bytes up to the next multiple of 8. What the ring has no room for is left with the sender, all behind it
 * to the same rank too, and goes when a call of the sender finds room: all that waits looks for it. Nobody's progress depends on
 * more: who waits for such a message takes what is on the ring, and its sender, when it calls next, sends the rest. It is no state: there
 * is none at a checkpoint, and a rollback drops it.
 */
#include "p2p/mpi_stream.h"

#include "mpi_arena.h"
#include "p2p/mpi_channel.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 4096 }; /* up to so many bytes a message is one put with its head */

static const char padding[8];

/* a message that is not on the ring yet, or not all of it */
typedef struct left {
    struct left *next;
    keel_mpi_head_t head;
    const char *data; /* the program's, or the copy */
    void *copy;       /* NULL: there is none */
    uint64_t ticket;
    uint64_t done; /* bytes that are */
} left_t;

static struct {
    left_t *first, *last;   /* in their order; NULL: none */
    uint64_t queued, begun; /* how many there ever were, and how many of them are on the ring */
} * lines;                  /* of each rank */
static size_t lefts;        /* of all */
static uint64_t copied;     /* bytes of the copies */

void keel_mpi_stream_make(void)
{
    lines = calloc(keel_mpi.ranks, sizeof(*lines));
    if (lines == NULL) {
        keel_mpi_fatal("MPI_Init", "no memory");
    }
}

/* ---- the ring ---- */

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = channel->sent % KEEL_MPI_RING;
    const size_t first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    keel_mpi_put(rank, ring + at, data, first, call);
    keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
    keel_mpi_fence(call);
    channel->sent += bytes;
    keel_mpi_put(rank, keel_mpi_arena_word(keel_mpi.rank, offsetof(keel_mpi_channel_t, arrived)), &channel->sent,
                 sizeof(channel->sent), call);
    keel_mpi_flush(rank, call);
}

static size_t ring_room(uint32_t rank)
{
    const keel_mpi_channel_t *channel = keel_mpi_arena_channel(rank);

    return KEEL_MPI_RING - (size_t)(channel->sent - __atomic_load_n(&channel->freed, __ATOMIC_ACQUIRE));
}

/* how many of them there was room for */
static size_t write_some(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    const size_t room = ring_room(rank), some = (bytes < room) ? bytes : room;

    if (some > 0) {
        ring_write(rank, data, some, call);
    }
    return some;
}

static void write_all(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    size_t done = 0;

    while (done < bytes) {
        const size_t some = write_some(rank, (const char *)data + done, bytes - done, call);

        done += some;
        if (some == 0) {
            keel_mpi_channel_progress_or_yield(call);
        }
    }
}

/* waits for room, and answers others meanwhile */
static void write_letter(uint32_t rank, const keel_mpi_head_t *head, const void *data, const char *call)
{
    const size_t bytes = head->bytes;

    if (bytes <= TOGETHER) {
        char together[sizeof(*head) + TOGETHER];

        memcpy(together, head, sizeof(*head));
        if (bytes > 0) {
            memcpy(together + sizeof(*head), data, bytes);
        }
        memset(together + sizeof(*head) + bytes, 0, keel_mpi_padded(bytes) - bytes);
        write_all(rank, together, sizeof(*head) + keel_mpi_padded(bytes), call);
    } else {
        write_all(rank, head, sizeof(*head), call);
        write_all(rank, data, bytes, call);
        write_all(rank, padding, keel_mpi_padded(bytes) - bytes, call);
    }
}

/* ---- what there is no room for ---- */

static void left_copy(left_t *left, const char *call)
{
    left->copy = malloc(left->head.bytes + 1);
    if (left->copy == NULL) {
        keel_mpi_fatal(call, "no memory for a message that the receiver's ring has no room for");
    }
    if (left->head.bytes > 0) {
        memcpy(left->copy, left->data, left->head.bytes);
    }
    left->data = left->copy;
    copied += left->head.bytes;
}

static uint64_t left_add(uint32_t rank, const keel_mpi_head_t *head, const void *data, int is_copied, const char *call)
{
    left_t *left = malloc(sizeof(*left));

    if (left == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *left = (left_t){.head = *head, .data = data, .ticket = ++lines[rank].queued};
    if (is_copied) {
        left_copy(left, call);
    }
    *(lines[rank].first != NULL ? &lines[rank].last->next : &lines[rank].first) = left;
    lines[rank].last = left;
    lefts++;
    return left->ticket;
}

static void left_drop(uint32_t rank)
{
    left_t *left = lines[rank].first;

    lines[rank].first = left->next;
    lines[rank].begun++;
    lefts--;
    copied -= (left->copy != NULL) ? left->head.bytes : 0;
    free(left->copy);
    free(left);
}

void keel_mpi_stream_copy(uint32_t rank, uint64_t ticket, const char *call)
{
    left_t *left = (lines[rank].first != NULL) ? lines[rank].last : NULL; /* the newest one, mostly */

    if (left != NULL && left->ticket != ticket) {
        left = lines[rank].first;
    }
    while (left != NULL && left->ticket != ticket) {
        left = left->next;
    }
    if (left != NULL && left->copy == NULL) {
        left_copy(left, call);
    }
}

/* true: all of it is on the ring */
static int left_write(uint32_t rank, left_t *left, const char *call)
{
    const uint64_t head = sizeof(left->head), data = head + left->head.bytes,
                   end = head + keel_mpi_padded(left->head.bytes);
    uint64_t some = 1;

    while (some > 0 && left->done < end) {
        const uint64_t at = left->done;

        some = (at < head)   ? write_some(rank, (const char *)&left->head + at, head - at, call)
               : (at < data) ? write_some(rank, left->data + (at - head), data - at, call)
                             : write_some(rank, padding, end - at, call);
        left->done += some;
    }
    return left->done == end;
}

static void push(uint32_t rank, const char *call)
{
    while (lines[rank].first != NULL && left_write(rank, lines[rank].first, call)) {
        left_drop(rank);
    }
}

void keel_mpi_stream_push(const char *call)
{
    for (uint32_t rank = 0; lefts > 0 && rank < keel_mpi.ranks; rank++) {
        push(rank, call);
    }
}

void keel_mpi_stream_await_all(const char *call)
{
    while (lefts > 0) {
        keel_mpi_channel_progress_or_yield(call);
    }
}

void keel_mpi_stream_throttle(const char *call)
{
    while (copied > keel_mpi.bytes) {
        keel_mpi_channel_progress_or_yield(call);
    }
}

int keel_mpi_stream_is_sent(uint32_t rank, uint64_t ticket)
{
    return lines[rank].begun >= ticket;
}

void keel_mpi_stream_reset(void)
{
    for (uint32_t rank = 0; lefts > 0 && rank < keel_mpi.ranks; rank++) {
        while (lines[rank].first != NULL) {
            left_drop(rank);
        }
    }
}

void keel_mpi_stream_unmake(void)
{
    keel_mpi_stream_reset();
    free(lines);
    lines = NULL;
}

uint64_t keel_mpi_stream_send(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t how,
                              const char *call)
{
    const int is_behind = lines[rank].first != NULL;
    uint64_t ticket;

    if (!is_behind && (how == KEEL_MPI_SEND_BLOCKS || sizeof(head) + keel_mpi_padded(head.bytes) <= ring_room(rank))) {
        write_letter(rank, &head, data, call);
        return 0;
    }
    ticket = left_add(rank, &head, data, how == KEEL_MPI_SEND_COPIES, call);
    push(rank, call);
    while (how == KEEL_MPI_SEND_BLOCKS && !keel_mpi_stream_is_sent(rank, ticket)) {
        keel_mpi_channel_progress_or_yield(call);
    }
    return keel_mpi_stream_is_sent(rank, ticket) ? 0 : ticket;
}
