/*
 * Counts of bytes are put by one side only. The sender puts the bytes, a fence, and then the count: what the count covers is there. The
 * receiver puts what it has taken, which is what the sender may write over. All counts lie in the arena and go back with it.
 */
#include "mpi_channel.h"

#include "mpi_arena.h"
#include "mpi_prefix.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 4096 }; /* up to so many bytes a message is one put with its head */

typedef struct {
    uint32_t rank;
    int64_t tag;
} answer_t;

static struct {
    keel_mpi_letter_t *first, **last; /* nobody has asked for them; in the order of their heads */
    keel_mpi_want_t *posted, **posted_last;
    uint64_t asked;             /* how many answers were asked for */
    keel_mpi_letter_t **coming; /* of each rank: the letter that is not whole; NULL: none */
    answer_t
        *answers; /* that are to be sent: not from where a letter is taken, which may not be called again amid it */
    size_t answer_count, answer_room;
    int is_answering;
} box;

static keel_mpi_channel_t *channel_of(uint32_t rank)
{
    return &keel_mpi_arena_channels()[rank];
}

void keel_mpi_channel_make(void)
{
    box.last = &box.first;
    box.posted_last = &box.posted;
    box.coming = calloc(keel_mpi.ranks, sizeof(*box.coming));
    if (box.coming == NULL) {
        keel_mpi_refuse("MPI_Init", "no memory");
    }
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* ---- matching ---- */

static int is_match(const keel_mpi_want_t *want, const keel_mpi_head_t *head)
{
    return want->context == head->context && (want->source == KEEL_MPI_ANY_RANK || want->source == head->source) &&
           (want->tag == head->tag || (want->tag == KEEL_MPI_ANY_TAG && head->tag >= 0));
}

static void letter_queue(keel_mpi_letter_t *letter)
{
    letter->next = NULL;
    *box.last = letter;
    box.last = &letter->next;
}

static void letter_unqueue(keel_mpi_letter_t **at)
{
    keel_mpi_letter_t *letter = *at;

    *at = letter->next;
    if (letter->next == NULL) {
        box.last = at;
    }
}

static void want_unqueue(keel_mpi_want_t **at)
{
    keel_mpi_want_t *want = *at;

    *at = want->next;
    if (want->next == NULL) {
        box.posted_last = at;
    }
}

static keel_mpi_letter_t *letter_make(const keel_mpi_head_t *head)
{
    keel_mpi_letter_t *letter = malloc(sizeof(*letter) + head->bytes);

    if (letter == NULL) {
        keel_mpi_refuse("MPI_Recv", "no memory for a message");
    }
    letter->next = NULL;
    letter->head = *head;
    letter->here = 0;
    return letter;
}

/* a letter has its receiver: so who sent it may be told */
static void letter_matched(keel_mpi_letter_t *letter)
{
    if (letter->head.answer == 0) {
        return;
    }
    if (box.answer_count == box.answer_room) {
        box.answer_room = 2 * box.answer_room + 16;
        box.answers = realloc(box.answers, box.answer_room * sizeof(*box.answers));
        if (box.answers == NULL) {
            keel_mpi_refuse("MPI_Recv", "no memory for an answer");
        }
    }
    box.answers[box.answer_count++] = (answer_t){(uint32_t)letter->head.source, (int64_t)letter->head.answer};
    letter->head.answer = 0;
}

/* a head has come: to who waits for it, or into the queue */
static void letter_deliver(keel_mpi_letter_t *letter)
{
    for (keel_mpi_want_t **at = &box.posted; *at != NULL; at = &(*at)->next) {
        if (is_match(*at, &letter->head)) {
            (*at)->letter = letter;
            want_unqueue(at);
            letter_matched(letter);
            return;
        }
    }
    letter_queue(letter);
}

void keel_mpi_channel_post(keel_mpi_want_t *want)
{
    want->letter = NULL;
    want->next = NULL;
    for (keel_mpi_letter_t **at = &box.first; *at != NULL; at = &(*at)->next) {
        if (is_match(want, &(*at)->head)) {
            want->letter = *at;
            letter_unqueue(at);
            letter_matched(want->letter);
            return;
        }
    }
    *box.posted_last = want;
    box.posted_last = &want->next;
}

int keel_mpi_channel_unpost(keel_mpi_want_t *want)
{
    for (keel_mpi_want_t **at = &box.posted; *at != NULL; at = &(*at)->next) {
        if (*at == want) {
            want_unqueue(at);
            return 1;
        }
    }
    return 0;
}

keel_mpi_letter_t *keel_mpi_channel_peek(const keel_mpi_want_t *want, int is_taken)
{
    for (keel_mpi_letter_t **at = &box.first; *at != NULL; at = &(*at)->next) {
        keel_mpi_letter_t *letter = *at;

        if (is_match(
                want,
                &letter->head)) { /* one that is not whole hides those behind it, as they are to be taken in order */
            if (letter->here < letter->head.bytes) {
                return NULL;
            }
            if (is_taken) {
                letter_unqueue(at);
                letter_matched(letter);
            }
            return letter;
        }
    }
    return NULL;
}

/* ---- receiving ---- */

static void ring_read(uint32_t source, uint64_t from, void *data, size_t bytes)
{
    const char *ring = keel_mpi_arena_at(keel_mpi_arena_ring(source));
    const size_t at = from % KEEL_MPI_RING, first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    memcpy(data, ring + at, first);
    memcpy((char *)data + first, ring, bytes - first);
}

/* tells a sender what it may write over, when that is a good part of the ring */
static void tell_freed(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = channel_of(source);

    if (channel->taken - channel->told < KEEL_MPI_RING / 4) {
        return;
    }
    channel->told = channel->taken;
    keel_mpi_put(source,
                 sizeof(keel_mpi_hidden_t) + keel_mpi.rank * sizeof(*channel) + offsetof(keel_mpi_channel_t, freed),
                 &channel->told, sizeof(channel->told), call);
    keel_mpi_flush(source, call);
}

/* what has come from one rank; true when that was something */
static int take_from(uint32_t source, const char *call)
{
    keel_mpi_channel_t *channel = channel_of(source);
    const uint64_t arrived = __atomic_load_n(&channel->arrived, __ATOMIC_ACQUIRE), before = channel->taken;

    while (channel->taken < arrived) {
        keel_mpi_letter_t *letter = box.coming[source];
        uint64_t some;

        if (letter == NULL) {
            keel_mpi_head_t head;

            if (arrived - channel->taken < sizeof(head)) {
                break;
            }
            ring_read(source, channel->taken, &head, sizeof(head));
            channel->taken += sizeof(head);
            box.coming[source] = letter = letter_make(&head);
            letter_deliver(letter);
        }
        some = letter->head.bytes - letter->here;
        some = (some < arrived - channel->taken) ? some : arrived - channel->taken;
        ring_read(source, channel->taken, letter->data + letter->here, some);
        letter->here += some;
        channel->taken +=
            (letter->here == letter->head.bytes) ? some + padded(letter->head.bytes) - letter->head.bytes : some;
        if (letter->here == letter->head.bytes) {
            box.coming[source] = NULL;
        }
    }
    tell_freed(source, call);
    return channel->taken != before;
}

static void send_letter(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call);

/* a send may look for what comes, and end here again */
static void send_answers(const char *call)
{
    if (box.is_answering) {
        return;
    }
    box.is_answering = 1;
    while (box.answer_count > 0) {
        const answer_t answer = box.answers[--box.answer_count];

        send_letter(answer.rank, (keel_mpi_head_t){KEEL_MPI_ANSWERS, answer.tag, 0, keel_mpi.rank, 0}, NULL, call);
    }
    box.is_answering = 0;
}

int keel_mpi_channel_look(const char *call)
{
    int is_news = 0;

    if (keel_mpi_is_replay()) {
        return 0;
    }
    for (uint32_t source = 0; source < keel_mpi.ranks; source++) {
        if (source != keel_mpi.rank) {
            is_news |= take_from(source, call);
        }
    }
    send_answers(call);
    return is_news;
}

int keel_mpi_channel_progress(const char *call)
{
    if (!keel_mpi_is_replay()) {
        keel_mpi_check(keel_progress(keel_mpi.ctx), call);
    }
    return keel_mpi_channel_look(call);
}

void keel_mpi_channel_idle(const char *call)
{
    if (!keel_mpi_channel_progress(call)) {
        sched_yield();
    }
}

/* ---- sending ---- */

static void ring_write(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    keel_mpi_channel_t *channel = channel_of(rank);
    const uint64_t ring = keel_mpi_arena_ring(keel_mpi.rank), at = channel->sent % KEEL_MPI_RING;
    const size_t first = (bytes < KEEL_MPI_RING - at) ? bytes : KEEL_MPI_RING - at;

    keel_mpi_put(rank, ring + at, data, first, call);
    keel_mpi_put(rank, ring, (const char *)data + first, bytes - first, call);
    keel_mpi_fence(call);
    channel->sent += bytes;
    keel_mpi_put(rank,
                 sizeof(keel_mpi_hidden_t) + keel_mpi.rank * sizeof(*channel) + offsetof(keel_mpi_channel_t, arrived),
                 &channel->sent, sizeof(channel->sent), call);
}

static size_t ring_room(uint32_t rank)
{
    const keel_mpi_channel_t *channel = channel_of(rank);

    return KEEL_MPI_RING - (size_t)(channel->sent - __atomic_load_n(&channel->freed, __ATOMIC_ACQUIRE));
}

static void send_bytes(uint32_t rank, const void *data, size_t bytes, const char *call)
{
    size_t done = 0;

    while (done < bytes) {
        const size_t room = ring_room(rank), some = (bytes - done < room) ? bytes - done : room;

        if (some > 0) {
            ring_write(rank, (const char *)data + done, some, call);
            keel_mpi_flush(rank, call);
            done += some;
        } else {
            keel_mpi_channel_idle(call);
        }
    }
}

static void send_to_self(const keel_mpi_head_t *head, const void *data)
{
    keel_mpi_letter_t *letter = letter_make(head);

    if (data != NULL) { /* a message of no bytes may have none */
        memcpy(letter->data, data, head->bytes);
    }
    letter->here = head->bytes;
    letter_deliver(letter);
}

static void send_letter(uint32_t rank, keel_mpi_head_t head, const void *data, const char *call)
{
    static const char padding[8];
    const size_t bytes = head.bytes;

    if (keel_mpi_is_replay()) {
        return;
    }
    if (rank == keel_mpi.rank) {
        send_to_self(&head, data);
    } else if (bytes <= TOGETHER) {
        char together[sizeof(head) + TOGETHER];

        memcpy(together, &head, sizeof(head));
        memcpy(together + sizeof(head), data, bytes);
        memset(together + sizeof(head) + bytes, 0, padded(bytes) - bytes);
        send_bytes(rank, together, sizeof(head) + padded(bytes), call);
    } else {
        send_bytes(rank, &head, sizeof(head), call);
        send_bytes(rank, data, bytes, call);
        send_bytes(rank, padding, padded(bytes) - bytes, call);
    }
}

void keel_mpi_channel_send(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                           const char *call)
{
    send_letter(rank, (keel_mpi_head_t){context, tag, bytes, keel_mpi.rank, 0}, data, call);
}

int64_t keel_mpi_channel_send_asking(uint32_t rank, uint64_t context, int64_t tag, const void *data, size_t bytes,
                                     const char *call)
{
    const uint64_t answer = ++box.asked;

    send_letter(rank, (keel_mpi_head_t){context, tag, bytes, keel_mpi.rank, answer}, data, call);
    return (int64_t)answer;
}

size_t keel_mpi_channel_receive(uint32_t rank, uint64_t context, int64_t tag, void *data, size_t bytes,
                                const char *call)
{
    keel_mpi_want_t want = {.context = context, .source = rank, .tag = tag};
    uint64_t length = 0;

    if (!keel_mpi_is_replay()) {
        keel_mpi_channel_post(&want);
        while (!keel_mpi_channel_has(&want)) {
            keel_mpi_channel_idle(call);
        }
        length = (want.letter->head.bytes < bytes) ? want.letter->head.bytes : bytes;
        memcpy(data, want.letter->data, length);
        free(want.letter);
    }
    keel_mpi_prefix_result(&length, sizeof(length));
    keel_mpi_prefix_result(data, length);
    return length;
}

/* ---- checkpoints ---- */

void keel_mpi_channel_save(const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t bytes = 0, at = 0;

    if (hidden->saved != 0) {
        keel_mpi_arena_give(hidden->saved);
        hidden->saved = hidden->saved_bytes = 0;
    }
    for (const keel_mpi_letter_t *letter = box.first; letter != NULL; letter = letter->next) {
        bytes += sizeof(letter->head) + padded(letter->head.bytes);
    }
    if (bytes == 0) {
        return;
    }
    hidden->saved = keel_mpi_arena_take(bytes, KEEL_MPI_ALIGN, call);
    hidden->saved_bytes = bytes;
    for (const keel_mpi_letter_t *letter = box.first; letter != NULL; letter = letter->next) {
        char *place = (char *)keel_mpi_arena_at(hidden->saved) + at;

        memcpy(place, &letter->head, sizeof(letter->head));
        memcpy(place + sizeof(letter->head), letter->data, letter->head.bytes);
        at += sizeof(letter->head) + padded(letter->head.bytes);
    }
}

void keel_mpi_channel_restore(void)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t at = 0;

    while (box.first != NULL) {
        keel_mpi_letter_t *letter = box.first;

        letter_unqueue(&box.first);
        free(letter);
    }
    box.posted = NULL;
    box.posted_last = &box.posted;
    box.answer_count = 0;
    box.is_answering = 0; /* a jump may have left it */
    for (uint32_t rank = 0; rank < keel_mpi.ranks; rank++) {
        box.coming[rank] = NULL; /* in the queue, or a waiter's: forgotten with it */
    }
    while (at < hidden->saved_bytes) {
        const char *place = (const char *)keel_mpi_arena_at(hidden->saved) + at;
        keel_mpi_head_t head;
        keel_mpi_letter_t *letter;

        memcpy(&head, place, sizeof(head));
        letter = letter_make(&head);
        memcpy(letter->data, place + sizeof(head), head.bytes);
        letter->here = head.bytes;
        letter_queue(letter);
        at += sizeof(head) + padded(head.bytes);
    }
}
