#include "coll/mpi_coll.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "p2p/mpi_ordered.h"
#include "p2p/mpi_synchronous.h"

#include <stdlib.h>
#include <string.h>

keel_mpi_coll_t keel_mpi_coll_begin(const keel_mpi_comm_t *comm, const char *call)
{
    uint64_t *coll_count = keel_mpi_arena_at(comm->coll_count);

    keel_mpi_ordered_throttle(call);
    keel_mpi_stream_throttle(call);
    ++*coll_count;
    return (keel_mpi_coll_t){comm, comm->context + 1, (int64_t)(*coll_count & INT64_MAX), call, 0};
}

void keel_mpi_coll_send(const keel_mpi_coll_t *coll, uint32_t to, const void *data, size_t bytes)
{
    (void)keel_mpi_channel_send_mode(coll->is_nonblocking ? KEEL_MPI_SEND_COPIES : KEEL_MPI_SEND_BLOCKS,
                                     coll->comm->members[to], coll->context, coll->tag, data, bytes, coll->call);
}

size_t keel_mpi_coll_receive(const keel_mpi_coll_t *coll, uint32_t from, void *data, size_t bytes)
{
    return keel_mpi_channel_receive(coll->comm->members[from], coll->context, coll->tag, data, bytes, coll->call);
}

void keel_mpi_coll_barrier(const keel_mpi_coll_t *coll)
{
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;

    for (uint64_t distance = 1; distance < size; distance *= 2) {
        keel_mpi_coll_send(coll, (uint32_t)((rank + distance) % size), NULL, 0);
        keel_mpi_coll_receive(coll, (uint32_t)((rank + size - distance) % size), NULL, 0);
    }
}

void keel_mpi_coll_barrier_or_gsync(const keel_mpi_coll_t *coll)
{
    if (!keel_mpi.is_deterministic_mode || coll->comm->size < keel_mpi.ranks) {
        keel_mpi_coll_barrier(coll);
    } else if (!keel_mpi_is_replaying()) {
        keel_mpi_synchronous_enter(KEEL_MPI_ANY_RANK, coll->call);
        keel_mpi_ordered_arrive(coll->call);
        keel_mpi_check(keel_gsync(keel_mpi.ctx, 0), coll->call);
        keel_mpi_synchronous_leave();
    }
}

int keel_mpi_coll_any(const keel_mpi_coll_t *coll, int is)
{
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;
    char any = (char)(is != 0), other = 0;

    for (uint64_t distance = 1; distance < size; distance *= 2) {
        keel_mpi_coll_send(coll, (uint32_t)((rank + distance) % size), &any, sizeof(any));
        keel_mpi_coll_receive(coll, (uint32_t)((rank + size - distance) % size), &other, sizeof(other));
        any = (char)(any | other);
    }
    return any;
}

void keel_mpi_coll_allgather(const keel_mpi_coll_t *coll, const void *mine, size_t bytes, void *all)
{
    const uint32_t size = coll->comm->size, rank = coll->comm->rank;
    char *turned = malloc(size * bytes + 1); /* rotated: the own bytes first */
    uint32_t count = 1;

    if (turned == NULL) {
        keel_mpi_fatal(coll->call, "no memory");
    }
    memcpy(turned, mine, bytes);
    while (count < size) {
        const uint32_t some = (count < size - count) ? count : size - count;

        keel_mpi_coll_send(coll, (rank + size - count) % size, turned, some * bytes);
        keel_mpi_coll_receive(coll, (rank + count) % size, turned + count * bytes, some * bytes);
        count += some;
    }
    for (uint32_t i = 0; i < size; i++) {
        memcpy((char *)all + (rank + i) % size * bytes, turned + i * bytes, bytes);
    }
    free(turned);
}

void keel_mpi_coll_bcast(const keel_mpi_coll_t *coll, uint32_t root, void *data, size_t bytes)
{
    const uint32_t size = coll->comm->size, place = (coll->comm->rank + size - root) % size;
    uint64_t distance = 1;

    while (distance < size && (place & distance) == 0) {
        distance *= 2;
    }
    if (place != 0) {
        keel_mpi_coll_receive(coll, (uint32_t)((place - distance + root) % size), data, bytes);
    }
    while ((distance /= 2) > 0) {
        if (place + distance < size) {
            keel_mpi_coll_send(coll, (uint32_t)((place + distance + root) % size), data, bytes);
        }
    }
}
