/* Think times of the key-value store, drawn with the hash function of the store's elements. */
#include "dht/dht_think.h"
#include "dht/dht_volume.h"

#include "unit.h"

enum { DRAWS = 100000 };

static double draw(uint64_t index)
{
    return dht_think(dht_element(~index));
}

/* Distribution of exp(-x), x uniform in (0, 4), over its mean:
 * from 4 / (e^4 - 1) to 4 / (1 - e^-4), and the moments. */
START_TEST(think_times_are_exponential)
{
    const double least = 4 / (exp(4) - 1), most = 4 / (1 - exp(-4));
    const double variance = 2 * (1 - exp(-8)) / pow(1 - exp(-4), 2) - 1;
    double sum = 0, squares = 0, low = most, high = 0;
    unsigned below = 0;

    for (uint64_t i = 0; i < DRAWS; i++) {
        const double value = draw(i);

        sum += value;
        squares += value * value;
        low = fmin(low, value);
        high = fmax(high, value);
        below += value < most * exp(-2); /* x beyond the middle */
    }
    ck_assert_double_eq_tol(sum / DRAWS, 1, 0.02);
    ck_assert_double_eq_tol(squares / DRAWS - 1, variance, 0.02 * variance);
    ck_assert_double_eq_tol(below / (double)DRAWS, 0.5, 0.01);
    ck_assert(low >= least && low < 1.01 * least);
    ck_assert(high <= most && high > 0.99 * most);
}
END_TEST

START_TEST(think_time_falls_by_e_each_quarter)
{
    for (uint64_t quarter = 0; quarter < 3; quarter++) {
        ck_assert_double_eq_tol(dht_think(quarter << 62) / dht_think((quarter + 1) << 62), exp(1), 1e-9);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        think_times_are_exponential,
        think_time_falls_by_e_each_quarter,
        NULL,
    };

    return unit_run("think", tests);
}
