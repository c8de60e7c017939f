/*
 * An idle service side sends its held-back acknowledgements before sleep, and soon in any case,
 * with or without other senders. The thread inside Keel, when asleep, is woken by messages that its
 * handler reports as news.
 */
#include "ucp_rig.h"
#include "unit.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 100, NEWS = 30, LONG_US = 100 * 1000 * 1000 }; /* no test lasts LONG_US */

/* ---- rank 1 waits for held-back acknowledgements, and rank 2 sends until all arrived ---- */

typedef struct held {
    /* requests of rank 1 without and with an acknowledgement; service thread of rank 0 */
    uint64_t waiting, told;
    int is_held;
    uint64_t under_way, heard;
} held_t;

static int held_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    const uint32_t *source = header;
    held_t *held = rank->arg;

    if (*source == 1) {
        held->waiting++;
    } else {
        rank_check(rank, rank->ops->reply(rank->transport, 2, &held->told, sizeof(held->told), NULL, 0) == KEEL_OK);
    }
    return 0;
}

static int held_idle(rank_t *rank, int is_late)
{
    held_t *held = rank->arg;

    if (held->waiting == 0) {
        return 0;
    }
    if (!is_late) {
        held->is_held = 1;
        return 1;
    }
    rank_check(rank, held->is_held); /* more requests had a chance to come */
    held->is_held = 0;
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
    while ((rank->rank != 0) && (held.heard < WORDS)) {
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

static void awake_body(rank_t *rank)
{
    rank->spin_us = LONG_US;
    held_body(rank);
}

START_TEST(what_is_held_back_is_said_ahead_of_sleep)
{
    rig_t rig;

    rig_init(&rig, 2, held_body, NULL);
    rig_run(&rig);
}
END_TEST

/* Alone, and while another rank sends. */
START_TEST(busy_process_soon_sends_delayed_messages)
{
    rig_t rig;

    for (uint32_t ranks = 2; ranks <= 3; ranks++) {
        rig_init(&rig, ranks, awake_body, NULL);
        rig_run(&rig);
    }
}
END_TEST

/* ---- rank 0 sleeps until messages of rank 1 arrive: news, then a message that is no news ---- */

typedef struct news {
    _Atomic uint64_t seen;
    uint64_t heard;
} news_t;

static int news_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    const int *is_news = header;
    news_t *news = rank->arg;

    atomic_fetch_add(&news->seen, (uint64_t)*is_news);
    if (!*is_news) {
        rank_check(rank, rank->ops->reply(rank->transport, 1, header, header_len, NULL, 0) == KEEL_OK);
    }
    return *is_news;
}

static void news_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    ((news_t *)rank->arg)->heard++;
}

static void news_body(rank_t *rank)
{
    static const int is_news[2] = {1, 0};
    news_t news = {0};
    unsigned rounds;

    rank->arg = &news;
    rank->on_request = news_request;
    rank->on_reply = news_reply;
    rank_join(rank, "served");
    for (uint64_t word = 1; word <= NEWS; word++) {
        rank_barrier(rank);
        if (rank->rank == 1) {
            usleep(2000); /* rank 0 mostly sleeps by then */
        }
        rounds = 0;
        while ((rank->rank == 0) && (atomic_load(&news.seen) < word)) {
            if (rank->ops->progress(rank->transport) == 0) {
                rank->ops->wait(rank->transport, ++rounds, LONG_US, 0);
            }
        }
        for (unsigned i = 0; (rank->rank == 1) && (i < 2); i++) {
            rank_check(rank, rank->ops->send(rank->transport, 0, &is_news[i], sizeof(int), NULL, 0) == KEEL_OK);
        }
        while ((rank->rank == 1) && (news.heard < word)) {
            rank_progress(rank);
        }
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(a_message_wakes_a_sleeping_process)
{
    rig_t rig;

    rig_init(&rig, 2, news_body, NULL);
    rig_run(&rig);
}
END_TEST

static void tick(rank_t *rank)
{
    atomic_fetch_add(&((news_t *)rank->arg)->seen, 1);
}

static void ticking_body(rank_t *rank)
{
    news_t news = {0};

    rank->arg = &news;
    rank->on_request = news_request;
    rank->on_reply = news_reply;
    rank->on_notify = tick;
    rank->tick_us = 1000;
    rank_join(rank, "served");
    while (atomic_load(&news.seen) < 3) { /* without a call of the transport */
        usleep(1000);
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(computing_process_learns_that_time_passes)
{
    rig_t rig;

    rig_init(&rig, 2, ticking_body, NULL);
    rig_run(&rig);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_is_held_back_is_said_ahead_of_sleep, busy_process_soon_sends_delayed_messages,
                                  a_message_wakes_a_sleeping_process, computing_process_learns_that_time_passes, NULL};

    return unit_run("transport_ucp_idle", tests);
}
