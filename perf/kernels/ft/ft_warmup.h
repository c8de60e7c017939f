/* What a timed run finds ready: memory of images, and empty logs. */
#ifndef KEEL_KERNEL_FT_WARMUP_H_
#define KEEL_KERNEL_FT_WARMUP_H_

#include "ft_steps.h"

/* Protected. */
typedef struct {
    uint64_t stage;      /* which of the things that are done in turn is next */
    uint64_t rounds;     /* in which logs were filled */
    uint64_t committed;  /* images because of logs, before those */
    uint64_t is_logging; /* whether puts are logged */
    uint64_t logged;     /* by the warm-up's problem, bytes; less where images were taken */
} ft_warmup_t;

/* Behind the steps of the warm-up. */
keel_status_t ft_warmup_end(const ft_t *ft, ft_warmup_t *warmup);

#endif
