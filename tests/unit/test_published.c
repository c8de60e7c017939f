/*
 * The verification values of FT and CG: the published values of the NAS Parallel Benchmarks, and no
 * others.
 */
#include "cg/cg_matrix.h"
#include "ft/ft_problem.h"

#include "unit.h"

/* Published values, times 1e2; of class B the first five, and every fifth. */
static const struct {
    const char *klass;
    unsigned long iterations, iteration;
    ft_complex_t sum;
} checksums[] = {
    {"S", 6, 1, {5.546087004964, 4.845363331978}},   {"S", 6, 2, {5.546385409189, 4.865304269511}},
    {"S", 6, 3, {5.546148406171, 4.883910722336}},   {"S", 6, 4, {5.545423607415, 4.901273169046}},
    {"S", 6, 5, {5.544255039624, 4.917475857993}},   {"S", 6, 6, {5.542683411902, 4.932597244941}},
    {"W", 6, 1, {5.673612178944, 5.293246849175}},   {"W", 6, 2, {5.631436885271, 5.282149986629}},
    {"W", 6, 3, {5.594024089970, 5.270996558037}},   {"W", 6, 4, {5.560698047020, 5.260027904925}},
    {"W", 6, 5, {5.530898991250, 5.249400845633}},   {"W", 6, 6, {5.504159734538, 5.239212247086}},
    {"A", 6, 1, {5.046735008193, 5.114047905510}},   {"A", 6, 2, {5.059412319734, 5.098809666433}},
    {"A", 6, 3, {5.069376896287, 5.098144042213}},   {"A", 6, 4, {5.077892868474, 5.101336130759}},
    {"A", 6, 5, {5.085233095391, 5.104914655194}},   {"A", 6, 6, {5.091487099959, 5.107917842803}},
    {"B", 20, 1, {5.177643571579, 5.077803458597}},  {"B", 20, 2, {5.154521291263, 5.088249431599}},
    {"B", 20, 3, {5.146409228649, 5.096208912659}},  {"B", 20, 4, {5.142378756213, 5.101023387619}},
    {"B", 20, 5, {5.139626667737, 5.103976610617}},  {"B", 20, 10, {5.131197729984, 5.110460304483}},
    {"B", 20, 15, {5.126691062020, 5.113735928093}}, {"B", 20, 20, {5.124146770029, 5.115744692211}},
};

static const struct {
    const char *klass;
    double zeta;
} zetas[] = {{"S", 8.5971775078648}, {"W", 10.362595087124}, {"A", 17.130235054029}, {"B", 22.712745482631}};

START_TEST(checksums_are_verified_to_a_relative_error_of_1e_12)
{
    for (unsigned i = 0; i < sizeof checksums / sizeof *checksums; i++) {
        const ft_class_t *klass = ft_class_find(checksums[i].klass);
        const unsigned long iteration = checksums[i].iteration;
        const double re = 100 * checksums[i].sum.re, im = 100 * checksums[i].sum.im;

        ck_assert(klass != NULL && klass->iterations == checksums[i].iterations);
        for (int sign = -1; sign <= 1; sign += 2) {
            const double near = 1 + sign * 0.9e-12, off = 1 + sign * 1.2e-12;

            ck_assert(ft_checksum_is_published(klass, iteration, (ft_complex_t){re * near, im * near}));
            ck_assert(!ft_checksum_is_published(klass, iteration, (ft_complex_t){re * off, im}));
            ck_assert(!ft_checksum_is_published(klass, iteration, (ft_complex_t){re, im * off}));
        }
    }
    ck_assert(ft_class_find("Z") == NULL);
}
END_TEST

START_TEST(zeta_is_verified_to_1e_10)
{
    for (unsigned i = 0; i < sizeof zetas / sizeof *zetas; i++) {
        const cg_class_t *klass = cg_class_find(zetas[i].klass);

        ck_assert(klass != NULL);
        for (int sign = -1; sign <= 1; sign += 2) {
            ck_assert(cg_zeta_is_published(klass, zetas[i].zeta + sign * 0.9e-10));
            ck_assert(!cg_zeta_is_published(klass, zetas[i].zeta + sign * 1.1e-10));
        }
    }
    ck_assert(cg_class_find("Z") == NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        checksums_are_verified_to_a_relative_error_of_1e_12,
        zeta_is_verified_to_1e_10,
        NULL,
    };

    return unit_run("published", tests);
}
