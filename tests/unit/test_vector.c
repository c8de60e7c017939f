/*
 * The upper halves of the AVX registers are clear when a function of Keel returns that calls
 * ISA-L, or copies by AVX: else the program's SSE instructions are slow.
 */
#include "base/copy.h"
#include "base/crc.h"
#include "base/vector.h"
#include "code/rs.h"
#include "code/xor.h"

#include "unit.h"

#include <string.h>

#define BYTES ((size_t)16384)

static uint8_t chunks[3][BYTES] __attribute__((aligned(64)));
static uint8_t target[BYTES] __attribute__((aligned(64)));

#if defined(__x86_64__)
enum { REGISTERS = 16, WORDS = 4 };

#define STORE(_n) "vmovups %%ymm" #_n ", 32*" #_n "(%0)\n"

static void fill_upper_halves(void)
{
    __asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n"
                     "vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n"
                     "vmovaps %%ymm0, %%ymm5\n"
                     "vmovaps %%ymm0, %%ymm15\n" ::
                         : "xmm0", "xmm5", "xmm15");
}

/* Returns the bits of all upper halves, by or. */
static uint64_t upper_halves(void)
{
    uint64_t words[REGISTERS][WORDS], all = 0;

    __asm__ volatile(STORE(0) STORE(1) STORE(2) STORE(3) STORE(4) STORE(5) STORE(6) STORE(7) STORE(8) STORE(9) STORE(10)
                         STORE(11) STORE(12) STORE(13) STORE(14) STORE(15)
                     :
                     : "r"(words)
                     : "memory");
    for (unsigned i = 0; i < REGISTERS; i++) {
        all |= words[i][2] | words[i][3];
    }
    return all;
}

static int is_avx(void)
{
    return __builtin_cpu_supports("avx");
}
#else
static void fill_upper_halves(void)
{
}
static uint64_t upper_halves(void)
{
    return 0;
}
static int is_avx(void)
{
    return 0;
}
#endif

START_TEST(end_clears_all_registers)
{
    if (is_avx()) {
        fill_upper_halves();
        ck_assert_uint_ne(upper_halves(), 0);
        keel_vector_end();
        ck_assert_uint_eq(upper_halves(), 0);
    }
}
END_TEST

START_TEST(sums_leave_registers_clear)
{
    keel_vector_end();
    for (size_t length = 1; is_avx() && length <= BYTES; length *= 2) {
        (void)keel_crc(0, chunks[0], length);
        ck_assert_uint_eq(upper_halves(), 0);
        (void)keel_crc_copy(0, target, chunks[0], length);
        ck_assert_uint_eq(upper_halves(), 0);
        (void)keel_crc_copy_kept(0, target, chunks[0], length);
        ck_assert_uint_eq(upper_halves(), 0);
    }
}
END_TEST

START_TEST(codes_leave_registers_clear)
{
    const void *const sources[3] = {chunks[0], chunks[1], chunks[2]};
    const uint8_t coefficients[3] = {1, 7, 19};

    memset(chunks, 0x5a, sizeof(chunks));
    keel_vector_end();
    for (size_t length = 64; is_avx() && length <= BYTES; length *= 2) {
        keel_rs_combine(target, sources, coefficients, 3, length);
        ck_assert_uint_eq(upper_halves(), 0);
        keel_rs_add(target, chunks[0], 7, length);
        ck_assert_uint_eq(upper_halves(), 0);
        keel_xor(target, sources, 3, length);
        ck_assert_uint_eq(upper_halves(), 0);
        keel_xor_into(target, chunks[0], length);
        ck_assert_uint_eq(upper_halves(), 0);
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {end_clears_all_registers, sums_leave_registers_clear, codes_leave_registers_clear, NULL};

    return unit_run("vector", tests);
}
