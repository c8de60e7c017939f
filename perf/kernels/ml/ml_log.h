/*
 * A log of records or data that is overwritten cyclically: as after a checkpoint, the oldest
 * entries make room.
 */
#ifndef KEEL_KERNEL_ML_LOG_H_
#define KEEL_KERNEL_ML_LOG_H_

#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char *data;
    size_t bytes; /* of data: ML_LOG_MIB, or 64 MiB */
    uint64_t logged;
    uint64_t spoilt; /* index of a byte written wrong, for tests of the check; UINT64_MAX: none */
    int is_checked;
} ml_log_t;

/* NULL data: no memory. @a spoil: name of the environment variable with the byte to spoil. */
ml_log_t ml_log_make(const char *spoil);
void ml_log_free(ml_log_t *log);
/* With ML_CHECK the written data is read back and added to the sum at @a sum_p. */
void ml_log_append(ml_log_t *log, const void *data, size_t length, uint64_t *sum_p);
/*
 * Continues a sum over bytes and their order, independent of the division into calls; starts with
 * 0.
 */
uint64_t ml_sum(uint64_t sum, const unsigned char *data, size_t length);

#endif
