/* Sealing and verification of messages. */
#include "wire/wire.h"

#include "base/crc.h"

#include <string.h>

/* @param sum  of the data */
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

const char *keel_wire_open(keel_wire_t *wire, const void *header, size_t header_len, const void *data, size_t data_len)
{
    memset(wire, 0, sizeof(*wire));
    memcpy(wire, header, (header_len < sizeof(*wire)) ? header_len : sizeof(*wire));
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
