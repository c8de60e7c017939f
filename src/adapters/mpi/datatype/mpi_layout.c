#include "datatype/mpi_layout.h"

#include "datatype/mpi_kind.h"
#include "datatype/mpi_typemap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* test unpackings: four for the bytes of a position, and a last one to mark written bytes */
enum { MARKS = 5 };

static int keyval = MPI_KEYVAL_INVALID;
struct keel_mpi_layout_found keel_mpi_layout_found[1 << KEEL_MPI_LAYOUT_BITS];

static int forget(MPI_Datatype type, int key, void *layout, void *extra)
{
    memset(keel_mpi_layout_found, 0, sizeof(keel_mpi_layout_found));
    free(layout);
    return MPI_SUCCESS;
}

void keel_mpi_layout_make(void)
{
    if (PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL) != MPI_SUCCESS) {
        keel_mpi_fatal("MPI_Init", "no attribute of types");
    }
}

void keel_mpi_layout_unmake(void)
{
    PMPI_Type_free_keyval(&keyval);
    memset(keel_mpi_layout_found, 0, sizeof(keel_mpi_layout_found));
}

/* ---- basic types ---- */

MPI_Datatype keel_mpi_type_hold(MPI_Datatype type, const char *call)
{
    MPI_Datatype held = type;

    if (!keel_mpi_type_is_named(type) && PMPI_Type_dup(type, &held) != MPI_SUCCESS) {
        keel_mpi_fatal(call, "no memory for a datatype");
    }
    return held;
}

void keel_mpi_type_release(MPI_Datatype type)
{
    if (!keel_mpi_type_is_named(type)) {
        PMPI_Type_free(&type);
    }
}

/* Adds the basic types of a type to *@a basic_p and *@a is_mixed_p; MPI_DATATYPE_NULL: none found
 * yet. */
static void basic_find(MPI_Datatype type, MPI_Datatype *basic_p, int *is_mixed_p)
{
    keel_mpi_contents_t contents;

    if (!keel_mpi_contents_count(type, &contents) || contents.type_count == 0) {
        *is_mixed_p |= *basic_p != MPI_DATATYPE_NULL && *basic_p != type;
        *basic_p = (*basic_p == MPI_DATATYPE_NULL) ? type : *basic_p;
        return;
    }
    if (keel_mpi_contents_get(type, &contents)) {
        for (int i = 0; i < contents.type_count; i++) {
            basic_find(contents.types[i], basic_p, is_mixed_p);
        }
        keel_mpi_contents_free(&contents);
    }
}

/* ---- positions of bytes ---- */

/* Packs memory filled with the positions of its bytes, one byte of the position per round. Returns
 * the position of each packed byte; several packed bytes may have the same one. */
static int positions_packed(MPI_Datatype type, size_t size, ptrdiff_t low, size_t span, ptrdiff_t *at)
{
    unsigned char *memory = malloc(span + 1), *packed = calloc(size + 1, 1);
    int is_done = memory != NULL && packed != NULL;

    memset(at, 0, (size + 1) * sizeof(*at));
    for (unsigned j = 0; is_done && (j == 0 || span >> (8 * j) != 0); j++) {
        int position = 0;

        for (size_t i = 0; i < span; i++) {
            memory[i] = (unsigned char)(i >> (8 * j));
        }
        is_done =
            PMPI_Pack((const char *)memory - low, 1, type, packed, (int)size, &position, MPI_COMM_SELF) == MPI_SUCCESS;
        for (size_t i = 0; is_done && i < size; i++) {
            at[i] |= (ptrdiff_t)packed[i] << (8 * j);
        }
    }
    for (size_t i = 0; is_done && i < size; i++) {
        is_done = (size_t)at[i] < span; /* otherwise the byte is not a copy of memory */
    }
    free(memory);
    free(packed);
    return is_done;
}

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Unpacks bytes filled with their own positions; 0: no memory, or unpacking fails. */
static int mark(MPI_Datatype type, size_t size, ptrdiff_t low, unsigned char *marks, size_t pages)
{
    unsigned char *packed = malloc(size + 1);
    int is_done = packed != NULL;

    for (unsigned j = 0; is_done && j < MARKS; j++) {
        int position = 0;

        for (size_t i = 0; i < size; i++) {
            packed[i] = (j + 1 == MARKS) ? 1 : (unsigned char)(i >> (8 * j));
        }
        is_done = PMPI_Unpack(packed, (int)size, &position, (char *)marks + j * pages * page_bytes() - low, 1, type,
                              MPI_COMM_SELF) == MPI_SUCCESS;
    }
    free(packed);
    return is_done;
}

/* Collects the positions of bytes from the pages that were written; returns their number. */
static size_t positions_marked(const unsigned char *marks, size_t pages, const unsigned char *is_written, size_t size,
                               unsigned char *is_found, ptrdiff_t *at)
{
    const size_t page = page_bytes();
    const unsigned char *there = marks + (MARKS - 1) * pages * page;
    size_t found = 0;

    for (size_t i = 0; i < pages * page; i++) {
        size_t which = 0;

        if (i % page == 0 && !(is_written[i / page] & 1)) {
            i += page - 1;
            continue;
        }
        for (unsigned j = 0; there[i] && j + 1 < MARKS; j++) {
            which |= (size_t)marks[j * pages * page + i] << (8 * j);
        }
        if (there[i] && which < size) {
            at[which] = (ptrdiff_t)i;
            is_found[which] = 1;
            found++;
        }
    }
    return found;
}

/* MPICH copies a long double in registers of ten bytes, so six of its sixteen bytes are not copied.
 * Adds them behind the ten; returns their number. */
static size_t positions_padded(size_t size, unsigned char *is_found, ptrdiff_t *at)
{
    enum { REAL = 10, ALL = 16 };
    size_t count = 0;

    for (size_t i = REAL; i + (ALL - REAL) <= size; i++) {
        const int is_end = i + (ALL - REAL) == size || is_found[i + (ALL - REAL)];

        if (is_found[i - REAL] && at[i - 1] == at[i - REAL] + REAL - 1 && is_end &&
            memchr(is_found + i - REAL, 0, REAL) == NULL && memchr(is_found + i, 1, ALL - REAL) == NULL) {
            for (size_t j = i; j < i + (ALL - REAL); j++) {
                at[j] = at[j - 1] + 1;
                is_found[j] = 1;
                count++;
            }
        }
    }
    return count;
}

/* Finds the position of each packed byte. The extent may be much larger than the data, so memory is
 * only reserved; just the written pages exist and are read. If several bytes share a position,
 * unpacking misses some, and packing finds all. NULL: no memory, or not a type. */
static ptrdiff_t *positions(MPI_Datatype type, size_t size, ptrdiff_t low, size_t span)
{
    const size_t page = page_bytes(), pages = span / page + 1, bytes = MARKS * pages * page;
    unsigned char *marks =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned char *is_written = malloc(pages), *is_found = calloc(size + 1, 1);
    ptrdiff_t *at = calloc(size + 1, sizeof(*at));
    int is_done = marks != MAP_FAILED && is_written != NULL && is_found != NULL && at != NULL;
    size_t found;

    if (is_done) {
        (void)madvise(marks, bytes, MADV_NOHUGEPAGE);
        is_done = mark(type, size, low, marks, pages) &&
                  mincore(marks + (MARKS - 1) * pages * page, pages * page, is_written) == 0;
    }
    found = is_done ? positions_marked(marks, pages, is_written, size, is_found, at) : 0;
    found += is_done ? positions_padded(size, is_found, at) : 0;
    if (is_done && found != size) {
        is_done = positions_packed(type, size, low, span, at);
    }
    if (marks != MAP_FAILED) {
        munmap(marks, bytes);
    }
    free(is_written);
    free(is_found);
    if (!is_done) {
        free(at);
        return NULL;
    }
    return at;
}

/* The runs of a type without a known constructor, found by packing. */
static int packed_runs(MPI_Datatype type, keel_mpi_runs_t *runs)
{
    MPI_Aint low, extent;
    ptrdiff_t *at;
    int size, is_done;

    if (PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0 ||
        PMPI_Type_get_true_extent(type, &low, &extent) != MPI_SUCCESS) {
        return 0;
    }
    at = positions(type, (size_t)size, low, (size_t)extent);
    is_done = at != NULL;
    for (int i = 0; is_done && i < size; i++) {
        is_done = keel_mpi_runs_add(runs, low + at[i], 1);
    }
    free(at);
    return is_done;
}

/* The runs of a type inside another one. A predefined type is searched once, since programs make a
 * type for each message. */
static int inner_runs(MPI_Datatype type, keel_mpi_runs_t *runs)
{
    const keel_mpi_layout_t *layout = keel_mpi_type_is_named(type) ? keel_mpi_layout_of(type) : NULL;

    for (unsigned i = 0; layout != NULL && i < layout->run_count; i++) {
        if (!keel_mpi_runs_add(runs, layout->runs[i].offset, layout->runs[i].length)) {
            return 0;
        }
    }
    return layout != NULL || packed_runs(type, runs);
}

/* The system's MPI reports the error otherwise. */
static int is_committed(MPI_Datatype type)
{
    char nothing = 0;
    int position = 0;

    return PMPI_Unpack(&nothing, 0, &position, &nothing, 0, type, MPI_COMM_SELF) == MPI_SUCCESS;
}

static keel_mpi_layout_t *runs_of(MPI_Datatype type)
{
    keel_mpi_layout_t *layout = NULL;
    keel_mpi_runs_t runs = {0};
    const keel_mpi_named_cb_t named = keel_mpi_type_is_named(type) ? packed_runs : inner_runs;

    if (is_committed(type) && keel_mpi_typemap(type, named, &runs)) {
        layout = calloc(1, sizeof(*layout) + (runs.count + 1) * sizeof(layout->runs[0]));
    }
    for (size_t i = 0; layout != NULL && i < runs.count; i++) {
        layout->runs[i] = runs.runs[i];
        layout->size += runs.runs[i].length;
    }
    if (layout != NULL) {
        layout->run_count = (unsigned)runs.count;
    }
    free(runs.runs);
    return layout;
}

static int is_dense(const keel_mpi_layout_t *layout, MPI_Datatype type)
{
    const keel_mpi_layout_t *basic = (layout->basic == type) ? layout : keel_mpi_layout_of(layout->basic);

    return basic != NULL && basic->is_dense;
}

static keel_mpi_layout_t *layout_find(MPI_Datatype type)
{
    MPI_Aint low, extent, true_low, true_extent;
    keel_mpi_layout_t *layout;
    int size;

    if (PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &true_low, &true_extent) != MPI_SUCCESS) {
        return NULL;
    }
    layout = runs_of(type);
    if (layout == NULL) {
        return NULL;
    }
    layout->extent = extent;
    layout->true_low = true_low;
    layout->true_extent = true_extent;
    layout->is_dense = layout->run_count == 1 && layout->runs[0].length == (size_t)extent;
    layout->basic = MPI_DATATYPE_NULL;
    basic_find(type, &layout->basic, &layout->is_mixed);
    PMPI_Type_size(layout->basic, &size);
    PMPI_Type_get_extent(layout->basic, &low, &extent);
    layout->basic_size = (size_t)size;
    layout->basic_extent = extent;
    layout->basic_is_dense = is_dense(layout, type);
    layout->basic_kind = keel_mpi_kind_of(layout->basic, layout->basic_size);
    return layout;
}

const keel_mpi_layout_t *keel_mpi_layout_search(MPI_Datatype type)
{
    keel_mpi_layout_t *layout;
    int is_there = 0;

    if (type == MPI_DATATYPE_NULL || PMPI_Type_get_attr(type, keyval, &layout, &is_there) != MPI_SUCCESS) {
        return NULL;
    }
    if (!is_there) {
        layout = layout_find(type);
        if (layout == NULL || PMPI_Type_set_attr(type, keyval, layout) != MPI_SUCCESS) {
            return NULL;
        }
    }
    *keel_mpi_layout_slot(type) = (struct keel_mpi_layout_found){type, layout};
    return layout;
}

keel_mpi_layout_t *keel_mpi_layout_keep(const keel_mpi_layout_t *layout, const char *call)
{
    const size_t bytes = sizeof(*layout) + (layout->run_count + 1) * sizeof(layout->runs[0]);
    keel_mpi_layout_t *copy = malloc(bytes);

    if (copy == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    memcpy(copy, layout, bytes);
    return copy;
}

/* ---- elements ---- */

int keel_mpi_layout_each(const keel_mpi_layout_t *layout, size_t count, keel_mpi_chunk_cb_t each, void *user)
{
    if (layout->is_dense) {
        return count == 0 || each(user, layout->runs[0].offset, count * layout->size);
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned j = 0; j < layout->run_count; j++) {
            if (!each(user, (ptrdiff_t)i * layout->extent + layout->runs[j].offset, layout->runs[j].length)) {
                return 0;
            }
        }
    }
    return 1;
}

void keel_mpi_layout_span(const keel_mpi_layout_t *layout, size_t count, ptrdiff_t *low_p, size_t *bytes_p)
{
    const ptrdiff_t last = (count > 0) ? ((ptrdiff_t)count - 1) * layout->extent : 0;

    *low_p = layout->true_low + (last < 0 ? last : 0);
    *bytes_p = (count > 0 && layout->size > 0) ? (size_t)(layout->true_extent + (last < 0 ? -last : last)) : 0;
}

typedef struct {
    char *packed;
    const char *buffer;
} pack_t;

static int pack_chunk(void *user, ptrdiff_t offset, size_t length)
{
    pack_t *pack = user;

    memcpy(pack->packed, pack->buffer + offset, length);
    pack->packed += length;
    return 1;
}

void keel_mpi_pack_into(const void *buffer, size_t count, const keel_mpi_layout_t *layout, void *packed)
{
    pack_t pack = {packed, buffer};

    (void)keel_mpi_layout_each(layout, count, pack_chunk, &pack);
}

void *keel_mpi_pack(const void *buffer, size_t count, const keel_mpi_layout_t *layout, const void **packed_p,
                    const char *call)
{
    const size_t bytes = count * layout->size;
    void *packed;

    if (layout->is_dense || bytes == 0) {
        *packed_p = (const char *)buffer + (bytes > 0 ? layout->runs[0].offset : 0);
        return NULL;
    }
    packed = malloc(bytes);
    if (packed == NULL) {
        keel_mpi_fatal(call, "no memory to pack what is not contiguous");
    }
    keel_mpi_pack_into(buffer, count, layout, packed);
    *packed_p = packed;
    return packed;
}

typedef struct {
    const char *packed;
    size_t remaining;
    char *buffer;
} unpack_t;

static int unpack_chunk(void *user, ptrdiff_t offset, size_t length)
{
    unpack_t *unpack = user;
    const size_t some = (length < unpack->remaining) ? length : unpack->remaining;

    memcpy(unpack->buffer + offset, unpack->packed, some);
    unpack->packed += some;
    unpack->remaining -= some;
    return unpack->remaining > 0;
}

void keel_mpi_unpack(const void *packed, size_t bytes, void *buffer, size_t count, const keel_mpi_layout_t *layout)
{
    unpack_t unpack = {packed, bytes, buffer};

    if (layout->is_dense && bytes > 0 && bytes <= count * layout->size) {
        memcpy((char *)buffer + layout->runs[0].offset, packed, bytes);
    } else if (bytes > 0) {
        (void)keel_mpi_layout_each(layout, count, unpack_chunk, &unpack);
    }
}
