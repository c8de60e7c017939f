/*
 * Tests and waits for requests. Open requests of this adapter are checked and completed first; then
 * the system's MPI gives the status of each.
 */
#include "life/mpi_startup.h"
#include "p2p/mpi_request.h"

#include <stdlib.h>

/* Replaces each persistent handle by its active request, for the system's MPI. */
static MPI_Request *translate(int count, const MPI_Request handles[], const char *call)
{
    MPI_Request *active = calloc((size_t)(unsigned)count + 1, sizeof(*active));

    if (active == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    for (int i = 0; i < count; i++) {
        MPI_Request handle = handles[i];

        active[i] = *keel_mpi_request_active(&handle);
    }
    return active;
}

static void translate_back(int count, MPI_Request handles[], MPI_Request *active)
{
    for (int i = 0; i < count; i++) {
        *keel_mpi_request_active(&handles[i]) = active[i];
    }
    free(active);
}

/* True if the request is ready now; for a replaying replacement the startup record decides
 * instead. */
static int is_ready(MPI_Request handle)
{
    keel_mpi_request_t *request = keel_mpi_request_of(handle);
    int is = 0;

    if (handle == MPI_REQUEST_NULL) {
        return 0;
    }
    if (request == NULL) {
        PMPI_Request_get_status(handle, &is, MPI_STATUS_IGNORE);
    } else {
        is = !keel_mpi_is_replaying() && request->ops->is_ready(request);
    }
    return is;
}

static void finish_handle(MPI_Request handle)
{
    keel_mpi_request_t *request = keel_mpi_request_of(handle);

    if (request != NULL) {
        keel_mpi_request_finish(request);
    }
}

/* Makes progress, marks the ready requests, and returns their number. @a is_waiting: repeats until
 * a request is ready, as long as any is open. */
static int mark_ready(int count, const MPI_Request active[], char *marks, int is_waiting, const char *call)
{
    int ready = 0, is_open = 0;

    do {
        if (!keel_mpi_is_replaying()) {
            (is_waiting ? keel_mpi_channel_progress_or_sleep : keel_mpi_channel_progress_or_yield)(call);
        }
        ready = is_open = 0;
        for (int i = 0; i < count; i++) {
            marks[i] = (char)is_ready(active[i]);
            ready += marks[i];
            is_open += active[i] != MPI_REQUEST_NULL;
        }
    } while (is_waiting && ready == 0 && is_open > 0 && !keel_mpi_is_replaying());
    keel_mpi_startup_result(marks, (size_t)count);
    keel_mpi_request_finish_freed();
    ready = 0;
    for (int i = 0; i < count; i++) {
        ready += marks[i];
    }
    return ready;
}

static char *marks_make(unsigned count, const char *call)
{
    char *marks = calloc((size_t)count + 1, 1);

    if (marks == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    return marks;
}

/* Waits for the requests one by one. The system's MPI waits for foreign requests: requests of
 * files, and generalized requests of the program. */
static void finish_all(int count, const MPI_Request active[])
{
    for (int i = 0; i < count; i++) {
        keel_mpi_request_t *request = keel_mpi_request_of(active[i]);

        if (request != NULL) {
            keel_mpi_request_wait(request);
        }
    }
}

static int count_is_wrong(int count, const char *call)
{
    keel_mpi_begin(call);
    return (count < 0) ? keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_COUNT, call, "a negative count") : MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    MPI_Request *active;
    int code = count_is_wrong(count, "MPI_Waitall");

    if (code != MPI_SUCCESS) {
        return code;
    }
    active = translate(count, array_of_requests, "MPI_Waitall");
    finish_all(count, active);
    code = PMPI_Waitall(count, active, array_of_statuses);
    translate_back(count, array_of_requests, active);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Request *active;
    int code;

    keel_mpi_begin("MPI_Wait");
    active = translate(1, request, "MPI_Wait");
    finish_all(1, active);
    code = PMPI_Wait(active, status);
    translate_back(1, request, active);
    return code;
}

int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    MPI_Request *active;
    char *marks;
    int code = count_is_wrong(count, "MPI_Waitany");

    if (code != MPI_SUCCESS) {
        return code;
    }
    active = translate(count, array_of_requests, "MPI_Waitany");
    marks = marks_make((unsigned)count, "MPI_Waitany");
    (void)mark_ready(count, active, marks, 1, "MPI_Waitany");
    for (*index = 0; *index < count && !marks[*index];) {
        ++*index;
    }
    if (*index < count) {
        finish_handle(active[*index]);
        code = PMPI_Wait(&active[*index], status);
    } else {
        code = PMPI_Waitany(0, NULL, index, status);
    }
    free(marks);
    translate_back(count, array_of_requests, active);
    return code;
}

int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status)
{
    MPI_Request *active;
    char *marks;
    int code = count_is_wrong(count, "MPI_Testany"), is_open = 0;

    if (code != MPI_SUCCESS) {
        return code;
    }
    active = translate(count, array_of_requests, "MPI_Testany");
    marks = marks_make((unsigned)count, "MPI_Testany");
    *flag = mark_ready(count, active, marks, 0, "MPI_Testany") > 0;
    for (int i = 0; i < count; i++) {
        is_open |= active[i] != MPI_REQUEST_NULL;
    }
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && *flag && *index == MPI_UNDEFINED; i++) {
        if (marks[i]) {
            *index = i;
            finish_handle(active[i]);
            code = PMPI_Wait(&active[i], status);
        }
    }
    if (!is_open) {
        code = PMPI_Testany(0, NULL, index, flag, status);
    }
    free(marks);
    translate_back(count, array_of_requests, active);
    return code;
}

static int some(int count, MPI_Request handles[], int *outcount, int indices[], MPI_Status statuses[], int is_waiting,
                const char *call)
{
    MPI_Request *active;
    char *marks;
    int code = count_is_wrong(count, call), is_open = 0;

    if (code != MPI_SUCCESS) {
        return code;
    }
    active = translate(count, handles, call);
    marks = marks_make((unsigned)count, call);
    (void)mark_ready(count, active, marks, is_waiting, call);
    *outcount = 0;
    for (int i = 0; i < count; i++) {
        is_open |= active[i] != MPI_REQUEST_NULL;
        if (marks[i]) {
            MPI_Status *status = (statuses == MPI_STATUSES_IGNORE) ? MPI_STATUS_IGNORE : &statuses[*outcount];

            finish_handle(active[i]);
            code = PMPI_Wait(&active[i], status) != MPI_SUCCESS ? MPI_ERR_IN_STATUS : code;
            indices[(*outcount)++] = i;
        }
    }
    *outcount = is_open ? *outcount : MPI_UNDEFINED;
    free(marks);
    translate_back(count, handles, active);
    return code;
}

int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
    return some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, 1, "MPI_Waitsome");
}

int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
                 MPI_Status array_of_statuses[])
{
    return some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, 0, "MPI_Testsome");
}

int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag, MPI_Status array_of_statuses[])
{
    MPI_Request *active;
    char *marks;
    int code = count_is_wrong(count, "MPI_Testall"), open = 0;

    if (code != MPI_SUCCESS) {
        return code;
    }
    active = translate(count, array_of_requests, "MPI_Testall");
    marks = marks_make((unsigned)count, "MPI_Testall");
    for (int i = 0; i < count; i++) {
        open += active[i] != MPI_REQUEST_NULL;
    }
    *flag = mark_ready(count, active, marks, 0, "MPI_Testall") == open;
    if (*flag) {
        finish_all(count, active);
        code = PMPI_Waitall(count, active, array_of_statuses);
    }
    free(marks);
    translate_back(count, array_of_requests, active);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Request *active;
    char mark;
    int code = MPI_SUCCESS;

    keel_mpi_begin("MPI_Test");
    active = translate(1, request, "MPI_Test");
    *flag = mark_ready(1, active, &mark, 0, "MPI_Test") > 0 || *active == MPI_REQUEST_NULL;
    if (*flag) {
        finish_handle(*active);
        code = PMPI_Wait(active, status);
    }
    translate_back(1, request, active);
    return code;
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Request *active;
    char mark;
    int code = MPI_SUCCESS;

    keel_mpi_begin("MPI_Request_get_status");
    active = translate(1, &request, "MPI_Request_get_status");
    *flag = mark_ready(1, active, &mark, 0, "MPI_Request_get_status") > 0 || *active == MPI_REQUEST_NULL;
    if (*flag) {
        finish_handle(*active);
        code = PMPI_Request_get_status(*active, flag, status);
    }
    free(active);
    return code;
}
