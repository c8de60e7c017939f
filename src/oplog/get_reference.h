/*
 * Long gets from mapped memory. The data of such a get is stored once, in the record at the target.
 * The local copy of the record is a reference to that record.
 *
 * Safety. If this process dies, the record at the target is complete. If the target dies, its get
 * log exists as long as this process has it mapped: before the mapping is closed, the references
 * become records with data. If both die, the record is lost, and would be so with two copies.
 * The target reuses a chunk only after an image covers its records. A chunk that has another owner
 * or number, before or after its record was copied, was reused: the record counts as lost then, in
 * its phase, so a process that would need the record rolls the job back.
 */
#ifndef KEEL_OPLOG_GET_REFERENCE_H_
#define KEEL_OPLOG_GET_REFERENCE_H_

#include "oplog/get_log.h"

#define KEEL_GET_REFERENCE_HERE UINT32_MAX

typedef struct keel_get_reference {
    uint32_t length; /* of the record at the target */
    uint32_t chunk;  /* index; KEEL_GET_REFERENCE_HERE: the data came from a dead target */
    union {
        struct {
            uint32_t number; /* of the chunk, when the record was written */
            uint32_t used;   /* bytes of records before the record */
        };
        const keel_get_record_t *data; /* KEEL_GET_REFERENCE_HERE: the record; NULL: lost */
    };
} keel_get_reference_t;
_Static_assert(sizeof(keel_get_reference_t) == 16, "log format");

/* The record with the data that stands at @a record in the list: itself, or the data of a
 * reference. NULL: none, because the data were lost, or because the reference has its place. */
static inline const keel_get_record_t *keel_get_reference_data(const keel_get_record_t *record)
{
    keel_get_reference_t reference;

    if (record->completeness == KEEL_GET_INCOMPLETE || record->completeness == KEEL_GET_COMPLETE) {
        return record;
    }
    memcpy(&reference, record + 1, sizeof(reference));
    return (record->completeness == KEEL_GET_REFERRED && reference.chunk == KEEL_GET_REFERENCE_HERE) ? reference.data
                                                                                                     : NULL;
}

/* Bytes from which on a get is long, if chunks have the size @a chunk_size: a shorter record is
 * copied to the target at less cost, in a run of several. */
static inline uint32_t keel_get_reference_least(uint32_t chunk_size)
{
    return (chunk_size < 8192) ? chunk_size / 8 : 1024;
}

/*
 * Executes a long get of at most record_max bytes from a live target: @a length bytes from @a from
 * to the caller and to the record at the target. Precondition: no record has to answer the get.
 * Returns 0 if the get has to be recorded here.
 */
int keel_get_reference_read(keel_get_log_t *log, uint32_t target, uint64_t where, void *buffer, const void *from,
                            size_t length);

/* Direct lane: the target died, and its memory is still mapped. Appends the records that the
 * references refer to. Other records stay where they are, since open ones are known by address. */
void keel_get_references_resolve(keel_get_log_t *log, uint32_t target);

#endif
