#include "ml_log.h"

#include "../lib/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LOG_MIB = 64, HUGE_PAGE = 2 << 20 };

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    unsigned long number;

    return ((text != NULL) && (kernel_parse_number(text, 0, &number) == 0)) ? number : otherwise;
}

/* Allocates a log like Keel's: huge pages if available, faulted in before any timing. */
ml_log_t ml_log_make(const char *spoil)
{
    const size_t bytes = (number_of("ML_LOG_MIB", LOG_MIB) << 20) + HUGE_PAGE - 1;
    ml_log_t log = {.bytes = bytes & ~((size_t)HUGE_PAGE - 1),
                    .spoilt = number_of(spoil, UINT64_MAX),
                    .is_checked = (getenv("ML_CHECK") != NULL)};

    log.data = aligned_alloc(HUGE_PAGE, log.bytes);
    if (log.data != NULL) {
        (void)madvise(log.data, log.bytes, MADV_HUGEPAGE); /* a hint */
        kernel_touch(log.data, log.bytes);
    }
    return log;
}

void ml_log_free(ml_log_t *log)
{
    free(log->data);
}

uint64_t ml_sum(uint64_t sum, const unsigned char *data, size_t length)
{
    for (; length > 0; length--) {
        sum = sum * 0x100000001b3ull + *data++ + 1;
    }
    return sum;
}

static void check(ml_log_t *log, uint64_t at, size_t length, uint64_t *sum_p)
{
    if ((log->spoilt >= log->logged) && (log->spoilt < log->logged + length)) {
        log->data[at + log->spoilt - log->logged] ^= 1;
    }
    *sum_p = ml_sum(*sum_p, log->data + at, length);
}

void ml_log_append(ml_log_t *log, const void *data, size_t length, uint64_t *sum_p)
{
    const unsigned char *from = data;
    size_t part;

    for (; length > 0; length -= part, from += part) {
        const uint64_t at = log->logged % log->bytes;

        part = (length < log->bytes - at) ? length : log->bytes - at;
        memcpy(log->data + at, from, part);
        if (log->is_checked) {
            check(log, at, part, sum_p);
        }
        log->logged += part;
    }
}
