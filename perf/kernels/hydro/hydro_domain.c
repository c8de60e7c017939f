#include "hydro_domain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH       1.125      /* of the whole */
#define ENERGY      3.948746e7 /* of the first element, for ENERGY_EDGE elements along an edge */
#define ENERGY_EDGE 45
#define STILL       1e-7 /* slower velocities are 0 */

/* Elements of the own subdomain, or of the layer around: first index and count on each axis. */
typedef struct {
    int first[3], count[3];
} box_t;

static uint64_t cube(uint64_t n)
{
    return n * n * n;
}

static int step_of(unsigned direction, unsigned axis)
{
    static const unsigned power[3] = {1, 3, 9};

    return (int)(direction / power[axis] % 3) - 1;
}

static size_t node_at(unsigned edge, unsigned i, unsigned j, unsigned k)
{
    return i + (edge + 1) * (j + (size_t)(edge + 1) * k);
}

/* Index with the layer around: own elements begin at 1. */
static size_t layer_at(unsigned edge, unsigned i, unsigned j, unsigned k)
{
    return i + (edge + 2) * (j + (size_t)(edge + 2) * k);
}

static double element_width(const hydro_mesh_t *mesh)
{
    return WIDTH / (mesh->edge * mesh->sides);
}

static double first_energy(const hydro_mesh_t *mesh)
{
    const double scale = (double)mesh->edge * mesh->sides / ENERGY_EDGE;

    return ENERGY * scale * scale * scale;
}

double hydro_first_step(const hydro_mesh_t *mesh)
{
    return 0.5 * element_width(mesh) / sqrt(2 * first_energy(mesh));
}

uint64_t hydro_subdomains(const hydro_mesh_t *mesh)
{
    return cube(mesh->sides);
}

size_t hydro_domain_bytes(const hydro_mesh_t *mesh)
{
    return cube(mesh->edge + 1) * sizeof(hydro_node_t) + cube(mesh->edge) * sizeof(hydro_state_t);
}

size_t hydro_forces_bytes(const hydro_mesh_t *mesh)
{
    return cube(mesh->edge + 2) * HYDRO_CORNERS * 3 * sizeof(double);
}

/* ---- boxes ---- */

/* Own elements on the side of a direction. */
static box_t own_box(const hydro_mesh_t *mesh, unsigned direction)
{
    box_t box;
    unsigned d;

    for (d = 0; d < 3; d++) {
        const int step = step_of(direction, d);

        box.first[d] = (step > 0) ? (int)mesh->edge : 1;
        box.count[d] = (step == 0) ? (int)mesh->edge : 1;
    }
    return box;
}

/* Elements of the neighbour in a direction. */
static box_t layer_box(const hydro_mesh_t *mesh, unsigned direction)
{
    box_t box = own_box(mesh, direction);
    unsigned d;

    for (d = 0; d < 3; d++) {
        box.first[d] += step_of(direction, d);
    }
    return box;
}

static unsigned axes_of(unsigned direction)
{
    return (step_of(direction, 0) != 0 ? 1U : 0) + (step_of(direction, 1) != 0 ? 1U : 0) +
           (step_of(direction, 2) != 0 ? 1U : 0);
}

/* Shared corners of an element: 4 at a face, 2 at an edge, or 1. Only faces exchange changes. */
size_t hydro_box_part(const hydro_mesh_t *mesh, hydro_kind_t kind, unsigned direction)
{
    const box_t box = own_box(mesh, direction);
    const size_t elements = (size_t)box.count[0] * (size_t)box.count[1] * (size_t)box.count[2];
    const unsigned axes = axes_of(direction);

    if (kind == HYDRO_CHANGES) {
        return (axes == 1) ? elements * sizeof(double) : 0;
    }
    return (axes == 0) ? 0 : elements * (HYDRO_CORNERS >> axes) * 3 * sizeof(double);
}

size_t hydro_box_offset(const hydro_mesh_t *mesh, hydro_kind_t kind, unsigned direction)
{
    size_t offset = 0;
    unsigned before;

    for (before = 0; (kind == HYDRO_CHANGES) && (before < HYDRO_DIRECTIONS); before++) {
        offset += hydro_box_part(mesh, HYDRO_FORCES, before);
    }
    for (before = 0; before < direction; before++) {
        offset += hydro_box_part(mesh, kind, before);
    }
    return offset;
}

size_t hydro_box_bytes(const hydro_mesh_t *mesh)
{
    return hydro_box_offset(mesh, HYDRO_CHANGES, HYDRO_DIRECTIONS);
}

int64_t hydro_domain_neighbour(const hydro_domain_t *domain, unsigned direction)
{
    const int sides = (int)domain->mesh.sides;
    int64_t number = 0;
    unsigned d;

    for (d = 3; d-- > 0;) {
        const int at = (int)domain->at[d] + step_of(direction, d);

        if ((at < 0) || (at >= sides)) {
            return -1;
        }
        number = number * sides + at;
    }
    return number;
}

/* Copies an element's part of a box, of forces the corners towards direction. Returns the end. */
static double *copy_element(hydro_domain_t *domain, hydro_kind_t kind, size_t element, unsigned direction, int is_out,
                            double *box)
{
    double *field;
    unsigned k, d;

    if (kind == HYDRO_CHANGES) {
        for (d = 0; step_of(direction, d) == 0;) {
            d++;
        }
        field = &domain->changes[element][d];
        *(is_out ? box : field) = *(is_out ? field : box);
        return box + 1;
    }
    for (k = 0; k < HYDRO_CORNERS; k++) {
        int is_facing = 1;

        for (d = 0; d < 3; d++) {
            is_facing = is_facing && ((step_of(direction, d) == 0) || (step_of(direction, d) == (int)hydro_sign(k, d)));
        }
        if (is_facing) {
            field = domain->forces[element][k];
            memcpy(is_out ? box : field, is_out ? field : box, 3 * sizeof *field);
            box += 3;
        }
    }
    return box;
}

static void copy_box(hydro_domain_t *domain, hydro_kind_t kind, box_t box, unsigned direction, int is_out, double *at)
{
    int i, j, k;

    for (k = box.first[2]; k < box.first[2] + box.count[2]; k++) {
        for (j = box.first[1]; j < box.first[1] + box.count[1]; j++) {
            for (i = box.first[0]; i < box.first[0] + box.count[0]; i++) {
                const size_t element = layer_at(domain->mesh.edge, (unsigned)i, (unsigned)j, (unsigned)k);

                at = copy_element(domain, kind, element, direction, is_out, at);
            }
        }
    }
}

static void copy_all(hydro_domain_t *domain, hydro_kind_t kind, int is_out, double *box)
{
    unsigned direction;

    for (direction = 0; direction < HYDRO_DIRECTIONS; direction++) {
        double *const at = box + hydro_box_offset(&domain->mesh, kind, direction) / sizeof *box;

        if ((hydro_box_part(&domain->mesh, kind, direction) == 0) || (hydro_domain_neighbour(domain, direction) < 0)) {
            continue;
        }
        if (is_out) {
            copy_box(domain, kind, own_box(&domain->mesh, direction), direction, 1, at);
        } else { /* the neighbour's corners face the other way */
            copy_box(domain, kind, layer_box(&domain->mesh, direction), HYDRO_DIRECTIONS - 1 - direction, 0, at);
        }
    }
}

void hydro_domain_pack(hydro_domain_t *domain, hydro_kind_t kind, double *outbox)
{
    copy_all(domain, kind, 1, outbox);
}

void hydro_domain_unpack(hydro_domain_t *domain, hydro_kind_t kind, double *inbox)
{
    copy_all(domain, kind, 0, inbox);
}

/* ---- life ---- */

static void place_nodes(hydro_domain_t *domain)
{
    const unsigned edge = domain->mesh.edge, whole = edge * domain->mesh.sides;
    unsigned i, j, k;

    for (k = 0; k <= edge; k++) {
        for (j = 0; j <= edge; j++) {
            for (i = 0; i <= edge; i++) {
                const unsigned index[3] = {i, j, k};
                hydro_node_t *const node = &domain->nodes[node_at(edge, i, j, k)];
                unsigned d;

                for (d = 0; d < 3; d++) {
                    node->place[d] = WIDTH * (domain->at[d] * edge + index[d]) / whole;
                    node->velocity[d] = 0;
                }
            }
        }
    }
}

int hydro_domain_init(hydro_domain_t *domain, const hydro_mesh_t *mesh, uint64_t number, void *memory)
{
    const uint64_t elements = cube(mesh->edge), with_layer = cube(mesh->edge + 2);
    uint64_t e;
    unsigned d;

    *domain = (hydro_domain_t){.mesh = *mesh, .nodes = memory};
    for (d = 0, e = number; d < 3; d++, e /= mesh->sides) {
        domain->at[d] = (unsigned)(e % mesh->sides);
    }
    domain->states = (hydro_state_t *)(void *)(domain->nodes + cube(mesh->edge + 1));
    domain->motions = calloc(elements, sizeof *domain->motions);
    domain->forces = calloc(with_layer, sizeof *domain->forces);
    domain->changes = calloc(with_layer, sizeof *domain->changes);
    if ((domain->motions == NULL) || (domain->forces == NULL) || (domain->changes == NULL)) {
        return -1;
    }
    place_nodes(domain);
    for (e = 0; e < elements; e++) {
        domain->states[e] = (hydro_state_t){.volume = 1};
    }
    if (number == 0) {
        domain->states[0].energy = first_energy(mesh);
    }
    return 0;
}

void hydro_domain_cleanup(hydro_domain_t *domain)
{
    free(domain->motions);
    free(domain->forces);
    free(domain->changes);
}

/* ---- a time step ---- */

/* Modes of the places and of the velocities of an element's corners. */
static void modes_of(const hydro_domain_t *domain, unsigned i, unsigned j, unsigned k, hydro_modes_t *at,
                     hydro_modes_t *velocity)
{
    double places[HYDRO_CORNERS][3], velocities[HYDRO_CORNERS][3];
    unsigned c;

    for (c = 0; c < HYDRO_CORNERS; c++) {
        const hydro_node_t *const node =
            &domain->nodes[node_at(domain->mesh.edge, i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];

        memcpy(places[c], node->place, sizeof places[c]);
        memcpy(velocities[c], node->velocity, sizeof velocities[c]);
    }
    hydro_modes(places, at);
    hydro_modes(velocities, velocity);
}

void hydro_domain_push(hydro_domain_t *domain)
{
    const unsigned edge = domain->mesh.edge;
    const double width = element_width(&domain->mesh), volume = width * width * width;
    const hydro_state_t *state = domain->states;
    unsigned i, j, k;

    for (k = 0; k < edge; k++) {
        for (j = 0; j < edge; j++) {
            for (i = 0; i < edge; i++, state++) {
                const hydro_matter_t matter = {state->pressure, state->viscosity, state->sound_speed, volume,
                                               volume * state->volume};
                hydro_modes_t at, velocity;

                modes_of(domain, i, j, k, &at, &velocity);
                hydro_forces(&at, &velocity, &matter, domain->forces[layer_at(edge, i + 1, j + 1, k + 1)]);
            }
        }
    }
}

/* Sum of the forces of the eight elements around a node. Outside of the whole there are none. */
static void sum_forces(const hydro_domain_t *domain, const unsigned *index, double *sum)
{
    unsigned c, d;

    sum[0] = sum[1] = sum[2] = 0;
    for (c = 0; c < HYDRO_CORNERS; c++) {
        const size_t element =
            layer_at(domain->mesh.edge, index[0] + (c & 1), index[1] + (c >> 1 & 1), index[2] + (c >> 2));
        const double *const force = domain->forces[element][HYDRO_CORNERS - 1 - c];

        for (d = 0; d < 3; d++) {
            sum[d] += force[d];
        }
    }
}

/* An eighth of the mass of each element around the node. */
static double node_mass(const hydro_domain_t *domain, const unsigned *index)
{
    const unsigned whole = domain->mesh.edge * domain->mesh.sides;
    const double width = element_width(&domain->mesh);
    double mass = width * width * width;
    unsigned d;

    for (d = 0; d < 3; d++) {
        const unsigned at = domain->at[d] * domain->mesh.edge + index[d];

        mass *= ((at == 0) || (at == whole)) ? 0.5 : 1;
    }
    return mass;
}

static void move_node(hydro_domain_t *domain, const unsigned *index, double dt)
{
    hydro_node_t *const node = &domain->nodes[node_at(domain->mesh.edge, index[0], index[1], index[2])];
    const double mass = node_mass(domain, index);
    double force[3];
    unsigned d;

    sum_forces(domain, index, force);
    for (d = 0; d < 3; d++) {
        const int is_mirror = (domain->at[d] == 0) && (index[d] == 0);
        const double velocity = node->velocity[d] + (is_mirror ? 0 : force[d] / mass) * dt;

        node->velocity[d] = (fabs(velocity) < STILL) ? 0 : velocity;
        node->place[d] += node->velocity[d] * dt;
    }
}

static void measure(hydro_domain_t *domain, unsigned i, unsigned j, unsigned k, double dt)
{
    const unsigned edge = domain->mesh.edge;
    const size_t element = i + edge * (j + (size_t)edge * k);
    const double width = element_width(&domain->mesh);
    hydro_motion_t *const motion = &domain->motions[element];
    hydro_modes_t at, velocity;
    double volume;

    modes_of(domain, i, j, k, &at, &velocity);
    volume = hydro_volume(&at);
    motion->volume = volume / (width * width * width);
    motion->volume_change = motion->volume - domain->states[element].volume;
    motion->length = hydro_length(&at, volume);
    motion->divergence = hydro_divergence(&at, &velocity, dt);
    hydro_gradients(&at, &velocity, volume, motion->change, motion->width);
    memcpy(domain->changes[layer_at(edge, i + 1, j + 1, k + 1)], motion->change, sizeof motion->change);
}

void hydro_domain_move(hydro_domain_t *domain, double dt)
{
    const unsigned edge = domain->mesh.edge;
    unsigned i, j, k;

    for (k = 0; k <= edge; k++) {
        for (j = 0; j <= edge; j++) {
            for (i = 0; i <= edge; i++) {
                const unsigned index[3] = {i, j, k};

                move_node(domain, index, dt);
            }
        }
    }
    for (k = 0; k < edge; k++) {
        for (j = 0; j < edge; j++) {
            for (i = 0; i < edge; i++) {
                measure(domain, i, j, k, dt);
            }
        }
    }
}

/* The lower faces of the whole are mirrors, outside of the upper ones is nothing. */
static void limit_viscosity(const hydro_domain_t *domain, const unsigned *index, double *limiters)
{
    const unsigned edge = domain->mesh.edge;
    const size_t own = layer_at(edge, index[0] + 1, index[1] + 1, index[2] + 1);
    const size_t stride[3] = {1, edge + 2, (size_t)(edge + 2) * (edge + 2)};
    unsigned d;

    for (d = 0; d < 3; d++) {
        const int is_mirror = (domain->at[d] == 0) && (index[d] == 0);
        const double below = domain->changes[is_mirror ? own : own - stride[d]][d];

        limiters[d] = hydro_limiter(domain->changes[own][d], below, domain->changes[own + stride[d]][d]);
    }
}

void hydro_domain_advance(hydro_domain_t *domain, double *limits)
{
    const unsigned edge = domain->mesh.edge;
    size_t element = 0;
    unsigned i, j, k;

    for (k = 0; k < edge; k++) {
        for (j = 0; j < edge; j++) {
            for (i = 0; i < edge; i++, element++) {
                const unsigned index[3] = {i, j, k};
                double limiters[3];

                limit_viscosity(domain, index, limiters);
                hydro_advance(&domain->states[element], &domain->motions[element], limiters);
                hydro_limits(&domain->states[element], &domain->motions[element], limits);
            }
        }
    }
}
