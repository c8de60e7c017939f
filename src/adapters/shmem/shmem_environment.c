/* Environment variables: names, old and new, and values. */
#include "shmem_environment.h"
#include "shmem.h"

#include <keel/version.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_DEFAULT ((size_t)64 << 20)
#define HEAP_MAX     0x1p46

/* The value of SHMEM_..., or of the older name SMA_.... */
static const char *value_of(const char *name, const char *old)
{
    const char *value = getenv(name);

    return (value != NULL || old == NULL) ? value : getenv(old);
}

static int is_on(const char *value)
{
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0 && strcmp(value, "n") != 0;
}

/* Bytes, with an optional K, M, G or T behind the number; 0: invalid. */
static size_t bytes_of(const char *text)
{
    static const char units[] = "kmgt";
    char *end;
    const double number = strtod(text, &end);
    const char *unit = (*end != '\0') ? strchr(units, *end | 0x20) : NULL;
    const unsigned shift = (unit != NULL) ? 10 * (unsigned)(unit - units + 1) : 0;
    double bytes = 0.0;

    if (end != text && number > 0.0 && (*end == '\0' || (unit != NULL && end[1] == '\0'))) {
        bytes = number * (double)((uint64_t)1 << shift);
    }
    return (bytes <= HEAP_MAX) ? (size_t)bytes : 0;
}

const char *keel_shmem_environment_read(keel_shmem_environment_t *environment)
{
    const char *heap = value_of("SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE");
    const char *globals = getenv("SHMEM_KEEL_GLOBALS"), *promise = getenv("SHMEM_KEEL_DETERMINISTIC");

    *environment = (keel_shmem_environment_t){
        .heap_bytes = (heap != NULL) ? bytes_of(heap) : HEAP_DEFAULT,
        .has_promise = is_on(promise),
        .waits = promise != NULL && strcmp(promise, "waits") == 0,
        .has_globals = globals == NULL || is_on(globals),
        .is_debug = is_on(value_of("SHMEM_DEBUG", "SMA_DEBUG")),
        .asks_info = is_on(value_of("SHMEM_INFO", "SMA_INFO")),
        .asks_version = is_on(value_of("SHMEM_VERSION", "SMA_VERSION")),
    };
    if (environment->heap_bytes == 0) {
        return (getenv("SHMEM_SYMMETRIC_SIZE") != NULL) ? "SHMEM_SYMMETRIC_SIZE" : "SMA_SYMMETRIC_SIZE";
    }
    return NULL;
}

void keel_shmem_environment_print(const keel_shmem_environment_t *environment)
{
    if (environment->asks_version || environment->asks_info) {
        printf("OpenSHMEM %d.%d, %s %s\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING,
               KEEL_VERSION_STRING);
    }
    if (environment->asks_info) {
        printf("SHMEM_SYMMETRIC_SIZE=%zu     bytes of the symmetric heap; a number, with K, M, G or T after it\n"
               "SHMEM_INFO=%d                print this; SHMEM_VERSION=%d: its first line\n"
               "SHMEM_DEBUG=%d               say what Keel does, on standard error, as KEEL_VERBOSE=y\n"
               "SHMEM_KEEL_DETERMINISTIC=%s  the program is deterministic: a dead PE is recovered alone, where that is "
               "possible; waits: that is possible in its first waits, but not after atomics\n"
               "SHMEM_KEEL_GLOBALS=%c        global variables are symmetric\n"
               "Those of the first three lines have their old names, too: SMA_SYMMETRIC_SIZE. keel_info -cf prints "
               "KEEL_...\n",
               environment->heap_bytes, environment->asks_info, environment->asks_version, environment->is_debug,
               environment->waits         ? "waits"
               : environment->has_promise ? "y"
                                          : "n",
               environment->has_globals ? 'y' : 'n');
    }
    (void)fflush(stdout);
}
