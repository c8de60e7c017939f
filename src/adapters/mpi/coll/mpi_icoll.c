#include "coll/mpi_icoll.h"

#include "comm/mpi_inter.h"
#include "life/mpi_startup.h"

#include <stdlib.h>
#include <string.h>

uint32_t *keel_mpi_icoll_ranks(const keel_mpi_comm_t *comm, uint32_t first, uint32_t count, int is_without_self,
                               const char *call)
{
    uint32_t *ranks = malloc(((size_t)count + 1) * sizeof(*ranks));

    if (ranks == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = (is_without_self && !keel_mpi_comm_is_inter(comm) && first + i == comm->rank) ? KEEL_MPI_NO_RANK
                                                                                                 : first + i;
    }
    return ranks;
}

int keel_mpi_icoll_has_all(keel_mpi_request_t *request)
{
    for (uint32_t i = 0; i < request->receive_count; i++) {
        if (!keel_mpi_receive_is_complete(&request->receives[i])) {
            return 0;
        }
    }
    return 1;
}

void keel_mpi_icoll_take(keel_mpi_request_t *request, uint32_t i, void *data, size_t bytes)
{
    if (!keel_mpi_is_replaying()) {
        keel_mpi_message_t *message = request->receives[i].message;

        memcpy(data, message->place, message->head.bytes < bytes ? message->head.bytes : bytes);
        free(message);
    }
    keel_mpi_startup_result(data, bytes);
}

/* A mark above the number of the call tells parallel messages to one neighbour apart. */
static int64_t tag_of(const keel_mpi_coll_t *coll, const keel_mpi_partners_t *ends, uint32_t i)
{
    return (ends->marks != NULL) ? (coll->tag | ends->marks[i] << 44) : coll->tag;
}

keel_mpi_request_t *keel_mpi_icoll_expect(const keel_mpi_request_ops_t *ops, const keel_mpi_coll_t *coll,
                                          const keel_mpi_partners_t *from)
{
    const keel_mpi_comm_t *comm = coll->comm;
    keel_mpi_request_t *request = keel_mpi_request_make(ops, coll->call);

    request->comm = keel_mpi_comm_hold((keel_mpi_comm_t *)comm);
    request->receives = calloc(from->count + 1, sizeof(*request->receives));
    if (request->receives == NULL) {
        keel_mpi_fatal(coll->call, "no memory");
    }
    for (uint32_t i = 0; i < from->count; i++) {
        keel_mpi_receive_t *receive = &request->receives[request->receive_count];

        if (from->ranks[i] != KEEL_MPI_NO_RANK) {
            *receive = (keel_mpi_receive_t){
                .context = coll->context, .source = comm->peers[from->ranks[i]], .tag = tag_of(coll, from, i)};
            request->receive_count++;
            if (!keel_mpi_is_replaying()) {
                keel_mpi_channel_post(receive, request->call);
            }
        }
    }
    return request;
}

void keel_mpi_icoll_expect_of(keel_mpi_request_t *request, const keel_mpi_coll_t *coll, uint32_t rank)
{
    /* keel_mpi_icoll_expect() has allocated room for one more */
    keel_mpi_receive_t *receive = &request->receives[request->receive_count++];

    *receive = (keel_mpi_receive_t){.context = coll->context, .source = rank, .tag = coll->tag};
    if (!keel_mpi_is_replaying()) {
        keel_mpi_channel_post(receive, request->call);
    }
}

/* ---- exchange of data ---- */

/* Keeps a copy of a layout, since the program may free the type. Consecutive parts of one type
 * share a copy. */
static const keel_mpi_layout_t *layout_keep(keel_mpi_request_t *request, MPI_Datatype type, MPI_Datatype last,
                                            const char *call)
{
    if (request->layout_count == 0 || type != last) {
        request->layouts[request->layout_count++] = keel_mpi_layout_keep(keel_mpi_layout_of(type), call);
    }
    return request->layouts[request->layout_count - 1];
}

static void places_make(keel_mpi_request_t *request, const keel_mpi_partners_t *from, const char *call)
{
    const keel_mpi_parts_t *parts = from->parts;
    MPI_Datatype last = MPI_DATATYPE_NULL;
    uint32_t count = 0;

    request->places = calloc(from->count + 1, sizeof(*request->places));
    request->layouts = calloc(from->count + 1, sizeof(keel_mpi_layout_t *));
    if (request->places == NULL || request->layouts == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (uint32_t i = 0; i < from->count; i++) {
        const MPI_Datatype type = (parts->types != NULL) ? parts->types[i] : parts->type;

        if (from->ranks[i] != KEEL_MPI_NO_RANK) {
            request->places[count].at = keel_mpi_part_at(parts, i);
            request->places[count].count = (size_t)((parts->counts != NULL) ? parts->counts[i] : parts->count);
            request->places[count++].layout = layout_keep(request, type, last, call);
            last = type;
        }
    }
}

static void exchange_finish(keel_mpi_request_t *request, MPI_Status *status)
{
    for (uint32_t i = 0; i < request->receive_count; i++) {
        const struct keel_mpi_request_place *place = &request->places[i];
        const size_t bytes = place->layout->size * place->count;
        void *packed = calloc(1, bytes + 1);

        if (packed == NULL) {
            keel_mpi_fatal(request->call, "no memory");
        }
        keel_mpi_icoll_take(request, i, packed, bytes);
        keel_mpi_unpack(packed, bytes, place->at, place->count, place->layout);
        free(packed);
    }
    keel_mpi_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static const keel_mpi_request_ops_t exchange_ops = {.is_ready = keel_mpi_icoll_has_all, .finish = exchange_finish};

void keel_mpi_icoll_exchange(const keel_mpi_coll_t *coll, const keel_mpi_partners_t *to,
                             const keel_mpi_partners_t *from, MPI_Request *request)
{
    keel_mpi_request_t *open = keel_mpi_icoll_expect(&exchange_ops, coll, from);
    keel_mpi_comm_t room;
    const keel_mpi_comm_t *others = keel_mpi_inter_others(coll->comm, &room);

    places_make(open, from, coll->call);
    for (uint32_t i = 0; i < to->count; i++) {
        if (to->ranks[i] != KEEL_MPI_NO_RANK) {
            const keel_mpi_coll_t marked = {others, coll->context, tag_of(coll, to, i), coll->call, 1};

            keel_mpi_part_send(to->parts, to->is_same ? 0 : i, &marked, to->ranks[i]);
        }
    }
    *request = open->handle;
}
