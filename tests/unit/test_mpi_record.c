/* The startup record of the MPI adapter: values come back in order, and polls take no room. */
#include "adapters/mpi/life/mpi_record.h"

#include "unit.h"

#include <string.h>

enum { ROOM = 1 << 16, VALUES = 2000, LARGEST = 24, POLLS = 50000 };

static char memory[ROOM];
static keel_mpi_record_t record;
static keel_mpi_record_cursor_t cursor;

static void begin(size_t room)
{
    record = (keel_mpi_record_t){.base = memory, .room = room};
    cursor = (keel_mpi_record_cursor_t){0};
}

/* A value of few kinds, so that equal values and zeros follow each other often. */
static size_t draw(uint64_t *state, char *value)
{
    const size_t bytes = 1 + unit_random(state) % LARGEST;

    memset(value, (int)(unit_random(state) % 3), bytes);
    if (unit_random(state) % 4 == 0) {
        value[bytes - 1] = 1;
    }
    return bytes;
}

START_TEST(each_value_comes_back_in_order)
{
    const uint64_t seed = 41;

    for (uint64_t round = 0; round < 10; round++) {
        uint64_t state = seed + round;
        char value[LARGEST], got[LARGEST];

        begin(ROOM);
        for (int i = 0; i < VALUES; i++) {
            const size_t bytes = draw(&state, value);

            for (uint64_t equals = unit_random(&state) % 3; equals < 3; equals++) {
                ck_assert(keel_mpi_record_append(&record, value, bytes));
            }
        }
        state = seed + round;
        for (int i = 0; i < VALUES; i++) {
            const size_t bytes = draw(&state, value);

            for (uint64_t equals = unit_random(&state) % 3; equals < 3; equals++) {
                memset(got, 0x55, sizeof(got));
                ck_assert_msg(keel_mpi_record_read(&record, &cursor, got, bytes), "round %d: value %d", (int)round, i);
                ck_assert_mem_eq(got, value, bytes);
            }
        }
        ck_assert(!keel_mpi_record_read(&record, &cursor, got, 1));
    }
}
END_TEST

START_TEST(polls_that_find_nothing_take_the_room_of_one_entry)
{
    const char probe[56] = {0}, test[3] = {0}, flag[1] = {0};
    const uint64_t word = 7;
    size_t used;

    begin(ROOM);
    ck_assert(keel_mpi_record_append(&record, probe, sizeof(probe)));
    used = record.used;
    for (int i = 0; i < POLLS; i++) {
        ck_assert(keel_mpi_record_append(&record, i % 2 ? probe : test, i % 2 ? sizeof(probe) : sizeof(test)));
        ck_assert(keel_mpi_record_append(&record, flag, sizeof(flag)));
    }
    ck_assert_uint_eq(record.used, used);
    ck_assert(keel_mpi_record_append(&record, &word, sizeof(word)));
    used = record.used;
    for (int i = 0; i < POLLS; i++) {
        ck_assert(keel_mpi_record_append(&record, &word, sizeof(word)));
    }
    ck_assert_uint_eq(record.used, used);
}
END_TEST

START_TEST(count_of_an_entry_ends_at_32_bits)
{
    static char zeros[1 << 20];
    const uint32_t length = 0, near_end = UINT32_MAX - 2;

    begin(ROOM);
    ck_assert(keel_mpi_record_append(&record, zeros, 1));
    memcpy(memory, &length, sizeof(length));
    memcpy(memory + sizeof(length), &near_end, sizeof(near_end));
    ck_assert(keel_mpi_record_append(&record, zeros, 2));
    ck_assert(keel_mpi_record_append(&record, zeros, sizeof(zeros)));
    cursor.taken = near_end - 1;
    ck_assert(keel_mpi_record_read(&record, &cursor, zeros, 1));
    ck_assert(keel_mpi_record_read(&record, &cursor, zeros, 2));
    ck_assert(keel_mpi_record_read(&record, &cursor, zeros, sizeof(zeros)));
    ck_assert(!keel_mpi_record_read(&record, &cursor, zeros, 1));
}
END_TEST

START_TEST(value_without_room_leaves_the_record_unchanged)
{
    const uint64_t words[] = {1, 2, 3};
    uint64_t got;

    begin(40); /* two entries of 16 bytes, and half of one */
    ck_assert(keel_mpi_record_append(&record, &words[0], sizeof(words[0])));
    ck_assert(keel_mpi_record_append(&record, &words[1], sizeof(words[1])));
    ck_assert(!keel_mpi_record_append(&record, &words[2], sizeof(words[2])));
    ck_assert(keel_mpi_record_append(&record, &words[1], sizeof(words[1])));
    for (int i = 0; i < 3; i++) {
        ck_assert(keel_mpi_record_read(&record, &cursor, &got, sizeof(got)));
        ck_assert_uint_eq(got, words[i < 1 ? 0 : 1]);
    }
    ck_assert(!keel_mpi_record_read(&record, &cursor, &got, sizeof(got)));
}
END_TEST

START_TEST(value_of_another_size_is_refused)
{
    const uint32_t word = 9;
    const char zeros[4] = {0};
    uint64_t got;

    begin(ROOM);
    ck_assert(keel_mpi_record_append(&record, &word, sizeof(word)));
    ck_assert(keel_mpi_record_append(&record, zeros, sizeof(zeros)));
    ck_assert(!keel_mpi_record_read(&record, &cursor, &got, sizeof(got)));
    ck_assert(!keel_mpi_record_read(&record, &cursor, &got, 1));
    ck_assert(keel_mpi_record_read(&record, &cursor, &got, sizeof(word)));
    ck_assert(!keel_mpi_record_read(&record, &cursor, &got, sizeof(zeros) + 1));
    ck_assert(keel_mpi_record_read(&record, &cursor, &got, sizeof(zeros)));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_value_comes_back_in_order,    polls_that_find_nothing_take_the_room_of_one_entry,
                                  count_of_an_entry_ends_at_32_bits, value_without_room_leaves_the_record_unchanged,
                                  value_of_another_size_is_refused,  NULL};

    return unit_run("mpi_record", tests);
}
