/* Sealing and checking of messages. */
#include "lane/lane.h"

#include "base/crc.h"

#include <string.h>

/* @a sum: that of the data */
static uint32_t wire_crc(const keel_wire_t *wire, uint32_t sum)
{
    keel_wire_t copy = *wire;

    copy.crc = 0;
    return keel_crc(sum, &copy, sizeof(copy));
}

void keel_wire_seal_summed(keel_wire_t *wire, uint32_t sum, size_t length)
{
    wire->version = KEEL_WIRE_VERSION;
    wire->length = (uint32_t)length;
    wire->crc = wire_crc(wire, sum);
}

void keel_wire_seal(keel_wire_t *wire, const void *data, size_t length)
{
    keel_wire_seal_summed(wire, keel_crc(0, data, length), length);
}

static const char *wire_check(const keel_wire_t *wire, size_t header_len, const void *data, size_t data_len)
{
    if (header_len != sizeof(*wire)) {
        return "wrong header length";
    }
    if (wire->version != KEEL_WIRE_VERSION) {
        return "wrong version";
    }
    if (wire->length != data_len) {
        return "wrong data length";
    }
    if (wire->crc != wire_crc(wire, keel_crc(0, data, data_len))) {
        return "wrong crc";
    }
    return NULL;
}

int keel_wire_open(keel_lane_t *lane, const char *what, const void *header, size_t header_len, const void *data,
                   size_t data_len, keel_wire_t *wire)
{
    const char *why;

    memset(wire, 0, sizeof(*wire));
    memcpy(wire, header, header_len < sizeof(*wire) ? header_len : sizeof(*wire));
    why = wire_check(wire, header_len, data, data_len);
    if (why == NULL && wire->source >= lane->size) {
        why = "unknown rank";
    }
    if (why != NULL) {
        keel_error(lane->message, "%s refused: %s", what, why);
        keel_lane_fail(lane, KEEL_ERR_CORRUPT);
    }
    return why == NULL;
}
