/*
 * The Sedov blast on hexahedra, the problem of LULESH, on Keel's puts. The mesh consists of cubic
 * subdomains, and a rank has any number of them. In each iteration a subdomain puts forces on
 * shared nodes and changes of velocity to its neighbours, with a gsync after each. No result
 * depends on the number of ranks: the bits are those of a serial run.
 */
#include "hydro_serial.h"
#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"
#include "../lib/kernel_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "hydro"

typedef struct {
    uint64_t step, has_hash;
    double started; /* wall clock, 0: not yet */
    double time, dt;
} state_t;

typedef struct {
    hydro_mesh_t mesh;
    unsigned long edge, sides, iterations;
    int is_unverified;
    kernel_common_t common;
    keel_context_h ctx;
    keel_win_h win;  /* inboxes of own subdomains, then limits of the time step by each rank */
    keel_win_h ends; /* at rank 0: hash of each subdomain */
    kernel_living_t living;
    kernel_range_t own; /* subdomains */
    hydro_domain_t *domains;
    state_t state; /* protected */
    char *memory;  /* protected: nodes and states of the own subdomains */
    char *outboxes;
    int has_forces; /* the forces of the own elements are not protected */
    double calls_s, copies_s;
    uint64_t executed; /* iterations done by this process */
    uint32_t rank, incarnation;
} hydro_t;

/* Published results: elements along an edge, iterations, final energy of the first element. */
static const struct {
    unsigned long edge, iterations;
    const char *energy;
} published[] = {
    {5, 72, "7.853665e+03"},    {10, 231, "2.720531e+04"},  {30, 932, "2.025075e+05"},  {45, 1477, "4.234875e+05"},
    {50, 1662, "5.124778e+05"}, {60, 2031, "7.130703e+05"}, {70, 2402, "9.417145e+05"}, {90, 3145, "1.482403e+06"},
};

static const char help[] =
    "usage: hydro [options]        under a launcher, on at most as many ranks as subdomains\n"
    "  -s, --edge N              elements along an edge of a subdomain (5)\n"
    "      --sides N             subdomains along an edge of the whole (2)\n"
    "  -n, --iterations N        at most (all)\n"
    "      --ckpt-every K        explicit checkpoint after every K iterations (none)\n"
    "      --no-verify           without the serial computation at the end\n"
    "  -v, --verbose             a line every hundred iterations\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself there in its first life (step 0: first iteration; phases 0, "
    "1)\n"
    "  -h, --help                this text\n"
    "exit status 0: the energy is the published one, if there is one, and all bits are those of a serial run, 1: they\n"
    "are not, 2: usage, 3: an error of Keel's\n";

/* ---- communication ---- */

static uint64_t most_subdomains(const hydro_t *hydro)
{
    return (hydro_subdomains(&hydro->mesh) + hydro->living.count - 1) / hydro->living.count;
}

static uint64_t limits_offset(const hydro_t *hydro, uint32_t rank)
{
    return most_subdomains(hydro) * hydro_box_bytes(&hydro->mesh) + rank * 2 * sizeof(double);
}

static void *own_at(const hydro_t *hydro, uint64_t offset)
{
    return (char *)keel_win_base(hydro->win) + offset;
}

/* Rank of a subdomain, and the place of the inbox in the rank's window. */
static uint32_t inbox_of(const hydro_t *hydro, uint64_t subdomain, uint64_t *offset_p)
{
    const uint64_t count = hydro_subdomains(&hydro->mesh);
    uint32_t place = 0;
    kernel_range_t range;

    for (;; place++) {
        range = kernel_share_at(count, place, hydro->living.count);
        if (subdomain < range.first + range.count) {
            break;
        }
    }
    *offset_p = (subdomain - range.first) * hydro_box_bytes(&hydro->mesh);
    return hydro->living.ranks[place];
}

/* Puts a subdomain's parts to the neighbours. Parts of own neighbours are copied. */
static keel_status_t send_box(hydro_t *hydro, hydro_kind_t kind, const hydro_domain_t *domain, const char *outbox)
{
    unsigned direction;

    for (direction = 0; direction < HYDRO_DIRECTIONS; direction++) {
        const size_t bytes = hydro_box_part(&hydro->mesh, kind, direction);
        const int64_t to = hydro_domain_neighbour(domain, direction);
        const char *const part = outbox + hydro_box_offset(&hydro->mesh, kind, direction);
        uint64_t offset;
        uint32_t rank;

        if ((bytes == 0) || (to < 0)) {
            continue;
        }
        rank = inbox_of(hydro, (uint64_t)to, &offset);
        offset += hydro_box_offset(&hydro->mesh, kind, HYDRO_DIRECTIONS - 1 - direction);
        if (rank == keel_rank(hydro->ctx)) {
            memcpy(own_at(hydro, offset), part, bytes);
        } else {
            KERNEL_TRY(keel_put_nbx(hydro->win, rank, offset, part, bytes, NULL, NULL));
        }
    }
    return KEEL_OK; /* outboxes keep the parts until the next gsync */
}

static keel_status_t send_all(hydro_t *hydro, hydro_kind_t kind)
{
    const size_t box = hydro_box_bytes(&hydro->mesh);
    uint64_t i;

    for (i = 0; i < hydro->own.count; i++) {
        char *const outbox = hydro->outboxes + i * box;
        const double begun = kernel_now_s();
        double packed;

        hydro_domain_pack(&hydro->domains[i], kind, (double *)(void *)outbox);
        packed = kernel_now_s();
        KERNEL_TRY(send_box(hydro, kind, &hydro->domains[i], outbox));
        hydro->copies_s += packed - begun;
        hydro->calls_s += kernel_now_s() - packed;
    }
    return KEEL_OK;
}

static void receive_all(hydro_t *hydro, hydro_kind_t kind)
{
    const double begun = kernel_now_s();
    uint64_t i;

    for (i = 0; i < hydro->own.count; i++) {
        hydro_domain_unpack(&hydro->domains[i], kind, own_at(hydro, i * hydro_box_bytes(&hydro->mesh)));
    }
    hydro->copies_s += kernel_now_s() - begun;
}

static keel_status_t send_limits(hydro_t *hydro, const double *limits)
{
    const uint64_t offset = limits_offset(hydro, keel_rank(hydro->ctx));
    const double begun = kernel_now_s();
    uint32_t i;

    for (i = 0; i < hydro->living.count; i++) {
        KERNEL_TRY(keel_put(hydro->win, hydro->living.ranks[i], offset, limits, 2 * sizeof *limits));
    }
    hydro->calls_s += kernel_now_s() - begun;
    return KEEL_OK;
}

static keel_status_t synchronise(hydro_t *hydro, int is_safe)
{
    const unsigned long every = hydro->common.ckpt_every;
    const double begun = kernel_now_s();
    const keel_status_t status = (is_safe && (every != 0) && (hydro->state.step % every == 0))
                                     ? keel_checkpoint(hydro->ctx)
                                     : keel_gsync(hydro->ctx, is_safe ? KEEL_GSYNC_SAFE : 0);

    hydro->calls_s += kernel_now_s() - begun;
    return status;
}

/* ---- an iteration ---- */

static void choose_step(hydro_t *hydro)
{
    double limits[2] = {HYDRO_NO_LIMIT, HYDRO_NO_LIMIT};
    uint32_t i;
    unsigned l;

    for (i = 0; i < hydro->living.count; i++) {
        const double *const theirs = own_at(hydro, limits_offset(hydro, hydro->living.ranks[i]));

        for (l = 0; l < 2; l++) {
            limits[l] = (theirs[l] < limits[l]) ? theirs[l] : limits[l];
        }
    }
    hydro->state.dt = hydro_time_step(hydro->state.dt, HYDRO_STOP - hydro->state.time, hydro->state.step == 0, limits);
    hydro->state.time += hydro->state.dt;
}

/* The first nodes to move are at rest, without forces: the inboxes are right as they are. */
static keel_status_t iterate(hydro_t *hydro)
{
    double limits[2] = {HYDRO_NO_LIMIT, HYDRO_NO_LIMIT};
    uint64_t i;

    choose_step(hydro);
    for (i = 0; !hydro->has_forces && (i < hydro->own.count); i++) {
        hydro_domain_push(&hydro->domains[i]);
    }
    hydro->has_forces = 1;
    receive_all(hydro, HYDRO_FORCES);
    if ((hydro->state.step == 3) && (hydro->own.first == 0)) {
        kernel_spoil(hydro->domains[0].forces, hydro_forces_bytes(&hydro->mesh));
    }
    for (i = 0; i < hydro->own.count; i++) {
        hydro_domain_move(&hydro->domains[i], hydro->state.dt);
    }
    KERNEL_TRY(send_all(hydro, HYDRO_CHANGES));
    kernel_die_here(&hydro->common.death, hydro->ctx, hydro->state.step, 0);
    KERNEL_TRY(synchronise(hydro, 0));
    receive_all(hydro, HYDRO_CHANGES);
    for (i = 0; i < hydro->own.count; i++) {
        hydro_domain_advance(&hydro->domains[i], limits);
        hydro_domain_push(&hydro->domains[i]);
    }
    KERNEL_TRY(send_all(hydro, HYDRO_FORCES));
    KERNEL_TRY(send_limits(hydro, limits));
    kernel_die_here(&hydro->common.death, hydro->ctx, hydro->state.step, 1);
    hydro->executed++;
    hydro->state.step++; /* an image taken here must continue, not repeat */
    return synchronise(hydro, 1);
}

/* Last step: sends rank 0 a hash of the nodes and states of each subdomain. */
static keel_status_t send_hashes(hydro_t *hydro)
{
    const size_t bytes = hydro_domain_bytes(&hydro->mesh);
    uint64_t i;

    for (i = 0; i < hydro->own.count; i++) {
        const uint64_t hash = kernel_hash(KERNEL_HASH_START, hydro->memory + i * bytes, bytes);

        KERNEL_TRY(keel_put(hydro->ends, 0, (hydro->own.first + i) * sizeof hash, &hash, sizeof hash));
    }
    kernel_die_here(&hydro->common.death, hydro->ctx, hydro->state.step, 0);
    hydro->state.has_hash = 1;
    return keel_gsync(hydro->ctx, KEEL_GSYNC_SAFE);
}

static void report(const hydro_t *hydro)
{
    if (hydro->common.is_verbose && (keel_rank(hydro->ctx) == 0) && (hydro->state.step % 100 == 0)) {
        printf(PROGRAM ": %8.3f s  iteration %lu  time %.6e  step %.6e\n", kernel_now_s() - hydro->state.started,
               (unsigned long)hydro->state.step, hydro->state.time, hydro->state.dt);
        fflush(stdout);
    }
}

/* ---- the end ---- */

/* Compares the result with the published one; -1: there is none. */
static int is_published(const hydro_t *hydro, const char *energy)
{
    size_t i;

    for (i = 0; (hydro->state.time >= HYDRO_STOP) && (i < sizeof published / sizeof *published); i++) {
        if (published[i].edge == hydro->edge * hydro->sides) {
            return (published[i].iterations == hydro->state.step) && (strcmp(published[i].energy, energy) == 0);
        }
    }
    return -1;
}

static int is_serial(const hydro_t *hydro)
{
    const size_t bytes = hydro_subdomains(&hydro->mesh) * sizeof(uint64_t);
    uint64_t *const hashes = malloc(bytes);
    const int is_right = (hashes != NULL) && (hydro_serial(&hydro->mesh, hydro->iterations, hashes) == 0) &&
                         (memcmp(hashes, keel_win_base(hydro->ends), bytes) == 0);

    free(hashes);
    return is_right;
}

static void judge(const hydro_t *hydro, kernel_outcome_t *outcome, const char *energy)
{
    const int as_published = is_published(hydro, energy);

    outcome->hash =
        kernel_hash(KERNEL_HASH_START, keel_win_base(hydro->ends), hydro_subdomains(&hydro->mesh) * sizeof(uint64_t));
    keel_stats(hydro->ctx, &outcome->stats, sizeof(outcome->stats));
    outcome->is_verified = !hydro->is_unverified || (as_published >= 0);
    outcome->is_right = (as_published != 0) && (hydro->is_unverified || is_serial(hydro));
}

static void print(const hydro_t *hydro, const kernel_outcome_t *outcome, const char *energy)
{
    const kernel_field_t fields[] = {
        {"edge", NULL, (double)hydro->edge},
        {"sides", NULL, (double)hydro->sides},
        {"iterations", NULL, (double)hydro->state.step},
        {"energy", energy, 0},
        {"call_seconds", NULL, hydro->calls_s},
        {"copy_seconds", NULL, hydro->copies_s},
    };

    kernel_print_outcome(outcome, hydro->common.format, fields, sizeof fields / sizeof *fields);
}

/* ---- life ---- */

static int scratch_init(hydro_t *hydro)
{
    const size_t bytes = hydro_domain_bytes(&hydro->mesh);
    uint64_t i;

    hydro->rank = keel_rank(hydro->ctx);
    hydro->incarnation = keel_incarnation(hydro->ctx);
    hydro->own = kernel_share_own(hydro_subdomains(&hydro->mesh), &hydro->living);
    hydro->domains = calloc(hydro->own.count + 1, sizeof *hydro->domains);
    hydro->memory = malloc(hydro->own.count * bytes + 1);
    hydro->outboxes = calloc(hydro->own.count + 1, hydro_box_bytes(&hydro->mesh));
    if ((hydro->domains == NULL) || (hydro->memory == NULL) || (hydro->outboxes == NULL)) {
        return -1;
    }
    for (i = 0; i < hydro->own.count; i++) {
        if (hydro_domain_init(&hydro->domains[i], &hydro->mesh, hydro->own.first + i, hydro->memory + i * bytes) != 0) {
            return -1;
        }
    }
    hydro->state.dt = hydro_first_step(&hydro->mesh);
    return 0;
}

/* Opens windows and protected memory, equal in every life. */
static keel_status_t open_memory(hydro_t *hydro)
{
    const uint64_t hashes = hydro_subdomains(&hydro->mesh) * sizeof(uint64_t);

    KERNEL_TRY(keel_win_alloc(hydro->ctx, limits_offset(hydro, keel_size(hydro->ctx)), NULL, &hydro->win));
    KERNEL_TRY(keel_win_alloc(hydro->ctx, (keel_rank(hydro->ctx) == 0) ? hashes : 0, NULL, &hydro->ends));
    KERNEL_TRY(keel_protect(hydro->ctx, 0, &hydro->state, sizeof hydro->state));
    return keel_protect(hydro->ctx, 1, hydro->memory, hydro->own.count * hydro_domain_bytes(&hydro->mesh));
}

/* Runs the remaining iterations and the end. Called again after a rollback. */
static keel_status_t run(hydro_t *hydro, kernel_outcome_t *outcome)
{
    char energy[32];

    hydro->has_forces = 0;
    if (keel_restarted(hydro->ctx)) {
        KERNEL_TRY(keel_restore(hydro->ctx));
    }
    KERNEL_TRY(kernel_clock_start(hydro->ctx, &hydro->state.started));
    while ((hydro->state.time < HYDRO_STOP) && (hydro->state.step < hydro->iterations)) {
        KERNEL_TRY(iterate(hydro));
        report(hydro);
    }
    if (!hydro->state.has_hash) {
        KERNEL_TRY(send_hashes(hydro));
    }
    outcome->seconds = kernel_clock_stop() - hydro->state.started;
    snprintf(energy, sizeof energy, "%.6e", (hydro->own.count > 0) ? hydro->domains[0].states[0].energy : 0);
    if (keel_rank(hydro->ctx) == 0) {
        judge(hydro, outcome, energy);
    }
    KERNEL_TRY(keel_finalize(hydro->ctx));
    if (hydro->living.place == 0) {
        print(hydro, outcome, energy);
    }
    return KEEL_OK;
}

static int parse(int argc, char **argv, hydro_t *hydro)
{
    const kernel_option_t own[] = {
        {.name = "edge", .letter = 's', .number_p = &hydro->edge, .min = 2},
        {.name = "sides", .number_p = &hydro->sides, .min = 1},
        {.name = "iterations", .letter = 'n', .number_p = &hydro->iterations, .min = 1},
        {.name = "no-verify", .flag_p = &hydro->is_unverified},
    };
    const int exit_status =
        kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof *own, &hydro->common);

    if (exit_status >= 0) {
        return exit_status;
    }
    if ((hydro->edge > 1000) || (hydro->sides > 100)) {
        return kernel_usage_error(PROGRAM, "more than 1000 elements or 100 subdomains along an edge");
    }
    hydro->mesh = (hydro_mesh_t){(unsigned)hydro->edge, (unsigned)hydro->sides};
    return -1;
}

static void cleanup(hydro_t *hydro)
{
    uint64_t i;

    for (i = 0; i < hydro->own.count; i++) {
        hydro_domain_cleanup(&hydro->domains[i]);
    }
    kernel_living_cleanup(&hydro->living);
    free(hydro->domains);
    free(hydro->memory);
    free(hydro->outboxes);
}

int main(int argc, char **argv)
{
    static hydro_t hydro = {.edge = 5, .sides = 2, .iterations = UINT32_MAX};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_right = 1};
    keel_status_t status;
    const int exit_status = parse(argc, argv, &hydro);

    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &hydro.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    outcome.ranks = keel_size(hydro.ctx);
    if (outcome.ranks > hydro_subdomains(&hydro.mesh)) {
        return kernel_usage_error(PROGRAM, "more ranks than subdomains");
    }
    if ((kernel_living_init(&hydro.living, hydro.ctx) != 0) || (scratch_init(&hydro) != 0)) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    status = open_memory(&hydro);
    if (status == KEEL_OK) {
        do {
            status = run(&hydro, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    kernel_report_repeated(&hydro.common.death, hydro.rank, hydro.incarnation, hydro.state.step, hydro.executed);
    cleanup(&hydro);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
