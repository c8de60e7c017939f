/* OpenSHMEM by chapter: common parts of the checks of all chapters. Each check is called on all
 * PEs, between two barriers. */
#ifndef KEEL_SHMEM_CHAPTER_H_
#define KEEL_SHMEM_CHAPTER_H_

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { MANY = 3000 };

extern int pe, pes, right, left; /* of the world */
extern int level;                /* thread level, as requested */

#define EXPECT(_what) expect((_what) != 0, #_what, __FILE__, __LINE__)
void expect(int is_right, const char *what, const char *file, int line);

/* A group of PEs, and the caller's neighbours in it: numbers to pass, and their numbers in the
 * world. */
typedef struct {
    shmem_team_t team;
    shmem_ctx_t ctx;
    int me, size, right, left, world_right, world_left, world_first;
} group_t;

group_t group_world(void);
/* PEs of the same parity, in a team and a context of their own. group_destroy() destroys both
 * again. */
group_t group_split(void);
void group_destroy(group_t *group);

void check_setup(void);
void check_memory(void);
void check_rma(void);
void check_sizes(void);
void check_atomics(void);
void check_bitwise(void);
void check_waits(void);
void check_teams(void);
void check_contexts(void);
void check_collectives(void);
void check_reductions(void);
void check_scans(void);
void check_active(void);
void check_to_all(void);
void check_generics(void);
void check_locks(void);
void check_old(void);

/* Makes a wrong call; does not return if the error is detected. */
void do_wrong(const char *what);

#endif
