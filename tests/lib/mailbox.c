/*
 * Programs with waits inside phases. A step is one phase. In some steps tokens wander over the
 * ranks (relay.h). In the others, round by round, each rank puts a message to its successor in an
 * order drawn for the step, and waits for the message of its predecessor; half of the ranks may be
 * idle. A mailbox is overwritten in each round. The last message has been read by then, because the
 * reader has sent the next message round the ring.
 */
#include "mailbox.h"

#include "life.h"
#include "pieces.h"
#include "relay.h"
#include "shares.h"
#include "sim/random.h"
#include "together.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ID_STATE = 1, ID_GATHER, WORDS = 5 };

typedef struct mailbox {
    uint64_t words[WORDS];
    uint64_t flag; /* (step << 8 | round) + 1 */
} mailbox_t;

typedef struct waits_window {
    mailbox_t box;
    relay_area_t relay;
} waits_window_t;

typedef struct waits_state {
    uint64_t step, hash, relay_hash;
} waits_state_t;

typedef struct waits_run {
    play_host_t *host;
    const waits_options_t *options;
    life_t life;
    keel_win_h win;
    mailbox_t *box;
    waits_state_t state;
    relay_t relay;
    gather_t gather;
    uint32_t ring[256], members, place; /* the ring of this step */
    unsigned rounds;
    pieces_t pieces; /* pieces of messages; `memory` serves these and the relay's pieces */
    unsigned char *memory, *got, *fresh;
} waits_run_t;

static void run_point(waits_run_t *run, const char *what, uint32_t rank)
{
    char text[96];

    if (run->host->point != NULL) {
        run->host->point(run->host);
    }
    if (run->host->note != NULL) {
        snprintf(text, sizeof(text), "step %u: %s %u", (unsigned)run->state.step, what, rank);
        run->host->note(run->host, text);
    }
}

static uint64_t word_of(const waits_run_t *run, uint32_t sender, unsigned round, unsigned word)
{
    return keel_random_mix(run->options->seed ^ (run->state.step << 32) ^ ((uint64_t)sender << 16) ^ (round << 8) ^
                           word);
}

/* Draws the members of the step's ring and their order, alike on all ranks. */
static void run_draw(waits_run_t *run)
{
    keel_random_t random = {keel_random_mix(run->options->seed ^ (run->state.step * 977 + 5))};
    const unsigned share = keel_random_chance(&random, 300) ? 512 : 1024;

    run->members = 0;
    run->place = UINT32_MAX;
    for (uint32_t r = 0; r < run->options->ranks; r++) {
        if (keel_random_chance(&random, share)) {
            run->ring[run->members++] = r;
        }
    }
    for (uint32_t i = run->members; i > 1; i--) {
        const uint32_t k = keel_random_below(&random, i), swap = run->ring[i - 1];

        run->ring[i - 1] = run->ring[k];
        run->ring[k] = swap;
    }
    run->rounds = keel_random_chance(&random, 300) ? 0 : 1 + keel_random_below(&random, 3);
    for (uint32_t i = 0; i < run->members; i++) {
        run->place = (run->ring[i] == run->host->rank) ? i : run->place;
    }
}

/* Draws the piece of a message, and its bytes into `fresh`. */
static keel_random_t run_draw_piece(waits_run_t *run, uint32_t sender, unsigned round, piece_t *piece)
{
    keel_random_t random = {word_of(run, sender, round, WORDS)};

    *piece = piece_draw(&random, run->options->room);
    play_fill(run->fresh, piece->length, keel_random_next(&random));
    return random;
}

static keel_status_t run_check_piece(waits_run_t *run, const unsigned char *bytes, uint32_t sender,
                                     const piece_t *piece)
{
    char text[128];

    if (memcmp(bytes, run->fresh, piece->length) != 0) {
        snprintf(text, sizeof(text), "rank %u.%u step %u: piece %u+%u is not what rank %u sent", run->host->rank,
                 run->host->incarnation, (unsigned)run->state.step, piece->offset, piece->length, sender);
        run->host->flaw(run->host, text);
        return KEEL_ERR_CORRUPT;
    }
    run->state.hash = play_hash(run->state.hash, bytes, piece->length);
    return KEEL_OK;
}

static keel_status_t run_send_piece(waits_run_t *run, uint32_t to, unsigned round)
{
    pieces_access_t access = {.puts = 1, .from = run->fresh};

    (void)run_draw_piece(run, run->host->rank, round, &access.put);
    return pieces_do(&run->pieces, to, &access);
}

/* The message is complete: the sender may read it back, until the reader has sent the next message
 * round the ring. */
static keel_status_t run_look_again(waits_run_t *run, uint32_t to, unsigned round)
{
    pieces_access_t access = {.gets = 1, .to = run->got};
    keel_random_t random = run_draw_piece(run, run->host->rank, round, &access.get);

    if (!keel_random_chance(&random, 300)) {
        return KEEL_OK;
    }
    TRY(pieces_do(&run->pieces, to, &access));
    return run_check_piece(run, run->got, run->host->rank, &access.get);
}

/* Some programs send some messages by one call. */
static int run_signals(const waits_run_t *run, unsigned round)
{
    const uint64_t seed = run->options->seed;

    return (seed >> 28) % 4 == 0 && keel_random_mix(seed ^ run->state.step ^ ((uint64_t)round << 32)) % 2 == 0;
}

static keel_status_t run_signal(waits_run_t *run, uint32_t to, const uint64_t *words, uint64_t flag)
{
    const keel_signal_t signal = {.offset = offsetof(mailbox_t, flag), .value = flag};

    run_point(run, "put with a signal to", to);
    return play_did(run->host, PLAY_DID_PUT, to,
                    keel_put_signal(run->win, to, 0, words, WORDS * sizeof(*words), &signal));
}

static keel_status_t run_send(waits_run_t *run, uint32_t to, unsigned round)
{
    const uint64_t flag = (run->state.step << 8 | round) + 1;
    uint64_t words[WORDS];

    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = word_of(run, run->host->rank, round, i);
    }
    if (run->options->room > 0) {
        TRY(run_send_piece(run, to, round));
    } else if (run_signals(run, round)) {
        return run_signal(run, to, words, flag);
    }
    run_point(run, "put to", to);
    TRY(play_did(run->host, PLAY_DID_PUT, to, keel_put(run->win, to, 0, words, sizeof(words))));
    run_point(run, "fence, then flag to", to);
    TRY((round & 1) ? keel_fence(run->life.ctx) : keel_flush(run->life.ctx, to));
    TRY(play_did(run->host, PLAY_DID_PUT, to, keel_put(run->win, to, offsetof(mailbox_t, flag), &flag, sizeof(flag))));
    run_point(run, "flush", to);
    TRY(play_did(run->host, PLAY_DID_FLUSH, to, keel_flush(run->life.ctx, to)));
    return (run->options->room > 0) ? run_look_again(run, to, round) : KEEL_OK;
}

static keel_status_t run_receive(waits_run_t *run, uint32_t from, unsigned round)
{
    const uint64_t flag = (run->state.step << 8 | round) + 1;
    char text[128];

    run_point(run, "wait for", from);
    TRY(keel_wait_until(run->win, offsetof(mailbox_t, flag), sizeof(flag),
                        (round & 1) ? KEEL_COMPARE_EQ : KEEL_COMPARE_GE, flag));
    for (unsigned i = 0; i < WORDS; i++) {
        if (run->box->words[i] != word_of(run, from, round, i)) {
            snprintf(text, sizeof(text), "rank %u.%u step %u: word %u of round %u is not what rank %u sent",
                     run->host->rank, run->host->incarnation, (unsigned)run->state.step, i, round, from);
            run->host->flaw(run->host, text);
            return KEEL_ERR_CORRUPT;
        }
        run->state.hash = keel_random_mix(run->state.hash ^ run->box->words[i]);
    }
    if (run->options->room > 0) {
        piece_t piece;

        (void)run_draw_piece(run, from, round, &piece);
        return run_check_piece(run, run->pieces.own + piece.offset, from, &piece);
    }
    return KEEL_OK;
}

/* In some programs all ranks call collective operations at the end of some steps. Their memory
 * follows the pieces in the window. */
static int run_has_together(const waits_run_t *run)
{
    return (run->options->seed >> 32) % 4 == 0 && run->options->ranks <= 32;
}

static uint64_t run_together_at(const waits_run_t *run)
{
    return (sizeof(waits_window_t) + (1 + RELAY_TOKENS) * (uint64_t)run->options->room + 63) & ~63ull;
}

static keel_status_t run_together(waits_run_t *run)
{
    const uint64_t seed = keel_random_mix(run->options->seed ^ (run->state.step << 12));
    keel_status_t status;

    if (!run_has_together(run) || seed % 2 == 0) {
        return KEEL_OK;
    }
    run_point(run, "does something together, being", run->host->rank);
    status = together(run->win, run_together_at(run), run->host->rank, run->options->ranks, UINT64_MAX, seed);
    if (status == KEEL_ERR_CORRUPT) {
        run->host->flaw(run->host, "what ranks did together is wrong");
    }
    return status;
}

/* In some steps the members of the ring gather at one rank. */
static int run_gathers(const waits_run_t *run)
{
    return run->options->gathers != GATHER_NONE && run->members <= GATHER_RANKS &&
           keel_random_mix(run->options->seed ^ (run->state.step << 16) ^ 0x676174) % 4 != 0;
}

/* The first rank of the ring begins and ends each round, so the receiver of a message has read the
 * previous message. */
static keel_status_t run_step(waits_run_t *run)
{
    if (run->state.step == 0 && gather_is_undeclared(run->host, run->options->gathers)) {
        TRY(keel_wait_until(run->win, offsetof(mailbox_t, flag), sizeof(uint64_t), KEEL_COMPARE_GE, 0));
    }
    if (relay_is_step(&run->relay, run->state.step)) {
        run->relay.hash = run->state.relay_hash;
        TRY(relay_step(&run->relay, run->state.step));
        run->state.relay_hash = run->relay.hash;
        return KEEL_OK;
    }
    run_draw(run);
    if (run->members < 2 || run->place == UINT32_MAX) {
        run->host->compute(run->host, 500);
        return KEEL_OK;
    }
    const uint32_t next = run->ring[(run->place + 1) % run->members];
    const uint32_t before = run->ring[(run->place + run->members - 1) % run->members];

    if (run_gathers(run)) {
        for (unsigned round = 0; round < run->rounds; round++) {
            TRY(gather_round(&run->gather, run->ring, run->members, run->place, run->state.step, round));
        }
        return KEEL_OK;
    }
    for (unsigned round = 0; round < run->rounds; round++) {
        if (run->place == 0) {
            TRY(run_send(run, next, round));
            TRY(run_receive(run, before, round));
        } else {
            TRY(run_receive(run, before, round));
            TRY(run_send(run, next, round));
        }
    }
    return KEEL_OK;
}

/* Takes or releases the shared locks of the program's windows. */
static keel_status_t run_share(const waits_run_t *run, keel_status_t (*share)(const shares_t *, keel_win_h, unsigned))
{
    const shares_t shares = {.host = run->host,
                             .phase = run->state.step,
                             .may_hold = 1,
                             .is_last = run->state.step + 1 == run->options->steps};

    TRY(share(&shares, run->win, 0));
    return (run->options->gathers != GATHER_NONE) ? share(&shares, run->gather.win, 1) : KEEL_OK;
}

static keel_status_t run_steps(void *arg)
{
    waits_run_t *run = arg;

    while (run->state.step < run->options->steps) {
        keel_random_t random = {keel_random_mix(run->options->seed ^ (run->state.step << 8) ^ 0x636b7074)};

        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_share(run, shares_take));
        TRY(run_step(run));
        TRY(run_together(run));
        TRY(run_share(run, shares_give));
        run->state.step++;
        run_point(run, "synchronises, being", run->host->rank);
        if (keel_random_chance(&random, run->options->checkpoints)) {
            TRY(keel_checkpoint(run->life.ctx));
        } else {
            TRY(keel_gsync(run->life.ctx, KEEL_GSYNC_SAFE));
        }
    }
    TRY((run->options->gathers != GATHER_NONE) ? gather_check(&run->gather) : KEEL_OK);
    return relay_check(&run->relay, run->options->steps);
}

/* Pieces follow the window's other parts. */
static void run_place_pieces(waits_run_t *run)
{
    const uint32_t room = run->options->room;
    unsigned char *base = keel_win_base(run->win);

    run->pieces = (pieces_t){
        .host = run->host, .win = run->win, .at = sizeof(waits_window_t), .own = base + sizeof(waits_window_t)};
    run->relay.room = room;
    run->relay.pieces = run->pieces;
    run->relay.pieces.at += room;
    run->relay.pieces.own += room;
    run->relay.got = run->got;
    run->relay.fresh = run->fresh;
    run->relay.wanted = run->memory + 2 * (size_t)room;
}

static keel_status_t run_open(void *arg)
{
    waits_run_t *run = arg;
    const keel_atomic_op_t class = gather_class(run->options->gathers);
    const int posted = (class == KEEL_ATOMIC_LAST) ? 0 : 1 + (int)class;
    const size_t bytes = run_has_together(run)
                             ? run_together_at(run) + keel_group_bytes(run->options->ranks, TOGETHER_PIECE)
                             : sizeof(waits_window_t) + (1 + RELAY_TOKENS) * (size_t)run->options->room;
    keel_status_t status = keel_win_alloc(run->life.ctx, bytes, NULL, &run->win);

    if (status == KEEL_OK) {
        waits_window_t *window = keel_win_base(run->win);

        run->box = &window->box;
        run->relay = (relay_t){.host = run->host,
                               .seed = run->options->seed,
                               .ranks = run->options->ranks,
                               .has_atomics = run->options->has_atomics,
                               .posted = posted,
                               .changes = run->options->changes,
                               .fetches = gather_fetches(run->options->gathers),
                               .win = run->win,
                               .offset = offsetof(waits_window_t, relay),
                               .area = &window->relay};
        if (run->options->room > 0) {
            run_place_pieces(run);
        }
        status = keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    if (status == KEEL_OK && run->options->gathers != GATHER_NONE) {
        run->gather = (gather_t){.host = run->host, .seed = run->options->seed, .kinds = run->options->gathers};
        status = gather_open(&run->gather, run->life.ctx, ID_GATHER);
    }
    return status;
}

keel_status_t waits_program(play_host_t *host)
{
    const uint32_t room = host->waits->room;
    waits_run_t run = {.host = host, .options = host->waits};
    keel_status_t status;

    if (room > 0) {
        const size_t bytes = (2 + RELAY_TOKENS * (size_t)run.options->ranks) * room;

        run.memory = host->alloc(bytes, "pieces");
        memset(run.memory, 0, bytes);
        run.got = run.memory;
        run.fresh = run.memory + room;
    }
    run.life = (life_t){.host = host,
                        .steps = run.options->steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    status = life_run(&run.life);
    if (run.memory != NULL) {
        host->release(run.memory);
    }
    return status;
}
