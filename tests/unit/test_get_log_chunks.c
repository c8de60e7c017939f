/* LG in memory: sources that die in the middle, chunks that are freed and taken again. */
#include "oplog/get_log_chunks.h"

#include "unit.h"

#include <string.h>

#define CHUNK 1024u
#define COUNT 8u
#define SIZE  (CHUNK * COUNT)
#define BYTES 200u /* data of a record: four records to a chunk */

static _Alignas(64) uint8_t arena[SIZE];

static int write_one(keel_get_chunks_writer_t *writer, uint32_t source, uint32_t phase, uint32_t index)
{
    keel_get_record_t record = {.phase = phase, .index = index, .length = BYTES};
    uint8_t data[BYTES];

    memset(data, (int)index, sizeof(data));
    return keel_get_chunks_write(arena, SIZE, CHUNK, writer, source, &record, data);
}

/* Reads the indices of all records of a source, in order. Returns their number. */
static unsigned read_all(uint32_t source, uint32_t *index)
{
    const keel_get_chunk_t *chunk;
    keel_get_chunks_walk_t next = {0};
    unsigned count = 0;

    while ((chunk = keel_get_chunks_next(arena, SIZE, CHUNK, source, &next)) != NULL) {
        const char *at = (const char *)(chunk + 1);

        for (uint32_t used = 0; used < chunk->used; used += sizeof(keel_get_record_t) + keel_pad8(BYTES)) {
            keel_get_record_t record;

            memcpy(&record, at + used, sizeof(record));
            index[count++] = record.index;
        }
    }
    return count;
}

START_TEST(records_come_back_in_order_from_several_chunks_and_sources)
{
    keel_get_chunks_writer_t writer[2] = {{0}};
    uint32_t index[64];

    memset(arena, 0, sizeof(arena));
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert(write_one(&writer[0], 3, 0, i));
        ck_assert(write_one(&writer[1], 5, 0, 100 + i));
    }
    ck_assert_uint_eq(read_all(3, index), 12);
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert_uint_eq(index[i], i);
    }
    ck_assert_uint_eq(read_all(5, index), 12);
    ck_assert_uint_eq(index[11], 111);
    ck_assert_uint_eq(read_all(4, index), 0);
}
END_TEST

START_TEST(a_full_arena_takes_no_more_and_loses_nothing)
{
    keel_get_chunks_writer_t writer = {0};
    uint32_t index[64];
    unsigned written = 0;

    memset(arena, 0, sizeof(arena));
    while (written < 64 && write_one(&writer, 0, 0, written)) {
        written++;
    }
    ck_assert_uint_eq(written, 4 * COUNT);
    ck_assert_uint_eq(read_all(0, index), written);
}
END_TEST

/* A source claims a chunk in one step and numbers the chunk in another, and may die between the
 * two. */
START_TEST(a_chunk_claimed_by_a_source_that_died_hides_no_other)
{
    keel_get_chunks_writer_t writer = {0}, successor = {0};
    keel_get_chunk_t *claimed = NULL;
    uint32_t index[64];

    memset(arena, 0, sizeof(arena));
    for (uint32_t i = 0; i < 9; i++) { /* chunks 0, 1, 2 */
        ck_assert(write_one(&writer, 1, 0, i));
    }
    /* the first free chunk, with a number from an earlier use */
    for (uint32_t c = 0; c < COUNT; c++) {
        keel_get_chunk_t *chunk = (keel_get_chunk_t *)(arena + c * CHUNK);

        if (chunk->owner == 0) {
            claimed = chunk;
            break;
        }
    }
    ck_assert_ptr_nonnull(claimed);
    claimed->owner = 2;
    claimed->number = 0;
    keel_get_chunks_close(arena, SIZE, CHUNK, 1, &successor);
    ck_assert_uint_eq(read_all(1, index), 9);
    ck_assert_uint_eq(index[0], 0);
    ck_assert(write_one(&successor, 1, 1, 50)); /* behind all records of the predecessor */
    ck_assert_uint_eq(read_all(1, index), 10);
    ck_assert_uint_eq(index[9], 50);
}
END_TEST

START_TEST(only_closed_chunks_of_older_phases_are_freed)
{
    keel_get_chunks_writer_t writer = {0};
    uint32_t index[64];

    memset(arena, 0, sizeof(arena));
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert(write_one(&writer, 0, i / 4, i)); /* a chunk for each phase; the last is open */
    }
    keel_get_chunks_trim(arena, SIZE, CHUNK, KEEL_GET_CHUNKS_ANY_SOURCE, 1);
    ck_assert_uint_eq(read_all(0, index), 8);
    ck_assert_uint_eq(index[0], 4);
    keel_get_chunks_trim(arena, SIZE, CHUNK, KEEL_GET_CHUNKS_ANY_SOURCE, 9);
    ck_assert_uint_eq(read_all(0, index), 4); /* the source still writes there */
    ck_assert_uint_eq(index[0], 8);
    ck_assert(write_one(&writer, 0, 9, 12));
    ck_assert_uint_eq(read_all(0, index), 5);
}
END_TEST

START_TEST(an_image_of_one_source_frees_its_chunks_alone)
{
    keel_get_chunks_writer_t writers[2] = {{0}};
    uint32_t index[64], counts[3], largest = 3;

    memset(arena, 0, sizeof(arena));
    for (uint32_t i = 0; i < 12; i++) {
        ck_assert(write_one(&writers[0], 0, i / 4, i));
        ck_assert(i >= 8 || write_one(&writers[1], 1, i / 4, i));
    }
    ck_assert_uint_eq(keel_get_chunks_largest(arena, SIZE, CHUNK, counts, 3, &largest), 5);
    ck_assert_uint_eq(largest, 0);
    keel_get_chunks_trim(arena, SIZE, CHUNK, 0, 2);
    ck_assert_uint_eq(read_all(0, index), 4);
    ck_assert_uint_eq(read_all(1, index), 8);
    ck_assert_uint_eq(keel_get_chunks_largest(arena, SIZE, CHUNK, counts, 3, &largest), 3);
    ck_assert_uint_eq(largest, 1);
    keel_get_chunks_reset(arena, SIZE, CHUNK);
    largest = 3;
    ck_assert_uint_eq(keel_get_chunks_largest(arena, SIZE, CHUNK, counts, 3, &largest), 0);
    ck_assert_uint_eq(largest, 3);
}
END_TEST

static unsigned samples_filled(uint32_t count, unsigned percent)
{
    unsigned filled = 0;

    for (uint32_t first = 0; first < KEEL_GET_CHUNKS_SAMPLES; first++) {
        filled += (unsigned)keel_get_chunks_may_be_filled(arena, (size_t)count * CHUNK, CHUNK, first, percent);
    }
    return filled;
}

/* Any run of taken chunks, of any length, in logs of any number of chunks. */
START_TEST(what_is_filled_is_found_in_one_sample_of_a_round)
{
    for (uint32_t count = 1; count <= COUNT; count++) {
        for (uint32_t begin = 0; begin < count; begin++) {
            memset(arena, 0, sizeof(arena));
            for (uint32_t taken = 1; taken <= count; taken++) {
                const keel_get_chunk_t chunk = {.owner = 1};

                memcpy(arena + (begin + taken - 1) % count * CHUNK, &chunk, sizeof(chunk));
                ck_assert_uint_ge(samples_filled(count, 100 * taken / count), 1);
            }
            ck_assert_uint_eq(samples_filled(count, 100), KEEL_GET_CHUNKS_SAMPLES);
        }
    }
    memset(arena, 0, sizeof(arena));
    ck_assert_uint_eq(samples_filled(COUNT, 1), 0);
}
END_TEST

START_TEST(a_run_of_records_is_there_when_it_is_published_and_not_before)
{
    const uint32_t need = sizeof(keel_get_record_t) + keel_pad8(BYTES);
    keel_get_chunks_writer_t writer = {0};
    keel_get_chunk_place_t place;
    uint32_t index[64];

    memset(arena, 0, sizeof(arena));
    ck_assert(keel_get_chunks_open(arena, SIZE, CHUNK, &writer, 2, need, &place));
    ck_assert_uint_ge(place.room, 3 * need);
    for (uint32_t i = 0; i < 3; i++) {
        const keel_get_record_t record = {.index = i, .length = BYTES};

        memcpy(place.at + i * need, &record, sizeof(record));
    }
    ck_assert_uint_eq(read_all(2, index), 0); /* a source that dies here leaves no record */
    keel_get_chunks_publish(&place, 2 * need, 5);
    ck_assert_uint_eq(read_all(2, index), 2);
    ck_assert_uint_eq(place.chunk->last_phase, 5);

    /* continues behind the published records */
    ck_assert(keel_get_chunks_open(arena, SIZE, CHUNK, &writer, 2, need, &place));
    ck_assert(write_one(&writer, 2, 6, 2));
    ck_assert_uint_eq(read_all(2, index), 3);
    ck_assert_uint_eq(index[2], 2);
}
END_TEST

START_TEST(a_chunk_that_was_overwritten_by_others_is_left)
{
    keel_get_chunks_writer_t writer = {0};
    keel_get_chunk_place_t place;

    memset(arena, 0, sizeof(arena));
    ck_assert(write_one(&writer, 2, 0, 0));
    ck_assert(keel_get_chunks_open(arena, SIZE, CHUNK, &writer, 2, 8, &place));
    place.chunk->used = UINT32_MAX;
    ck_assert(keel_get_chunks_open(arena, SIZE, CHUNK, &writer, 2, CHUNK / 2, &place));
    ck_assert_uint_eq(place.used, 0);
    ck_assert(place.at >= (char *)arena && place.at + place.room <= (char *)arena + SIZE);
}
END_TEST

START_TEST(a_record_larger_than_a_chunk_is_refused)
{
    keel_get_chunks_writer_t writer = {0};
    keel_get_record_t record = {.length = CHUNK};
    static uint8_t data[CHUNK];

    memset(arena, 0, sizeof(arena));
    ck_assert(!keel_get_chunks_write(arena, SIZE, CHUNK, &writer, 0, &record, data));
    ck_assert(write_one(&writer, 0, 0, 0));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {records_come_back_in_order_from_several_chunks_and_sources,
                                  a_full_arena_takes_no_more_and_loses_nothing,
                                  a_chunk_claimed_by_a_source_that_died_hides_no_other,
                                  only_closed_chunks_of_older_phases_are_freed,
                                  an_image_of_one_source_frees_its_chunks_alone,
                                  what_is_filled_is_found_in_one_sample_of_a_round,
                                  a_run_of_records_is_there_when_it_is_published_and_not_before,
                                  a_chunk_that_was_overwritten_by_others_is_left,
                                  a_record_larger_than_a_chunk_is_refused,
                                  NULL};

    return unit_run("get_log_chunks", tests);
}
