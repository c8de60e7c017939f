/*
 * The operations of perf/groups: the same calls of a group of all ranks, by Keel and by MPI. A
 * failed call ends the process.
 */
#ifndef KEEL_PERF_GROUP_OPS_H_
#define KEEL_PERF_GROUP_OPS_H_

#include <stddef.h>

#define OPS_RANKS_MAX 64u
#define OPS_BYTES_MAX 32768u /* of a member */

void ops_begin(int *argc, char ***argv, unsigned *rank_p, unsigned *count_p);
void ops_end(void);

void ops_barrier(void);
void ops_meet(void); /* after a call that is no barrier by itself */
/* from member 0, like gathers and reductions to member 0 */
void ops_broadcast(void *buffer, size_t bytes);
void ops_reduce(const double *in, double *out, size_t count);
void ops_allreduce(const double *in, double *out, size_t count);
void ops_gather(const void *in, void *out, size_t bytes);
void ops_allgather(const void *in, void *out, size_t bytes);
void ops_alltoall(const void *in, void *out, size_t bytes);

#endif
