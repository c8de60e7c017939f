/*
 * Equations and constants: LLNL-TR-490254, Hydrodynamics Challenge Problem. The density at the
 * start is 1.
 */
#include "hydro_matter.h"

#include <math.h>

#define TINY        1e-36
#define LINEAR      0.5 /* coefficients of the viscosity */
#define QUADRATIC   (2.0 / 3)
#define GAS         (2.0 / 3) /* ratio of specific heats less 1 */
#define SMALL       1e-7      /* energies, pressures and viscosities below are 0 */
#define SAME_VOLUME 1e-10     /* a relative volume that close to 1 is 1 */
#define VOLUME_MIN  1e-9
#define VOLUME_MAX  1e9
#define ENERGY_MIN  (-1e15)
#define VOLUME_STEP 0.1       /* most change of volume in a time step */
#define SHOCK       (8 * 2.0) /* 8 times the coefficient of the limit by sound in shocks */
#define GROWTH_MIN  1.1       /* a time step grows at least and at most by */
#define GROWTH_MAX  1.2
#define STEP_MAX    1e-2

/* Values of the viscosity, linear and quadratic in the change of the velocity. */
typedef struct {
    double linear, quadratic;
} viscosity_t;

static double cut(double value)
{
    return (fabs(value) < SMALL) ? 0 : value;
}

double hydro_limiter(double change, double below, double above)
{
    const double norm = 1 / (change + TINY), lower = below * norm, upper = above * norm;

    return fmin(fmax(fmin(0.5 * (lower + upper), fmin(2 * lower, 2 * upper)), 0), 1);
}

static viscosity_t viscosity_of(const hydro_motion_t *motion, const double *limiters)
{
    const double density = 1 / motion->volume;
    viscosity_t viscosity = {0, 0};
    unsigned d;

    for (d = 0; (d < 3) && (motion->divergence <= 0); d++) {
        const double closing = fmin(motion->change[d] * motion->width[d], 0);

        viscosity.linear -= LINEAR * density * closing * (1 - limiters[d]);
        viscosity.quadratic += QUADRATIC * density * closing * closing * (1 - limiters[d] * limiters[d]);
    }
    return viscosity;
}

static double pressure_of(double energy, double compression, double volume)
{
    const double pressure = cut(GAS * (compression + 1) * energy);

    return (volume >= VOLUME_MAX) ? 0 : fmax(pressure, 0);
}

/* Speed of sound; @a volume is that of the same moment as the compression. */
static double sound_of(double energy, double pressure, double compression, double volume)
{
    const double square = GAS * energy + volume * volume * GAS * (compression + 1) * pressure;

    return (square <= 0.1111111e-36) ? 0.3333333e-18 : sqrt(square);
}

static double viscous(const viscosity_t *viscosity, double sound)
{
    return sound * viscosity->linear + viscosity->quadratic;
}

/* Energy by a half step, a whole one, and a correction of third order. */
static void advance_energy(hydro_state_t *state, const hydro_motion_t *motion, const viscosity_t *viscosity,
                           double volume)
{
    const double change = motion->volume_change, middle = volume - 0.5 * change;
    const int is_lowest = volume <= VOLUME_MIN, is_highest = volume >= VOLUME_MAX, is_growing = change > 0;
    const double compression = is_highest ? 0 : 1 / volume - 1;
    const double compression_half = is_highest ? 0 : is_lowest ? compression : 1 / middle - 1;
    const double volume_half = 1 / (1 + compression_half);
    const double pressure_old = is_highest ? 0 : state->pressure;
    const double old = pressure_old + state->viscosity;
    double energy = fmax(state->energy - 0.5 * change * old, ENERGY_MIN);
    const double half = pressure_of(energy, compression_half, volume);
    double q = is_growing ? 0 : viscous(viscosity, sound_of(energy, half, compression_half, volume_half));
    double pressure, corrector;

    energy += 0.5 * change * (3 * old - 4 * (half + q));
    energy = fmax(cut(energy), ENERGY_MIN);
    pressure = pressure_of(energy, compression, volume);
    corrector = is_growing ? 0 : viscous(viscosity, sound_of(energy, pressure, compression, volume));
    energy -= (7 * old - 8 * (half + q) + (pressure + corrector)) * change / 6;
    energy = fmax(cut(energy), ENERGY_MIN);
    pressure = pressure_of(energy, compression, volume);
    if (!is_growing) {
        q = cut(viscous(viscosity, sound_of(energy, pressure, compression, volume)));
    }
    state->energy = energy;
    state->pressure = pressure;
    state->viscosity = q;
    state->sound_speed = sound_of(energy, pressure, compression, volume);
}

void hydro_advance(hydro_state_t *state, const hydro_motion_t *motion, const double *limiters)
{
    const viscosity_t viscosity = viscosity_of(motion, limiters);

    advance_energy(state, motion, &viscosity, fmin(fmax(motion->volume, VOLUME_MIN), VOLUME_MAX));
    state->volume = (fabs(motion->volume - 1) < SAME_VOLUME) ? 1 : motion->volume;
}

void hydro_limits(const hydro_state_t *state, const hydro_motion_t *motion, double *limits)
{
    double square = state->sound_speed * state->sound_speed;

    if (motion->divergence == 0) {
        return;
    }
    if (motion->divergence < 0) {
        const double closing = SHOCK * motion->length * motion->divergence;

        square += closing * closing;
    }
    limits[0] = fmin(limits[0], motion->length / sqrt(square));
    limits[1] = fmin(limits[1], VOLUME_STEP / (fabs(motion->divergence) + 1e-20));
}

double hydro_time_step(double dt, double left, int is_first, const double *limits)
{
    double next = dt;

    if (!is_first) {
        next = (limits[0] < HYDRO_NO_LIMIT) ? limits[0] / 2 : HYDRO_NO_LIMIT;
        next = (limits[1] < next) ? limits[1] * 2 / 3 : next;
        if ((next >= dt) && (next < GROWTH_MIN * dt)) {
            next = dt;
        }
        next = fmin(fmin(next, GROWTH_MAX * dt), STEP_MAX);
    }
    if ((left > next) && (left < 4 * next / 3)) {
        left = 2 * next / 3;
    }
    return fmin(left, next);
}
