/*
 * Claims on locks: all orders in which three ranks look, get a lock and release it, without end. A
 * waiting rank sees a bounded number of grants, and a free lock is granted to a rank that looks.
 *
 * A state is what each rank does and the grants since its claim. Each step makes the words of the
 * lock from a state, calls the functions of the lock and makes the next state, so the number of
 * states is finite while the runs are not.
 */
#include "peer/lockword.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, GRANTS = 1000, STATES = 1 << 28, AGE_MAX = 127 };
enum { BOUND = KEEL_CLAIM_GRANTS + RANKS };

typedef enum { AWAY, WAITING, INSIDE } place_t;
typedef struct state {
    place_t place[RANKS];
    unsigned age[RANKS]; /* of the claim of a rank that waits */
    int is_awaited;
} state_t;

/* Three ranks at one lock. */
typedef struct cast {
    int is_window;
    int is_shared[RANKS];
} cast_t;

static uint64_t memory[(sizeof(keel_lock_area_t) / sizeof(uint64_t)) + KEEL_LOCK_WORDS(RANKS)];
static keel_lock_area_t *const area = (void *)memory;

static unsigned number_of(const state_t *state)
{
    unsigned number = (unsigned)state->is_awaited;

    for (unsigned r = 0; r < RANKS; r++) {
        number = number << 9 | (unsigned)state->place[r] << 7 | state->age[r];
    }
    return number;
}

static state_t state_of(unsigned number)
{
    state_t state;

    for (unsigned r = RANKS; r-- > 0; number >>= 9) {
        state.age[r] = number & AGE_MAX;
        state.place[r] = (place_t)(number >> 7 & 3);
    }
    state.is_awaited = (int)number;
    return state;
}

static uint64_t grants(const cast_t *cast)
{
    return cast->is_window ? keel_winlock_grants(keel_lock_window(area, RANKS, 0)) : keel_lock_counter(area->word);
}

static void make_words(const cast_t *cast, const state_t *state)
{
    const keel_claims_t claims = keel_lock_claims(area, RANKS);
    uint64_t *window = keel_lock_window(area, RANKS, 0);

    area->word = keel_lock_word_free(GRANTS);
    *window = GRANTS * KEEL_WINLOCK_GRANT;
    *claims.is_awaited = (uint64_t)state->is_awaited;
    for (uint32_t r = 0; r < RANKS; r++) {
        const keel_claim_t claim = {.rank = r,
                                    .lock = (uint32_t)cast->is_window,
                                    .is_shared = cast->is_shared[r],
                                    .grants = GRANTS - state->age[r],
                                    .waits = 1};
        uint64_t unused = 0;
        const keel_claims_t word = {.waiting = claims.waiting, .is_awaited = &unused, .ranks = RANKS};

        claims.waiting[r] = 0;
        area->reading[r] = 0;
        if (state->place[r] == WAITING) {
            keel_claim_make(&word, &claim);
        } else if (state->place[r] == INSIDE && cast->is_window) {
            *window += cast->is_shared[r] ? KEEL_WINLOCK_ONE : r + 1;
        } else if (state->place[r] == INSIDE && cast->is_shared[r]) {
            keel_lock_join_readers(area, RANKS, r);
            area->reading[r] = 1 << 1 | 1;
        }
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        if (state->place[r] == INSIDE && !cast->is_window && !cast->is_shared[r]) {
            area->word = keel_lock_word(GRANTS, r);
        }
    }
}

/* The rank looks, or releases the lock. Returns whether the lock is the rank's. */
static int step(const cast_t *cast, uint32_t rank, place_t place)
{
    static const keel_lock_ask_t asks[2][2][2] = {
        {{KEEL_LOCK_TRY, KEEL_LOCK_TRY_READ}, {KEEL_LOCK_RELEASE, KEEL_LOCK_RELEASE_READ}},
        {{KEEL_LOCK_WINDOW_TRY, KEEL_LOCK_WINDOW_TRY_SHARED},
         {KEEL_LOCK_WINDOW_RELEASE, KEEL_LOCK_WINDOW_RELEASE_SHARED}}};
    const keel_locker_t who = {.rank = rank, .ranks = RANKS};
    const keel_lock_ask_t ask = asks[cast->is_window][place == INSIDE][cast->is_shared[rank]];
    const uint64_t number = cast->is_window ? keel_lock_of_window(0, 1, 0) : (ask == KEEL_LOCK_TRY) ? 0 : 1;
    const uint64_t answer = keel_lock_answer(area, &who, ask, number);

    /* a writer that owns the word waits for readers alone: the word counts as the grant */
    return place != INSIDE && (answer != 0 || (!cast->is_window && keel_lock_owner(area->word) == rank + 1));
}

static int is_excluding(const cast_t *cast, const state_t *state)
{
    unsigned shared = 0, exclusive = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        shared += state->place[r] == INSIDE && cast->is_shared[r];
        exclusive += state->place[r] == INSIDE && !cast->is_shared[r];
    }
    return exclusive <= 1 && (exclusive == 0 || shared == 0 || !cast->is_window);
}

/* Returns the state after a step of the rank. */
static state_t next_of(const cast_t *cast, const state_t *from, uint32_t rank)
{
    const keel_claims_t claims = keel_lock_claims(area, RANKS);
    state_t to = *from;
    int is_granted;

    make_words(cast, from);
    is_granted = step(cast, rank, from->place[rank]);
    for (uint32_t r = 0; r < RANKS; r++) {
        const unsigned age = from->age[r] + (unsigned)(grants(cast) - GRANTS);

        to.age[r] = (from->place[r] == WAITING) ? (age < AGE_MAX ? age : AGE_MAX) : 0;
    }
    to.place[rank] = is_granted ? INSIDE : (from->place[rank] == INSIDE) ? AWAY : WAITING;
    to.age[rank] = (to.place[rank] == WAITING) ? to.age[rank] : 0;
    to.is_awaited = *claims.is_awaited != 0;
    ck_assert_uint_eq(claims.waiting[rank] != 0, to.place[rank] == WAITING);
    return to;
}

/* The longest wait, in grants, of a rank for which others' grants exclude it. */
static unsigned explore(const cast_t *cast, unsigned char *met, unsigned *stack)
{
    unsigned shared = 0, longest = 0;
    size_t depth = 0;

    for (unsigned r = 0; r < RANKS; r++) {
        shared += (unsigned)cast->is_shared[r];
    }
    memset(met, 0, STATES / 8);
    met[0] = 1;
    stack[depth++] = 0;
    while (depth > 0) {
        const state_t from = state_of(stack[--depth]);
        int inside = 0, waiting = 0, granted = 0;

        for (uint32_t r = 0; r < RANKS; r++) {
            const state_t to = next_of(cast, &from, r);
            const unsigned number = number_of(&to);

            inside += from.place[r] == INSIDE;
            waiting += from.place[r] == WAITING;
            granted += from.place[r] == WAITING && to.place[r] == INSIDE;
            ck_assert(is_excluding(cast, &to));
            for (uint32_t w = 0; w < RANKS; w++) {
                if (!(cast->is_window && cast->is_shared[w] && shared > 1) && to.age[w] > longest) {
                    longest = to.age[w];
                }
            }
            if (longest > BOUND) {
                return longest;
            }
            if (!(met[number / 8] & 1 << number % 8)) {
                met[number / 8] |= (unsigned char)(1 << number % 8);
                stack[depth++] = number;
            }
        }
        ck_assert_msg(inside > 0 || waiting == 0 || granted > 0, "a free lock is refused to all ranks that wait");
    }
    return longest;
}

START_TEST(a_waiting_rank_sees_a_bounded_number_of_grants)
{
    unsigned char *met = malloc(STATES / 8);
    unsigned *stack = malloc(STATES / 8 * sizeof(*stack));

    ck_assert_ptr_nonnull(met);
    ck_assert_ptr_nonnull(stack);
    for (int is_window = 0; is_window <= 1; is_window++) {
        for (unsigned shared = 0; shared <= RANKS; shared++) {
            cast_t cast = {.is_window = is_window};
            unsigned longest;

            for (unsigned r = 0; r < RANKS; r++) {
                cast.is_shared[r] = r >= RANKS - shared;
            }
            longest = explore(&cast, met, stack);
            ck_assert_msg(longest <= BOUND, "%s, %u ranks share: one waits during %u grants",
                          is_window ? "a window" : "sections", shared, longest);
        }
    }
    free(met);
    free(stack);
}
END_TEST

/* Of windows: rank 0 wants to share, rank 1 has waited for an exclusive lock, rank 2 shares. */
START_TEST(a_rank_shares_past_a_claim_after_a_number_of_looks_that_grows)
{
    const keel_locker_t reader = {.rank = 0, .ranks = RANKS}, writer = {.rank = 1, .ranks = RANKS};
    unsigned looks, before = 0;

    for (unsigned seen = 0; seen < 400; seen += 1u << KEEL_CLAIM_PATIENCE_BITS) {
        memset(memory, 0, sizeof(memory));
        ck_assert(keel_lock_window_take(area, &(keel_locker_t){.rank = 2, .ranks = RANKS}, 1, 0));
        ck_assert(!keel_lock_window_take(area, &writer, 0, keel_lock_of_window(0, 1, 0)));
        *keel_lock_window(area, RANKS, 0) += (1 + seen) * KEEL_WINLOCK_GRANT;
        for (looks = 0; !keel_lock_window_take(area, &reader, 1, keel_lock_of_window(0, 1, looks)); looks++) {
        }
        ck_assert_uint_ge(looks, before);
        ck_assert_uint_le(looks, KEEL_CLAIM_LOST);
        before = looks;
    }
    ck_assert_uint_eq(before, KEEL_CLAIM_LOST);
}
END_TEST

START_TEST(a_claim_that_is_not_taken_ends)
{
    const keel_locker_t first = {.rank = 0, .ranks = RANKS}, gone = {.rank = 1, .ranks = RANKS};
    const keel_claims_t claims = keel_lock_claims(area, RANKS);

    memset(memory, 0, sizeof(memory));
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1);
    ck_assert_uint_eq(keel_lock_try(area, &gone, 0), 0);
    for (unsigned i = 1; i <= KEEL_CLAIM_GRANTS; i++) {
        keel_lock_release(area, &first);
        ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1 + i);
    }
    keel_lock_release(area, &first);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 0);
    ck_assert_uint_eq(keel_lock_next(area, &first, 0), 1);
    ck_assert_uint_ne(keel_lock_try(area, &first, KEEL_CLAIM_LOST), 0);
    ck_assert_uint_eq(claims.waiting[1], 0);
    keel_lock_release(area, &first);
    ck_assert_uint_ne(keel_lock_try(area, &gone, 0), 0);
}
END_TEST

START_TEST(a_claim_of_a_dead_rank_is_dropped)
{
    const keel_locker_t first = {.rank = 0, .ranks = RANKS}, dead = {.rank = 1, .ranks = RANKS};
    const keel_claims_t claims = keel_lock_claims(area, RANKS);

    memset(memory, 0, sizeof(memory));
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 1);
    ck_assert_uint_eq(keel_lock_try(area, &dead, 0), 0);
    area->word = keel_lock_word_free(KEEL_CLAIM_GRANTS + 1);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), 0);
    keel_claim_drop(&claims, 1);
    ck_assert_uint_eq(keel_lock_try(area, &first, 0), KEEL_CLAIM_GRANTS + 2);
}
END_TEST

/* A rank that tries once has no claim; order/win_share shares past all claims. */
START_TEST(a_rank_that_does_not_wait_makes_no_claim)
{
    const keel_locker_t first = {.rank = 0, .ranks = RANKS}, second = {.rank = 1, .ranks = RANKS};
    const keel_claims_t claims = keel_lock_claims(area, RANKS);

    memset(memory, 0, sizeof(memory));
    ck_assert(keel_lock_window_take(area, &first, 0, keel_lock_of_window(3, 0, 0)));
    ck_assert(!keel_lock_window_take(area, &second, 0, keel_lock_of_window(3, 0, 0)));
    ck_assert_uint_eq(claims.waiting[1], 0);
    ck_assert(!keel_lock_window_take(area, &second, 0, keel_lock_of_window(3, 1, 0)));
    keel_winlock_release(keel_lock_window(area, RANKS, 3), 0);
    ck_assert(
        !keel_lock_window_take(area, &(keel_locker_t){.rank = 2, .ranks = RANKS}, 1, keel_lock_of_window(3, 0, 0)));
    ck_assert(keel_lock_window_take(area, &(keel_locker_t){.rank = 2, .ranks = RANKS}, 1,
                                    keel_lock_of_window(3, 0, KEEL_CLAIM_LOST)));
    ck_assert_uint_ne(claims.waiting[1], 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_waiting_rank_sees_a_bounded_number_of_grants,
                                  a_rank_shares_past_a_claim_after_a_number_of_looks_that_grows,
                                  a_claim_that_is_not_taken_ends,
                                  a_claim_of_a_dead_rank_is_dropped,
                                  a_rank_that_does_not_wait_makes_no_claim,
                                  NULL};

    return unit_run("lock_claim", tests);
}
