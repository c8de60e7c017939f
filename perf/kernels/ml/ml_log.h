/* Memory that records or data are written to, over and over: as after a checkpoint, the oldest makes place. */
#ifndef KEEL_KERNEL_ML_LOG_H_
#define KEEL_KERNEL_ML_LOG_H_

#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned char *data;
    size_t bytes; /* of data: ML_LOG_MIB, or 64 MiB */
    uint64_t logged;
    uint64_t spoilt; /* which byte of all is written wrong, so that a test can see this found; UINT64_MAX: none */
    int is_checked;
} ml_log_t;

/* NULL data: no memory. @a spoil is the variable of the environment that names the byte to spoil. */
ml_log_t ml_log_make(const char *spoil);
void ml_log_free(ml_log_t *log);
/* with ML_CHECK what was written is read again and goes on with the sum at @a sum_p */
void ml_log_append(ml_log_t *log, const void *data, size_t length, uint64_t *sum_p);
/* Continues a sum over bytes and their order, the same however they are cut; 0 at first. */
uint64_t ml_sum(uint64_t sum, const unsigned char *data, size_t length);

#endif
