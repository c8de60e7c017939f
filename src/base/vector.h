/*
 * The state of the vector registers behind a library's assembler. Functions of ISA-L leave the
 * upper halves of the AVX registers in use. Until they are cleared, the SSE instructions of the
 * program take several times as long on many processors: 5.7 times was measured.
 */
#ifndef KEEL_BASE_VECTOR_H_
#define KEEL_BASE_VECTOR_H_

/* Call after each call of a function of ISA-L that may use AVX. */
static inline void keel_vector_end(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) {
        __asm__ volatile("vzeroupper" ::
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                               "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    }
#endif
}

#endif
