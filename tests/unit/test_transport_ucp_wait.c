/*
 * A rank that sleeps on its word is woken by the thread or process that stored the awaited value,
 * at any moment of the store; and wakes up without help when the wake is lost.
 */
#include "transports/ucp/ucp_transport.h"
#include "ucp_rig.h"
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* no test lasts LONG_US */
enum { LONG_US = 100 * 1000 * 1000, SHORT_US = 20 * 1000, PASSES = 20000, STORES = 40 };

/* ---- two threads pass a number to and fro, and sleep all the time ---- */

typedef struct side {
    keel_shm_sleeper_t sleeper;
    _Atomic uint32_t passed;
    struct side *other;
} side_t;

static void *pass_to_and_fro(void *arg)
{
    side_t *side = arg;

    for (uint32_t number = 1; number <= PASSES; number++) {
        atomic_store(&side->other->passed, number);
        keel_shm_sleeper_wake(&side->other->sleeper);
        while (atomic_load(&side->passed) < number) {
            keel_shm_sleeper_announce(&side->sleeper, KEEL_SHM_ASLEEP);
            if (atomic_load(&side->passed) < number) {
                (void)keel_shm_sleeper_sleep(&side->sleeper, LONG_US);
            }
        }
    }
    return NULL;
}

START_TEST(a_wake_is_not_lost)
{
    side_t sides[2] = {{.other = &sides[1]}, {.other = &sides[0]}};
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, pass_to_and_fro, &sides[1]), 0);
    (void)pass_to_and_fro(&sides[0]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_sleep_that_was_not_announced_ends_at_once)
{
    keel_shm_sleeper_t sleeper = KEEL_SHM_AWAKE;

    ck_assert(keel_shm_sleeper_sleep(&sleeper, LONG_US));
    keel_shm_sleeper_announce(&sleeper, KEEL_SHM_ASLEEP);
    keel_shm_sleeper_wake(&sleeper);
    ck_assert(keel_shm_sleeper_sleep(&sleeper, LONG_US));
    keel_shm_sleeper_announce(&sleeper, KEEL_SHM_ASLEEP);
    ck_assert(!keel_shm_sleeper_sleep(&sleeper, 1));
    ck_assert_uint_eq(atomic_load(&sleeper), KEEL_SHM_AWAKE);
}
END_TEST

/* ---- rank 0 sleeps until rank 1 has stored in its memory ---- */

static _Atomic uint64_t *share_word(rank_t *rank)
{
    unsigned char blob[RIG_BLOB];
    size_t length = sizeof(blob);
    keel_transport_mem_t *mem;
    keel_transport_key_t *key;
    rig_message_t message;
    void *base;

    if (rank->rank == 0) {
        rank_check(rank, rank->ops->mem_alloc(rank->transport, sizeof(uint64_t), NULL, &mem, &base) == KEEL_OK);
        rank_check(rank, rank->ops->mem_pack(rank->transport, mem, blob, &length) == KEEL_OK);
        rank_publish(rank, blob, length);
        return base;
    }
    rank_receive(rank, &message, 1);
    rank_check(rank, message.type == RIG_BLOB_OF);
    rank_check(rank, rank->ops->key_open(rank->transport, 0, message.blob, message.length, 0, &key) == KEEL_OK);
    return rank->ops->key_ptr(key);
}

static void await_word(rank_t *rank, _Atomic uint64_t *word, uint64_t number, unsigned timeout_us)
{
    unsigned rounds = 0;

    while (atomic_load(word) < number) {
        if (rank->ops->progress(rank->transport) == 0) {
            rank->ops->wait(rank->transport, ++rounds, timeout_us, 0);
        }
    }
}

static void ring_body(rank_t *rank)
{
    _Atomic uint64_t *word;

    rank_join(rank, "auto");
    word = share_word(rank);
    for (uint64_t number = 1; number <= STORES; number++) {
        rank_barrier_inside(rank);
        if (rank->rank == 0) {
            await_word(rank, word, number, LONG_US);
        } else {
            usleep((number % 4) * 500); /* the rank mostly sleeps by then, or is about to */
            atomic_store(word, number);
            rank->ops->ring(rank->transport, 0);
        }
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(a_ring_wakes_a_sleeping_process)
{
    rig_t rig;

    rig_init(&rig, 2, ring_body, NULL);
    rig_run(&rig);
}
END_TEST

/* As if the waker were killed between its change of the word and the system call. */
static void take_back(rank_t *rank)
{
    keel_shm_sleeper_t *sleeper = &((keel_ucp_t *)rank->transport)->peers[0]->card->sleeper;
    uint32_t asleep = KEEL_SHM_ASLEEP;

    while (!atomic_compare_exchange_strong(sleeper, &asleep, KEEL_SHM_AWAKE)) {
        asleep = KEEL_SHM_ASLEEP;
        sched_yield();
    }
}

static void killed_body(rank_t *rank)
{
    _Atomic uint64_t *word;

    rank_join(rank, "auto");
    word = share_word(rank);
    for (uint64_t number = 1; number <= 3; number++) {
        rank_barrier_inside(rank);
        if (rank->rank == 0) {
            await_word(rank, word, number, SHORT_US);
        } else {
            take_back(rank);
            atomic_store(word, number);
        }
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(process_that_is_not_woken_wakes_up)
{
    rig_t rig;

    rig_init(&rig, 2, killed_body, NULL);
    rig_run(&rig);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_wake_is_not_lost, a_sleep_that_was_not_announced_ends_at_once,
                                  a_ring_wakes_a_sleeping_process, process_that_is_not_woken_wakes_up, NULL};

    return unit_run("transport_ucp_wait", tests);
}
