#include "life/mpi_startup.h"

#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX_DEFAULT ((size_t)1 << 20)

void keel_mpi_startup_make(void)
{
    const char *text = getenv("KEELMPI_PREFIX");
    const size_t bytes = (text != NULL) ? keel_mpi_parse_bytes(text) : PREFIX_DEFAULT;

    if (keel_mpi_is_replaying()) {
        return;
    }
    if (bytes == 0) {
        keel_mpi_fatal("MPI_Init", "KEELMPI_PREFIX is no number of bytes");
    }
    keel_mpi.hidden->startup = keel_mpi_arena_alloc(bytes, KEEL_MPI_ALIGN, "MPI_Init");
    keel_mpi.hidden->startup_bytes = bytes;
}

int keel_mpi_startup_is_full(void)
{
    return keel_mpi.hidden->startup_used > keel_mpi.hidden->startup_bytes;
}

/* A full record stays full: startup_used then exceeds the capacity. */
static void record(const void *data, size_t bytes)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    keel_mpi_record_t record;

    if (hidden->startup == 0) { /* the allocation of the record itself */
        return;
    }
    record = (keel_mpi_record_t){keel_mpi_arena_at(hidden->startup), hidden->startup_bytes, hidden->startup_used,
                                 keel_mpi.recorded_last};
    if (keel_mpi_startup_is_full() || !keel_mpi_record_append(&record, data, bytes)) {
        hidden->startup_used = hidden->startup_bytes + 1;
        return;
    }
    hidden->startup_used = record.used;
    keel_mpi.recorded_last = record.last;
}

static void replay(void *data, size_t bytes)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    const keel_mpi_record_t record = {keel_mpi_arena_at(hidden->startup), hidden->startup_bytes, hidden->startup_used,
                                      0};

    if (!keel_mpi_record_read(&record, &keel_mpi.replayed, data, bytes)) {
        keel_mpi_relaunch("MPI", "its replacement did otherwise than it had done before the restart point");
    }
}

void keel_mpi_startup_exchange(void *data, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (keel_mpi.phase == KEEL_MPI_RECORDS) {
        record(data, bytes);
    } else if (keel_mpi.phase == KEEL_MPI_REPLAYS) {
        replay(data, bytes);
    }
}
