/*
 * What the service side keeps back when it runs dry is said ahead of sleep, and soon while another rank goes on sending: rank 1
 * waits for that alone, and rank 2 sends until all of it has come.
 */
#include "ucp_rig.h"
#include "unit.h"

#include <string.h>

typedef struct held {
    uint64_t waiting, told; /* requests of rank 1 that were not acknowledged; that were. Service thread of rank 0 */
    uint64_t under_way, heard;
} held_t;

enum { HELD_WORDS = 30 };

static void held_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    const uint32_t *source = header;
    held_t *held = rank->arg;

    if (*source == 1) {
        held->waiting++;
    } else {
        rank_check(rank, rank->ops->reply(rank->transport, 2, &held->told, sizeof(held->told), NULL, 0) == KEEL_OK);
    }
}

static int held_idle(rank_t *rank, int is_late)
{
    held_t *held = rank->arg;

    if (held->waiting == 0 || !is_late) {
        return held->waiting > 0;
    }
    held->told += held->waiting;
    held->waiting = 0;
    rank_check(rank, rank->ops->reply(rank->transport, 1, &held->told, sizeof(held->told), NULL, 0) == KEEL_OK);
    return 0;
}

static void held_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    held_t *held = rank->arg;

    memcpy(&held->heard, header, sizeof(held->heard));
    held->under_way--;
}

static void held_body(rank_t *rank)
{
    const uint64_t window = (rank->rank == 1) ? 1 : 64;
    held_t held = {0};

    rank->arg = &held;
    rank->on_request = held_request;
    rank->on_idle = held_idle;
    rank->on_reply = held_reply;
    rank_join(rank, "served");
    while ((rank->rank != 0) && (held.heard < HELD_WORDS)) {
        if (held.under_way < window) {
            rank_check(rank, rank->ops->send(rank->transport, 0, &rank->rank, sizeof(rank->rank), NULL, 0) == KEEL_OK);
            held.under_way++;
        }
        rank_progress(rank);
    }
    while (held.under_way > 0) {
        rank_progress(rank);
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(what_is_held_back_is_said_ahead_of_sleep)
{
    rig_t rig;

    rig_init(&rig, 2, held_body, NULL);
    rig_run(&rig);
}
END_TEST

START_TEST(what_is_held_back_is_said_soon_while_another_sends)
{
    rig_t rig;

    rig_init(&rig, 3, held_body, NULL);
    rig_run(&rig);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_is_held_back_is_said_ahead_of_sleep,
                                  what_is_held_back_is_said_soon_while_another_sends, NULL};

    return unit_run("transport_ucp_idle", tests);
}
