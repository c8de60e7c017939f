/* The draws of a program that mixes, from the seed. */
#include "mixed_draw.h"

#include "sim/random.h"

#include <stddef.h>

static uint64_t draw_more(uint64_t seed)
{
    return keel_random_mix(seed ^ 0x6d6f7265);
}

unsigned mixed_draw_besides(uint64_t seed)
{
    const uint64_t draw = draw_more(seed);
    unsigned ways = 0;

    ways |= (draw & 1) ? MIXED_POLLS : 0;
    ways |= (draw & 2) ? MIXED_REQUESTS : 0;
    ways |= (draw & 4) ? MIXED_WINDOWS : 0;
    ways |= (draw & 8) ? MIXED_CALLBACKS : 0;
    ways |= (draw & 32) ? MIXED_PIECES : 0;
    ways |= (draw & 64) ? MIXED_TICKETS : 0;
    ways |= (draw & 128) ? MIXED_RACES : 0;
    ways |= (draw & 256) ? MIXED_KEPT : 0;
    ways |= (draw & 768) == 768 ? MIXED_ROUNDS : 0;
    return ways;
}

int mixed_gets_poll(uint64_t seed)
{
    return (draw_more(seed) & 16) != 0;
}

void mixed_keep(mixed_options_t *options, keel_params_t *params)
{
    options->ways &= ~(unsigned)(MIXED_UNLOGGED | MIXED_CALLBACKS | MIXED_DEVICE | MIXED_RACES);
    options->ways |= MIXED_GSYNCS;
    options->is_divided = 0;
    if ((options->ways & (MIXED_SECTIONS | MIXED_BARE)) == MIXED_SECTIONS) {
        options->ways &= MIXED_SECTIONS | MIXED_GSYNCS | MIXED_KEPT | MIXED_PIECES | MIXED_WINDOWS;
        params->flags &= ~(uint64_t)KEEL_PARAM_FLAG_POLLS;
        return;
    }
    options->ways = (options->ways & ~(unsigned)MIXED_SECTIONS) | MIXED_BARE;
    options->ways |= (options->ways & MIXED_ROUNDS) ? MIXED_WAITS : 0;
    params->field_mask |= KEEL_PARAM_FIELD_FLAGS;
    params->flags |= KEEL_PARAM_FLAG_WAITS;
}

static keel_random_t step_random(const mixed_options_t *options, uint64_t step)
{
    return (keel_random_t){keel_random_mix(options->seed ^ (step << 8) ^ 0x73746570)};
}

mixed_kind_t mixed_step_kind(const mixed_options_t *options, uint64_t step)
{
    keel_random_t random = step_random(options, step);
    mixed_kind_t kind = {0};

    kind.is_epoch =
        keel_random_chance(&random, 250) && (options->ways & MIXED_EPOCHS) && (options->ways & MIXED_GSYNCS);
    kind.waits = keel_random_chance(&random, 400) && (options->ways & MIXED_WAITS);
    kind.ends_with_gsync = keel_random_chance(&random, 500) && (options->ways & MIXED_GSYNCS);
    kind.ends_with_checkpoint = keel_random_chance(&random, options->checkpoints);
    kind.is_safe = keel_random_chance(&random, 700);
    return kind;
}

mixed_relay_t mixed_step_relay(const mixed_options_t *options, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ (step << 8) ^ 0x72656c6179)};
    mixed_relay_t relay = {.is_due = keel_random_chance(&random, options->relays) && step < MIXED_RELAYS &&
                                     (options->ways & MIXED_SECTIONS) && (options->ways & MIXED_BARE) &&
                                     !mixed_step_kind(options, step).is_epoch};

    relay.signal = (mixed_signal_t)keel_random_below(&random, SIGNAL_LAST);
    relay.rank[0] = keel_random_below(&random, options->ranks);
    relay.rank[1] = (relay.rank[0] + 1 + keel_random_below(&random, options->ranks - 1)) % options->ranks;
    relay.at = keel_random_below(&random, options->ranks);
    relay.is_signal_locked = keel_random_chance(&random, 512);
    for (unsigned i = 0; i < 2; i++) {
        relay.is_locked[i] = keel_random_chance(&random, 512);
        relay.value[i] = keel_random_next(&random);
    }
    if (options->is_divided) { /* from or to the rank without locks */
        const uint32_t bare = (uint32_t)(options->seed % options->ranks);

        if (relay.rank[0] != bare) {
            relay.rank[1] = bare;
        }
        relay.is_locked[0] = relay.is_signal_locked = relay.rank[0] != bare;
        relay.is_locked[1] = relay.rank[1] != bare;
        if (relay.signal == SIGNAL_WAIT && relay.is_locked[1]) {
            relay.signal = SIGNAL_ATOMIC;
        }
        relay.signal = (relay.signal == SIGNAL_SECTION) ? SIGNAL_ATOMIC : relay.signal;
    } else if (relay.signal == SIGNAL_WAIT && !(options->ways & MIXED_WAITS)) {
        relay.signal = SIGNAL_SECTION;
    }
    return relay;
}

unsigned mixed_step_acts(const mixed_options_t *options, uint64_t step, uint32_t rank, mixed_act_t *acts)
{
    keel_random_t random = {keel_random_mix(options->seed ^ ((uint64_t)rank << 32) ^ (step + 1))};
    const mixed_kind_t kind = mixed_step_kind(options, step);
    const unsigned count = keel_random_below(&random, MIXED_EACH + 1);

    for (unsigned i = 0; i < count; i++) {
        acts[i].kind = (mixed_act_kind_t)keel_random_below(&random, ACT_LAST);
        acts[i].target = keel_random_below(&random, options->ranks);
        acts[i].value = keel_random_next(&random);
        acts[i].fetches = keel_random_chance(&random, 512);
        if (options->is_divided) {
            acts[i].kind = (rank != options->seed % options->ranks) ? ACT_SECTION : acts[i].fetches ? ACT_PUT : ACT_ADD;
        }
        if (acts[i].kind == ACT_SECTION && (!(options->ways & MIXED_SECTIONS) || kind.is_epoch)) {
            acts[i].kind = ACT_PUT;
        }
        if (acts[i].kind == ACT_READING && (!(options->ways & MIXED_EPOCHS) || kind.is_epoch)) {
            acts[i].kind = ACT_GET;
        }
    }
    return count;
}

static uint64_t gsyncs_after(const mixed_kind_t *kind)
{
    return (uint64_t)(kind->ends_with_checkpoint || kind->ends_with_gsync) + (kind->is_epoch ? 2 : 0);
}

int mixed_walk_next(mixed_walk_t *walk)
{
    mixed_kind_t kind;

    while (walk->next == walk->count) {
        if (walk->steps > 0) {
            kind = mixed_step_kind(walk->options, walk->steps - 1);
            walk->before += gsyncs_after(&kind);
        }
        if (walk->steps == walk->options->steps) {
            return 0;
        }
        walk->count = mixed_step_acts(walk->options, walk->steps++, walk->rank, walk->acts);
        walk->next = 0;
    }
    walk->index = walk->next++;
    walk->act = walk->acts[walk->index];
    walk->step = walk->steps - 1;
    kind = mixed_step_kind(walk->options, walk->step);
    walk->phase = walk->before + (kind.is_epoch ? 1 + (walk->index >= walk->count / 2) : 0);
    return 1;
}

mixed_walk_t mixed_walk_to(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act)
{
    mixed_walk_t walk = {.options = options, .rank = rank};

    while (mixed_walk_next(&walk) && (walk.step != step || walk.act.value != act->value)) {
    }
    return walk;
}

int mixed_is_put(const mixed_act_t *act)
{
    return act->kind == ACT_PUT || act->kind == ACT_READING;
}

int mixed_puts_again(const mixed_options_t *options, uint32_t rank, uint64_t step, const mixed_act_t *act)
{
    const uint64_t phase = mixed_walk_to(options, rank, step, act).phase;
    mixed_walk_t walk = {.options = options, .rank = rank};

    while (mixed_walk_next(&walk) && walk.act.value != act->value) {
        if (mixed_is_put(&walk.act) && walk.act.target == act->target && walk.phase == phase) {
            return 1;
        }
    }
    return 0;
}

int mixed_is_bare(const mixed_options_t *options, const mixed_act_t *act)
{
    return act->kind != ACT_SECTION && act->kind != ACT_READING && (options->ways & MIXED_BARE);
}

int mixed_is_device(const mixed_options_t *options, const mixed_act_t *act)
{
    return (options->ways & MIXED_DEVICE) != 0 && act->kind == ACT_ADD && keel_random_mix(~act->value) % 4 != 0;
}

int mixed_is_other(const mixed_options_t *options, uint64_t value)
{
    return (options->ways & MIXED_UNLOGGED) != 0 && keel_random_mix(value) % 2 != 0;
}

int mixed_is_varied(const mixed_options_t *options, uint64_t value)
{
    return (options->ways & (MIXED_UNLOGGED | MIXED_KEPT)) != 0 && keel_random_mix(value) % 2 != 0;
}

int mixed_is_tested(const mixed_options_t *options, const mixed_act_t *act)
{
    return (options->ways & MIXED_REQUESTS) != 0 && keel_random_mix(act->value ^ 0x74657374) % 2 != 0;
}

int mixed_is_called(const mixed_options_t *options, const mixed_act_t *act)
{
    return (options->ways & MIXED_CALLBACKS) != 0 && !mixed_is_device(options, act) &&
           keel_random_mix(act->value ^ 0x63616c6c) % 2 != 0;
}

uint64_t mixed_called_value(uint64_t value)
{
    return keel_random_mix(value ^ 0x61646473);
}

int mixed_has_further(const mixed_options_t *options, unsigned window, uint32_t rank)
{
    return keel_random_mix(options->seed ^ ((uint64_t)window << 32) ^ rank ^ 0x77696e) % 3 != 0;
}

unsigned mixed_further_of(const mixed_options_t *options, const mixed_act_t *act)
{
    for (unsigned i = 0; i < MIXED_FURTHER; i++) {
        const unsigned window = (unsigned)((act->value + i) % MIXED_FURTHER);

        if (mixed_has_further(options, window, act->target)) {
            return window;
        }
    }
    return MIXED_FURTHER;
}

static uint64_t word_at(size_t near, size_t far, uint32_t rank)
{
    return (rank < MIXED_RANKS_NEAR) ? near + rank * sizeof(uint64_t)
                                     : far + (rank - MIXED_RANKS_NEAR) * sizeof(uint64_t);
}

uint64_t mixed_flag_at(uint32_t rank)
{
    return word_at(offsetof(mixed_memory_t, flag), offsetof(mixed_memory_t, far.flag), rank);
}

uint64_t mixed_slot_at(uint32_t rank)
{
    return word_at(offsetof(mixed_memory_t, slot), offsetof(mixed_memory_t, far.slot), rank);
}

uint64_t mixed_note_at(uint32_t rank)
{
    return word_at(offsetof(mixed_memory_t, note), offsetof(mixed_memory_t, far.note), rank);
}
