/* Cartesian grids. Ranks are never reordered. */
#include "comm/mpi_topology.h"

#include "comm/mpi_comm.h"

#include <stdlib.h>

/* Begins a call on a grid. */
#define CART(_of, _cart, _handle, _call)                                       \
    const keel_mpi_topology_t *_cart;                                          \
    KEEL_MPI_COMM(_of, _handle, _call)                                         \
    _cart = _of->topology;                                                     \
    if (_cart == NULL || _cart->kind != MPI_CART) {                            \
        return keel_mpi_raise(_handle, MPI_ERR_TOPOLOGY, _call, "not a grid"); \
    }

/* Number of ranks in the grid; 0: not a grid of this communicator. */
static uint32_t grid_size(uint32_t size, int ndims, const int dims[])
{
    uint64_t count = 1;

    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0 || (count *= (uint64_t)dims[i]) > size) {
            return 0;
        }
    }
    return (ndims < 0) ? 0 : (uint32_t)count;
}

static int raise_grid(MPI_Comm comm, const char *call)
{
    return keel_mpi_raise(comm, MPI_ERR_DIMS, call, "a grid that is larger than the communicator, or is none");
}

int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                    MPI_Comm *comm_cart)
{
    keel_mpi_topology_t *cart;
    uint32_t size;
    uint64_t context;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm_old, "MPI_Cart_create")

    size = grid_size(comm_ptr->size, ndims, dims);
    if (size == 0) {
        return raise_grid(comm_old, "MPI_Cart_create");
    }
    context = keel_mpi_comm_context(comm_ptr, "MPI_Cart_create");
    *comm_cart = MPI_COMM_NULL;
    if (comm_ptr->rank >= size) {
        return MPI_SUCCESS;
    }
    code = keel_mpi_comm_derive(comm_ptr, size, keel_mpi_members_copy(size, comm_ptr->members, "MPI_Cart_create"),
                                context, comm_cart, "MPI_Cart_create");
    if (code == MPI_SUCCESS) {
        cart = keel_mpi_topology_make(MPI_CART, "MPI_Cart_create");
        cart->number = ndims;
        cart->dims = keel_mpi_ints_copy(dims, (size_t)ndims, "MPI_Cart_create");
        cart->periods = keel_mpi_ints_copy(periods, (size_t)ndims, "MPI_Cart_create");
        keel_mpi_comm_of(*comm_cart)->topology = cart;
    }
    return code;
}

int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    uint32_t size;
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Cart_map")

    size = grid_size(comm_ptr->size, ndims, dims);
    if (size == 0) {
        return raise_grid(comm, "MPI_Cart_map");
    }
    *newrank = (comm_ptr->rank < size) ? (int)comm_ptr->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    CART(comm_ptr, cart, comm, "MPI_Cartdim_get")

    *ndims = cart->number;
    return MPI_SUCCESS;
}

/* Sets as many coordinates as the caller has room for. */
static void coords_of(const keel_mpi_topology_t *cart, int rank, int maxdims, int coords[])
{
    for (int i = cart->number - 1; i >= 0; i--) {
        if (i < maxdims) {
            coords[i] = rank % cart->dims[i];
        }
        rank /= cart->dims[i];
    }
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    CART(comm_ptr, cart, comm, "MPI_Cart_get")

    for (int i = 0; i < maxdims && i < cart->number; i++) {
        dims[i] = cart->dims[i];
        periods[i] = cart->periods[i] != 0;
    }
    coords_of(cart, (int)comm_ptr->rank, maxdims, coords);
    return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    CART(comm_ptr, cart, comm, "MPI_Cart_coords")

    if (rank < 0 || (uint32_t)rank >= comm_ptr->size) {
        return keel_mpi_raise(comm, MPI_ERR_RANK, "MPI_Cart_coords", "no rank of the communicator");
    }
    coords_of(cart, rank, maxdims, coords);
    return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    CART(comm_ptr, cart, comm, "MPI_Cart_rank")

    (void)comm_ptr;
    *rank = 0;
    for (int i = 0; i < cart->number; i++) {
        int at = coords[i];

        if (cart->periods[i]) {
            at = (at % cart->dims[i] + cart->dims[i]) % cart->dims[i];
        } else if (at < 0 || at >= cart->dims[i]) {
            return keel_mpi_raise(comm, MPI_ERR_ARG, "MPI_Cart_rank", "coordinates beyond the grid");
        }
        *rank = *rank * cart->dims[i] + at;
    }
    return MPI_SUCCESS;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    CART(comm_ptr, cart, comm, "MPI_Cart_shift")

    if (direction < 0 || direction >= cart->number) {
        return keel_mpi_raise(comm, MPI_ERR_DIMS, "MPI_Cart_shift", "no dimension of the grid");
    }
    *rank_source = keel_mpi_cart_shifted(cart, comm_ptr->rank, direction, -disp);
    *rank_dest = keel_mpi_cart_shifted(cart, comm_ptr->rank, direction, disp);
    return MPI_SUCCESS;
}

/* Groups the ranks with equal coordinates in the dropped dimensions. */
int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    keel_mpi_topology_t *part;
    int color = 0, rest, code, *coords;
    CART(comm_ptr, cart, comm, "MPI_Cart_sub")

    coords = keel_mpi_ints_copy(NULL, (size_t)cart->number, "MPI_Cart_sub");
    coords_of(cart, (int)comm_ptr->rank, cart->number, coords);
    for (int i = 0; i < cart->number; i++) {
        color = remain_dims[i] ? color : color * cart->dims[i] + coords[i];
    }
    free(coords);
    code = keel_mpi_comm_split(comm_ptr, color, (int)comm_ptr->rank, newcomm, "MPI_Cart_sub");
    if (code != MPI_SUCCESS) {
        return code;
    }
    part = keel_mpi_topology_make(MPI_CART, "MPI_Cart_sub");
    part->dims = keel_mpi_ints_copy(NULL, (size_t)cart->number, "MPI_Cart_sub");
    part->periods = keel_mpi_ints_copy(NULL, (size_t)cart->number, "MPI_Cart_sub");
    for (int i = 0; i < cart->number; i++) {
        rest = part->number;
        if (remain_dims[i]) {
            part->dims[rest] = cart->dims[i];
            part->periods[rest] = cart->periods[i];
            part->number++;
        }
    }
    keel_mpi_comm_of(*newcomm)->topology = part;
    return MPI_SUCCESS;
}
