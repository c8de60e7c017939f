/* The whole computation in one process, without Keel. */
#ifndef KEEL_KERNEL_HYDRO_SERIAL_H_
#define KEEL_KERNEL_HYDRO_SERIAL_H_

#include "hydro_domain.h"

#define HYDRO_STOP 1e-2 /* end of the simulated time */

/* Stores the hash of each subdomain's nodes and states. Returns 0, or -1 without memory. */
int hydro_serial(const hydro_mesh_t *mesh, unsigned long iterations, uint64_t *hashes);

#endif
