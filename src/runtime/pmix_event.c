/* Events over PMIx: receives deaths, joins and exits; sends messages to the launcher alone. */
#include "pmix_events.h"
#include "pmix_runtime.h"

#include <base/memory.h>

#include <stdlib.h>

/*
 * Reads rank, incarnation, address and process from an event's keys. Returns 0 if the event is not
 * keelrun's.
 */
static int keel_pmix_read_event(const pmix_info_t *info, size_t count, keel_event_t *event, uint32_t *holder_p)
{
    int keys = 0;

    for (size_t i = 0; i < count; i++) {
        const pmix_value_t *value = &info[i].value;

        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_RANK) && value->type == PMIX_UINT32) {
            event->rank = value->data.uint32;
            keys++;
        } else if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_INCARNATION) && value->type == PMIX_UINT32) {
            event->incarnation = value->data.uint32;
            keys++;
        } else if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_HOLDER) && value->type == PMIX_UINT32) {
            *holder_p = value->data.uint32;
        } else if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_ADDRESS) && value->type == PMIX_BYTE_OBJECT) {
            event->address = value->data.bo.bytes;
            event->address_len = value->data.bo.size;
        }
    }
    return keys == 2;
}

/* Adds a spawned process, unknown so far. */
static void keel_pmix_read_process(keel_runtime_pmix_t *runtime, uint32_t holder, const pmix_info_t *info, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_PROCESS) && info[i].value.type == PMIX_BYTE_OBJECT &&
            info[i].value.data.bo.size == sizeof(keel_process_t)) {
            keel_pmix_add_process(runtime, holder, (const void *)info[i].value.data.bo.bytes);
        }
    }
}

static const pmix_proc_t *keel_pmix_affected(const pmix_proc_t *source, const pmix_info_t *info, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC) {
            return info[i].value.data.proc;
        }
    }
    return source;
}

/* Translates keelrun's process to a rank of the job. Returns 0 if it is no rank. */
static int keel_pmix_translate(keel_runtime_pmix_t *runtime, keel_event_t *event)
{
    if (event->type == KEEL_EVENT_DEATH) {
        keel_pmix_spare_died(runtime, event->rank);
    }
    return keel_pmix_rank_of(runtime, event->rank, &event->rank, &event->incarnation);
}

static keel_event_type_t keel_pmix_event_type(pmix_status_t code)
{
    return (code == KEEL_PMIX_EVENT_JOIN)     ? KEEL_EVENT_JOIN
           : (code == KEEL_PMIX_EVENT_EXIT)   ? KEEL_EVENT_EXIT
           : (code == KEEL_PMIX_EVENT_SHRINK) ? KEEL_EVENT_GONE
                                              : KEEL_EVENT_DEATH;
}

static keel_status_t keel_pmix_take_event(keel_runtime_pmix_t *runtime, pmix_status_t code, const pmix_proc_t *source,
                                          const pmix_info_t *info, size_t count)
{
    keel_event_t event = {.type = KEEL_EVENT_DEATH};
    uint32_t holder = KEEL_PMIX_NO_RANK;
    int is_ours = keel_pmix_read_event(info, count, &event, &holder);
    const pmix_proc_t *affected;

    if (is_ours && code == KEEL_PMIX_EVENT_NEED) {
        keel_pmix_spare_on_need(runtime, event.address, event.address_len);
        return KEEL_OK;
    }
    if (is_ours && code == KEEL_PMIX_EVENT_CALL) {
        keel_pmix_spare_called(runtime, event.rank, event.incarnation, holder);
        return KEEL_OK;
    }
    if (is_ours) {
        event.type = keel_pmix_event_type(code);
        if (event.type == KEEL_EVENT_JOIN) {
            keel_pmix_spare_joined(runtime, event.rank, event.incarnation, holder);
            keel_pmix_read_process(runtime, holder, info, count);
        } else if (runtime->is_keelrun && runtime->spares.count > 0 && !keel_pmix_translate(runtime, &event)) {
            return KEEL_OK; /* the event of a waiting spare */
        }
        if (event.type == KEEL_EVENT_EXIT && keel_pmix_is_spare(runtime)) {
            keel_pmix_spare_dismiss(runtime);
        }
        if (event.rank == runtime->base.rank && !keel_pmix_is_spare(runtime) &&
            (event.type != KEEL_EVENT_DEATH || event.incarnation != runtime->base.incarnation)) {
            return KEEL_OK; /* a rank knows its own joins and exits, but not its death */
        }
        return keel_event_queue_push(&runtime->queue, &event);
    }
    affected = keel_pmix_affected(source, info, count);
    if (runtime->is_keelrun || affected == NULL || !PMIX_CHECK_NSPACE(affected->nspace, runtime->job.nspace) ||
        affected->rank == runtime->holder) {
        return KEEL_OK; /* a mere suspicion of the server: keelrun will report a death */
    }
    keel_pmix_spare_died(runtime, affected->rank);
    if (keel_pmix_rank_of(runtime, affected->rank, &event.rank, &event.incarnation) && runtime->spares.count > 0) {
        return keel_event_queue_push(&runtime->queue, &event);
    }
    return keel_event_queue_push_current_death(&runtime->queue, affected->rank);
}

static void keel_pmix_on_event(size_t handler, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                               size_t count, pmix_info_t *results, size_t result_count,
                               pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    keel_runtime_pmix_t *runtime = NULL;

    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_RETURN_OBJECT)) {
            runtime = info[i].value.data.ptr;
        }
    }
    if (runtime != NULL && keel_pmix_take_event(runtime, code, source, info, count) != KEEL_OK) {
        keel_pmix_abort(&runtime->base, EXIT_FAILURE, "no memory for an event: this rank would not know of it");
    }
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    }
}

/*
 * Registers the handler for each code by name, since the server delivers nothing to handlers for
 * "any" code. Returns once the server knows.
 */
keel_status_t keel_pmix_register_events(keel_runtime_pmix_t *runtime)
{
    pmix_status_t codes[] = {KEEL_PMIX_EVENT_DEATH,      KEEL_PMIX_EVENT_JOIN,         KEEL_PMIX_EVENT_EXIT,
                             KEEL_PMIX_EVENT_CALL,       KEEL_PMIX_EVENT_NEED,         KEEL_PMIX_EVENT_GONE,
                             KEEL_PMIX_EVENT_SHRINK,     PMIX_ERR_LOST_CONNECTION,     PMIX_ERR_PROC_REQUESTED_ABORT,
                             PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_EXIT_NONZERO_TERM};
    pmix_status_t status;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_EVENT_RETURN_OBJECT, runtime, PMIX_POINTER);
    /* without a callback the call waits and returns the handler's number */
    status =
        PMIx_Register_event_handler(codes, sizeof codes / sizeof codes[0], &info, 1, keel_pmix_on_event, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    if (status < 0) {
        keel_pmix_complain(runtime, "cannot hear events", status);
        return KEEL_ERR_RUNTIME;
    }
    runtime->handler = (size_t)status;
    return KEEL_OK;
}

/*
 * Notifies the launcher alone. Cached events of range RM never reach it (PMIx 4.2.2), so this event
 * is not cached.
 */
pmix_status_t keel_pmix_send_met(const keel_runtime_pmix_t *runtime)
{
    pmix_status_t status;
    pmix_info_t info;
    bool yes = true;

    PMIX_INFO_LOAD(&info, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    status = PMIx_Notify_event(KEEL_PMIX_EVENT_MET, &runtime->process, PMIX_RANGE_RM, &info, 1, NULL, NULL);
    PMIX_INFO_DESTRUCT(&info);
    return status;
}

/*
 * keelrun forwards events; Open MPI's server delivers events to processes of its own node only and
 * loses others
 */
static pmix_data_range_t keel_pmix_range(const keel_runtime_pmix_t *runtime)
{
    return runtime->is_keelrun ? PMIX_RANGE_RM : PMIX_RANGE_LOCAL;
}

keel_status_t keel_pmix_send_join(keel_runtime_pmix_t *runtime, const void *address, size_t length)
{
    pmix_byte_object_t bytes = {.bytes = (char *)(uintptr_t)address, .size = length};
    keel_process_t self;
    pmix_byte_object_t process = {.bytes = (char *)&self, .size = sizeof self};
    pmix_status_t status;
    pmix_info_t info[7];
    bool yes = true;

    keel_process_self(&self);

    PMIX_INFO_LOAD(&info[0], KEEL_PMIX_KEY_RANK, &runtime->base.rank, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], KEEL_PMIX_KEY_INCARNATION, &runtime->base.incarnation, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], KEEL_PMIX_KEY_ADDRESS, &bytes, PMIX_BYTE_OBJECT);
    PMIX_INFO_LOAD(&info[3], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[4], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[5], KEEL_PMIX_KEY_PROCESS, &process, PMIX_BYTE_OBJECT);
    PMIX_INFO_LOAD(&info[6], KEEL_PMIX_KEY_HOLDER, &runtime->holder, PMIX_UINT32);
    status = PMIx_Notify_event(KEEL_PMIX_EVENT_JOIN, &runtime->process, keel_pmix_range(runtime), info, 7, NULL, NULL);
    for (size_t i = 0; i < 7; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        keel_pmix_complain(runtime, "cannot announce this rank", status);
        return KEEL_ERR_RUNTIME;
    }
    return KEEL_OK;
}

enum { EVENT_KEYS = 6 }; /* count of keys of such an event */

static void keel_pmix_on_event_sent(pmix_status_t status, void *arg)
{
    pmix_info_t *info = arg;

    (void)status;
    for (size_t i = 0; i < EVENT_KEYS; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    keel_free(info);
}

typedef struct outgoing_event {
    uint32_t rank, incarnation, holder;
    pmix_byte_object_t data;
} outgoing_event_t;

static void keel_pmix_send_event_with(keel_runtime_pmix_t *runtime, pmix_status_t code, const outgoing_event_t *event)
{
    pmix_info_t *info = keel_alloc(EVENT_KEYS * sizeof *info, "event");
    bool yes = true;

    if (info == NULL) {
        return;
    }
    PMIX_INFO_LOAD(&info[0], KEEL_PMIX_KEY_RANK, &event->rank, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], KEEL_PMIX_KEY_INCARNATION, &event->incarnation, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[4], KEEL_PMIX_KEY_HOLDER, &event->holder, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], KEEL_PMIX_KEY_ADDRESS, &event->data, PMIX_BYTE_OBJECT);
    if (PMIx_Notify_event(code, &runtime->process, keel_pmix_range(runtime), info, EVENT_KEYS, keel_pmix_on_event_sent,
                          info) != PMIX_SUCCESS) {
        keel_pmix_on_event_sent(PMIX_ERROR, info);
    }
}

/* Sends an event without waiting. A lost event is repeated, or its content found out otherwise. */
void keel_pmix_send_event(keel_runtime_pmix_t *runtime, pmix_status_t code, uint32_t rank, uint32_t incarnation,
                          uint32_t holder)
{
    keel_pmix_send_event_with(runtime, code,
                              &(outgoing_event_t){.rank = rank, .incarnation = incarnation, .holder = holder});
}

void keel_pmix_send_need(keel_runtime_pmix_t *runtime, const uint64_t *bytes, size_t length)
{
    const outgoing_event_t event = {.rank = runtime->base.rank,
                                    .incarnation = runtime->base.incarnation,
                                    .holder = runtime->holder,
                                    .data = {.bytes = (char *)(uintptr_t)bytes, .size = length}};

    keel_pmix_send_event_with(runtime, KEEL_PMIX_EVENT_NEED, &event);
}
