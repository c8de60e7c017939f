/*
 * Visibility of delayed stores in the simulator: small programs of two ranks, with the outcomes
 * allowed on x86 and ARM. Each allowed outcome must occur within the seeds; no other outcome may
 * occur.
 */
#include "sim/sim.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 3000

typedef struct litmus {
    keel_sim_t *sim;
    const struct litmus_case *what;
    volatile uint64_t x, y[8]; /* y has a cache line of its own */
    uint64_t read[4];
    unsigned over;
    int is_killed;
} litmus_t;

typedef struct litmus_case {
    const char *name;
    void (*first)(litmus_t *litmus);
    void (*second)(litmus_t *litmus);
    int (*is_seen)(const litmus_t *litmus);
    int on_x86, on_arm; /* 1: the outcome is allowed */
    int has_death;      /* the first rank dies */
} litmus_case_t;

static void store(litmus_t *litmus, volatile uint64_t *to, uint64_t value, keel_stored_t how)
{
    keel_sim_store_hold(litmus->sim, (void *)(uintptr_t)to, sizeof(*to), how);
    *to = value;
    keel_sim_store_point(litmus->sim);
}

static void look(litmus_t *litmus, unsigned at, const volatile uint64_t *from)
{
    litmus->read[at] = *from;
    keel_sim_point(litmus->sim);
}

/* ---- a message, and a flag that announces the message ---- */

static void send_plain(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_PLAIN);
    store(litmus, litmus->y, 1, KEEL_STORED_PLAIN);
}

static void send_released(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_PLAIN);
    store(litmus, litmus->y, 1, KEEL_STORED_RELEASE);
}

static void send_streamed(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_STREAMED);
    store(litmus, litmus->y, 1, KEEL_STORED_RELEASE);
}

static void send_ordered(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_STREAMED);
    keel_sim_store_order(litmus->sim);
    store(litmus, litmus->y, 1, KEEL_STORED_RELEASE);
}

static void send_behind_barrier(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_PLAIN);
    keel_sim_store_barrier(litmus->sim);
    store(litmus, litmus->y, 1, KEEL_STORED_PLAIN);
}

static void send_streamed_behind_barrier(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_STREAMED);
    keel_sim_store_barrier(litmus->sim);
    store(litmus, litmus->y, 1, KEEL_STORED_PLAIN);
}

static void send_fenced(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_STREAMED);
    keel_sim_store_fence(litmus->sim);
    store(litmus, litmus->y, 1, KEEL_STORED_PLAIN);
}

static void receive(litmus_t *litmus)
{
    for (unsigned i = 0; i < 40 && litmus->read[0] == 0; i++) {
        look(litmus, 0, litmus->y);
    }
    look(litmus, 1, &litmus->x);
}

static int is_flag_alone(const litmus_t *litmus)
{
    return litmus->read[0] == 1 && litmus->read[1] == 0;
}

/* ---- each rank stores, and looks for the store of the other ---- */

static void cross(litmus_t *litmus, volatile uint64_t *mine, unsigned at, const volatile uint64_t *others,
                  int is_fenced)
{
    store(litmus, mine, 1, KEEL_STORED_PLAIN);
    if (is_fenced) {
        keel_sim_store_fence(litmus->sim);
    }
    look(litmus, at, others);
}

static void cross_first(litmus_t *litmus)
{
    cross(litmus, &litmus->x, 0, litmus->y, 0);
}

static void cross_second(litmus_t *litmus)
{
    cross(litmus, litmus->y, 1, &litmus->x, 0);
}

static void cross_first_fenced(litmus_t *litmus)
{
    cross(litmus, &litmus->x, 0, litmus->y, 1);
}

static void cross_second_fenced(litmus_t *litmus)
{
    cross(litmus, litmus->y, 1, &litmus->x, 1);
}

static int is_neither(const litmus_t *litmus)
{
    return litmus->read[0] == 0 && litmus->read[1] == 0;
}

/* ---- one word ---- */

static void store_twice(litmus_t *litmus)
{
    store(litmus, &litmus->x, 1, KEEL_STORED_PLAIN);
    look(litmus, 2, &litmus->x);
    store(litmus, &litmus->x, 2, KEEL_STORED_PLAIN);
    look(litmus, 3, &litmus->x);
}

static void look_twice(litmus_t *litmus)
{
    look(litmus, 0, &litmus->x);
    look(litmus, 1, &litmus->x);
}

static int is_back(const litmus_t *litmus)
{
    return litmus->read[1] < litmus->read[0];
}

static int is_own_unseen(const litmus_t *litmus)
{
    return litmus->read[2] != 1 || litmus->read[3] != 2;
}

/* A store of the other rank is lost if it becomes visible before the store of this rank. */
static void store_other(litmus_t *litmus)
{
    store(litmus, &litmus->x, 3, KEEL_STORED_PLAIN);
}

static int is_other_last(const litmus_t *litmus)
{
    return litmus->x == 3;
}

static int is_other_lost(const litmus_t *litmus)
{
    return litmus->x == 2;
}

static int is_neither_last(const litmus_t *litmus)
{
    return litmus->x != 2 && litmus->x != 3;
}

/* ---- death of a rank ---- */

static void look_after_death(litmus_t *litmus)
{
    while (!litmus->is_killed) {
        keel_sim_point(litmus->sim);
    }
    look(litmus, 0, litmus->y);
    look(litmus, 1, &litmus->x);
}

static int is_first_alone(const litmus_t *litmus)
{
    return litmus->read[0] == 0 && litmus->read[1] == 1;
}

/* ---- all cases ---- */

static const litmus_case_t cases[] = {
    {"message, plain flag", send_plain, receive, is_flag_alone, 0, 1, 0},
    {"message, released flag", send_released, receive, is_flag_alone, 0, 0, 0},
    {"streamed message", send_streamed, receive, is_flag_alone, 1, 0, 0},
    {"streamed message, ordered", send_ordered, receive, is_flag_alone, 0, 0, 0},
    {"message, flag behind a barrier", send_behind_barrier, receive, is_flag_alone, 0, 0, 0},
    {"streamed message, flag behind a barrier", send_streamed_behind_barrier, receive, is_flag_alone, 1, 0, 0},
    {"streamed message, fenced", send_fenced, receive, is_flag_alone, 0, 0, 0},
    {"crossing", cross_first, cross_second, is_neither, 1, 1, 0},
    {"crossing, fenced", cross_first_fenced, cross_second_fenced, is_neither, 0, 0, 0},
    {"one word goes back", store_twice, look_twice, is_back, 0, 0, 0},
    {"own store is not seen", store_twice, look_twice, is_own_unseen, 0, 0, 0},
    {"one word of two, the other's last", store_twice, store_other, is_other_last, 1, 1, 0},
    {"one word of two, this one's last", store_twice, store_other, is_other_lost, 1, 1, 0},
    {"one word of two, neither's last", store_twice, store_other, is_neither_last, 0, 0, 0},
    {"dead between both", send_plain, look_after_death, is_first_alone, 1, 1, 1},
    {"dead, the second alone", send_plain, look_after_death, is_flag_alone, 0, 0, 1},
};

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    litmus_t *litmus = arg;

    litmus->sim = sim;
    if (incarnation > 0) {
        return;
    }
    ((rank == 0) ? litmus->what->first : litmus->what->second)(litmus);
    while (rank == 0 && litmus->what->has_death) {
        keel_sim_point(sim);
    }
}

static void hook(void *arg, keel_sim_t *sim)
{
    litmus_t *litmus = arg;

    litmus->is_killed = keel_sim_kill(sim, 0);
    if (!litmus->is_killed) {
        keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
    }
}

static int has_come(const litmus_case_t *what, keel_sim_stores_t stores, uint64_t seed)
{
    litmus_t litmus = {.what = what};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = 2, .stores = stores, .program = program, .hook = hook, .arg = &litmus};
    keel_sim_t *sim;

    ck_assert_int_eq(keel_sim_create(&options, &sim), KEEL_OK);
    if (what->has_death) {
        keel_sim_hook_at(sim, 1 + seed % 64);
    }
    ck_assert_int_eq(keel_sim_run(sim), KEEL_SIM_DONE);
    keel_sim_destroy(sim);
    return what->is_seen(&litmus);
}

START_TEST(shows_what_the_processor_may_and_nothing_else)
{
    const litmus_case_t *what = &cases[_i];

    for (keel_sim_stores_t stores = KEEL_SIM_X86; stores <= KEEL_SIM_ARM; stores++) {
        const int may = (stores == KEEL_SIM_X86) ? what->on_x86 : what->on_arm;
        unsigned come = 0;

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            come += (unsigned)has_come(what, stores, seed);
        }
        ck_assert_msg((come > 0) == may, "%s, %s: %u of %u", what->name, (stores == KEEL_SIM_X86) ? "x86" : "ARM", come,
                      SEEDS);
    }
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("litmus");
    Suite *suite = suite_create("litmus");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, shows_what_the_processor_may_and_nothing_else, 0, sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
