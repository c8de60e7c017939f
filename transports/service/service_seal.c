/* Sums and sequence numbers of messages. */
#include "service_seal.h"

#include "base/message.h"
#include "check/plant.h"

#include <string.h>

void keel_service_seal_init(keel_service_seal_t *seal, const keel_auth_t *auth, keel_service_lane_t lane,
                            const keel_service_end_t *from, const keel_service_end_t *to)
{
    const int is_turned = KEEL_PLANT(service_seal_both_ways) && from->rank > to->rank;
    const keel_service_end_t *last = is_turned ? from : to;
    const struct {
        char use[8];
        uint64_t lane;
        keel_service_end_t from, to;
    } name = {.use = "service",
              .lane = lane,
              .from = is_turned ? *to : *from,
              .to = {.instance = KEEL_PLANT(service_seal_any_life) ? 0 : last->instance, .rank = last->rank}};

    memset(seal, 0, sizeof(*seal));
    seal->state = (auth != NULL) ? keel_auth_state(auth) : KEEL_AUTH_OFF;
    if (seal->state == KEEL_AUTH_ON) {
        keel_auth_derive(auth, &name, sizeof(name), &seal->key);
    }
}

uint64_t keel_service_seal_sum(const keel_service_seal_t *seal, const void *bytes, size_t length)
{
    return (seal->state == KEEL_AUTH_ON) ? keel_auth_sum(seal->key.data, bytes, length) : 0;
}

/* @param wire  in front of its header */
static uint64_t sum_of(const keel_service_seal_t *seal, keel_service_wire_t *wire, const void *data, size_t data_len)
{
    wire->sum = (wire->kind == KEEL_SERVICE_WIRE_HELLO && !KEEL_PLANT(service_seal_hello_bare))
                    ? keel_auth_sum(seal->key.data, data, data_len)
                    : 0;
    return keel_auth_sum(seal->key.head, wire, sizeof(*wire) + wire->header_len);
}

void keel_service_seal_close(keel_service_seal_t *seal, keel_service_wire_t *wire, const void *data, size_t data_len)
{
    wire->sequence = wire->sum = 0;
    if (seal->state == KEEL_AUTH_ON) {
        wire->sequence = ++seal->sequence;
        wire->sum = sum_of(seal, wire, data, data_len);
    }
}

const char *keel_service_seal_open(keel_service_seal_t *seal, const keel_service_received_t *received, const void *data,
                                   size_t data_len)
{
    keel_service_received_t copy;

    if (seal->state == KEEL_AUTH_OFF) {
        return NULL;
    }
    if (seal->state == KEEL_AUTH_AWAITED) {
        return "this process has no secret yet";
    }
    memcpy(&copy, received, sizeof(copy.wire) + received->wire.header_len);
    if (sum_of(seal, &copy.wire, data, data_len) != received->wire.sum && !KEEL_PLANT(service_seal_unchecked)) {
        return "it was not made with the secret of this job";
    }
    if (received->wire.sequence <= seal->sequence && !KEEL_PLANT(service_seal_repeated)) {
        return "it was taken before";
    }
    seal->sequence = received->wire.sequence;
    return NULL;
}

void keel_service_refuse(uint32_t *refused, const keel_transport_params_t *params, const char *from, const char *why)
{
    if (__atomic_fetch_add(refused, 1, __ATOMIC_RELAXED) == 0 && params->message != NULL) {
        keel_warn(params->message, "a message from %s is dropped: %s; others are counted and dropped silently", from,
                  why);
    }
}

void keel_service_report_refused(uint32_t *refused, const keel_transport_params_t *params)
{
    const uint32_t count = __atomic_load_n(refused, __ATOMIC_RELAXED);

    if (count > 1 && params->message != NULL) {
        keel_warn(params->message, "%u messages of processes outside the job were dropped", count);
    }
}
