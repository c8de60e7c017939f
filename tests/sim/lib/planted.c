/* The table of planted defects, and the selected defect. */
#include "planted.h"

#include "check/plant.h"
#include "check/reached.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

keel_plant_t keel_planted = KEEL_PLANT_NONE;

static void no_moment(void)
{
}

void (*keel_planted_moment)(void) = no_moment;
void (*keel_planted_stores)(void) = no_moment;

static void no_hold(void *to, size_t length, keel_stored_t how)
{
}

keel_planted_memory_t keel_planted_memory = {
    .hold = no_hold, .order = no_moment, .barrier = no_moment, .fence = no_moment};

static const struct {
    const char *name;
    unsigned runs;
    const char *options, *what;
} plants[] = {{"none", 0, "", "nothing"},
#define PLANT_ROW(_name, _runs, _options, _what) {#_name, _runs, _options, _what},
              KEEL_PLANTS(PLANT_ROW)
#undef PLANT_ROW
};

int planted_set(const char *name)
{
    for (unsigned i = 1; i < KEEL_PLANT_LAST; i++) {
        if (strcmp(plants[i].name, name) == 0) {
            keel_planted = (keel_plant_t)i;
            return 1;
        }
    }
    return 0;
}

unsigned planted_runs(void)
{
    return plants[keel_planted].runs;
}

void planted_list(void)
{
    for (unsigned i = 1; i < KEEL_PLANT_LAST; i++) {
        printf("%-36s %5u  %s%s%s\n", plants[i].name, plants[i].runs, plants[i].what,
               (plants[i].options[0] != '\0') ? "; noticed with " : "", plants[i].options);
    }
}

uint64_t *keel_reached;

int reached_begin(void)
{
    keel_reached =
        mmap(NULL, KEEL_CASE_LAST * sizeof(*keel_reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return keel_reached != MAP_FAILED;
}

static const struct {
    const char *name, *what;
    int is_usual;
} cases[] = {
#define CASE_ROW(_name, _what)         {#_name, _what, 1},
#define CASE_ROW_PLANTED(_name, _what) {#_name, _what, 0},
    KEEL_CASES(CASE_ROW) KEEL_CASES_PLANTED(CASE_ROW_PLANTED)
#undef CASE_ROW
#undef CASE_ROW_PLANTED
};

void reached_print(void)
{
    for (unsigned i = 0; i < KEEL_CASE_LAST; i++) {
        printf("%10llu  %s\n", (unsigned long long)keel_reached[i], cases[i].what);
    }
}

unsigned reached_gaps(void)
{
    unsigned gaps = 0;

    for (unsigned i = 0; i < KEEL_CASE_LAST; i++) {
        gaps += cases[i].is_usual && keel_reached[i] == 0;
    }
    return gaps;
}

long long reached_count(const char *name)
{
    for (unsigned i = 0; i < KEEL_CASE_LAST; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return (long long)keel_reached[i];
        }
    }
    return -1;
}
