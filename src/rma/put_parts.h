/* The payload of a record of several parts. */
#ifndef KEEL_RMA_PUT_PARTS_H_
#define KEEL_RMA_PUT_PARTS_H_

#include "rma/put_record.h"

/* writes the payload where @a record is not NULL, and with @a is_stored stores the parts at the target, which is mapped here */
void keel_put_parts_write(const keel_put_record_t *put, keel_record_t *record, int is_stored);

#endif
