#include "hydro_serial.h"

#include "../lib/kernel.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const hydro_mesh_t *mesh;
    uint64_t count;
    hydro_domain_t *domains;
    char *memory, *inboxes;
    double *outbox;
} serial_t;

static void exchange(serial_t *serial, hydro_kind_t kind)
{
    const size_t box = hydro_box_bytes(serial->mesh);
    unsigned direction;
    uint64_t i;

    for (i = 0; i < serial->count; i++) {
        hydro_domain_pack(&serial->domains[i], kind, serial->outbox);
        for (direction = 0; direction < HYDRO_DIRECTIONS; direction++) {
            const int64_t to = hydro_domain_neighbour(&serial->domains[i], direction);
            const size_t from = hydro_box_offset(serial->mesh, kind, direction);
            const size_t at = hydro_box_offset(serial->mesh, kind, HYDRO_DIRECTIONS - 1 - direction);

            if (to >= 0) {
                memcpy(serial->inboxes + (size_t)to * box + at, (char *)serial->outbox + from,
                       hydro_box_part(serial->mesh, kind, direction));
            }
        }
    }
    for (i = 0; i < serial->count; i++) {
        hydro_domain_unpack(&serial->domains[i], kind, (double *)(void *)(serial->inboxes + i * box));
    }
}

static void compute(serial_t *serial, unsigned long iterations)
{
    double time = 0, dt = hydro_first_step(serial->mesh), limits[2] = {HYDRO_NO_LIMIT, HYDRO_NO_LIMIT};
    unsigned long step;
    uint64_t i;

    for (step = 0; (time < HYDRO_STOP) && (step < iterations); step++) {
        dt = hydro_time_step(dt, HYDRO_STOP - time, step == 0, limits);
        time += dt;
        for (i = 0; i < serial->count; i++) {
            hydro_domain_push(&serial->domains[i]);
        }
        exchange(serial, HYDRO_FORCES);
        for (i = 0; i < serial->count; i++) {
            hydro_domain_move(&serial->domains[i], dt);
        }
        exchange(serial, HYDRO_CHANGES);
        limits[0] = limits[1] = HYDRO_NO_LIMIT;
        for (i = 0; i < serial->count; i++) {
            hydro_domain_advance(&serial->domains[i], limits);
        }
    }
}

int hydro_serial(const hydro_mesh_t *mesh, unsigned long iterations, uint64_t *hashes)
{
    const size_t bytes = hydro_domain_bytes(mesh), box = hydro_box_bytes(mesh);
    serial_t serial = {.mesh = mesh, .count = hydro_subdomains(mesh)};
    int is_done;
    uint64_t i;

    serial.domains = calloc(serial.count, sizeof *serial.domains);
    serial.memory = malloc(serial.count * bytes);
    serial.inboxes = calloc(serial.count, box);
    serial.outbox = malloc(box);
    is_done =
        (serial.domains != NULL) && (serial.memory != NULL) && (serial.inboxes != NULL) && (serial.outbox != NULL);
    for (i = 0; is_done && (i < serial.count); i++) {
        is_done = hydro_domain_init(&serial.domains[i], mesh, i, serial.memory + i * bytes) == 0;
    }
    if (is_done) {
        compute(&serial, iterations);
    }
    for (i = 0; (serial.domains != NULL) && (i < serial.count); i++) {
        hashes[i] = is_done ? kernel_hash(KERNEL_HASH_START, serial.memory + i * bytes, bytes) : 0;
        hydro_domain_cleanup(&serial.domains[i]);
    }
    free(serial.domains);
    free(serial.memory);
    free(serial.inboxes);
    free(serial.outbox);
    return is_done ? 0 : -1;
}
