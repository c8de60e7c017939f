/*
 * Attributes of communicators. The system's MPI keeps them with its handles. For attributes of the
 * job, though, the system's MPI would answer for a job of one rank, and it would run the callbacks
 * of MPI_COMM_SELF only after the adapter has ended. The adapter therefore answers for the job, and
 * MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF, newest first [MPI-3.1 8.7.1].
 */
#include "comm/mpi_attr.h"

#include "mpi_state.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int *keys; /* set on MPI_COMM_SELF, oldest first */
    size_t count, room;
} own;

static void own_forget(int key)
{
    for (size_t i = 0; i < own.count; i++) {
        if (own.keys[i] == key) {
            own.count--;
            memmove(&own.keys[i], &own.keys[i + 1], (own.count - i) * sizeof(*own.keys));
            return;
        }
    }
}

static void own_add(int key, const char *call)
{
    own_forget(key);
    if (own.count == own.room) {
        own.room = 2 * own.room + 8;
        own.keys = realloc(own.keys, own.room * sizeof(*own.keys));
        if (own.keys == NULL) {
            keel_mpi_fatal(call, "no memory");
        }
    }
    own.keys[own.count++] = key;
}

void keel_mpi_attr_finalize(void)
{
    while (own.count > 0) {
        const int key = own.keys[--own.count];

        PMPI_Comm_delete_attr(MPI_COMM_SELF, key);
    }
    free(own.keys);
    memset(&own, 0, sizeof(own));
}

/* Attributes of the job as a launcher would give them; 0: another attribute. */
static int of_job(int key, void *value, int *flag, const char *call)
{
    static int universe, number;

    if (key != MPI_UNIVERSE_SIZE && key != MPI_APPNUM) {
        return 0;
    }
    keel_mpi_begin(call);
    universe = (int)keel_mpi.ranks;
    number = 0;
    *(int **)value = (key == MPI_APPNUM) ? &number : &universe;
    *flag = 1;
    return 1;
}

/* ---- calls ---- */

static int get(MPI_Comm comm, int key, void *value, int *flag, const char *call)
{
    return of_job(key, value, flag, call) ? MPI_SUCCESS : PMPI_Comm_get_attr(comm, key, value, flag);
}

static int set(MPI_Comm comm, int key, void *value, const char *call)
{
    const int code = PMPI_Comm_set_attr(comm, key, value);

    if (code == MPI_SUCCESS && comm == MPI_COMM_SELF) {
        own_add(key, call);
    }
    return code;
}

static int take(MPI_Comm comm, int key)
{
    const int code = PMPI_Comm_delete_attr(comm, key);

    if (code == MPI_SUCCESS && comm == MPI_COMM_SELF) {
        own_forget(key);
    }
    return code;
}

int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    return get(comm, comm_keyval, attribute_val, flag, "MPI_Comm_get_attr");
}

int MPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return set(comm, comm_keyval, attribute_val, "MPI_Comm_set_attr");
}

int MPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    return take(comm, comm_keyval);
}

/* names of MPI-1, possibly not declared */
#undef MPI_Attr_get
#undef MPI_Attr_put
#undef MPI_Attr_delete
int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag);
int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val);
int MPI_Attr_delete(MPI_Comm comm, int keyval);

int MPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return get(comm, keyval, attribute_val, flag, "MPI_Attr_get");
}

int MPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return set(comm, keyval, attribute_val, "MPI_Attr_put");
}

int MPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return take(comm, keyval);
}
