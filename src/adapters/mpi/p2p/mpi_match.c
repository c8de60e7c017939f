/*
 * Letters and who waits for them: a message that has come, or whose head has, goes to the first that wants it, in the order in which they
 * were posted; one that nobody has asked for waits in the order of heads.
 */
#include "p2p/mpi_match.h"

#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

static struct {
    keel_mpi_message_t *first, **last; /* nobody has asked for them; in the order of their heads */
    keel_mpi_receive_t *posted, **posted_last;
    keel_mpi_ack_t
        *answers; /* that are to be sent: not from where a letter is taken, which may not be called again amid it */
    size_t answer_count, answer_room;
} box = {.last = &box.first, .posted_last = &box.posted};

int keel_mpi_match_fits(const keel_mpi_receive_t *want, const keel_mpi_head_t *head)
{
    return want->context == head->context && (want->source == KEEL_MPI_ANY_RANK || want->source == head->source) &&
           (want->tag == head->tag || (want->tag == KEEL_MPI_ANY_TAG && head->tag >= 0));
}

static void letter_queue(keel_mpi_message_t *letter)
{
    letter->next = NULL;
    *box.last = letter;
    box.last = &letter->next;
}

static void letter_unqueue(keel_mpi_message_t **at)
{
    keel_mpi_message_t *letter = *at;

    *at = letter->next;
    if (letter->next == NULL) {
        box.last = at;
    }
}

static void want_unqueue(keel_mpi_receive_t **at)
{
    keel_mpi_receive_t *want = *at;

    *at = want->next;
    if (want->next == NULL) {
        box.posted_last = at;
    }
}

keel_mpi_message_t *keel_mpi_message_make(const keel_mpi_head_t *head)
{
    keel_mpi_message_t *letter = malloc(sizeof(*letter) + head->bytes);

    if (letter == NULL) {
        keel_mpi_fatal("MPI_Recv", "no memory for a message");
    }
    letter->next = NULL;
    letter->head = *head;
    letter->here = 0;
    return letter;
}

/* a letter has its receiver: so who sent it may be told */
static void letter_matched(keel_mpi_message_t *letter)
{
    if (letter->head.answer == 0) {
        return;
    }
    if (box.answer_count == box.answer_room) {
        box.answer_room = 2 * box.answer_room + 16;
        box.answers = realloc(box.answers, box.answer_room * sizeof(*box.answers));
        if (box.answers == NULL) {
            keel_mpi_fatal("MPI_Recv", "no memory for an answer");
        }
    }
    box.answers[box.answer_count++] = (keel_mpi_ack_t){(uint32_t)letter->head.source, (int64_t)letter->head.answer};
    letter->head.answer = 0;
}

/* a head has come: to who waits for it, or into the queue */
void keel_mpi_match_deliver(keel_mpi_message_t *letter)
{
    for (keel_mpi_receive_t **at = &box.posted; *at != NULL; at = &(*at)->next) {
        if (keel_mpi_match_fits(*at, &letter->head)) {
            (*at)->letter = letter;
            want_unqueue(at);
            letter_matched(letter);
            return;
        }
    }
    if (keel_mpi.is_promised &&
        letter->head.context == KEEL_MPI_ACK_CONTEXT) { /* who asked for it has seen itself that it was matched */
        free(letter);
        return;
    }
    letter_queue(letter);
}

const keel_mpi_receive_t *keel_mpi_match_first_posted(void)
{
    return box.posted;
}

void keel_mpi_match_claim(const uint64_t *claims, size_t stride)
{
    for (keel_mpi_receive_t *want = box.posted; want != NULL; want = want->next) {
        const uint32_t claim = (uint32_t)*claims;

        if (claim != 0 && want->source == KEEL_MPI_ANY_RANK) {
            want->source = claim - 1;
        }
        claims += stride / sizeof(*claims);
    }
}

int keel_mpi_match_take_ack(keel_mpi_ack_t *answer_p, uint32_t but)
{
    for (size_t i = box.answer_count; i-- > 0;) {
        if (box.answers[i].rank + 1 != but) {
            *answer_p = box.answers[i];
            box.answers[i] = box.answers[--box.answer_count];
            return 1;
        }
    }
    return 0;
}

void keel_mpi_match_post(keel_mpi_receive_t *want)
{
    want->letter = NULL;
    want->next = NULL;
    for (keel_mpi_message_t **at = &box.first; *at != NULL; at = &(*at)->next) {
        if (keel_mpi_match_fits(want, &(*at)->head)) {
            want->letter = *at;
            letter_unqueue(at);
            letter_matched(want->letter);
            return;
        }
    }
    *box.posted_last = want;
    box.posted_last = &want->next;
}

int keel_mpi_match_unpost(keel_mpi_receive_t *want)
{
    for (keel_mpi_receive_t **at = &box.posted; *at != NULL; at = &(*at)->next) {
        if (*at == want) {
            want_unqueue(at);
            return 1;
        }
    }
    return 0;
}

keel_mpi_message_t *keel_mpi_match_peek(const keel_mpi_receive_t *want, int is_taken)
{
    for (keel_mpi_message_t **at = &box.first; *at != NULL; at = &(*at)->next) {
        keel_mpi_message_t *letter = *at;

        if (keel_mpi_match_fits(
                want,
                &letter->head)) { /* one that is not whole hides those after it, as they are to be taken in order */
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

void keel_mpi_match_save(const char *call)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t bytes = 0, at = 0;

    if (hidden->saved != 0) {
        keel_mpi_arena_free(hidden->saved);
        hidden->saved = hidden->saved_bytes = 0;
    }
    for (const keel_mpi_message_t *letter = box.first; letter != NULL; letter = letter->next) {
        bytes += sizeof(letter->head) + keel_mpi_padded(letter->head.bytes);
    }
    if (bytes == 0) {
        return;
    }
    hidden->saved = keel_mpi_arena_alloc(bytes, KEEL_MPI_ALIGN, call);
    hidden->saved_bytes = bytes;
    for (const keel_mpi_message_t *letter = box.first; letter != NULL; letter = letter->next) {
        char *place = (char *)keel_mpi_arena_at(hidden->saved) + at;

        memcpy(place, &letter->head, sizeof(letter->head));
        memcpy(place + sizeof(letter->head), letter->data, letter->head.bytes);
        at += sizeof(letter->head) + keel_mpi_padded(letter->head.bytes);
    }
}

void keel_mpi_match_restore(void)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    size_t at = 0;

    while (box.first != NULL) {
        keel_mpi_message_t *letter = box.first;

        letter_unqueue(&box.first);
        free(letter);
    }
    box.posted = NULL;
    box.posted_last = &box.posted;
    box.answer_count = 0;
    while (at < hidden->saved_bytes) {
        const char *place = (const char *)keel_mpi_arena_at(hidden->saved) + at;
        keel_mpi_head_t head;
        keel_mpi_message_t *letter;

        memcpy(&head, place, sizeof(head));
        letter = keel_mpi_message_make(&head);
        memcpy(letter->data, place + sizeof(head), head.bytes);
        letter->here = head.bytes;
        letter_queue(letter);
        at += sizeof(head) + keel_mpi_padded(head.bytes);
    }
}
