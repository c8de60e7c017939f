/*
 * Papers. [L] is Hydrodynamics Challenge Problem, LLNL-TR-490254: the equations, here restated in
 * modes. [F] is Flanagan and Belytschko, A Uniform Strain Hexahedron and Quadrilateral with
 * Orthogonal Hourglass Control (1981).
 */
#include "hydro_element.h"

#include <math.h>

#define TINY      1e-36
#define HOURGLASS (3.0 * 0.01) /* coefficient of the damping [L] */

static void cross(const double *u, const double *v, double *out)
{
    out[0] = u[1] * v[2] - u[2] * v[1];
    out[1] = u[2] * v[0] - u[0] * v[2];
    out[2] = u[0] * v[1] - u[1] * v[0];
}

static double dot(const double *u, const double *v)
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static double triple(const double *u, const double *v, const double *w)
{
    double product[3];

    cross(v, w, product);
    return dot(u, product);
}

/* out = u + factor v */
static void along(const double *u, double factor, const double *v, double *out)
{
    unsigned d;

    for (d = 0; d < 3; d++) {
        out[d] = u[d] + factor * v[d];
    }
}

void hydro_modes(double corners[HYDRO_CORNERS][3], hydro_modes_t *modes)
{
    unsigned d;

    for (d = 0; d < 3; d++) {
        /* sums and differences along the first axis, then along the second and the third */
        const double s0 = corners[1][d] + corners[0][d], d0 = corners[1][d] - corners[0][d];
        const double s1 = corners[3][d] + corners[2][d], d1 = corners[3][d] - corners[2][d];
        const double s2 = corners[5][d] + corners[4][d], d2 = corners[5][d] - corners[4][d];
        const double s3 = corners[7][d] + corners[6][d], d3 = corners[7][d] - corners[6][d];

        modes->a[0][d] = 0.125 * ((d0 + d1) + (d2 + d3));
        modes->a[1][d] = 0.125 * ((s1 - s0) + (s3 - s2));
        modes->a[2][d] = 0.125 * ((s2 + s3) - (s0 + s1));
        modes->b[0][d] = 0.125 * ((s3 - s2) - (s1 - s0));
        modes->b[1][d] = 0.125 * ((d2 + d3) - (d0 + d1));
        modes->b[2][d] = 0.125 * ((d1 - d0) + (d3 - d2));
        modes->c[d] = 0.125 * ((d3 - d2) - (d1 - d0));
    }
}

/* The determinant of the Jacobian, integrated over the cube: only even terms are left. */
double hydro_volume(const hydro_modes_t *at)
{
    double bent = 0;
    unsigned m;

    for (m = 0; m < 3; m++) {
        bent += triple(at->a[m], at->b[(m + 1) % 3], at->b[(m + 2) % 3]);
    }
    return 8 * (triple(at->a[0], at->a[1], at->a[2]) - bent / 3);
}

/* Derivatives of the volume by the modes a, then b. */
static void volume_by_modes(const hydro_modes_t *at, double by_a[3][3], double by_b[3][3])
{
    double u[3], v[3];
    unsigned m;

    for (m = 0; m < 3; m++) {
        const unsigned n = (m + 1) % 3, o = (m + 2) % 3;

        cross(at->a[n], at->a[o], u);
        cross(at->b[n], at->b[o], v);
        along(u, -1.0 / 3, v, by_a[m]);
        cross(at->a[n], at->b[o], u);
        cross(at->b[n], at->a[o], v);
        along(u, 1, v, by_b[m]);
    }
}

/* Derivative of the volume by the place of a corner. */
static void volume_by_corner(double by_a[3][3], double by_b[3][3], unsigned k, double *out)
{
    const double s[3] = {hydro_sign(k, 0), hydro_sign(k, 1), hydro_sign(k, 2)};
    unsigned d, m;

    for (d = 0; d < 3; d++) {
        out[d] = 0;
        for (m = 0; m < 3; m++) {
            out[d] += s[m] * by_a[m][d] - s[(m + 1) % 3] * s[(m + 2) % 3] * by_b[m][d] / 3;
        }
    }
}

/* A quarter of the area of the face at @a sign of an axis, in the direction of the axis. */
static void quarter_face(const hydro_modes_t *at, unsigned axis, double sign, double *out)
{
    const unsigned n = (axis + 1) % 3, o = (axis + 2) % 3;
    double u[3], v[3];

    along(at->a[n], sign, at->b[o], u);
    along(at->a[o], sign, at->b[n], v);
    cross(u, v, out);
}

double hydro_length(const hydro_modes_t *at, double volume)
{
    double largest = 0, face[3];
    unsigned axis, side;

    for (axis = 0; axis < 3; axis++) {
        for (side = 0; side < 2; side++) {
            quarter_face(at, axis, side ? 1 : -1, face);
            largest = fmax(largest, dot(face, face));
        }
    }
    return volume / (4 * sqrt(largest));
}

double hydro_divergence(const hydro_modes_t *at, const hydro_modes_t *velocity, double dt)
{
    double a[3][3], sum = 0;
    unsigned m;

    for (m = 0; m < 3; m++) {
        along(at->a[m], -0.5 * dt, velocity->a[m], a[m]);
    }
    for (m = 0; m < 3; m++) {
        sum += triple(velocity->a[m], a[(m + 1) % 3], a[(m + 2) % 3]);
    }
    return sum / triple(a[0], a[1], a[2]);
}

void hydro_gradients(const hydro_modes_t *at, const hydro_modes_t *velocity, double volume, double *change,
                     double *width)
{
    double area[3];
    unsigned m, d;

    for (m = 0; m < 3; m++) {
        cross(at->a[(m + 1) % 3], at->a[(m + 2) % 3], area);
        for (d = 0; d < 3; d++) {
            area[d] *= 4;
        }
        width[m] = volume / sqrt(dot(area, area) + TINY);
        change[m] = 2 * dot(area, velocity->a[m]) / (volume + TINY);
    }
}

/* Damping of the four hourglass modes of the velocity, made orthogonal to linear fields [F]. */
static void add_damping(const hydro_modes_t *at, const hydro_modes_t *velocity, const hydro_matter_t *matter,
                        double growth[3][3], double by_corner[HYDRO_CORNERS][3], double forces[HYDRO_CORNERS][3])
{
    const double factor = -HOURGLASS * matter->sound_speed * matter->mass / cbrt(matter->volume);
    const double *const bent[4] = {at->b[0], at->b[1], at->b[2], at->c};
    const double *const speed[4] = {velocity->b[0], velocity->b[1], velocity->b[2], velocity->c};
    double strength[4][3], linear[3][3] = {{0}};
    unsigned k, d, e, i;

    for (i = 0; i < 4; i++) {
        for (e = 0; e < 3; e++) {
            strength[i][e] = 8 * speed[i][e];
            for (d = 0; d < 3; d++) {
                strength[i][e] -= 8 * bent[i][d] * growth[d][e] / matter->volume;
            }
        }
        for (d = 0; d < 3; d++) {
            for (e = 0; e < 3; e++) {
                linear[d][e] += 8 * bent[i][d] * strength[i][e] / matter->volume;
            }
        }
    }
    for (k = 0; k < HYDRO_CORNERS; k++) {
        const double s[3] = {hydro_sign(k, 0), hydro_sign(k, 1), hydro_sign(k, 2)};

        for (e = 0; e < 3; e++) {
            double sum = s[1] * s[2] * strength[0][e] + s[0] * s[2] * strength[1][e] + s[0] * s[1] * strength[2][e] +
                         s[0] * s[1] * s[2] * strength[3][e];

            for (d = 0; d < 3; d++) {
                sum -= by_corner[k][d] * linear[d][e];
            }
            forces[k][e] += factor * sum;
        }
    }
}

void hydro_forces(const hydro_modes_t *at, const hydro_modes_t *velocity, const hydro_matter_t *matter,
                  double forces[HYDRO_CORNERS][3])
{
    const double push = matter->pressure + matter->viscosity;
    /* growth: of the volume, by an axis of places and one of velocities */
    double by_a[3][3], by_b[3][3], by_corner[HYDRO_CORNERS][3], growth[3][3] = {{0}}, face[3][2][3];
    unsigned k, d, e, m, axis;

    for (axis = 0; axis < 3; axis++) {
        quarter_face(at, axis, -1, face[axis][0]);
        quarter_face(at, axis, 1, face[axis][1]);
    }
    volume_by_modes(at, by_a, by_b);
    for (m = 0; m < 3; m++) {
        for (d = 0; d < 3; d++) {
            for (e = 0; e < 3; e++) {
                growth[d][e] += 8 * (by_a[m][d] * velocity->a[m][e] - by_b[m][d] * velocity->b[m][e] / 3);
            }
        }
    }
    for (k = 0; k < HYDRO_CORNERS; k++) {
        volume_by_corner(by_a, by_b, k, by_corner[k]);
        for (d = 0; d < 3; d++) {
            double sum = 0;

            for (axis = 0; axis < 3; axis++) {
                sum += hydro_sign(k, axis) * face[axis][(k >> axis) & 1][d];
            }
            forces[k][d] = push * sum;
        }
    }
    add_damping(at, velocity, matter, growth, by_corner, forces);
}
