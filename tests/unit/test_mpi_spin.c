/* Waiting ranks of the MPI adapter: when a rank spins, and when a rank yields its core. */
#include "adapters/mpi/p2p/mpi_spin.h"

#include "unit.h"

enum { MACHINE = 77, OTHER_MACHINE = 78 };

START_TEST(rank_with_a_core_of_its_own_spins)
{
    ck_assert_uint_eq(keel_mpi_spins(2, 2, 0), KEEL_MPI_SPINS);
    ck_assert_uint_eq(keel_mpi_spins(1, 64, 0), KEEL_MPI_SPINS);
}
END_TEST

START_TEST(rank_that_shares_its_core_yields_soon)
{
    ck_assert_uint_eq(keel_mpi_spins(3, 2, 0), KEEL_MPI_SPINS_CROWDED);
    ck_assert_uint_eq(keel_mpi_spins(2, 2, 1), KEEL_MPI_SPINS_CROWDED);
    ck_assert_uint_eq(keel_mpi_spins(2, 1, 1), KEEL_MPI_SPINS_CROWDED);
}
END_TEST

START_TEST(core_is_shared_with_a_rank_of_the_same_core_alone)
{
    const uint32_t own = keel_mpi_core(MACHINE, 3);
    uint32_t heard[3] = {0, keel_mpi_core(MACHINE, 2), keel_mpi_core(OTHER_MACHINE, 3)};

    ck_assert_uint_eq(keel_mpi_core_sharer(own, heard, 3), 3);
    heard[1] = own;
    ck_assert_uint_eq(keel_mpi_core_sharer(own, heard, 3), 1);
    ck_assert_uint_eq(keel_mpi_core_sharer(own, heard, 1), 1);
}
END_TEST

START_TEST(unknown_cores_are_not_shared)
{
    const uint32_t heard[2] = {0, 0};

    ck_assert_uint_eq(keel_mpi_core(0, 3), 0);
    ck_assert_uint_eq(keel_mpi_core(MACHINE, -1), 0);
    ck_assert_uint_eq(keel_mpi_core(MACHINE, (1 << KEEL_MPI_SPIN_CPU_BITS) - 1), 0);
    ck_assert_uint_eq(keel_mpi_core_sharer(0, heard, 2), 2);
}
END_TEST

START_TEST(later_of_two_ranks_leaves_their_core_if_there_are_cores_enough)
{
    ck_assert(keel_mpi_core_is_left(1, 0, 2, 2));
    ck_assert(!keel_mpi_core_is_left(0, 1, 2, 2));
    ck_assert(!keel_mpi_core_is_left(1, 0, 3, 2));
    ck_assert(!keel_mpi_core_is_left(1, 2, 2, 2)); /* none shares it */
}
END_TEST

START_TEST(each_core_of_each_machine_has_a_name_of_its_own)
{
    const uint32_t largest = (1U << (32 - KEEL_MPI_SPIN_CPU_BITS)) - 1;

    for (int cpu = 0; cpu < (1 << KEEL_MPI_SPIN_CPU_BITS) - 1; cpu++) {
        ck_assert_uint_ne(keel_mpi_core(largest, cpu), 0);
        ck_assert_uint_ne(keel_mpi_core(largest, cpu), keel_mpi_core(largest - 1, cpu));
        ck_assert_uint_ne(keel_mpi_core(largest, cpu), keel_mpi_core(largest, cpu - 1));
    }
}
END_TEST

/* A short wait reads no number of a core. */
START_TEST(first_look_at_cores_is_the_last_crowded_round)
{
    unsigned looks = 0;

    for (unsigned round = 0; round < KEEL_MPI_SPINS_CROWDED; round++) {
        looks += (unsigned)keel_mpi_spin_is_look_due(round);
    }
    ck_assert_uint_eq(looks, 0);
    ck_assert(keel_mpi_spin_is_look_due(KEEL_MPI_SPINS_CROWDED));
    for (unsigned round = KEEL_MPI_SPINS_CROWDED; round <= KEEL_MPI_SPINS; round++) {
        looks += (unsigned)keel_mpi_spin_is_look_due(round);
    }
    ck_assert_uint_ge(looks, KEEL_MPI_SPINS / KEEL_MPI_SPIN_LOOK);
}
END_TEST

/* A wait yields a few times, and its sleeps grow up to a limit. */
START_TEST(sleeps_double_up_to_a_limit)
{
    const unsigned before = KEEL_MPI_SPINS_CROWDED + KEEL_MPI_SPIN_YIELDS;
    unsigned last = 0;

    ck_assert_uint_eq(keel_mpi_sleep_us(before + 1, before), KEEL_MPI_SLEEP_MIN_US);
    for (unsigned round = before + 1; round < before + 100; round++) {
        const unsigned us = keel_mpi_sleep_us(round, before);

        ck_assert_uint_ge(us, last);
        ck_assert(us <= 2 * last || last == 0);
        ck_assert_uint_le(us, KEEL_MPI_SLEEP_MAX_US);
        last = us;
    }
    ck_assert_uint_eq(last, KEEL_MPI_SLEEP_MAX_US);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {sleeps_double_up_to_a_limit,
                                  rank_with_a_core_of_its_own_spins,
                                  rank_that_shares_its_core_yields_soon,
                                  core_is_shared_with_a_rank_of_the_same_core_alone,
                                  unknown_cores_are_not_shared,
                                  later_of_two_ranks_leaves_their_core_if_there_are_cores_enough,
                                  each_core_of_each_machine_has_a_name_of_its_own,
                                  first_look_at_cores_is_the_last_crowded_round,
                                  NULL};

    return unit_run("mpi_spin", tests);
}
