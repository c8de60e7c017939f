#include "datatype/mpi_typemap.h"

#include <stdlib.h>

/* ---- constructors ---- */

int keel_mpi_contents_count(MPI_Datatype type, keel_mpi_contents_t *contents)
{
    *contents = (keel_mpi_contents_t){0};
    return PMPI_Type_get_envelope(type, &contents->integer_count, &contents->address_count, &contents->type_count,
                                  &contents->combiner) == MPI_SUCCESS;
}

int keel_mpi_type_is_named(MPI_Datatype type)
{
    keel_mpi_contents_t contents;

    return keel_mpi_contents_count(type, &contents) &&
           (contents.combiner == MPI_COMBINER_NAMED || contents.combiner == MPI_COMBINER_F90_INTEGER ||
            contents.combiner == MPI_COMBINER_F90_REAL || contents.combiner == MPI_COMBINER_F90_COMPLEX);
}

static void arrays_free(keel_mpi_contents_t *contents)
{
    free(contents->integers);
    free(contents->addresses);
    free(contents->types);
}

int keel_mpi_contents_get(MPI_Datatype type, keel_mpi_contents_t *contents)
{
    contents->integers = calloc((size_t)contents->integer_count + 1, sizeof(*contents->integers));
    contents->addresses = calloc((size_t)contents->address_count + 1, sizeof(*contents->addresses));
    contents->types = calloc((size_t)contents->type_count + 1, sizeof(MPI_Datatype));
    if (contents->integers != NULL && contents->addresses != NULL && contents->types != NULL &&
        PMPI_Type_get_contents(type, contents->integer_count, contents->address_count, contents->type_count,
                               contents->integers, contents->addresses, contents->types) == MPI_SUCCESS) {
        return 1;
    }
    arrays_free(contents);
    return 0;
}

void keel_mpi_contents_free(keel_mpi_contents_t *contents)
{
    for (int i = 0; i < contents->type_count; i++) {
        if (!keel_mpi_type_is_named(contents->types[i])) {
            PMPI_Type_free(&contents->types[i]);
        }
    }
    arrays_free(contents);
}

/* ---- runs ---- */

int keel_mpi_runs_add(keel_mpi_runs_t *runs, ptrdiff_t offset, size_t length)
{
    keel_mpi_run_t *last = (runs->count > 0) ? &runs->runs[runs->count - 1] : NULL;

    if (length == 0) {
        return 1;
    }
    if (last != NULL && last->offset + (ptrdiff_t)last->length == offset) {
        last->length += length;
        return 1;
    }
    if (runs->count == runs->room) {
        const size_t room = 2 * runs->room + 8;
        keel_mpi_run_t *grown = realloc(runs->runs, room * sizeof(*grown));

        if (grown == NULL) {
            return 0;
        }
        runs->runs = grown;
        runs->room = room;
    }
    runs->runs[runs->count++] = (keel_mpi_run_t){offset, length};
    return 1;
}

/* Appends @a count copies of the runs, from @a at on, @a extent apart. */
static int repeat(keel_mpi_runs_t *runs, const keel_mpi_runs_t *inner, ptrdiff_t at, size_t count, ptrdiff_t extent)
{
    if (inner->count == 1 && (ptrdiff_t)inner->runs[0].length == extent) {
        return keel_mpi_runs_add(runs, at + inner->runs[0].offset, count * inner->runs[0].length);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < inner->count; j++) {
            if (!keel_mpi_runs_add(runs, at + (ptrdiff_t)i * extent + inner->runs[j].offset, inner->runs[j].length)) {
                return 0;
            }
        }
    }
    return 1;
}

/* Appends blocks of elements, each at its own displacement. */
static int blocks(const keel_mpi_contents_t *contents, const keel_mpi_runs_t *inner, ptrdiff_t extent,
                  keel_mpi_runs_t *runs)
{
    const int *integers = contents->integers, count = integers[0];
    const int is_one_length =
        contents->combiner == MPI_COMBINER_INDEXED_BLOCK || contents->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    /* displacements in elements */
    const int *places = is_one_length ? integers + 2 : integers + 1 + count;
    const int is_bytes =
        contents->combiner == MPI_COMBINER_HINDEXED || contents->combiner == MPI_COMBINER_HINDEXED_BLOCK;

    for (int i = 0; i < count; i++) {
        const ptrdiff_t at = is_bytes ? contents->addresses[i] : places[i] * extent;

        if (!repeat(runs, inner, at, (size_t)(is_one_length ? integers[1] : integers[1 + i]), extent)) {
            return 0;
        }
    }
    return 1;
}

/* Appends equal blocks, one stride apart. */
static int strided_blocks(const keel_mpi_contents_t *contents, const keel_mpi_runs_t *inner, ptrdiff_t extent,
                          keel_mpi_runs_t *runs)
{
    const ptrdiff_t apart =
        (contents->combiner == MPI_COMBINER_HVECTOR) ? contents->addresses[0] : contents->integers[2] * extent;

    for (int i = 0; i < contents->integers[0]; i++) {
        if (!repeat(runs, inner, i * apart, (size_t)contents->integers[1], extent)) {
            return 0;
        }
    }
    return 1;
}

/* Appends a subarray from this dimension on, recursively down to the innermost arrays; elements are
 * @a extent apart. */
static int subarray(const keel_mpi_contents_t *contents, const keel_mpi_runs_t *inner, ptrdiff_t extent, int dimension,
                    ptrdiff_t at, keel_mpi_runs_t *runs)
{
    const int dimensions = contents->integers[0], *sizes = contents->integers + 1;
    const int *some = sizes + dimensions, *starts = some + dimensions;
    const int is_fortran = starts[dimensions] == MPI_ORDER_FORTRAN;
    const int axis = is_fortran ? dimensions - 1 - dimension : dimension;
    ptrdiff_t apart = extent;

    for (int i = dimension + 1; i < dimensions; i++) {
        apart *= sizes[is_fortran ? dimensions - 1 - i : i];
    }
    at += starts[axis] * apart;
    if (dimension + 1 == dimensions) {
        return repeat(runs, inner, at, (size_t)some[axis], extent);
    }
    for (int i = 0; i < some[axis]; i++) {
        if (!subarray(contents, inner, extent, dimension + 1, at + i * apart, runs)) {
            return 0;
        }
    }
    return 1;
}

static int structure(const keel_mpi_contents_t *contents, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs)
{
    for (int i = 0; i < contents->type_count; i++) {
        keel_mpi_runs_t inner = {0};
        MPI_Aint low, extent;
        const int is_done = PMPI_Type_get_extent(contents->types[i], &low, &extent) == MPI_SUCCESS &&
                            keel_mpi_typemap(contents->types[i], named, &inner) &&
                            repeat(runs, &inner, contents->addresses[i], (size_t)contents->integers[1 + i], extent);

        free(inner.runs);
        if (!is_done) {
            return 0;
        }
    }
    return 1;
}

static int constructed(const keel_mpi_contents_t *contents, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs)
{
    keel_mpi_runs_t inner = {0};
    MPI_Aint low, extent;
    int is_done = PMPI_Type_get_extent(contents->types[0], &low, &extent) == MPI_SUCCESS &&
                  keel_mpi_typemap(contents->types[0], named, &inner);

    switch (is_done ? contents->combiner : MPI_COMBINER_NAMED) {
    case MPI_COMBINER_NAMED:
        break;
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        is_done = repeat(runs, &inner, 0, 1, extent);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        is_done = repeat(runs, &inner, 0, (size_t)contents->integers[0], extent);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        is_done = strided_blocks(contents, &inner, extent, runs);
        break;
    case MPI_COMBINER_SUBARRAY:
        is_done = subarray(contents, &inner, extent, 0, 0, runs);
        break;
    default:
        is_done = blocks(contents, &inner, extent, runs);
        break;
    }
    free(inner.runs);
    return is_done;
}

static int is_known(int combiner)
{
    return combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED || combiner == MPI_COMBINER_CONTIGUOUS ||
           combiner == MPI_COMBINER_VECTOR || combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_INDEXED ||
           combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_INDEXED_BLOCK ||
           combiner == MPI_COMBINER_HINDEXED_BLOCK || combiner == MPI_COMBINER_STRUCT ||
           combiner == MPI_COMBINER_SUBARRAY;
}

int keel_mpi_typemap(MPI_Datatype type, keel_mpi_named_cb_t named, keel_mpi_runs_t *runs)
{
    keel_mpi_contents_t contents;
    int is_done;

    if (!keel_mpi_contents_count(type, &contents)) {
        return 0;
    }
    if (!is_known(contents.combiner)) {
        return named(type, runs);
    }
    if (!keel_mpi_contents_get(type, &contents)) {
        return 0;
    }
    is_done = (contents.combiner == MPI_COMBINER_STRUCT) ? structure(&contents, named, runs)
                                                         : constructed(&contents, named, runs);
    keel_mpi_contents_free(&contents);
    return is_done;
}
