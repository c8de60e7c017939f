/* XOR parity with ISA-L. Tests compare against a portable reference. */
#ifndef KEEL_CODE_XOR_H_
#define KEEL_CODE_XOR_H_

#include <stddef.h>

/* target = XOR of @a count sources of @a length bytes each; any alignment. Buffers do not
 * overlap, but the target may be one of the sources. */
void keel_xor(void *target, const void *const *sources, unsigned count, size_t length);
/* target ^= source */
void keel_xor_into(void *target, const void *source, size_t length);
void keel_xor_reference(void *target, const void *const *sources, unsigned count, size_t length);

#endif
