/*
 * OpenSHMEM by chapter, each call's values checked on every PE: shmem_chapters [CHAPTER | WORD].
 * With a WORD, a single wrong call; WORDS are in shmem_wrong.c.
 */
#include "shmem_chapter.h"

#include <stdio.h>

int pe, pes, right, left, level;
static int flaws;

void expect(int is_right, const char *what, const char *file, int line)
{
    const char *name = strrchr(file, '/');

    if (!is_right) {
        printf("shmem_chapters: PE %d of %d, %s:%d: not %s\n", pe, pes, name != NULL ? name + 1 : file, line, what);
        flaws++;
    }
}

group_t group_world(void)
{
    return (group_t){.team = SHMEM_TEAM_WORLD,
                     .ctx = SHMEM_CTX_DEFAULT,
                     .me = pe,
                     .size = pes,
                     .right = right,
                     .left = left,
                     .world_right = right,
                     .world_left = left};
}

group_t group_split(void)
{
    group_t group = {.world_first = pe % 2};

    for (int parity = 0; parity < 2 && parity < pes; parity++) {
        shmem_team_t team;

        EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, parity, 2, (pes - parity + 1) / 2, NULL, 0, &team) == 0);
        EXPECT((team != SHMEM_TEAM_INVALID) == (pe % 2 == parity));
        group.team = (team != SHMEM_TEAM_INVALID) ? team : group.team;
    }
    EXPECT(shmem_team_create_ctx(group.team, 0, &group.ctx) == 0);
    group.me = shmem_team_my_pe(group.team);
    group.size = shmem_team_n_pes(group.team);
    group.right = (group.me + 1) % group.size;
    group.left = (group.me + group.size - 1) % group.size;
    group.world_right = pe % 2 + 2 * group.right;
    group.world_left = pe % 2 + 2 * group.left;
    return group;
}

void group_destroy(group_t *group)
{
    shmem_ctx_destroy(group->ctx);
    shmem_team_destroy(group->team);
}

static const struct {
    const char *name;
    void (*check)(void);
} chapters[] = {
    {"setup", check_setup},
    {"memory", check_memory},
    {"rma", check_rma},
    {"sizes", check_sizes},
    {"atomics", check_atomics},
    {"bitwise", check_bitwise},
    {"waits", check_waits},
    {"teams", check_teams},
    {"contexts", check_contexts},
    {"collectives", check_collectives},
    {"reductions", check_reductions},
    {"scans", check_scans},
    {"active", check_active},
    {"to_all", check_to_all},
    {"generics", check_generics},
    {"locks", check_locks},
    {"old", check_old},
};

int main(int argc, char **argv)
{
    int provided = -1, is_known = argc == 1;

    if (argc > 1 && strcmp(argv[1], "early") == 0) {
        return shmem_n_pes();
    }
    level = (getenv("CHAPTERS_MULTIPLE") != NULL) ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED;
    EXPECT(shmem_init_thread(level, &provided) == 0 && provided == level);
    pe = shmem_my_pe();
    pes = shmem_n_pes();
    right = (pe + 1) % pes;
    left = (pe + pes - 1) % pes;
    for (size_t i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++) {
        if (argc == 1 || strcmp(argv[1], chapters[i].name) == 0) {
            chapters[i].check();
            shmem_barrier_all();
            is_known = 1;
        }
    }
    if (!is_known) {
        do_wrong(argv[1]);
        return 0;
    }
    printf("shmem_chapters: PE %d: %s\n", pe, flaws == 0 ? "right" : "WRONG");
    shmem_finalize();
    return flaws != 0;
}
