/* Atomics executed by the CPU: every operation, both sizes, and no change around the word. */
#include "peer/apply.h"

#include "unit.h"

#define BEFORE  0xf0f0f0f0f0f0f0f0ull
#define OPERAND 0x1234567890abcdefull

static uint64_t expected(keel_atomic_op_t op, uint64_t old, uint64_t operand, uint64_t compare)
{
    switch (op) {
    case KEEL_ATOMIC_ADD:
        return old + operand;
    case KEEL_ATOMIC_AND:
        return old & operand;
    case KEEL_ATOMIC_OR:
        return old | operand;
    case KEEL_ATOMIC_XOR:
        return old ^ operand;
    case KEEL_ATOMIC_SWAP:
    case KEEL_ATOMIC_SET:
        return operand;
    case KEEL_ATOMIC_MIN:
        return (old < operand) ? old : operand;
    case KEEL_ATOMIC_MAX:
        return (old > operand) ? old : operand;
    /* the former value is below 0, in both sizes, and OPERAND in the smaller size */
    case KEEL_ATOMIC_MIN_SIGNED:
        return (old >> 32 != 0 || old < operand) ? old : operand;
    case KEEL_ATOMIC_MAX_SIGNED:
        return (old >> 32 != 0 || old < operand) ? operand : old;
    default:
        return (old == compare) ? operand : old;
    }
}

static void apply(keel_atomic_op_t op, unsigned size, uint64_t compare)
{
    const uint64_t mask = (size == 8) ? UINT64_MAX : UINT32_MAX;
    const keel_record_atomic_t atomic = {
        .op = (uint8_t)op, .size = (uint8_t)size, .operand = OPERAND, .compare = compare};
    uint64_t words[3] = {BEFORE, BEFORE, BEFORE};
    const uint64_t want = expected(op, BEFORE & mask, OPERAND & mask, compare & mask) & mask;

    ck_assert_uint_eq(keel_apply_atomic(&words[1], &atomic), BEFORE & mask);
    ck_assert_uint_eq(words[1], want | (BEFORE & ~mask));
    ck_assert_uint_eq(words[0], BEFORE);
    ck_assert_uint_eq(words[2], BEFORE);
}

START_TEST(every_operation_gives_the_old_value_and_leaves_the_new_one)
{
    for (unsigned op = 0; op < KEEL_ATOMIC_LAST; op++) {
        if (!keel_atomic_is_logged(op)) {
            continue;
        }
        for (unsigned size = 4; size <= 8; size += 4) {
            apply((keel_atomic_op_t)op, size, BEFORE);
            apply((keel_atomic_op_t)op, size, BEFORE + 1);
            apply((keel_atomic_op_t)op, size, BEFORE + (1ull << 32)); /* equal in the lower half */
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_operation_gives_the_old_value_and_leaves_the_new_one, NULL};

    return unit_run("apply", tests);
}
