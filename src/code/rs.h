/*
 * Reed-Solomon over GF(2^8) with ISA-L: any @a parities chunks of a stripe may be lost. The chunks
 * of a stripe have places: data chunks 0 .. data - 1, then parity chunks. Every chunk is a sum of
 * any @a data other chunks, each times a coefficient: encoding, decoding and updating are one
 * operation with different coefficients. A single parity is the XOR of the data, and XOR does the
 * work if all coefficients are 1. Tests compare against portable references.
 */
#ifndef KEEL_CODE_RS_H_
#define KEEL_CODE_RS_H_

#include <keel/status.h>

#include <stddef.h>
#include <stdint.h>

#define KEEL_RS_PARITIES_MAX 8u
#define KEEL_RS_CHUNKS_MAX   255u /* for stripes with more than one parity */

/* coefficient of data chunk @a column in parity chunk @a row, for this number of data chunks and
 * parities */
uint8_t keel_rs_coefficient(unsigned data, unsigned parities, unsigned row, unsigned column);

/*
 * Computes the chunk at place @a wanted as a sum of others: coefficients by place, 0 for unused
 * chunks. Uses at most @a data chunks, of those present (is_there, by place), data before parity,
 * and never the wanted one.
 * @return KEEL_ERR_UNREACHABLE if too few are present; KEEL_ERR_INVALID_PARAM for a code or a place
 *         that does not exist.
 */
keel_status_t keel_rs_solve(unsigned data, unsigned parities, unsigned wanted, const uint8_t *is_there,
                            uint8_t *coefficients);

/* target = sum of coefficient times source, @a length bytes each; any alignment; the target
 * overlaps no source */
void keel_rs_combine(void *target, const void *const *sources, const uint8_t *coefficients, unsigned count,
                     size_t length);
void keel_rs_combine_reference(void *target, const void *const *sources, const uint8_t *coefficients, unsigned count,
                               size_t length);
/* target += coefficient times source */
void keel_rs_add(void *target, const void *source, uint8_t coefficient, size_t length);
void keel_rs_add_reference(void *target, const void *source, uint8_t coefficient, size_t length);

#endif
