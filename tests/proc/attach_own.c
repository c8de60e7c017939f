/*
 * A runtime with a UCP context of its own beside Keel's, over tcp (UCX_TLS=tcp): attach_own MODE.
 *  - put: a put and flush of the runtime complete while the target waits in keel_gsync(), by the
 *    target's keel_params_t.progress alone.
 *  - memory: windows that are also registered with the runtime's context, one of them over memory
 *    that the runtime mapped. A rank dies. The replacement has the puts by Keel, and of the puts by
 *    the runtime only those from before the checkpoint.
 * Prints "attach_own: MODE: right" at the end.
 */
#include "attach_host.h"

#include <ucp/api/ucp.h>

enum { MEMORIES = 2, ADDRESS_MAX = 1024, KEY_MAX = 256, BYTES = 1 << 16, LOOKS = 1000 };

/* What each life of a rank publishes of its own UCP worker. */
typedef struct own {
    uint32_t is_there; /* written last */
    char address[ADDRESS_MAX];
    struct {
        uint64_t base;
        char key[KEY_MAX];
    } memory[MEMORIES];
} own_t;

static struct {
    own_t own[RANKS][LIVES];
    uint32_t is_closed, progressed; /* of rank 0 in the mode put */
    uint32_t is_seen;               /* rank 1 has seen all puts before its death */
} * notes;

static ucp_context_h ucp;
static ucp_worker_h worker;
static ucp_mem_h handles[MEMORIES];
static unsigned handle_count;
static struct {
    ucp_ep_h ep;
    ucp_rkey_h keys[MEMORIES];
    const own_t *of;
} peer; /* one at a time */

/* ---- the runtime's own puts ---- */

static void own_progress(void *arg)
{
    (void)arg;
    (void)ucp_worker_progress(worker);
}

static void own_open(void)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_RMA};
    const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;
    ucp_address_t *address;
    size_t length;

    must(ucp_config_read(NULL, NULL, &config) == UCS_OK && ucp_init(&params, config, &ucp) == UCS_OK);
    ucp_config_release(config);
    must(ucp_worker_create(ucp, &worker_params, &worker) == UCS_OK);
    must(ucp_worker_get_address(worker, &address, &length) == UCS_OK && length <= ADDRESS_MAX);
    memcpy(notes->own[rank][life].address, address, length);
    ucp_worker_release_address(worker, address);
}

static void own_register(void *memory, size_t bytes)
{
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                         .address = memory,
                                         .length = bytes};
    own_t *own = &notes->own[rank][life];
    void *key;
    size_t length;

    must(ucp_mem_map(ucp, &params, &handles[handle_count]) == UCS_OK);
    must(ucp_rkey_pack(ucp, handles[handle_count], &key, &length) == UCS_OK && length <= KEY_MAX);
    memcpy(own->memory[handle_count].key, key, length);
    own->memory[handle_count].base = (uintptr_t)memory;
    ucp_rkey_buffer_release(key);
    handle_count++;
}

static void own_publish(void)
{
    __atomic_store_n(&notes->own[rank][life].is_there, 1, __ATOMIC_RELEASE);
}

static void wait_for(ucs_status_ptr_t request)
{
    must(!UCS_PTR_IS_ERR(request));
    if (request != NULL) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            own_progress(NULL);
        }
        must(ucp_request_check_status(request) == UCS_OK);
        ucp_request_free(request);
    }
}

static void on_broken(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg, (void)ep, (void)status;
}

static void own_disconnect(void)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t closing;

    if (peer.of == NULL) {
        return;
    }
    for (unsigned i = 0; i < handle_count; i++) {
        ucp_rkey_destroy(peer.keys[i]);
    }
    closing = ucp_ep_close_nbx(peer.ep, &force);
    while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS) {
        own_progress(NULL);
    }
    if (UCS_PTR_IS_PTR(closing)) {
        ucp_request_free(closing);
    }
    peer.of = NULL;
}

static void own_connect(const own_t *of)
{
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                  UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                    .address = (const ucp_address_t *)of->address,
                                    .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                    .err_handler.cb = on_broken};

    own_disconnect();
    while (!__atomic_load_n(&of->is_there, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    must(ucp_ep_create(worker, &params, &peer.ep) == UCS_OK);
    for (unsigned i = 0; i < handle_count; i++) {
        must(ucp_ep_rkey_unpack(peer.ep, of->memory[i].key, &peer.keys[i]) == UCS_OK);
    }
    peer.of = of;
}

/* Puts a word. @return the flush, which is pending at least until the target progresses. */
static ucs_status_ptr_t own_put(unsigned memory, unsigned word, const uint64_t *value)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};

    wait_for(ucp_put_nbx(peer.ep, value, sizeof(*value), peer.of->memory[memory].base + word * sizeof(*value),
                         peer.keys[memory], &param));
    return ucp_ep_flush_nbx(peer.ep, &param);
}

/* Before the memory goes with its window. */
static void own_unregister(void)
{
    own_disconnect();
    while (handle_count > 0) {
        must(ucp_mem_unmap(ucp, handles[--handle_count]) == UCS_OK);
    }
}

/* After keel_finalize(), which progresses the worker. */
static void own_close(void)
{
    ucp_worker_destroy(worker);
    ucp_cleanup(ucp);
}

/* ---- put ---- */

/* Progress of rank 0: nothing while the gate is closed. */
static void gated_progress(void *arg)
{
    must(arg == notes);
    if (!__atomic_load_n(&notes->is_closed, __ATOMIC_ACQUIRE)) {
        own_progress(NULL);
    }
    __atomic_fetch_add(&notes->progressed, 1, __ATOMIC_RELEASE);
}

static void wait_for_looks(unsigned looks)
{
    const uint32_t before = __atomic_load_n(&notes->progressed, __ATOMIC_ACQUIRE);

    while (__atomic_load_n(&notes->progressed, __ATOMIC_ACQUIRE) - before < looks) {
        own_progress(NULL);
    }
}

/* Rank 0 is in keel_gsync() and returns only after rank 1's call. The first put and flush complete.
 * The second do not while rank 0's callback leaves the worker alone, and complete afterwards. */
static void put_to_waiting(void)
{
    static const uint64_t values[] = {11, 12};
    ucs_status_ptr_t flush;

    own_connect(&notes->own[0][0]);
    wait_for(own_put(0, 0, &values[0]));
    __atomic_store_n(&notes->is_closed, 1, __ATOMIC_RELEASE);
    wait_for_looks(2); /* a call that found the gate open has returned */
    flush = own_put(0, 1, &values[1]);
    wait_for_looks(LOOKS);
    must(UCS_PTR_IS_PTR(flush) && ucp_request_check_status(flush) == UCS_INPROGRESS);
    __atomic_store_n(&notes->is_closed, 0, __ATOMIC_RELEASE);
    wait_for(flush);
}

static void run_put(void)
{
    static uint64_t landing[2];
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_PROGRESS,
                                  .progress = (rank == 0) ? gated_progress : own_progress,
                                  .progress_arg = notes};
    keel_attach_t table = host_table();
    keel_context_h ctx;

    own_open();
    own_register(landing, sizeof(landing));
    must(keel_init_attached(&table, &params, &ctx) == KEEL_OK);
    own_publish();
    if (rank == 1) {
        put_to_waiting();
    }
    must(keel_gsync(ctx, 0) == KEEL_OK);
    must(rank != 0 || (landing[0] == 11 && landing[1] == 12));
    own_unregister();
    must(keel_finalize(ctx) == KEEL_OK);
    own_close();
}

/* ---- memory ---- */

enum { STEPS = 12, EARLY = 3, CHECKPOINT = 5, LATE = 7, DEATH = 9 };
/* Words of both windows. Keel puts the words 0, 1 and BY_KEEL, the runtime the others: before the
 * checkpoint, between checkpoint and death, to the replacement. */
enum { BY_KEEL = 2, OWN_EARLY, OWN_LATE, OWN_AFTER };

typedef struct {
    keel_context_h ctx;
    keel_win_h win[MEMORIES];
    uint64_t step, sum; /* protected */
} program_t;

static uint64_t word_of(const program_t *program, unsigned window, unsigned word)
{
    return ((const volatile uint64_t *)keel_win_base(program->win[window]))[word];
}

static uint64_t value_of(unsigned window, unsigned word)
{
    return 1000 * (window + 1) + word;
}

/* Rank 0 puts a word to both memories of rank 1 by the runtime's own endpoint. */
static void own_put_both(unsigned word, uint32_t to_life)
{
    own_connect(&notes->own[1][to_life]);
    for (unsigned i = 0; i < MEMORIES; i++) {
        const uint64_t value = value_of(i, word);

        wait_for(own_put(i, word, &value));
    }
}

/* The words of rank 1 that hold their values; the others are 0. */
static void must_hold(const program_t *program, int has_late, int has_after)
{
    for (unsigned i = 0; i < MEMORIES; i++) {
        must(word_of(program, i, BY_KEEL) == value_of(i, BY_KEEL));
        must(word_of(program, i, OWN_EARLY) == value_of(i, OWN_EARLY));
        must(word_of(program, i, OWN_LATE) == (has_late ? value_of(i, OWN_LATE) : 0));
        must(word_of(program, i, OWN_AFTER) == (has_after ? value_of(i, OWN_AFTER) : 0));
    }
}

static void put_both(const program_t *program, unsigned word, uint64_t first, uint64_t second)
{
    const uint64_t values[MEMORIES] = {first, second};

    for (unsigned i = 0; i < MEMORIES; i++) {
        must(keel_put(program->win[i], (rank + 1) % RANKS, word * sizeof(uint64_t), &values[i], sizeof(values[i])) ==
             KEEL_OK);
    }
}

static void one_step(program_t *program)
{
    const unsigned step = (unsigned)program->step;

    program->sum += word_of(program, 0, (step + 1) % 2) + word_of(program, 1, (step + 1) % 2);
    put_both(program, step % 2, step, 3 * step);
    if (rank == 0 && (step == EARLY || step == LATE)) {
        own_put_both(step == EARLY ? OWN_EARLY : OWN_LATE, 0);
    }
    if (rank == 0 && step == LATE) {
        put_both(program, BY_KEEL, value_of(0, BY_KEEL), value_of(1, BY_KEEL));
    }
    if (rank == 1 && step == DEATH && life == 0) {
        must_hold(program, 1, 0);
        notes->is_seen = 1;
        (void)kill(getpid(), SIGKILL);
    }
    program->step++;
    must((step == CHECKPOINT ? keel_checkpoint(program->ctx) : keel_gsync(program->ctx, 0)) == KEEL_OK);
}

static void open_windows(program_t *program)
{
    void *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(mapped != MAP_FAILED);
    must(keel_win_alloc(program->ctx, BYTES, NULL, &program->win[0]) == KEEL_OK);
    must(keel_win_create(program->ctx, mapped, BYTES, NULL, &program->win[1]) == KEEL_OK);
    must(keel_win_base(program->win[1]) == mapped);
    must(keel_protect(program->ctx, 0, &program->step, sizeof(program->step)) == KEEL_OK);
    must(keel_protect(program->ctx, 1, &program->sum, sizeof(program->sum)) == KEEL_OK);
    for (unsigned i = 0; i < MEMORIES; i++) {
        own_register(keel_win_base(program->win[i]), BYTES);
    }
    own_publish();
}

/* The death is recovered locally, from the checkpoint, so rank 0 does not repeat its puts. */
static void must_be_local(const program_t *program)
{
    keel_stats_t stats;

    must(keel_stats(program->ctx, &stats, sizeof(stats)) == KEEL_OK);
    must(stats.rollbacks == 0 && stats.generation > 0 && keel_rank_incarnation(program->ctx, 1) == 1);
}

static void run_memory(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_PROGRESS, .progress = own_progress};
    keel_attach_t table = host_table();
    program_t program = {0};

    own_open();
    must(keel_init_attached(&table, &params, &program.ctx) == KEEL_OK);
    open_windows(&program);
    if (keel_restarted(program.ctx)) {
        must(keel_restore(program.ctx) == KEEL_OK && program.step == CHECKPOINT + 1);
    }
    while (program.step < STEPS) {
        one_step(&program);
    }
    must(program.sum == 4 * (STEPS - 1) * (STEPS - 2) / 2);
    must_be_local(&program);
    if (rank == 1) {
        must(life == 1 && notes->is_seen);
        must_hold(&program, 0, 0);
    }
    must(keel_gsync(program.ctx, 0) == KEEL_OK);
    if (rank == 0) {
        own_put_both(OWN_AFTER, 1);
    }
    must(keel_gsync(program.ctx, 0) == KEEL_OK);
    if (rank == 1) {
        must_hold(&program, 0, 1);
    }
    own_unregister();
    must(keel_finalize(program.ctx) == KEEL_OK);
    own_close();
}

/* ---- the launcher ---- */

static void run(void)
{
    (is_mode("put") ? run_put : run_memory)();
}

static void ended(uint32_t of, int status)
{
    if (WIFEXITED(status)) {
        must(WEXITSTATUS(status) == 0);
        report(&board->job[0], KEEL_ATTACH_EXIT, of, lives[of]);
        left--;
        return;
    }
    must(WTERMSIG(status) == SIGKILL);
    replace(of, 0, run);
}

int main(int argc, char **argv)
{
    mode = (argc == 2) ? argv[1] : "";
    must(is_mode("put") || is_mode("memory"));
    notes = shared_memory(sizeof(*notes));
    launch(run, ended);
    must(deaths == (is_mode("memory") ? 1u : 0u));
    printf("attach_own: %s: right\n", mode);
    return 0;
}
