/* What a timed run finds ready: memory of images, and empty logs. */
#ifndef KEEL_KERNEL_FT_WARMUP_H_
#define KEEL_KERNEL_FT_WARMUP_H_

#include "ft_steps.h"

/* Protected. */
typedef struct {
    uint64_t stage;        /* of what is done in turn, */
    uint64_t rounds;       /* and how often logs were filled in one of them; */
    uint64_t committed;    /* images because of logs, before that */
    uint64_t put_log_peak; /* of the warm-up's problem */
} ft_warmup_t;

/* Behind the steps of the warm-up. */
keel_status_t ft_warmup_end(const ft_t *ft, ft_warmup_t *warmup);

#endif
