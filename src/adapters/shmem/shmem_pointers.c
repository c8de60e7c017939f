/* Searches for words that are addresses of private memory: heap, stack, libraries. */
#include "shmem_pointers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct areas {
    keel_shmem_range_t *all; /* ascending, as listed by the kernel */
    unsigned count;
} areas_t;

static int areas_add(areas_t *areas, uintptr_t begin, uintptr_t end)
{
    keel_shmem_range_t *grown = realloc(areas->all, (areas->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        return 0;
    }
    areas->all = grown;
    areas->all[areas->count++] = (keel_shmem_range_t){.begin = begin, .end = end};
    return 1;
}

/* Reads all mappings except the program and the window. */
static int areas_read(areas_t *areas, const keel_shmem_program_t *program, uintptr_t window, uintptr_t window_end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], access[8];
    unsigned long begin, end;
    int is_right = maps != NULL;

    while (is_right && fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) == 3 && access[0] == 'r' &&
            (end <= program->low || begin >= program->high) && (end <= window || begin >= window_end)) {
            is_right = areas_add(areas, begin, end);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
    return is_right && areas->count > 0;
}

static int areas_have(const areas_t *areas, uintptr_t value)
{
    unsigned low = 0, high = areas->count;

    while (low < high) {
        const unsigned middle = (low + high) / 2;

        if (areas->all[middle].end <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < areas->count && value >= areas->all[low].begin;
}

typedef struct found {
    unsigned count;
    const char *last; /* each variable is counted once */
    char *text;
    size_t used, room;
} found_t;

static void found_add(found_t *found, const keel_shmem_program_t *program, uintptr_t at)
{
    size_t offset = 0;
    const char *symbol = keel_shmem_program_symbol(program, at, &offset);
    int length;

    if (symbol != NULL && symbol == found->last) {
        return;
    }
    found->last = symbol;
    if (symbol != NULL) {
        length = snprintf(found->text + found->used, found->room - found->used, "%s%s", found->count > 0 ? ", " : "",
                          symbol);
    } else {
        length = snprintf(found->text + found->used, found->room - found->used, "%s0x%lx", found->count > 0 ? ", " : "",
                          (unsigned long)at);
    }
    if (length > 0 && (size_t)length < found->room - found->used) {
        found->used += (size_t)length;
    } else {
        found->text[found->used] = '\0'; /* no room for the whole name */
    }
    found->count++;
}

unsigned keel_shmem_pointers_find(const keel_shmem_globals_t *globals, uintptr_t begin, uintptr_t end, char *text,
                                  size_t room)
{
    found_t found = {.text = text, .room = room};
    areas_t areas = {0};

    text[0] = '\0';
    if (!areas_read(&areas, &globals->program, begin, end)) {
        free(areas.all);
        return 0;
    }
    for (unsigned i = 0; i < globals->program.count; i++) {
        const keel_shmem_range_t *range = &globals->program.ranges[i];
        uintptr_t at = (range->begin + sizeof(at) - 1) & ~(sizeof(at) - 1);

        for (; !range->is_volatile && at + sizeof(at) <= range->end; at += sizeof(at)) {
            const uintptr_t value = *(const volatile uintptr_t *)at;

            if (value >= areas.all[0].begin && areas_have(&areas, value)) {
                found_add(&found, &globals->program, at);
            }
        }
    }
    free(areas.all);
    return found.count;
}
