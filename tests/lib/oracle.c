/* The interpreter: accesses take effect at once on plain arrays. */
#include "oracle.h"

#include "play.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct oracle {
    const plan_t *plan;
    uint64_t *value;
    unsigned value_count, value_capacity;
    /* index of the value of point 0 of (phase, rank), and one after the last */
    unsigned *first;
    unsigned char *memory; /* memory of all phases */
    size_t *offset;        /* of (window, rank) in the memory of a phase */
    size_t phase_bytes;
    unsigned char *now;
    play_t *play;
};

static unsigned char *oracle_at(oracle_t *oracle, const plan_op_t *op)
{
    return oracle->now + oracle->offset[op->window * oracle->plan->options.ranks + op->target] + op->offset;
}

static keel_status_t oracle_put(void *arg, const plan_op_t *op, const void *buffer, keel_send_cb_t cb, void *user,
                                keel_req_h *req_p)
{
    memcpy(oracle_at(arg, op), buffer, op->length);
    return KEEL_OK;
}

static keel_status_t oracle_get(void *arg, const plan_op_t *op, void *buffer, keel_send_cb_t cb, void *user,
                                keel_req_h *req_p)
{
    memcpy(buffer, oracle_at(arg, op), op->length);
    return KEEL_OK;
}

static int is_less(uint64_t a, uint64_t b, const plan_op_t *op)
{
    const unsigned beyond = 64 - 8 * op->length; /* bits above the word */

    a <<= beyond;
    b <<= beyond;
    return (op->atomic == KEEL_ATOMIC_MIN_SIGNED || op->atomic == KEEL_ATOMIC_MAX_SIGNED) ? (int64_t)a < (int64_t)b
                                                                                          : a < b;
}

static keel_status_t oracle_update(void *arg, const plan_op_t *op, uint64_t operand, uint64_t compare, void *result,
                                   keel_send_cb_t cb, void *user, keel_req_h *req_p)
{
    unsigned char *at = oracle_at(arg, op);
    uint64_t old = 0, next;

    memcpy(&old, at, op->length);
    if (op->length == 4) {
        compare = (uint32_t)compare;
    }
    switch (op->atomic) {
    case KEEL_ATOMIC_ADD:
        next = old + operand;
        break;
    case KEEL_ATOMIC_AND:
        next = old & operand;
        break;
    case KEEL_ATOMIC_OR:
        next = old | operand;
        break;
    case KEEL_ATOMIC_XOR:
        next = old ^ operand;
        break;
    case KEEL_ATOMIC_SWAP:
    case KEEL_ATOMIC_SET:
        next = operand;
        break;
    case KEEL_ATOMIC_MIN:
    case KEEL_ATOMIC_MIN_SIGNED:
        next = is_less(old, operand, op) ? old : operand;
        break;
    case KEEL_ATOMIC_MAX:
    case KEEL_ATOMIC_MAX_SIGNED:
        next = is_less(old, operand, op) ? operand : old;
        break;
    default:
        next = (old == compare) ? operand : old;
        break;
    }
    memcpy(at, &next, op->length);
    if (result != NULL) {
        memcpy(result, &old, op->length);
    }
    return KEEL_OK;
}

static keel_status_t oracle_request(void *arg, keel_req_h req)
{
    return KEEL_OK;
}

static void oracle_release(void *arg, keel_req_h req)
{
}

static keel_status_t oracle_nothing(void *arg)
{
    return KEEL_OK;
}

static keel_status_t oracle_flush(void *arg, uint32_t rank)
{
    return KEEL_OK;
}

static void oracle_compute(void *arg, uint64_t ns)
{
}

static int oracle_observe(void *arg, uint32_t phase, unsigned point, uint64_t value, const char *what)
{
    oracle_t *oracle = arg;

    if (oracle->value_count == oracle->value_capacity) {
        oracle->value_capacity = 2 * oracle->value_capacity + 256;
        oracle->value = realloc(oracle->value, oracle->value_capacity * sizeof(*oracle->value));
        assert(oracle->value != NULL);
    }
    oracle->value[oracle->value_count++] = value;
    return 0;
}

static void oracle_layout(oracle_t *oracle)
{
    const plan_t *plan = oracle->plan;
    uint32_t r;
    unsigned w;

    for (w = 0; w < plan->window_count; ++w) {
        for (r = 0; r < plan->options.ranks; ++r) {
            oracle->offset[w * plan->options.ranks + r] = oracle->phase_bytes;
            oracle->phase_bytes += plan_window_bytes(plan, w, r);
        }
    }
}

static void oracle_interpret(oracle_t *oracle, const play_access_t *access, void *scratch)
{
    const plan_t *plan = oracle->plan;
    const uint32_t ranks = plan->options.ranks;
    uint32_t phase, r;
    unsigned w;

    for (r = 0; r < ranks; ++r) {
        play_start(&oracle->play[r], plan, r, access, scratch);
    }
    for (phase = 0; phase < plan->options.phases; ++phase) {
        oracle->now = oracle->memory + (phase + 1) * oracle->phase_bytes;
        memcpy(oracle->now, oracle->now - oracle->phase_bytes, oracle->phase_bytes);
        for (r = 0; r < ranks; ++r) {
            for (w = 0; w < plan->window_count; ++w) {
                oracle->play[r].base[w] = oracle->now + oracle->offset[w * ranks + r];
            }
            oracle->first[phase * ranks + r] = oracle->value_count;
            (void)play_phase(&oracle->play[r]);
            ++oracle->play[r].state.phase;
        }
    }
    oracle->first[plan->options.phases * ranks] = oracle->value_count;
}

oracle_t *oracle_create(const plan_t *plan)
{
    oracle_t *oracle = calloc(1, sizeof(*oracle));
    const play_access_t access = {.put = oracle_put,
                                  .get = oracle_get,
                                  .update = oracle_update,
                                  .wait = oracle_request,
                                  .test = oracle_request,
                                  .release = oracle_release,
                                  .progress = oracle_nothing,
                                  .flush = oracle_flush,
                                  .flush_all = oracle_nothing,
                                  .fence = oracle_nothing,
                                  .compute = oracle_compute,
                                  .observe = oracle_observe,
                                  .arg = oracle};
    void *scratch = malloc((size_t)PLAN_EPOCH_OPS * PLAN_SLOT_BYTES);

    assert((oracle != NULL) && (scratch != NULL));
    oracle->plan = plan;
    oracle->offset = calloc((size_t)PLAN_WINDOWS_MAX * plan->options.ranks, sizeof(*oracle->offset));
    oracle->first = calloc((size_t)plan->options.phases * plan->options.ranks + 1, sizeof(*oracle->first));
    oracle->play = calloc(plan->options.ranks, sizeof(*oracle->play));
    assert((oracle->offset != NULL) && (oracle->first != NULL) && (oracle->play != NULL));
    oracle_layout(oracle);
    oracle->memory = calloc(plan->options.phases + 1, oracle->phase_bytes + 1);
    assert(oracle->memory != NULL);
    oracle_interpret(oracle, &access, scratch);
    free(scratch);
    return oracle;
}

void oracle_destroy(oracle_t *oracle)
{
    free(oracle->value);
    free(oracle->first);
    free(oracle->memory);
    free(oracle->offset);
    free(oracle->play);
    free(oracle);
}

uint64_t oracle_value(const oracle_t *oracle, uint32_t phase, uint32_t rank, unsigned point)
{
    return oracle->value[oracle->first[phase * oracle->plan->options.ranks + rank] + point];
}

unsigned oracle_points(const oracle_t *oracle, uint32_t phase, uint32_t rank)
{
    const unsigned *first = &oracle->first[phase * oracle->plan->options.ranks + rank];

    return first[1] - first[0];
}

const unsigned char *oracle_memory(const oracle_t *oracle, uint32_t phase, unsigned window, uint32_t rank)
{
    return oracle->memory + phase * oracle->phase_bytes + oracle->offset[window * oracle->plan->options.ranks + rank];
}

uint64_t oracle_final_hash(const oracle_t *oracle, uint32_t rank)
{
    return oracle->play[rank].state.hash;
}
