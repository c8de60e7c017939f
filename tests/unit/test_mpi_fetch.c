/* Messages that the receiver of the MPI adapter fetches: the offered data arrives, or nothing. */
#include "adapters/mpi/p2p/mpi_fetch.h"

#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 256 << 10, BYTES_MIN = 128 << 10 };

static struct {
    int orders, done; /* pipes to and from the sender */
    pid_t process;
} sender;
static char *shared; /* the offer */
static char *data;   /* of the sender; the same address in both processes */
static char moved[BYTES];
static const char *pointer;
static char copy[BYTES];

/* 'v': voids the offers; 'u': unmaps the data; 'm': moves the data; otherwise fills the data. */
static void sender_run(int orders, int done)
{
    keel_mpi_offer_t offer;
    char order;

    while (read(orders, &order, 1) == 1) {
        if (order == 'v') {
            keel_mpi_fetch_void();
        } else if (order == 'u') {
            munmap(data + BYTES / 2, BYTES / 2);
        } else if (order == 'm') {
            memcpy(moved, data, BYTES);
            keel_mpi_fetch_move(&pointer, moved);
            memset(data, 0, BYTES);
        } else {
            pointer = memset(data, order, BYTES);
            offer = keel_mpi_fetch_offer(&pointer);
            memcpy(shared, &offer, sizeof(offer));
        }
        if (write(done, &order, 1) != 1) {
            break;
        }
    }
    _exit(0);
}

static void order(char what)
{
    char is_done = 0;

    ck_assert_int_eq(write(sender.orders, &what, 1), 1);
    ck_assert_int_eq(read(sender.done, &is_done, 1), 1);
    ck_assert_int_eq(is_done, what);
}

static void *map(size_t bytes, int kind)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

static void sender_start(void)
{
    int orders[2], done[2];

    keel_mpi_fetch_make(BYTES_MIN);
    shared = map(4096, MAP_SHARED);
    data = map(BYTES, MAP_PRIVATE);
    ck_assert_int_eq(pipe(orders), 0);
    ck_assert_int_eq(pipe(done), 0);
    sender.process = fork();
    ck_assert_int_ge(sender.process, 0);
    if (sender.process == 0) {
        sender_run(orders[0], done[1]);
    }
    sender.orders = orders[1];
    sender.done = done[0];
}

static keel_mpi_offer_t offered(char content)
{
    keel_mpi_offer_t offer;

    order(content);
    memcpy(&offer, shared, sizeof(offer));
    return offer;
}

START_TEST(offered_data_is_fetched)
{
    sender_start();
    for (char content = 'a'; content < 'e'; content++) {
        const keel_mpi_offer_t offer = offered(content);

        ck_assert_int_eq(keel_mpi_fetch_test(&offer), 0);
        ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), 0);
        for (size_t i = 0; i < BYTES; i++) {
            ck_assert_int_eq(copy[i], content);
        }
    }
}
END_TEST

START_TEST(void_offer_is_refused_and_a_newer_one_is_not)
{
    keel_mpi_offer_t offer;

    sender_start();
    offer = offered('a');
    order('v');
    ck_assert_int_eq(keel_mpi_fetch_test(&offer), ESTALE);
    ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), ESTALE);
    offer = offered('b');
    ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), 0);
}
END_TEST

START_TEST(data_that_has_moved_is_fetched)
{
    keel_mpi_offer_t offer;

    sender_start();
    offer = offered('a');
    order('m');
    ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), 0);
    ck_assert_int_eq(copy[0], 'a');
    ck_assert_int_eq(copy[BYTES - 1], 'a');
}
END_TEST

START_TEST(offer_of_a_dead_process_is_refused)
{
    keel_mpi_offer_t offer;

    sender_start();
    offer = offered('a');
    ck_assert_int_eq(kill(sender.process, SIGKILL), 0);
    ck_assert_int_eq(waitpid(sender.process, NULL, 0), sender.process);
    ck_assert_int_ne(keel_mpi_fetch_data(&offer, copy, BYTES), 0);
}
END_TEST

/* Another process may get the number of a dead sender. */
START_TEST(offer_of_another_process_is_refused)
{
    keel_mpi_offer_t offer;

    sender_start();
    order('v'); /* a later value than that of this process, which has the same addresses */
    offer = offered('a');
    offer.process = (uint64_t)getpid();
    pointer = data;
    ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), ESTALE);
}
END_TEST

START_TEST(data_that_is_gone_in_part_is_refused)
{
    keel_mpi_offer_t offer;

    sender_start();
    offer = offered('a');
    order('u');
    ck_assert_int_eq(keel_mpi_fetch_data(&offer, copy, BYTES), EFAULT);
}
END_TEST

START_TEST(long_data_outside_the_stack_is_offered)
{
    char on_stack[256 << 10];

    data = map(BYTES, MAP_PRIVATE);
    keel_mpi_fetch_make(BYTES_MIN);
    ck_assert(keel_mpi_fetch_is_due(data, BYTES));
    ck_assert(keel_mpi_fetch_is_due(copy, BYTES_MIN));
    ck_assert(!keel_mpi_fetch_is_due(copy, BYTES_MIN - 1));
    ck_assert(!keel_mpi_fetch_is_due(on_stack, sizeof(on_stack)));
    keel_mpi_fetch_make(0);
    ck_assert(!keel_mpi_fetch_is_due(data, BYTES));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {offered_data_is_fetched,
                                  void_offer_is_refused_and_a_newer_one_is_not,
                                  data_that_has_moved_is_fetched,
                                  offer_of_a_dead_process_is_refused,
                                  offer_of_another_process_is_refused,
                                  data_that_is_gone_in_part_is_refused,
                                  long_data_outside_the_stack_is_offered,
                                  NULL};

    return unit_run("mpi_fetch", tests);
}
