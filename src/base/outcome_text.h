/* The lines for an operator: what followed deaths, and the sums at the end of a job. */
#ifndef KEEL_BASE_OUTCOME_TEXT_H_
#define KEEL_BASE_OUTCOME_TEXT_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_OUTCOME_MAX 640 /* bytes of a line */

typedef struct keel_outcome_facts {
    uint32_t size;          /* ranks */
    uint32_t programs;      /* ranks that run the program; the ranks from here on hold parity */
    const uint32_t *deaths; /* deaths of each rank */
    const uint8_t *nodes;   /* true for each node with a death */
    uint32_t node_count;
    char *const *host; /* name of each node; NULL: numbers only */
    int is_rollback;
    uint32_t remain;    /* ranks that go on without the gone ones; 0: none is gone */
    int is_memory_kept; /* without checkpoints: those ranks keep their memory */
    /* from the first notice of a death until all ranks are back; of a rollback: the lost work */
    uint64_t took_ns;
    /* local recovery */
    uint64_t records;       /* put records replayed */
    uint64_t bytes;         /* rebuilt images */
    const uint8_t *sources; /* true for each rank that images were rebuilt from */
    int is_own;             /* the image is a demand image, newer than the job's checkpoint */
    uint32_t checkpoint;    /* checkpoints up to the restored one; 0: the program's start */
    const char *why;        /* reason of a rollback */
    int is_for_good;        /* each further death is a rollback, too */
} keel_outcome_facts_t;

/* At the end of a job. */
typedef struct keel_outcome_sums {
    uint64_t deaths, local, rollbacks, checkpoints;
    uint32_t gone;               /* ranks without a replacement */
    uint64_t log_peak, log_most; /* bytes, of the rank with the fullest log; log_most 0: no logs */
} keel_outcome_sums_t;

/* Writes the line about deaths. @param [in] scratch  a byte for each rank */
void keel_outcome_write(const keel_outcome_facts_t *facts, uint8_t *scratch, char *text, size_t max);
/* Writes the line with the sums. */
void keel_outcome_write_sums(const keel_outcome_sums_t *sums, char *text, size_t max);

#endif
