// OpenSHMEM from C++: typed names, of the default context and another, complex numbers.
#include <shmem.h>

#include <complex>
#include <cstdio>

int main()
{
    shmem_init();

    const int pe = shmem_my_pe(), pes = shmem_n_pes(), right = (pe + 1) % pes;
    long *words = static_cast<long *>(shmem_calloc(3, sizeof(long)));
    static shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    bool is_right = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, nullptr, 0, &team) == 0;

    is_right = is_right && shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx) == 0;
    shmem_ctx_long_p(ctx, &words[0], pe + 1, right);
    shmem_long_atomic_add(&words[1], pe, 0);
    shmem_ctx_quiet(ctx);
    shmem_long_wait_until(&words[0], SHMEM_CMP_NE, 0);
    is_right = is_right && words[0] == (pe + pes - 1) % pes + 1;
    shmem_barrier_all();
    is_right = is_right && shmem_long_g(&words[1], 0) == pes * (pes - 1) / 2;
    is_right = is_right && shmem_int64_or_reduce(team, &words[2], &words[0], 1) == 0;

    static std::complex<double> own, sum;

    own = std::complex<double>(pe, 1);
    is_right = is_right && shmem_complexd_sum_reduce(team, reinterpret_cast<shmemx_complexd_t *>(&sum),
                                                     reinterpret_cast<const shmemx_complexd_t *>(&own), 1) == 0;
    is_right = is_right && sum == std::complex<double>(pes * (pes - 1) / 2, pes);
    std::printf("shmem_cplus: PE %d: %s\n", pe, is_right ? "right" : "WRONG");
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    shmem_free(words);
    shmem_finalize();
    return is_right ? 0 : 1;
}
