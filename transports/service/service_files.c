/* Limit on open files. */
#include "service_files.h"

#include "base/file_limit.h"
#include "base/message.h"

enum {
    FILES_A_RANK = 2,     /* a connection in each direction */
    FILES_OF_MEMORY = 20, /* shared memory: Keel's own, and some windows */
    /* connections to a dead rank and its replacement at once; files of peers' memory during
     * mapping */
    FILES_FOR_A_MOMENT = 12
};

keel_status_t keel_service_demand_files(const keel_transport_params_t *params, size_t own)
{
    const size_t limit = keel_files_limit(), open = keel_files_open();
    const size_t more = own + FILES_A_RANK * (size_t)(params->size - 1) + FILES_OF_MEMORY + FILES_FOR_A_MOMENT;

    if (limit >= open + more) {
        return KEEL_OK;
    }
    if (params->message != NULL) {
        keel_error(
            params->message,
            "the limit on open files is too low: it is %zu and may be raised to %zu (ulimit -n); %zu are open and %zu "
            "more are needed in a job of %u ranks",
            limit, keel_files_hard_limit(), open, more, params->size);
    }
    return KEEL_ERR_BUDGET;
}
