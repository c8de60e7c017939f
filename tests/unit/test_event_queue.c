/* Events reach Keel once and in order, for any order and repetition of their arrival. */
#include <runtime/event_queue.h>

#include <string.h>

#include "unit.h"

#define QUEUE_RANKS 4

static keel_event_queue_t queue;

static void queue_open(void)
{
    ck_assert_int_eq(keel_event_queue_init(&queue, QUEUE_RANKS), KEEL_OK);
}

static void queue_push(keel_event_type_t type, uint32_t rank, uint32_t incarnation)
{
    keel_event_t event = {.type = type, .rank = rank, .incarnation = incarnation};
    uint32_t address[2] = {rank, incarnation};

    if (type == KEEL_EVENT_JOIN) {
        event.address = address;
        event.address_len = sizeof address;
    }
    ck_assert_int_eq(keel_event_queue_push(&queue, &event), KEEL_OK);
}

static void queue_expect(keel_event_type_t type, uint32_t rank, uint32_t incarnation)
{
    uint32_t address[2] = {rank, incarnation};
    keel_event_t event;

    ck_assert_int_eq(keel_event_queue_pop(&queue, &event), 1);
    ck_assert_int_eq(event.type, type);
    ck_assert_uint_eq(event.rank, rank);
    ck_assert_uint_eq(event.incarnation, incarnation);
    if (type == KEEL_EVENT_JOIN) {
        ck_assert_uint_eq(event.address_len, sizeof address);
        ck_assert_mem_eq(event.address, address, sizeof address);
    }
}

static void queue_expect_nothing(void)
{
    keel_event_t event;

    ck_assert_int_eq(keel_event_queue_pop(&queue, &event), 0);
}

START_TEST(events_come_once)
{
    queue_open();
    queue_push(KEEL_EVENT_DEATH, 1, 0);
    queue_push(KEEL_EVENT_DEATH, 1, 0);
    queue_push(KEEL_EVENT_JOIN, 1, 1);
    queue_push(KEEL_EVENT_JOIN, 1, 1);
    queue_push(KEEL_EVENT_DEATH, 1, 0);
    queue_push(KEEL_EVENT_EXIT, 1, 1);
    queue_push(KEEL_EVENT_EXIT, 1, 1);
    queue_expect(KEEL_EVENT_DEATH, 1, 0);
    queue_expect(KEEL_EVENT_JOIN, 1, 1);
    queue_expect(KEEL_EVENT_EXIT, 1, 1);
    queue_expect_nothing();
    keel_event_queue_release(&queue);
}
END_TEST

START_TEST(join_is_never_before_the_death_it_replaces)
{
    queue_open();
    queue_push(KEEL_EVENT_JOIN, 2, 1);
    queue_push(KEEL_EVENT_DEATH, 2, 0); /* late: known already */
    queue_push(KEEL_EVENT_JOIN, 3, 7);  /* seen by a replacement that missed six incarnations */
    queue_expect(KEEL_EVENT_DEATH, 2, 0);
    queue_expect(KEEL_EVENT_JOIN, 2, 1);
    queue_expect(KEEL_EVENT_DEATH, 3, 6);
    queue_expect(KEEL_EVENT_JOIN, 3, 7);
    queue_expect_nothing();
    keel_event_queue_release(&queue);
}
END_TEST

START_TEST(nothing_of_the_dead_comes_after_their_death)
{
    queue_open();
    queue_push(KEEL_EVENT_DEATH, 0, 1);
    queue_push(KEEL_EVENT_JOIN, 0, 1);
    queue_push(KEEL_EVENT_EXIT, 0, 1);
    queue_expect(KEEL_EVENT_DEATH, 0, 1);
    queue_expect_nothing();
    keel_event_queue_release(&queue);
}
END_TEST

START_TEST(death_without_incarnation_is_that_of_the_one_there)
{
    queue_open();
    ck_assert_int_eq(keel_event_queue_push_current_death(&queue, 1), KEEL_OK);
    /* reported by several processes */
    ck_assert_int_eq(keel_event_queue_push_current_death(&queue, 1), KEEL_OK);
    queue_push(KEEL_EVENT_JOIN, 1, 1);
    ck_assert_int_eq(keel_event_queue_push_current_death(&queue, 1), KEEL_OK);
    /* no such rank */
    ck_assert_int_eq(keel_event_queue_push_current_death(&queue, QUEUE_RANKS), KEEL_OK);
    queue_expect(KEEL_EVENT_DEATH, 1, 0);
    queue_expect(KEEL_EVENT_JOIN, 1, 1);
    queue_expect(KEEL_EVENT_DEATH, 1, 1);
    queue_expect_nothing();
    keel_event_queue_release(&queue);
}
END_TEST

START_TEST(address_stays_until_the_next_poll)
{
    keel_event_t event;
    uint32_t address[2] = {2, 1};

    queue_open();
    queue_push(KEEL_EVENT_JOIN, 2, 1);
    queue_expect(KEEL_EVENT_DEATH, 2, 0);
    ck_assert_int_eq(keel_event_queue_pop(&queue, &event), 1);
    queue_push(KEEL_EVENT_JOIN, 3, 1); /* a push does not change the event */
    ck_assert_mem_eq(event.address, address, sizeof address);
    /* release frees events that were not polled; a sanitizer reports leaks */
    keel_event_queue_release(&queue);
}
END_TEST

START_TEST(every_event_is_news)
{
    uint8_t news = 0;

    queue_open();
    queue_push(KEEL_EVENT_DEATH, 1, 0);
    keel_event_queue_notify(&queue, &news);
    ck_assert_uint_eq(news, 1); /* the event was there before */
    queue_expect(KEEL_EVENT_DEATH, 1, 0);
    news = 0;
    queue_push(KEEL_EVENT_DEATH, 1, 0);
    ck_assert_uint_eq(news, 0); /* known already: nothing to poll */
    queue_push(KEEL_EVENT_JOIN, 1, 1);
    ck_assert_uint_eq(news, 1);
    keel_event_queue_release(&queue);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {events_come_once,
                                  join_is_never_before_the_death_it_replaces,
                                  nothing_of_the_dead_comes_after_their_death,
                                  death_without_incarnation_is_that_of_the_one_there,
                                  address_stays_until_the_next_poll,
                                  every_event_is_news,
                                  NULL};

    return unit_run("event_queue", tests);
}
