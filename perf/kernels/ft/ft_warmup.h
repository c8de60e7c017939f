/* Preparation of a timed run: memory of images is allocated, and logs are empty. */
#ifndef KEEL_KERNEL_FT_WARMUP_H_
#define KEEL_KERNEL_FT_WARMUP_H_

#include "ft_steps.h"

/* Protected. */
typedef struct {
    uint64_t stage;      /* next stage of the sequence */
    uint64_t rounds;     /* rounds of filling logs */
    uint64_t committed;  /* demand checkpoints committed before these rounds */
    uint64_t is_logging; /* whether puts are logged */
    uint64_t logged;     /* bytes logged by the warm-up; fewer if images were taken */
} ft_warmup_t;

/* Called after the steps of the warm-up. */
keel_status_t ft_warmup_end(const ft_t *ft, ft_warmup_t *warmup);

#endif
