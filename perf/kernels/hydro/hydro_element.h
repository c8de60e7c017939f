/*
 * Geometry of a hexahedron with trilinear faces, in modes: with xi, eta, zeta in [-1, 1],
 * x = mean + a0 xi + a1 eta + a2 zeta + b0 eta zeta + b1 xi zeta + b2 xi eta + c xi eta zeta. The
 * modes a are the derivatives at the centre, b and c those of hourglasses. Corner k has the signs
 * of its three bits.
 */
#ifndef KEEL_KERNEL_HYDRO_ELEMENT_H_
#define KEEL_KERNEL_HYDRO_ELEMENT_H_

enum { HYDRO_CORNERS = 8 };

typedef struct {
    double a[3][3], b[3][3], c[3]; /* [mode][axis] */
} hydro_modes_t;

typedef struct {
    double pressure, viscosity, sound_speed, mass, volume;
} hydro_matter_t;

/* Sign of a corner along an axis: -1 or 1. */
static inline double hydro_sign(unsigned corner, unsigned axis)
{
    return ((corner >> axis) & 1) ? 1 : -1;
}

void hydro_modes(double corners[HYDRO_CORNERS][3], hydro_modes_t *modes);
double hydro_volume(const hydro_modes_t *at);
/* Volume over the largest area of a face. */
double hydro_length(const hydro_modes_t *at, double volume);
/* Divergence of the velocity in the centre, half a time step ago. */
double hydro_divergence(const hydro_modes_t *at, const hydro_modes_t *velocity, double dt);
/* Along each axis: change of the velocity across the element, and the width of the element. */
void hydro_gradients(const hydro_modes_t *at, const hydro_modes_t *velocity, double volume, double *change,
                     double *width);
/* Forces on the corners: pressure and viscosity on the faces, and the damping of hourglasses. */
void hydro_forces(const hydro_modes_t *at, const hydro_modes_t *velocity, const hydro_matter_t *matter,
                  double forces[HYDRO_CORNERS][3]);

#endif
