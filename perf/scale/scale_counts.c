/*
 * Messages, stores and bytes of a rank against the number of ranks, in the simulator. Each rank
 * accesses three others: puts, a get, gsyncs, a checkpoint, deaths. The result of each rank is
 * compared with the same program without deaths.
 */
#include "engine/context.h"
#include "job/init.h"
#include "peer/arrival.h"
#include "sim/world.h"

#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEIGHBOURS 3
#define STEP_LIMIT 4000000000ull
#define HOOK_STEPS 256
#define PAUSE_NS   20000

/* _(name): phases 0 to 1 pass without access, phase 5 ends with the checkpoint, deaths come in 7 */
#define SCALE_PARTS(_) \
    _(start)           \
    _(window)          \
    _(gsync)           \
    _(access)          \
    _(checkpoint)      \
    _(death)           \
    _(again)           \
    _(end)

enum {
#define SCALE_PART(name) PART_##name,
    SCALE_PARTS(SCALE_PART)
#undef SCALE_PART
        PARTS
};

static const char *const part_name[PARTS] = {
#define SCALE_PART(name) #name,
    SCALE_PARTS(SCALE_PART)
#undef SCALE_PART
};

#define QUIET_PHASES     2
#define CHECKPOINT_PHASE 5
#define DEATH_PHASE      7
#define PHASES           9

/* memory of a rank's window */
typedef struct cells {
    uint64_t slot[2][NEIGHBOURS]; /* by parity of the phase; each slot has one writer */
    uint64_t digest, phase;
} cells_t;

typedef struct count {
    uint64_t messages, replies, stores, bytes;
} count_t;

typedef struct scale {
    uint32_t ranks, per_node, deaths_wanted, deaths, ready;
    const char *lanes;
    uint32_t distance[NEIGHBOURS], get_distance;
    keel_random_t random;
    keel_sim_t *sim;
    uint64_t kill_step;
    uint64_t *expected; /* digest of each rank at the end */
    uint8_t *part;      /* of each rank at the moment */
    count_t *count[PARTS];
    size_t heap[PARTS]; /* of all ranks, when the last rank entered the part */
    uint32_t entered[PARTS];
    keel_status_t (*send)(keel_transport_t *, uint32_t, const void *, size_t, const void *, size_t);
    keel_status_t (*reply)(keel_transport_t *, uint32_t, const void *, size_t, const void *, size_t);
} scale_t;

static scale_t scale;

keel_status_t __real_keel_arrival_post(keel_lane_t *lane, uint32_t rank, uint32_t number);
keel_status_t __wrap_keel_arrival_post(keel_lane_t *lane, uint32_t rank, uint32_t number);

static count_t *count_of(uint32_t rank)
{
    return &scale.count[scale.part[rank]][rank];
}

static keel_status_t count_send(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                                const void *data, size_t data_len)
{
    count_t *count = count_of(sim_process_of(transport)->rank);

    ++count->messages;
    count->bytes += header_len + data_len;
    return scale.send(transport, peer, header, header_len, data, data_len);
}

static keel_status_t count_reply(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                                 const void *data, size_t data_len)
{
    count_t *count = count_of(sim_process_of(transport)->rank);

    ++count->replies;
    count->bytes += header_len + data_len;
    return scale.reply(transport, peer, header, header_len, data, data_len);
}

/* an arrival is a message, counted above, or a store */
keel_status_t __wrap_keel_arrival_post(keel_lane_t *lane, uint32_t rank, uint32_t number)
{
    count_t *count = count_of(lane->rank);
    const uint64_t before = count->messages;
    const keel_status_t status = __real_keel_arrival_post(lane, rank, number);

    count->stores += count->messages == before;
    return status;
}

/* The operations of a world are its own copy. */
static void counts_begin(void)
{
    keel_transport_ops_t *ops = &scale.sim->transport_ops;

    scale.send = ops->send;
    scale.reply = ops->reply;
    ops->send = count_send;
    ops->reply = count_reply;
}

static size_t heap_bytes(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void part_enter(uint32_t rank, int part)
{
    scale.part[rank] = (uint8_t)part;
    if (++scale.entered[part] == scale.ranks) {
        scale.heap[part] = heap_bytes();
    }
}

static uint64_t digest_add(uint64_t digest, uint64_t value)
{
    return keel_random_mix(digest + 0x9e3779b97f4a7c15ull + value);
}

static uint64_t put_value(uint64_t digest, unsigned k)
{
    return digest_add(digest, k + 1);
}

static int phase_has_access(uint64_t phase)
{
    return phase >= QUIET_PHASES;
}

/* the whole program without ranks that die */
static void expected_compute(void)
{
    const uint32_t n = scale.ranks;
    cells_t *cells = calloc(n, sizeof(*cells));
    uint64_t *got = calloc(n, sizeof(*got));
    uint64_t phase;
    uint32_t r;
    unsigned k;

    scale.expected = calloc(n, sizeof(*scale.expected));
    if (cells == NULL || got == NULL || scale.expected == NULL) {
        abort();
    }
    for (phase = QUIET_PHASES; phase < PHASES; ++phase) {
        for (r = 0; r < n; ++r) {
            got[r] = cells[(r + scale.get_distance) % n].slot[(phase + 1) & 1][0];
        }
        for (r = 0; r < n; ++r) {
            for (k = 0; k < NEIGHBOURS; ++k) {
                cells[r].digest = digest_add(cells[r].digest, cells[r].slot[(phase + 1) & 1][k]);
            }
            cells[r].digest = digest_add(cells[r].digest, got[r]);
            for (k = 0; k < NEIGHBOURS; ++k) {
                cells[(r + scale.distance[k]) % n].slot[phase & 1][k] = put_value(cells[r].digest, k);
            }
        }
    }
    for (r = 0; r < n; ++r) {
        scale.expected[r] = cells[r].digest;
    }
    free(cells);
    free(got);
}

static keel_status_t phase_access(uint32_t rank, keel_win_h win, cells_t *cells, uint64_t phase)
{
    const unsigned last = (phase + 1) & 1;
    uint64_t value;
    keel_status_t status;
    unsigned k;

    status = keel_get(win, (rank + scale.get_distance) % scale.ranks, offsetof(cells_t, slot[last][0]), &value,
                      sizeof(value));
    for (k = 0; k < NEIGHBOURS; ++k) {
        cells->digest = digest_add(cells->digest, cells->slot[last][k]);
    }
    cells->digest = digest_add(cells->digest, value);
    for (k = 0; k < NEIGHBOURS && status == KEEL_OK; ++k) {
        value = put_value(cells->digest, k);
        status = keel_put(win, (rank + scale.distance[k]) % scale.ranks, offsetof(cells_t, slot[phase & 1][k]), &value,
                          sizeof(value));
    }
    return status;
}

static int part_of_phase(uint64_t phase)
{
    if (phase < QUIET_PHASES) {
        return PART_gsync;
    }
    if (phase == CHECKPOINT_PHASE) {
        return PART_checkpoint;
    }
    return (phase < DEATH_PHASE) ? PART_access : (phase == DEATH_PHASE) ? PART_death : PART_end;
}

static keel_status_t run_phases(keel_context_h ctx, uint32_t rank, keel_win_h win)
{
    cells_t *cells = keel_win_base(win);
    keel_status_t status = KEEL_OK;
    uint64_t phase;

    while (status == KEEL_OK && cells->phase < PHASES) {
        phase = cells->phase;
        part_enter(rank, (keel_incarnation(ctx) > 0) ? PART_again : part_of_phase(phase));
        if (phase == DEATH_PHASE && keel_incarnation(ctx) == 0) {
            ++scale.ready;
        }
        while (status == KEEL_OK && phase == DEATH_PHASE && scale.deaths < scale.deaths_wanted) {
            keel_sim_compute(scale.sim, PAUSE_NS);
            status = keel_progress(ctx);
        }
        if (status == KEEL_OK && phase_has_access(phase)) {
            status = phase_access(rank, win, cells, phase);
        }
        cells->phase = phase + 1;
        if (status == KEEL_OK) {
            status = (phase == CHECKPOINT_PHASE) ? keel_checkpoint(ctx) : keel_gsync(ctx, 0);
        }
    }
    if (status == KEEL_OK && cells->digest != scale.expected[rank]) {
        keel_sim_flaw(scale.sim, "rank %u has another result", rank);
    }
    return status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    const char *env[] = {"KEEL_GROUP_SIZE=4",
                         "KEEL_CKPT_INTERVAL=off",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         "KEEL_HEARTBEAT_TIMEOUT=0",
                         scale.lanes,
                         NULL};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    keel_context_h ctx;
    keel_win_h win;
    keel_status_t status;

    part_enter(rank, (incarnation > 0) ? PART_again : PART_start);
    status = keel_init_on(keel_sim_drivers(sim), &params, &ctx);
    if (status == KEEL_OK) {
        part_enter(rank, (incarnation > 0) ? PART_again : PART_window);
        status = keel_win_alloc(ctx, sizeof(cells_t), NULL, &win);
    }
    while (status == KEEL_OK || status == KEEL_ERR_ROLLED_BACK) {
        status = keel_restarted(ctx) ? keel_restore(ctx) : KEEL_OK;
        status = (status == KEEL_OK) ? run_phases(ctx, rank, win) : status;
        status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
        if (status == KEEL_OK) {
            return;
        }
    }
    keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
}

/* Kills drawn ranks, rank 0 among them, once all ranks have come to the phase. */
static void strike(void *arg, keel_sim_t *sim)
{
    if (scale.ready >= scale.ranks && scale.deaths < scale.deaths_wanted && keel_sim_step(sim) >= scale.kill_step) {
        scale.deaths += (unsigned)keel_sim_kill(sim, keel_random_below(&scale.random, scale.ranks));
        scale.kill_step = keel_sim_step(sim) + keel_random_scaled(&scale.random, 100ull * scale.ranks);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + HOOK_STEPS);
}

/* Prints a line for each part; returns 0 if a part has more messages and stores than allowed. */
static int counts_report(const uint64_t *at_most)
{
    const double n = scale.ranks;
    int is_good = 1, part;
    uint32_t r;

    printf("ranks,part,messages,messages_most,replies,stores,bytes,heap\n");
    for (part = 0; part < PARTS; ++part) {
        const double phases = (part == PART_gsync)    ? QUIET_PHASES
                              : (part == PART_access) ? DEATH_PHASE - QUIET_PHASES - 1
                                                      : 1;
        const double ranks = (part == PART_again) ? (scale.deaths > 0 ? scale.deaths : 1) : n;
        count_t sum = {0};
        uint64_t most = 0;

        for (r = 0; r < scale.ranks; ++r) {
            const count_t *count = &scale.count[part][r];

            sum.messages += count->messages;
            sum.replies += count->replies;
            sum.stores += count->stores;
            sum.bytes += count->bytes;
            most = (count->messages > most) ? count->messages : most;
        }
        printf("%u,%s,%.1f,%.1f,%.1f,%.1f,%.0f,%.0f\n", scale.ranks, part_name[part],
               (double)sum.messages / ranks / phases, (double)most / phases, (double)sum.replies / ranks / phases,
               (double)sum.stores / ranks / phases, (double)sum.bytes / ranks / phases, (double)scale.heap[part] / n);
        if (at_most[part] > 0 && (double)(sum.messages + sum.stores) / ranks / phases > (double)at_most[part]) {
            fprintf(stderr, "%s: more than %llu messages and stores\n", part_name[part],
                    (unsigned long long)at_most[part]);
            is_good = 0;
        }
    }
    return is_good;
}

static void at_most_parse(uint64_t *at_most, const char *text)
{
    const char *value = strchr(text, '=');
    int part;

    for (part = 0; part < PARTS; ++part) {
        if (value != NULL && strncmp(text, part_name[part], (size_t)(value - text)) == 0) {
            at_most[part] = strtoull(value + 1, NULL, 10);
            return;
        }
    }
    fprintf(stderr, "scale_counts: no part %s\n", text);
    exit(2);
}

static void options_parse(int argc, char **argv, uint64_t *seed, uint64_t *at_most)
{
    static const struct option known[] = {
        {"ranks", 1, NULL, 'n'},    {"deaths", 1, NULL, 'd'},  {"seed", 1, NULL, 's'}, {"lanes", 1, NULL, 'l'},
        {"per-node", 1, NULL, 'p'}, {"at-most", 1, NULL, 'm'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
    static char lanes[64];
    int option;

    scale.ranks = 16;
    scale.per_node = 4;
    scale.lanes = "KEEL_LANES=served";
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (option) {
        case 'n':
            scale.ranks = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'd':
            scale.deaths_wanted = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 's':
            *seed = strtoull(optarg, NULL, 10);
            break;
        case 'l':
            snprintf(lanes, sizeof(lanes), "KEEL_LANES=%s", optarg);
            scale.lanes = lanes;
            break;
        case 'p':
            scale.per_node = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'm':
            at_most_parse(at_most, optarg);
            break;
        default:
            printf("scale_counts [--ranks N] [--per-node N] [--deaths N] [--seed S] [--lanes auto|direct|served]\n"
                   "             [--at-most PART=N]...: messages and stores of a rank on average\n");
            exit((option == 'h') ? 0 : 2);
        }
    }
    if (scale.ranks < 8 || scale.per_node == 0) {
        fprintf(stderr, "scale_counts: at least 8 ranks, and 1 on a node\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, at_most[PARTS] = {0};
    keel_sim_options_t options = {.program = program, .hook = strike, .step_limit = STEP_LIMIT};
    uint32_t *node, r;
    unsigned k;
    keel_sim_end_t end;

    options_parse(argc, argv, &seed, at_most);
    scale.random.state = seed;
    scale.part = calloc(scale.ranks, sizeof(*scale.part));
    node = calloc(scale.ranks, sizeof(*node));
    for (k = 0; k < PARTS; ++k) {
        scale.count[k] = calloc(scale.ranks, sizeof(*scale.count[k]));
    }
    for (k = 0; k < NEIGHBOURS; ++k) {
        scale.distance[k] = (k == 0) ? 1 : 1 + keel_random_below(&scale.random, scale.ranks - 1);
    }
    scale.get_distance = 1 + keel_random_below(&scale.random, scale.ranks - 1);
    for (r = 0; r < scale.ranks; ++r) { /* the members of a group of 4 are on different nodes */
        node[r] = r % ((scale.ranks + scale.per_node - 1) / scale.per_node);
    }
    expected_compute();
    options.seed = seed;
    options.ranks = scale.ranks;
    options.node = node;
    if (keel_sim_create(&options, &scale.sim) != KEEL_OK) {
        return 2;
    }
    counts_begin();
    keel_sim_hook_at(scale.sim, 1);
    end = keel_sim_run(scale.sim);
    if (end != KEEL_SIM_DONE || scale.deaths != scale.deaths_wanted) {
        fprintf(stderr, "seed %llu: %s, %u deaths\n", (unsigned long long)seed, keel_sim_flaw_text(scale.sim),
                scale.deaths);
        return 1;
    }
    return counts_report(at_most) ? 0 : 1;
}
