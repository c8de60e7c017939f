/* CRC-32C (iSCSI polynomial) with ISA-L. */
#ifndef KEEL_BASE_CRC_H_
#define KEEL_BASE_CRC_H_

#include <stddef.h>
#include <stdint.h>

/* seed 0 at the start; the result can be the next seed */
uint32_t keel_crc(uint32_t seed, const void *data, size_t length);
/* copies and sums in one pass, by non-temporal stores for long copies (base/copy); any alignment */
uint32_t keel_crc_copy(uint32_t seed, void *target, const void *source, size_t length);
/* the same for a copy that is read soon, into lines that come from memory; by plain stores */
uint32_t keel_crc_copy_kept(uint32_t seed, void *target, const void *source, size_t length);

#endif
