/* The payload of a record with several parts. */
#ifndef KEEL_RMA_PUT_PARTS_H_
#define KEEL_RMA_PUT_PARTS_H_

#include "rma/put_record.h"

/* Writes the payload if @a record is not NULL; with @a is_stored stores the parts to the
 * target's mapped memory, too. */
void keel_put_parts_write(const keel_put_record_t *put, keel_record_t *record, int is_stored);

#endif
