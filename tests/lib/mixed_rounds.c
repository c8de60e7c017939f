/* Gatherings and tokens in programs that mix. */
#include "mixed_rounds.h"

#include "sim/random.h"
#include "try.h"

/* True if no rank is in the preceding step any more. */
static int is_apart(const mixed_options_t *options, uint64_t step)
{
    const mixed_kind_t before = (step > 0) ? mixed_step_kind(options, step - 1) : (mixed_kind_t){.ends_with_gsync = 1};

    return before.ends_with_gsync || before.ends_with_checkpoint || mixed_step_kind(options, step).is_epoch;
}

/* The number of steps before @a step for which is_apart() holds: tokens wander once in each. */
static uint64_t apart_before(const mixed_options_t *options, uint64_t step)
{
    uint64_t count = 0;

    for (uint64_t s = 0; s < step; s++) {
        count += (unsigned)is_apart(options, s);
    }
    return count;
}

keel_status_t rounds_step(mixed_rounds_t *rounds, const mixed_options_t *options, uint64_t step)
{
    const uint64_t wanders = apart_before(options, step);

    if (is_apart(options, step) && relay_is_step(&rounds->relay, wanders)) {
        TRY(relay_step(&rounds->relay, wanders));
    }
    return gather_round(&rounds->gather, rounds->ring, options->ranks, rounds->place, step, (unsigned)step & 0xff);
}

keel_status_t rounds_judge(mixed_rounds_t *rounds, const mixed_options_t *options)
{
    TRY(gather_check(&rounds->gather));
    return relay_check(&rounds->relay, apart_before(options, options->steps));
}

static void draw_ring(mixed_rounds_t *rounds, const mixed_options_t *options, uint32_t own)
{
    keel_random_t random = {keel_random_mix(options->seed ^ 0x72696e67)};

    for (uint32_t r = 0; r < options->ranks; r++) {
        const uint32_t k = keel_random_below(&random, r + 1);

        rounds->ring[r] = rounds->ring[k];
        rounds->ring[k] = r;
    }
    for (uint32_t i = 0; i < options->ranks; i++) {
        rounds->place = (rounds->ring[i] == own) ? i : rounds->place;
    }
}

gather_kind_t mixed_gathers(const mixed_options_t *options)
{
    return (options->ways & MIXED_ROUNDS) == 0 ? GATHER_NONE
           : ((options->seed >> 40) % 4 != 0)  ? GATHER_SEVERAL
                                               : GATHER_ALL;
}

keel_status_t rounds_open(mixed_rounds_t *rounds, play_host_t *host, const mixed_options_t *options, unsigned id)
{
    const gather_kind_t kinds = mixed_gathers(options);
    keel_win_h win;

    *rounds = (mixed_rounds_t){.gather = {.host = host, .seed = options->seed, .kinds = kinds}};
    draw_ring(rounds, options, host->rank);
    TRY(gather_open(&rounds->gather, host->ctx, id));
    TRY(keel_win_alloc(host->ctx, sizeof(relay_area_t), NULL, &win));
    rounds->relay = (relay_t){.host = host,
                              .seed = options->seed,
                              .ranks = options->ranks,
                              .has_atomics = 1,
                              .posted = (kinds == GATHER_SEVERAL) ? 1 + KEEL_ATOMIC_ADD : 0,
                              .fetches = 1,
                              .win = win,
                              .area = keel_win_base(win)};
    return KEEL_OK;
}
