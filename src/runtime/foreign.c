/*
 * Translates the table of include/keel/runtime.h to the ops of runtime_ops.h.
 *
 * Events come from two sources: the table's poll(), and keel_report_death() and the like, called by
 * any thread. Both go through one event queue, so a runtime may use both: the queue drops
 * duplicates and adds the death that a join implies.
 */
#include "foreign.h"
#include "event_queue.h"
#include "one_context.h"

#include <base/day.h>
#include <base/memory.h>
#include <base/message.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct keel_events {
    keel_event_queue_t queue;
    int is_used; /* a context has taken events: the next one needs another queue */
};

typedef struct attached {
    keel_runtime_t base;
    keel_attach_t table;
    keel_attached_start_t *start; /* valid in announce() and lookup() */
    keel_events_h own;            /* the queue, if the table has none */
    /* First life: address_room bytes of each rank, a length of 8 bytes and the address. */
    char *addresses;
    size_t address_room;
    keel_attach_event_t held; /* an event of poll() that the queue had no memory for */
    int is_held, is_announced, is_finished;
} attached_t;

static const keel_message_t nobody = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};

/* ---- events ---- */

keel_status_t keel_events_create(uint32_t size, keel_events_h *events_p)
{
    keel_events_h events;
    keel_status_t status;

    if (size == 0 || events_p == NULL) {
        return KEEL_ERR_INVALID_PARAM;
    }
    events = keel_alloc(sizeof(*events), "runtime events");
    if (events == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_event_queue_init(&events->queue, size);
    if (status != KEEL_OK) {
        keel_free(events);
        return status;
    }
    *events_p = events;
    return KEEL_OK;
}

void keel_events_destroy(keel_events_h events)
{
    if (events != NULL) {
        keel_event_queue_release(&events->queue);
        keel_free(events);
    }
}

static keel_status_t events_push(keel_events_h events, const keel_event_t *event)
{
    if (events == NULL || event->rank >= events->queue.size || event->incarnation == KEEL_INCARNATION_ANY) {
        return KEEL_ERR_INVALID_PARAM;
    }
    return keel_event_queue_push(&events->queue, event);
}

keel_status_t keel_report_death(keel_events_h events, uint32_t rank, uint32_t incarnation)
{
    const keel_event_t event = {.type = KEEL_EVENT_DEATH, .rank = rank, .incarnation = incarnation};

    return events_push(events, &event);
}

keel_status_t keel_report_join(keel_events_h events, uint32_t rank, uint32_t incarnation, const void *address,
                               size_t length)
{
    const keel_event_t event = {
        .type = KEEL_EVENT_JOIN, .rank = rank, .incarnation = incarnation, .address = address, .address_len = length};

    if (incarnation == 0 || address == NULL || length == 0 || length > KEEL_ATTACH_ADDRESS_MAX) {
        return KEEL_ERR_INVALID_PARAM;
    }
    return events_push(events, &event);
}

keel_status_t keel_report_exit(keel_events_h events, uint32_t rank, uint32_t incarnation)
{
    const keel_event_t event = {.type = KEEL_EVENT_EXIT, .rank = rank, .incarnation = incarnation};

    return events_push(events, &event);
}

static keel_status_t attached_take(keel_events_h events, const keel_attach_event_t *event)
{
    switch (event->type) {
    case KEEL_ATTACH_DEATH:
        return keel_report_death(events, event->rank, event->incarnation);
    case KEEL_ATTACH_JOIN:
        return keel_report_join(events, event->rank, event->incarnation, event->address, event->address_length);
    case KEEL_ATTACH_EXIT:
        return keel_report_exit(events, event->rank, event->incarnation);
    }
    return KEEL_ERR_INVALID_PARAM;
}

/* Moves the table's events to the queue. Without memory, an event waits for the next look. */
static void attached_drain(attached_t *attached)
{
    const keel_attach_t *table = &attached->table;

    while (attached->is_held || (table->poll != NULL && table->poll(table->arg, &attached->held))) {
        attached->is_held = attached_take(table->events, &attached->held) == KEEL_ERR_NO_MEMORY;
        if (attached->is_held) {
            return;
        }
    }
}

/* Of its own rank, a process takes only its own death: the runtime declared a live process dead. */
static int is_of_interest(const keel_runtime_t *base, const keel_event_t *event)
{
    return event->rank != base->rank || (event->type == KEEL_EVENT_DEATH && event->incarnation == base->incarnation);
}

static int attached_poll(keel_runtime_t *base, keel_event_t *event_p)
{
    attached_t *attached = (attached_t *)base;
    keel_event_queue_t *queue = &attached->table.events->queue;

    attached_drain(attached);
    while (keel_event_queue_pop(queue, event_p)) {
        if (is_of_interest(base, event_p)) {
            return 1;
        }
    }
    return 0;
}

/* Only reported events set the flag. A call polls the table at its next look, within a tenth of a
 * second. */
static void attached_notify(keel_runtime_t *base, uint8_t *news)
{
    keel_event_queue_notify(&((attached_t *)base)->table.events->queue, news);
}

/* ---- messages ---- */

static void attached_say(void *runtime, keel_message_level_t level, const char *line)
{
    const keel_attach_t *table = &((attached_t *)runtime)->table;

    if (table->message != NULL) {
        table->message(table->arg, (int)level, line);
    } else {
        keel_message_to_stderr(line);
    }
}

/* @a status of a callback, which ends the start unless KEEL_OK */
static keel_status_t attached_returned(attached_t *attached, const char *callback, keel_status_t status)
{
    const keel_message_t message = {.level = KEEL_MSG_ERROR,
                                    .rank = attached->base.rank,
                                    .incarnation = attached->base.incarnation,
                                    .sink = attached_say,
                                    .arg = attached};

    if (status != KEEL_OK) {
        keel_error(&message, "keel_init_attached: the runtime's %s() returned: %s", callback,
                   keel_status_string(status));
        attached->start->is_reported = 1;
    }
    return status;
}

/* ---- addresses ---- */

static keel_status_t attached_exchange(attached_t *attached, const void *mine, void *all, size_t length)
{
    const keel_attach_t *table = &attached->table;

    return attached_returned(attached, "exchange", table->exchange(table->arg, mine, all, length));
}

static keel_status_t attached_gather(attached_t *attached, const void *address, size_t length)
{
    const uint32_t size = attached->base.size;
    uint64_t own_length = length, longest = 0;
    uint64_t *lengths = keel_alloc(size * sizeof(*lengths), "lengths of addresses");
    keel_status_t status = (lengths == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    char *own = NULL;

    if (status == KEEL_OK) {
        status = attached_exchange(attached, &own_length, lengths, sizeof(own_length));
    }
    for (uint32_t r = 0; status == KEEL_OK && r < size; r++) {
        longest = (lengths[r] > longest) ? lengths[r] : longest;
    }
    if (status == KEEL_OK && longest > KEEL_ATTACH_ADDRESS_MAX) {
        status = KEEL_ERR_RUNTIME; /* the exchange returned other bytes than the ranks gave */
    }
    if (status == KEEL_OK) {
        attached->address_room = sizeof(own_length) + longest;
        own = keel_alloc(attached->address_room, "address");
        attached->addresses = keel_alloc(size * attached->address_room, "addresses");
        status = (own == NULL || attached->addresses == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
    }
    if (status == KEEL_OK) {
        memcpy(own, &own_length, sizeof(own_length));
        memcpy(own + sizeof(own_length), address, length);
        status = attached_exchange(attached, own, attached->addresses, attached->address_room);
    }
    keel_free(own);
    keel_free(lengths);
    return status;
}

static keel_status_t attached_announce(keel_runtime_t *base, const void *address, size_t length)
{
    attached_t *attached = (attached_t *)base;
    const keel_attach_t *table = &attached->table;
    keel_status_t status;

    if (length > KEEL_ATTACH_ADDRESS_MAX) {
        return KEEL_ERR_RUNTIME;
    }
    if (table->announce != NULL) {
        status = attached_returned(attached, "announce", table->announce(table->arg, address, length));
    } else if (base->incarnation > 0) {
        status = attached_exchange(attached, address, NULL, length);
    } else {
        status = attached_gather(attached, address, length);
    }
    attached->is_announced = (status == KEEL_OK);
    return status;
}

static keel_status_t attached_lookup(keel_runtime_t *base, uint32_t rank, void **address_p, size_t *length_p)
{
    attached_t *attached = (attached_t *)base;
    char *address = malloc(KEEL_ATTACH_ADDRESS_MAX); /* the caller frees it by free() */
    keel_status_t status = KEEL_OK;

    if (address == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (attached->table.announce != NULL) {
        status =
            attached_returned(attached, "lookup", attached->table.lookup(attached->table.arg, rank, address, length_p));
    } else {
        const char *entry = attached->addresses + rank * attached->address_room;
        uint64_t length;

        memcpy(&length, entry, sizeof(length));
        if (length <= attached->address_room - sizeof(length)) {
            memcpy(address, entry + sizeof(length), length);
            *length_p = length;
        } else {
            status = KEEL_ERR_RUNTIME;
        }
    }
    if (status == KEEL_OK && *length_p > KEEL_ATTACH_ADDRESS_MAX) {
        status = KEEL_ERR_RUNTIME;
    }
    if (status != KEEL_OK) {
        free(address);
        return status;
    }
    *address_p = address;
    return KEEL_OK;
}

/* ---- the table ---- */

_Static_assert(KEEL_ATTACH_SECRET_MIN == 16, "a message below names the number");

static const char *attached_wrong(const keel_attach_t *table)
{
    if (table->size == 0 || table->rank >= table->size) {
        return (table->size == 0) ? "size is 0" : "rank is not below size";
    }
    if ((table->announce == NULL) != (table->lookup == NULL)) {
        return (table->announce == NULL) ? "lookup is set without announce" : "announce is set without lookup";
    }
    if (table->exchange == NULL && table->announce == NULL) {
        return "neither exchange nor announce is set";
    }
    if (table->poll == NULL && table->events == NULL) {
        return "neither poll nor events is set";
    }
    if (table->events != NULL && table->events->queue.size != table->size) {
        return "events was made for another number of ranks";
    }
    if (table->secret != NULL && table->secret_length < KEEL_ATTACH_SECRET_MIN) {
        return "secret is too short, at least 16 bytes are needed";
    }
    return NULL;
}

keel_status_t keel_attached_check(const keel_attach_t *given, keel_attach_t *table_p)
{
    /* the first version's */
    const size_t shortest = offsetof(keel_attach_t, message) + sizeof(given->message);
    const char *wrong;

    if (given == NULL) {
        keel_error(&nobody, "keel_init_attached: the runtime's table is NULL");
        return KEEL_ERR_INVALID_PARAM;
    }
    memset(table_p, 0, sizeof(*table_p));
    if (given->struct_size < shortest || given->struct_size > sizeof(*table_p)) {
        keel_error(&nobody, "keel_init_attached: struct_size is %zu bytes, not %zu (sizeof(keel_attach_t))",
                   given->struct_size, sizeof(*table_p));
        return KEEL_ERR_INVALID_PARAM;
    }
    memcpy(table_p, given, given->struct_size);
    wrong = attached_wrong(table_p);
    if (wrong != NULL) {
        keel_error(&nobody, "keel_init_attached: %s", wrong);
        return KEEL_ERR_INVALID_PARAM;
    }
    return KEEL_OK;
}

static void attached_release(attached_t *attached)
{
    keel_events_destroy(attached->own);
    keel_one_context_end();
    keel_free(attached->addresses);
    keel_free(attached->base.node);
    keel_free(attached);
}

static void attached_use_secret(attached_t *attached)
{
    uint8_t secret[KEEL_AUTH_SECRET];

    if (attached->table.secret == NULL) {
        keel_auth_set_off(&attached->base.auth);
        return;
    }
    keel_auth_condense(attached->table.secret, attached->table.secret_length, secret);
    keel_auth_set(&attached->base.auth, secret);
}

static keel_status_t attached_open(void *driver_arg, keel_runtime_t **runtime_p)
{
    keel_attached_start_t *start = driver_arg;
    const keel_attach_t *table = &start->table;
    attached_t *attached = keel_alloc(sizeof(*attached), "runtime");
    keel_runtime_t *base = &attached->base;
    keel_status_t status;

    if (attached == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_one_context_begin("keel_init_attached");
    if (status != KEEL_OK) {
        keel_free(attached);
        return status;
    }
    attached->start = start;
    attached->table = *table;
    *base = (keel_runtime_t){.ops = &keel_runtime_attached_ops,
                             .rank = table->rank,
                             .size = table->size,
                             .incarnation = table->incarnation,
                             .is_one_host = 1};
    base->day_ns = keel_day_begin(base->ops->now_ns(base));
    base->node = keel_alloc(table->size * sizeof(*base->node), "nodes");
    if (base->node == NULL) {
        status = KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t r = 0; status == KEEL_OK && table->node != NULL && r < table->size; r++) {
        base->node[r] = table->node[r];
        base->is_one_host = base->is_one_host && table->node[r] == table->node[0];
    }
    if (status == KEEL_OK && table->events == NULL) {
        status = keel_events_create(table->size, &attached->own);
        attached->table.events = attached->own;
    }
    if (status == KEEL_OK && attached->table.events->is_used) {
        keel_error(&nobody, "keel_init_attached: events has served another context");
        status = KEEL_ERR_STATE;
    }
    if (status != KEEL_OK) {
        attached_release(attached);
        return status;
    }
    attached->table.events->is_used = 1;
    attached_use_secret(attached);
    *runtime_p = base;
    return KEEL_OK;
}

static void attached_close(keel_runtime_t *base)
{
    attached_t *attached = (attached_t *)base;

    if (attached->own == NULL) {
        keel_event_queue_unnotify(&attached->table.events->queue);
    }
    if (attached->table.leave != NULL && attached->is_announced) {
        attached->table.leave(attached->table.arg);
    }
    attached_release(attached);
}

static uint64_t attached_now_ns(keel_runtime_t *base)
{
    struct timespec now;

    (void)base;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A broken connection alone accuses nobody: the runtime learns of a death as it always does. */
static keel_status_t attached_suspect(keel_runtime_t *base, const keel_suspicion_t *suspicion)
{
    const keel_attach_t *table = &((attached_t *)base)->table;

    if (table->suspect == NULL || suspicion->silence_ns == 0) {
        return KEEL_OK;
    }
    return table->suspect(table->arg, suspicion->rank, suspicion->incarnation, suspicion->silence_ns);
}

static void attached_replace(keel_runtime_t *base, uint32_t rank, uint32_t incarnation)
{
    const keel_attach_t *table = &((attached_t *)base)->table;

    if (table->replace != NULL) {
        table->replace(table->arg, rank, incarnation);
    }
}

static void attached_finish(keel_runtime_t *base)
{
    attached_t *attached = (attached_t *)base;

    if (attached->table.finish != NULL && !attached->is_finished) {
        attached->table.finish(attached->table.arg);
    }
    attached->is_finished = 1;
}

static void attached_abort(keel_runtime_t *base, int status, const char *reason)
{
    const keel_attach_t *table = &((attached_t *)base)->table;

    if (table->abort != NULL) {
        table->abort(table->arg, status, reason);
    }
}

static void attached_die(keel_runtime_t *base)
{
    (void)base;
    (void)kill(getpid(), SIGKILL);
}

const keel_runtime_ops_t keel_runtime_attached_ops = {
    .name = "attached",
    .open = attached_open,
    .close = attached_close,
    .announce = attached_announce,
    .lookup = attached_lookup,
    .poll = attached_poll,
    .notify = attached_notify,
    .now_ns = attached_now_ns,
    .suspect = attached_suspect,
    .replace = attached_replace,
    .finish = attached_finish,
    .abort = attached_abort,
    .die = attached_die,
    .say = attached_say,
};
