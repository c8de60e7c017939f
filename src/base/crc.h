/* CRC-32C (iSCSI polynomial) by ISA-L. */
#ifndef KEEL_BASE_CRC_H_
#define KEEL_BASE_CRC_H_

#include <stddef.h>
#include <stdint.h>

uint32_t keel_crc(uint32_t seed, const void *data, size_t length); /* seed 0 to begin; result can be the next seed */
/* copies and sums in one pass, by non-temporal stores where that pays (base/copy); any alignment */
uint32_t keel_crc_copy(uint32_t seed, void *target, const void *source, size_t length);
/* the same where the copy is read soon, and its lines, with those behind it, come from memory; by plain stores */
uint32_t keel_crc_copy_kept(uint32_t seed, void *target, const void *source, size_t length);

#endif
