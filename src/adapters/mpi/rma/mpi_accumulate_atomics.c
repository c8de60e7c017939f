/*
 * Keel logs atomics on words of 4 and 8 bytes, and accumulates on such integers without a fetch,
 * since these are atomics too. Other accumulates are in no log: after the first such call every
 * death is a rollback. In deterministic mode a few fetched elements go as atomics, too. Atomics and
 * accumulates are atomic against each other, so concurrent accesses to an element may mix both. A
 * type goes this way with all operations or with none.
 *
 * The choice depends on the place of the element alone, not on the rest of the call, so another
 * call on the element alone chooses alike. Pairs with a gap between or behind the numbers are
 * packed without the gap, while Keel's elements have the form in memory.
 */
#include "rma/mpi_accumulate_atomics.h"

#include "datatype/mpi_kind.h"
#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

enum { ATOMICS_MAX = 16 };

typedef struct {
    const keel_mpi_target_t *target;
    keel_op_t op;
    keel_type_t type;
    size_t size;
    keel_atomic_op_t atomic; /* MPI_NO_OP adds 0; KEEL_ATOMIC_LAST: use accumulates */
    const char *packed;      /* NULL for MPI_NO_OP */
    char *fetched;           /* NULL: nothing is fetched */
} elements_t;

keel_op_t keel_mpi_op_of(MPI_Op op)
{
    return (op == MPI_SUM)       ? KEEL_OP_SUM
           : (op == MPI_PROD)    ? KEEL_OP_PROD
           : (op == MPI_MIN)     ? KEEL_OP_MIN
           : (op == MPI_MAX)     ? KEEL_OP_MAX
           : (op == MPI_BAND)    ? KEEL_OP_BAND
           : (op == MPI_BOR)     ? KEEL_OP_BOR
           : (op == MPI_BXOR)    ? KEEL_OP_BXOR
           : (op == MPI_LAND)    ? KEEL_OP_LAND
           : (op == MPI_LOR)     ? KEEL_OP_LOR
           : (op == MPI_LXOR)    ? KEEL_OP_LXOR
           : (op == MPI_REPLACE) ? KEEL_OP_REPLACE
           : (op == MPI_NO_OP)   ? KEEL_OP_NO_OP
           : (op == MPI_MINLOC)  ? KEEL_OP_MINLOC
           : (op == MPI_MAXLOC)  ? KEEL_OP_MAXLOC
                                 : KEEL_OP_LAST;
}

static keel_atomic_op_t atomic_of(keel_op_t op, keel_mpi_kind_t kind)
{
    static const keel_atomic_op_t atomics[KEEL_OP_LAST] = {
        [KEEL_OP_SUM] = KEEL_ATOMIC_ADD,     [KEEL_OP_PROD] = KEEL_ATOMIC_LAST,    [KEEL_OP_MIN] = KEEL_ATOMIC_MIN,
        [KEEL_OP_MAX] = KEEL_ATOMIC_MAX,     [KEEL_OP_BAND] = KEEL_ATOMIC_AND,     [KEEL_OP_BOR] = KEEL_ATOMIC_OR,
        [KEEL_OP_BXOR] = KEEL_ATOMIC_XOR,    [KEEL_OP_LAND] = KEEL_ATOMIC_LAST,    [KEEL_OP_LOR] = KEEL_ATOMIC_LAST,
        [KEEL_OP_LXOR] = KEEL_ATOMIC_LAST,   [KEEL_OP_REPLACE] = KEEL_ATOMIC_SWAP, [KEEL_OP_NO_OP] = KEEL_ATOMIC_ADD,
        [KEEL_OP_MINLOC] = KEEL_ATOMIC_LAST, [KEEL_OP_MAXLOC] = KEEL_ATOMIC_LAST};
    const int is_signed = keel_mpi_kind_is_signed(kind);

    return (is_signed && op == KEEL_OP_MIN)   ? KEEL_ATOMIC_MIN_SIGNED
           : (is_signed && op == KEEL_OP_MAX) ? KEEL_ATOMIC_MAX_SIGNED
                                              : atomics[op];
}

keel_atomic_op_t keel_mpi_atomic_of(MPI_Op op, keel_mpi_kind_t kind)
{
    const keel_op_t known = keel_mpi_op_of(op);

    return (known == KEEL_OP_LAST) ? KEEL_ATOMIC_LAST : atomic_of(known, kind);
}

static int is_aligned(void *user, ptrdiff_t offset, size_t length)
{
    const elements_t *elements = user;

    return (elements->target->offset + (uint64_t)offset) % elements->size == 0 && length % elements->size == 0;
}

static void atomics(elements_t *elements, uint64_t offset, size_t length)
{
    for (size_t at = 0; at < length; at += elements->size) {
        uint64_t operand = 0;

        if (elements->packed != NULL) {
            memcpy(&operand, elements->packed + at, elements->size);
        }
        keel_mpi_atomic(elements->atomic, elements->target->rank, offset + at, elements->size, operand, 0,
                        elements->fetched != NULL ? elements->fetched + at : NULL, elements->target->call);
    }
}

static int chunk(void *user, ptrdiff_t offset, size_t length)
{
    elements_t *elements = user;
    const keel_mpi_target_t *target = elements->target;
    const uint64_t from = target->offset + (uint64_t)offset;

    if (elements->atomic != KEEL_ATOMIC_LAST) {
        atomics(elements, from, length);
    } else {
        keel_mpi_accumulate_remote(elements->op, elements->type, target->rank, from, elements->packed,
                                   length / elements->size, elements->fetched, target->call);
    }
    elements->packed += (elements->packed != NULL) ? length : 0;
    elements->fetched += (elements->fetched != NULL) ? length : 0;
    return 1;
}

/* ---- element by element ---- */

#define NOWHERE UINT64_MAX

typedef struct {
    const keel_mpi_target_t *target;
    const keel_mpi_layout_t *basic;
    unsigned run; /* the next run, and the bytes of the run seen so far */
    size_t done;
    size_t count;
    /* per element, the last one possibly incomplete; NOWHERE: not aligned to its extent, or in
     * parts that lie apart */
    uint64_t *places;
} places_t;

static int places_add(void *user, ptrdiff_t offset, size_t length)
{
    places_t *places = user;
    uint64_t at = places->target->offset + (uint64_t)offset;

    while (length > 0) {
        const keel_mpi_run_t *run = &places->basic->runs[places->run];
        const size_t left = run->length - places->done, some = (length < left) ? length : left;
        const uint64_t here = at - (uint64_t)run->offset - places->done;
        const uint64_t place = (here % (uint64_t)places->basic->extent == 0) ? here : NOWHERE;
        uint64_t *element = &places->places[places->count];

        *element = ((places->run == 0 && places->done == 0) || *element == place) ? place : NOWHERE;
        at += some;
        length -= some;
        places->done += some;
        if (places->done == run->length) {
            places->done = 0;
            places->run = (places->run + 1) % places->basic->run_count;
            places->count += (places->run == 0);
        }
    }
    return 1;
}

/* @a values and @a results have the form in memory; @a results NULL: nothing is fetched. */
static void combine_places(const elements_t *elements, const places_t *places, const char *values, char *results)
{
    const size_t extent = (size_t)places->basic->extent;
    size_t some;

    for (size_t i = 0; i < places->count; i += some) {
        some = 1;
        if (places->places[i] == NOWHERE) {
            continue;
        }
        while (i + some < places->count && places->places[i + some] == places->places[i] + some * extent) {
            some++;
        }
        keel_mpi_accumulate_remote(elements->op, elements->type, places->target->rank, places->places[i],
                                   values + i * extent, some, results != NULL ? results + i * extent : NULL,
                                   places->target->call);
    }
}

/* Packs the fetched elements, which have the form in memory. */
static void take_results(const elements_t *elements, const places_t *places, const char *results)
{
    const void *packed;
    void *room = keel_mpi_pack(results, places->count, places->basic, &packed, elements->target->call);

    for (size_t i = 0; i < places->count; i++) {
        if (places->places[i] != NOWHERE) {
            memcpy(elements->fetched + i * elements->size, (const char *)packed + i * elements->size, elements->size);
        }
    }
    free(room);
}

/* Marks the elements done; *@a done_p is the number of marks. */
static char *marks_of(const places_t *places, size_t *done_p)
{
    char *marks = calloc(places->count, 1);

    if (marks == NULL) {
        keel_mpi_fatal(places->target->call, "no memory");
    }
    *done_p = 0;
    for (size_t i = 0; i < places->count; i++) {
        marks[i] = places->places[i] != NOWHERE;
        *done_p += (size_t)marks[i];
    }
    return marks;
}

static int element_by_element(const elements_t *elements, size_t count, char **done_p)
{
    const keel_mpi_target_t *target = elements->target;
    const keel_mpi_layout_t *basic = keel_mpi_layout_of(target->layout->basic);
    const size_t extent = (size_t)basic->extent;
    places_t places = {.target = target, .basic = basic, .places = malloc((count + 1) * sizeof(uint64_t))};
    char *values = calloc(count, extent), *results = calloc(count, extent);
    size_t done;

    if (places.places == NULL || values == NULL || results == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    (void)keel_mpi_target_each(target, places_add, &places);
    *done_p = marks_of(&places, &done);
    if (done > 0 && elements->packed != NULL) {
        keel_mpi_unpack(elements->packed, count * elements->size, values, count, basic);
    }
    if (done > 0) {
        combine_places(elements, &places, values, (elements->fetched != NULL) ? results : NULL);
    }
    if (done > 0 && elements->fetched != NULL) {
        take_results(elements, &places, results);
    }
    free(places.places);
    free(values);
    free(results);
    if (done == 0 || done == count) {
        free(*done_p);
        *done_p = NULL;
    }
    return done == count;
}

int keel_mpi_accumulate_atomics(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op,
                                char **done_p)
{
    const keel_mpi_kind_t kind = (keel_mpi_kind_t)target->layout->basic_kind;
    elements_t elements = {.target = target,
                           .op = keel_mpi_op_of(op),
                           .type = keel_mpi_kind_type(kind),
                           .size = target->layout->basic_size,
                           .packed = packed,
                           .fetched = fetched,
                           .atomic = KEEL_ATOMIC_LAST};
    const size_t count = target->layout->size * target->count / elements.size;

    *done_p = NULL;
    if (elements.op == KEEL_OP_LAST || elements.type == KEEL_TYPE_LAST) {
        return 0;
    }
    if (!target->layout->basic_is_dense || !keel_mpi_target_each(target, is_aligned, &elements)) {
        return element_by_element(&elements, count, done_p);
    }
    if (keel_mpi_kind_is_integer(kind) && elements.size >= sizeof(uint32_t) &&
        count <= (keel_mpi.is_deterministic_mode && fetched != NULL ? ATOMICS_MAX : 1)) {
        elements.atomic = atomic_of(elements.op, kind);
    }
    (void)keel_mpi_target_each(target, chunk, &elements);
    return 1;
}
