/*
 * One subdomain of the mesh, a cube of elements, without any communication. What neighbours need
 * is packed into an outbox and unpacked from an inbox; the caller moves the parts.
 *
 * Neighbours are numbered by direction, 0 to 26: (dx + 1) + 3 (dy + 1) + 9 (dz + 1).
 *
 * The force on a node is the sum over the eight elements around the node, in one order for all
 * subdomains that have the node. So every subdomain computes the same bits for shared nodes, and
 * no result depends on the sharing of subdomains between ranks.
 */
#ifndef KEEL_KERNEL_HYDRO_DOMAIN_H_
#define KEEL_KERNEL_HYDRO_DOMAIN_H_

#include "hydro_matter.h"

#include <stddef.h>
#include <stdint.h>

enum { HYDRO_DIRECTIONS = 27 };

/* What is exchanged: forces on shared nodes, by element; changes of velocity, between faces. */
typedef enum { HYDRO_FORCES, HYDRO_CHANGES } hydro_kind_t;

typedef struct {
    unsigned edge;  /* elements along an edge of a subdomain */
    unsigned sides; /* subdomains along an edge of the whole */
} hydro_mesh_t;

typedef struct {
    double place[3], velocity[3];
} hydro_node_t;

typedef struct {
    hydro_mesh_t mesh;
    unsigned at[3];
    hydro_node_t *nodes;   /* (edge + 1)^3: with the states all that has to survive */
    hydro_state_t *states; /* edge^3 */
    hydro_motion_t *motions;
    double (*forces)[HYDRO_CORNERS][3]; /* of own elements, and of a layer of others around them */
    double (*changes)[3];               /* same elements */
} hydro_domain_t;

uint64_t hydro_subdomains(const hydro_mesh_t *mesh);
/* Bytes of the nodes and states of a subdomain. */
size_t hydro_domain_bytes(const hydro_mesh_t *mesh);
/* Bytes of hydro_domain_t.forces. */
size_t hydro_forces_bytes(const hydro_mesh_t *mesh);
/* Bytes of an inbox or an outbox. */
size_t hydro_box_bytes(const hydro_mesh_t *mesh);
/* Place of a direction's part in a box, and its size; 0: none of this kind. */
size_t hydro_box_offset(const hydro_mesh_t *mesh, hydro_kind_t kind, unsigned direction);
size_t hydro_box_part(const hydro_mesh_t *mesh, hydro_kind_t kind, unsigned direction);

/* Subdomain @a number before the explosion, in hydro_domain_bytes() of memory. Returns 0 or -1. */
int hydro_domain_init(hydro_domain_t *domain, const hydro_mesh_t *mesh, uint64_t number, void *memory);
void hydro_domain_cleanup(hydro_domain_t *domain);
/* First time step. */
double hydro_first_step(const hydro_mesh_t *mesh);

/* Number of the subdomain in a direction; -1: none. */
int64_t hydro_domain_neighbour(const hydro_domain_t *domain, unsigned direction);
void hydro_domain_pack(hydro_domain_t *domain, hydro_kind_t kind, double *outbox);
void hydro_domain_unpack(hydro_domain_t *domain, hydro_kind_t kind, double *inbox);

/* Forces of the own elements. */
void hydro_domain_push(hydro_domain_t *domain);
/* Moves the nodes by the sums of forces, then measures the motion of the elements. */
void hydro_domain_move(hydro_domain_t *domain, double dt);
/* New states of the elements; lowers limits of the next time step. */
void hydro_domain_advance(hydro_domain_t *domain, double *limits);

#endif
