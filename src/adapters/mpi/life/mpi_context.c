/* The context of Keel, and the life of the process, for programs. */
#include "life/mpi_context.h"

#include "keel_mpi.h"
#include "mpi_error.h"
#include "mpi_state.h"

#include <stddef.h>

int keel_mpi_context_is_in_image(void)
{
    uint32_t has_context = 0;
    const keel_status_t status =
        keel_image_get(keel_mpi.arena, offsetof(keel_mpi_hidden_t, has_context), &has_context, sizeof(has_context));

    return status == KEEL_OK && has_context != 0;
}

struct keel_context *keel_mpi_context(void)
{
    keel_mpi_begin("keel_mpi_context");
    if (keel_mpi.is_deterministic_mode) {
        keel_mpi_fatal("keel_mpi_context", "not in deterministic mode (KEEL_DETERMINISTIC)");
    }
    keel_mpi.hidden->has_context = 1;
    return keel_mpi.ctx;
}

unsigned keel_mpi_incarnation(void)
{
    keel_mpi_begin("keel_mpi_incarnation");
    return keel_incarnation(keel_mpi.ctx);
}
