/*
 * Tests the promises of include/keel/runtime.h beyond contrib/examples/attach.c: attach_modes MODE.
 * Prints "attach_modes: MODE: right" at the end.
 */
#include "attach_host.h"

#include <pthread.h>

enum { STEPS = 30 };

static struct {
    uint32_t asked, answered; /* of the mode progress */
    uint32_t lines, aborts, ends;
    uint32_t started;                        /* of the mode barrier */
    uint32_t is_stopped, is_killed, is_dead; /* of the mode suspect: rank 1 */
    uint32_t replaced_by;                    /* a bit for each rank that called replace */
} * notes;

static keel_status_t on_announce(void *arg, const void *mine, size_t length)
{
    job_t *job = &board->job[job_number];

    must(arg == board);
    (void)give_address(mine, length);
    if (life > 0) {
        report(job, KEEL_ATTACH_JOIN, rank, life);
        return KEEL_OK;
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        while (__atomic_load_n(&job->address[r][0].length, __ATOMIC_ACQUIRE) == 0) {
            usleep(100);
        }
    }
    return KEEL_OK;
}

static keel_status_t on_lookup(void *arg, uint32_t of, void *address, size_t *length_p)
{
    const address_t *given = &board->job[job_number].address[of][0];

    must(arg == board && of < RANKS);
    memcpy(address, given->bytes, given->length);
    *length_p = given->length;
    return KEEL_OK;
}

static int is_reporting;

/* Reports each event twice: a duplicate is harmless. */
static void *report_events(void *events)
{
    keel_attach_event_t event;

    while (__atomic_load_n(&is_reporting, __ATOMIC_ACQUIRE)) {
        if (!on_poll(NULL, &event)) {
            usleep(200);
            continue;
        }
        for (unsigned i = 0; i < 2; i++) {
            keel_status_t status =
                (event.type == KEEL_ATTACH_DEATH) ? keel_report_death(events, event.rank, event.incarnation)
                : (event.type == KEEL_ATTACH_JOIN)
                    ? keel_report_join(events, event.rank, event.incarnation, event.address, event.address_length)
                    : keel_report_exit(events, event.rank, event.incarnation);

            must(status == KEEL_OK);
        }
    }
    return NULL;
}

static void on_message(void *arg, int level, const char *line)
{
    must(arg == board && level >= 0 && level <= 3 &&
         (strncmp(line, "keel ", 5) == 0 || strncmp(line, "keel: ", 6) == 0) && strchr(line, '\n') == NULL);
    __atomic_fetch_add(&notes->lines, 1, __ATOMIC_RELAXED);
}

static void on_abort(void *arg, int status, const char *reason)
{
    must(arg == board && status == 7 && strstr(reason, "because") != NULL);
    __atomic_fetch_add(&notes->aborts, 1, __ATOMIC_RELAXED);
}

/* Kills the stopped rank, and returns when no instruction of it can run any more. */
static keel_status_t on_suspect(void *arg, uint32_t of, uint32_t incarnation, uint64_t silence_ns)
{
    must(arg == board && of < RANKS && of != rank && silence_ns > 0);
    if (of != 1 || incarnation != 0 || !__atomic_load_n(&notes->is_stopped, __ATOMIC_ACQUIRE)) {
        return KEEL_OK; /* the rank is slow */
    }
    if (__atomic_exchange_n(&notes->is_killed, 1, __ATOMIC_SEQ_CST) == 0) {
        must(kill(board->pid[of], SIGKILL) == 0);
    }
    while (!__atomic_load_n(&notes->is_dead, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    return KEEL_ERR_UNREACHABLE;
}

static void on_replace(void *arg, uint32_t of, uint32_t incarnation)
{
    must(arg == board && of == 1 && incarnation == 0 && rank != 1);
    __atomic_fetch_or(&notes->replaced_by, 1u << rank, __ATOMIC_SEQ_CST);
}

/* Progress of the host: a waiting rank answers the question on the board. */
static void on_progress(void *arg)
{
    must(arg == &notes->asked);
    __atomic_store_n(&notes->answered, __atomic_load_n(&notes->asked, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* ---- the programs ---- */

static keel_attach_t table_of(void)
{
    keel_attach_t table = host_table();

    if (is_mode("events")) {
        table.exchange = NULL;
        table.poll = NULL;
        table.announce = on_announce;
        table.lookup = on_lookup;
        must(keel_events_create(RANKS, &table.events) == KEEL_OK);
    }
    if (is_mode("suspect")) {
        table.suspect = on_suspect;
        table.replace = on_replace;
        table.transport = "ucp";
    }
    table.message = (is_mode("sink") || is_mode("beside")) ? on_message : NULL;
    table.abort = is_mode("abort") ? on_abort : NULL;
    return table;
}

static void die_or_stop(void)
{
    __atomic_store_n(&notes->is_stopped, 1, __ATOMIC_RELEASE);
    (void)kill(getpid(), is_mode("suspect") ? SIGSTOP : SIGKILL);
}

/* Each rank puts its step to the right neighbour and adds up the steps from the left. Rank 1 dies
 * or stops once. */
static void steps(keel_context_h ctx)
{
    uint64_t step = 0, sum = 0;
    keel_win_h win;
    keel_status_t status;

    must(keel_size(ctx) == RANKS && keel_rank(ctx) == rank && keel_incarnation(ctx) == life);
    must(keel_win_alloc(ctx, 2 * sizeof(sum), NULL, &win) == KEEL_OK);
    keel_protect(ctx, 0, &step, sizeof(step));
    keel_protect(ctx, 1, &sum, sizeof(sum));
    do {
        status = keel_restarted(ctx) ? keel_restore(ctx) : KEEL_OK;
        while (status == KEEL_OK && step < STEPS) {
            sum += ((uint64_t *)keel_win_base(win))[(step + 1) % 2];
            (void)keel_put(win, (rank + 1) % RANKS, step % 2 * sizeof(step), &step, sizeof(step));
            if (step == STEPS / 2 && rank == 1 && life == 0) {
                die_or_stop();
            }
            step++;
            status = keel_gsync(ctx, KEEL_GSYNC_SAFE);
        }
        must(status == KEEL_ERR_ROLLED_BACK || sum == (STEPS - 1) * (STEPS - 2) / 2);
        status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    } while (status == KEEL_ERR_ROLLED_BACK);
    must(status == KEEL_OK);
}

static void run_steps(void)
{
    keel_attach_t table = table_of();
    pthread_t thread;
    keel_context_h ctx;

    if (table.events != NULL) {
        is_reporting = 1;
        must(pthread_create(&thread, NULL, report_events, table.events) == 0);
    }
    must(keel_init_attached(&table, NULL, &ctx) == KEEL_OK);
    steps(ctx);
    if (table.events != NULL) {
        __atomic_store_n(&is_reporting, 0, __ATOMIC_RELEASE);
        must(pthread_join(thread, NULL) == 0);
        must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_STATE); /* the queue has served */
        keel_events_destroy(table.events);
    }
}

/* One job after another in the same processes, with a death in the first. */
static void run_twice(void)
{
    const uint32_t first_life = life;

    run_steps();
    report(&board->job[0], KEEL_ATTACH_EXIT, rank, life);
    job_number = 1;
    life = 0;
    gathers = taken = 0;
    {
        keel_attach_t table = table_of();
        keel_context_h ctx;
        uint64_t value = rank;
        keel_win_h win;

        must(keel_init_attached(&table, NULL, &ctx) == KEEL_OK);
        must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_STATE);
        must(keel_win_alloc(ctx, sizeof(value), NULL, &win) == KEEL_OK);
        must(keel_put(win, (rank + 1) % RANKS, 0, &value, sizeof(value)) == KEEL_OK);
        must(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
        must(*(uint64_t *)keel_win_base(win) == (rank + RANKS - 1) % RANKS);
        must(keel_finalize(ctx) == KEEL_OK);
    }
    life = first_life;
}

static void refuse(const keel_attach_t *table, int line)
{
    keel_context_h ctx = NULL;

    if (keel_init_attached(table, NULL, &ctx) != KEEL_ERR_INVALID_PARAM || ctx != NULL) {
        fprintf(stderr, "attach_modes: the table of line %d is not refused\n", line);
        _exit(1);
    }
}

#define refuse_with(_change)         \
    do {                             \
        keel_attach_t table = right; \
                                     \
        _change;                     \
        refuse(&table, __LINE__);    \
    } while (0)

static void run_refused(void)
{
    const keel_attach_t right = table_of();
    const keel_params_t params = {.field_mask = KEEL_BIT(40)};
    keel_events_h events = NULL;
    keel_context_h ctx = NULL;

    refuse(NULL, __LINE__);
    refuse_with(table.struct_size = 0);
    refuse_with(table.struct_size = sizeof(table) + 8);
    refuse_with(table.size = 0);
    refuse_with(table.rank = RANKS);
    refuse_with(table.exchange = NULL);
    refuse_with(table.poll = NULL);
    refuse_with(table.announce = on_announce);
    refuse_with(table.lookup = on_lookup);
    refuse_with(table.secret_length = KEEL_ATTACH_SECRET_MIN - 1);
    refuse_with(table.transport = "pigeons");
    must(keel_events_create(RANKS + 1, &events) == KEEL_OK);
    refuse_with(table.events = events);
    must(keel_report_death(events, RANKS + 1, 0) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_death(NULL, 0, 0) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_join(events, 0, 0, "x", 1) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_join(events, 0, 1, NULL, 1) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_join(events, 0, 1, "x", 0) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_exit(events, RANKS + 1, 0) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_death(events, 0, UINT32_MAX) == KEEL_ERR_INVALID_PARAM);
    must(keel_report_death(events, RANKS, 0) == KEEL_OK);
    keel_events_destroy(events);
    keel_events_destroy(NULL);
    must(keel_events_create(0, &events) == KEEL_ERR_INVALID_PARAM);
    must(keel_events_create(RANKS, NULL) == KEEL_ERR_INVALID_PARAM);
    must(keel_init_attached(&right, &params, &ctx) == KEEL_ERR_INVALID_PARAM);
    must(keel_init_attached(&right, NULL, NULL) != KEEL_OK);
}

/* A start that fails leaves nothing behind: the next one is right. Each start has exchanges of its
 * own on the board. */
static void run_fails(void)
{
    for (unsigned i = 0; life == 0 && i < 2; i++) {
        keel_attach_t table = table_of();
        keel_context_h ctx = NULL;

        job_number = i;
        gathers = 0;
        fails_at = i;
        must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_RUNTIME && ctx == NULL);
    }
    fails_at = UINT32_MAX;
    job_number = 1;
    gathers = 2;
    run_steps();
}

/* A process has one context at a time, whichever call makes it. A failed start is reported to the
 * runtime. */
static void run_beside(void)
{
    keel_attach_t table = table_of();
    keel_context_h ctx = NULL, other = NULL;
    keel_win_h win;

    fails_at = 0;
    fails_with = KEEL_ERR_IO;
    must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_IO && ctx == NULL);
    fails_at = UINT32_MAX;
    gathers = 0;
    must(keel_init_attached(&table, NULL, &ctx) == KEEL_OK);
    must(keel_init(NULL, &other) == KEEL_ERR_STATE && other == NULL);
    must(keel_win_alloc(ctx, 64, NULL, &win) == KEEL_OK && keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
    must(keel_finalize(ctx) == KEEL_OK);
    must(keel_init(NULL, &other) == KEEL_OK);
    ctx = NULL;
    must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_STATE && ctx == NULL);
    must(keel_finalize(other) == KEEL_OK);
}

static void run_dedicated(void)
{
    keel_attach_t table = table_of();
    keel_context_h ctx = NULL;
    keel_status_t status = keel_init_attached(&table, NULL, &ctx);

    if (status == KEEL_OK) {
        keel_win_h win;

        must(rank < keel_size(ctx) && keel_size(ctx) < RANKS);
        must(keel_win_alloc(ctx, 64, NULL, &win) == KEEL_OK && keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
        must(keel_finalize(ctx) == KEEL_OK);
    } else {
        must(status == KEEL_ERR_CHECKSUM && ctx == NULL); /* the process goes on */
    }
}

static void run_abort(void)
{
    keel_attach_t table = table_of();
    keel_context_h ctx;

    must(keel_init_attached(&table, NULL, &ctx) == KEEL_OK);
    must(keel_gsync(ctx, 0) == KEEL_OK);
    if (rank == 2) {
        keel_abort_because(ctx, 7, "because");
    }
    pause(); /* until the runtime ends the job */
}

/* The runtime's own barrier follows the start, in one job after another: a rank that waits there
 * makes no call of Keel. */
static void run_barrier(void)
{
    for (job_number = 0; job_number < JOBS; job_number++) {
        keel_attach_t table = table_of();
        keel_context_h ctx;

        gathers = taken = 0;
        must(keel_init_attached(&table, NULL, &ctx) == KEEL_OK);
        __atomic_fetch_add(&notes->started, 1, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&notes->started, __ATOMIC_ACQUIRE) < RANKS * (job_number + 1)) {
            usleep(100);
        }
        must(keel_gsync(ctx, 0) == KEEL_OK && keel_finalize(ctx) == KEEL_OK);
        report(&board->job[job_number], KEEL_ATTACH_EXIT, rank, 0);
    }
}

static void ask(void)
{
    const uint32_t number = __atomic_add_fetch(&notes->asked, 1, __ATOMIC_SEQ_CST);

    while (__atomic_load_n(&notes->answered, __ATOMIC_ACQUIRE) != number) {
        usleep(100);
    }
}

/* Rank 0 waits in Keel, in one call after another. Rank 1 joins each call only after rank 0's
 * progress callback has answered. */
static void run_progress(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_PROGRESS | KEEL_PARAM_FIELD_FLAGS,
                                  .flags = KEEL_PARAM_FLAG_WAITS,
                                  .progress = (rank == 0) ? on_progress : NULL,
                                  .progress_arg = &notes->asked};
    keel_attach_t table = table_of();
    uint64_t one = 1;
    keel_context_h ctx;
    keel_win_h win;

    must(keel_init_attached(&table, &params, &ctx) == KEEL_OK);
    must(keel_win_alloc(ctx, 64, NULL, &win) == KEEL_OK);
    if (rank == 1) {
        ask();
    }
    must(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK);
    if (rank == 0) {
        must(keel_wait_until(win, 0, sizeof(one), KEEL_COMPARE_EQ, 1) == KEEL_OK);
    } else if (rank == 1) {
        ask();
        must(keel_put(win, 0, 0, &one, sizeof(one)) == KEEL_OK && keel_flush(ctx, 0) == KEEL_OK);
        ask();
    }
    must(keel_finalize(ctx) == KEEL_OK);
}

/* KEEL_TRANSPORT names a transport that cannot serve the job: the table's choice prevails. */
static void run_suspect(void)
{
    keel_attach_t table = table_of();
    keel_context_h ctx = NULL;

    table.transport = NULL;
    if (life == 0 && access("/sys/class/infiniband", F_OK) != 0) {
        must(keel_init_attached(&table, NULL, &ctx) == KEEL_ERR_TRANSPORT && ctx == NULL && gathers == 0);
    }
    run_steps();
}

static void run(void)
{
    void (*program)(void) = is_mode("twice")       ? run_twice
                            : is_mode("refused")   ? run_refused
                            : is_mode("fails")     ? run_fails
                            : is_mode("beside")    ? run_beside
                            : is_mode("dedicated") ? run_dedicated
                            : is_mode("abort")     ? run_abort
                            : is_mode("barrier")   ? run_barrier
                            : is_mode("progress")  ? run_progress
                            : is_mode("suspect")   ? run_suspect
                                                   : run_steps;

    program();
}

/* ---- the launcher ---- */

/* The next life starts when every other rank has asked for it; nobody reports the death. */
static void replace_on_request(uint32_t of)
{
    const uint32_t others = ((1u << RANKS) - 1) & ~(1u << of);

    must(of == 1 && lives[of] == 0 && notes->is_killed);
    __atomic_store_n(&notes->is_dead, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&notes->replaced_by, __ATOMIC_ACQUIRE) != others) {
        must(waitpid(-1, NULL, WNOHANG) == 0); /* all of them live */
        usleep(100);
    }
    start(of, ++lives[of], run);
}

static void ended(uint32_t of, int status)
{
    const uint32_t second = is_mode("fails") ? 1 : 0;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        report(&board->job[is_mode("twice") ? 1 : second], KEEL_ATTACH_EXIT, of, is_mode("twice") ? 0 : lives[of]);
        left--;
    } else if (is_mode("abort")) {
        must(WIFSIGNALED(status) || (of == 2 && WEXITSTATUS(status) == 7));
        notes->ends += WIFEXITED(status);
        left--;
        end_all();
    } else if (WIFEXITED(status)) {
        end_all();
        exit(1);
    } else if (is_mode("suspect")) {
        deaths++;
        replace_on_request(of);
    } else {
        replace(of, second, run);
    }
}

int main(int argc, char **argv)
{
    mode = (argc == 2) ? argv[1] : "";
    notes = shared_memory(sizeof(*notes));
    launch(run, ended);
    must(deaths == ((is_mode("twice") || is_mode("events") || is_mode("sink") || is_mode("fails") || is_mode("suspect"))
                        ? 1u
                        : 0u));
    must(!is_mode("sink") || notes->lines > 0);
    must(!is_mode("beside") || notes->lines == RANKS);
    if (!is_mode("refused") && !is_mode("abort")) { /* once for each context that met the others */
        must(board->leaves == RANKS * (is_mode("twice") || is_mode("barrier") ? JOBS : 1));
        must(board->finishes == board->leaves);
    }
    must(!is_mode("abort") || (notes->aborts == 1 && notes->ends == 1));
    printf("attach_modes: %s: right\n", mode);
    return 0;
}
