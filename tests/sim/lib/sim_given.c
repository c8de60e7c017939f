/* Memory that a simulated program gives to its windows. */
#define _GNU_SOURCE
#include "sim_given.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

typedef struct given {
    struct given *next;
    void *memory;
    size_t bytes;
} given_t;

static given_t *all;

void *sim_given(size_t bytes)
{
    given_t *given = malloc(sizeof(*given));
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (given == NULL || memory == MAP_FAILED) {
        fprintf(stderr, "no memory for a window of the program's own\n");
        exit(EXIT_FAILURE);
    }
    *given = (given_t){all, memory, bytes};
    all = given;
    return memory;
}

void sim_given_release(void)
{
    while (all != NULL) {
        given_t *given = all;

        all = given->next;
        munmap(given->memory, given->bytes);
        free(given);
    }
}
