/* An ideal gas in a moving mesh: artificial viscosity, energy, pressure, limits of time steps. */
#ifndef KEEL_KERNEL_HYDRO_MATTER_H_
#define KEEL_KERNEL_HYDRO_MATTER_H_

#include "hydro_element.h"

/* What the geometry of one time step says of an element. */
typedef struct {
    double volume, volume_change; /* relative to the volume at the start */
    double divergence, length;
    double width[3], change[3]; /* along each axis; change: of the velocity */
} hydro_motion_t;

/* State of an element. */
typedef struct {
    double energy, pressure, viscosity, volume, sound_speed; /* volume: relative */
} hydro_state_t;

/* Limiter of the viscosity along an axis, 1 in smooth flow. below, above: changes of neighbours. */
double hydro_limiter(double change, double below, double above);
/* One time step of an element. */
void hydro_advance(hydro_state_t *state, const hydro_motion_t *motion, const double *limiters);
#define HYDRO_NO_LIMIT 1e20

/* Lowers the two limits of the next time step, by sound and by the change of volume. */
void hydro_limits(const hydro_state_t *state, const hydro_motion_t *motion, double *limits);
/*
 * Time step after one of @a dt: as the limits allow, never much longer than before, and even
 * towards the end. @a left: time to the end. is_first: @a dt itself is the first step.
 */
double hydro_time_step(double dt, double left, int is_first, const double *limits);

#endif
