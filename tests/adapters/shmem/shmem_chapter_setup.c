/* Initialisation, numbers of PEs, symmetric objects, and memory. */
#include "shmem_chapter.h"

void check_setup(void)
{
    static int global_word;
    int private_word = 0;
    char name[SHMEM_MAX_NAME_LEN];
    int major, minor, provided;

    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    shmem_query_thread(&provided);
    EXPECT(major == 1 && minor == 5 && strcmp(name, "Keel") == 0 && provided == level);
    EXPECT(shmem_pe_accessible(0) && shmem_pe_accessible(pes - 1) && !shmem_pe_accessible(pes) &&
           !shmem_pe_accessible(-1));
    EXPECT(shmem_addr_accessible(&global_word, 0) && shmem_ptr(&global_word, pe) == &global_word);
    EXPECT(!shmem_addr_accessible(&private_word, 0) && shmem_ptr(&private_word, pe) == NULL);
    EXPECT(shmem_team_my_pe(SHMEM_TEAM_WORLD) == pe && shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
    EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_sync(SHMEM_TEAM_INVALID) == -1);
    EXPECT(shmem_team_sync(SHMEM_TEAM_WORLD) == 0);
}

/* Allocates all memory and no more, and all of it again. A growing block needs no second place. */
static void check_room(void)
{
    enum { BLOCK = 100000, MOST = 1000 };
    char *blocks[MOST], *grown;
    int count = 0;

    while (count < MOST && (blocks[count] = shmem_malloc(BLOCK)) != NULL) {
        memset(blocks[count], count, BLOCK);
        count++;
    }
    EXPECT(count > 8 && count < MOST);
    shmem_free(blocks[1]);
    EXPECT(shmem_malloc(2 * BLOCK) == NULL && shmem_realloc(blocks[2], 2 * BLOCK) == NULL);
    grown = shmem_realloc(blocks[0], 2 * BLOCK);
    EXPECT(grown == blocks[0] && grown[BLOCK - 1] == 0);
    for (int i = 2; i < count; i++) {
        EXPECT(blocks[i][0] == (char)i && blocks[i][BLOCK - 1] == (char)i);
        shmem_free(blocks[i]);
    }
    shmem_free(grown);
    grown = shmem_malloc((size_t)BLOCK * (size_t)(count - 2));
    EXPECT(grown != NULL);
    shmem_free(grown);
}

void check_memory(void)
{
    char *a = shmem_malloc(1000), *b = shmem_align(4096, 5000), *c = shmem_calloc(30, 10), *d, *e;
    uintptr_t *others = shmem_malloc(sizeof(uintptr_t) * 4);

    EXPECT(a != NULL && b != NULL && c != NULL && (uintptr_t)b % 4096 == 0 && (uintptr_t)a % 16 == 0);
    EXPECT(a + 1000 <= b && (c >= b + 5000 || (c >= a + 1000 && c + 300 <= b)));
    EXPECT(shmem_malloc(0) == NULL && shmem_malloc((size_t)1 << 40) == NULL && shmem_align(3, 8) == NULL);
    shmem_free(shmem_align(2, 8)); /* below the minimal alignment */
    EXPECT(shmem_calloc(SIZE_MAX, 2) == NULL && shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
    EXPECT(shmem_addr_accessible(b, right) && shmem_ptr(b, pe) == b);
    memset(b, 7, 5000);
    shmem_free(a);
    d = shmem_malloc(900); /* at the same address */
    EXPECT(d == a);
    e = shmem_realloc(b, 100000);
    EXPECT(e[0] == 7 && e[4999] == 7);
    EXPECT(shmem_realloc(e, 10) == e && shmem_realloc(NULL, 0) == NULL);
    others[0] = (uintptr_t)a;
    others[1] = (uintptr_t)c;
    others[2] = (uintptr_t)e;
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) { /* the same address at every PE */
        EXPECT(shmem_ulong_g((unsigned long *)&others[i], right) == others[i]);
    }
    shmem_barrier_all();
    shmem_free(NULL);
    check_room();
    EXPECT(shmem_realloc(e, 0) == NULL);
    shmem_free(c);
    shmem_free(d);
    shmem_free(others);
}
