/* The limit on open files. */
#include "ucp_demands.h"

#include "base/file_limit.h"
#include "base/message.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>

/* open files, counted with UCX 1.13 */
enum {
    FILES_OF_NETWORK = 16, /* a UCP context and its two workers, */
    FILES_A_DEVICE = 4,    /* and that for each device with an address: an event queue and a socket a worker */
    FILES_A_RANK = 2,      /* a connection each way */
    FILES_OF_MEMORY = 20,  /* memory that is shared: Keel's own, and some windows */
    FILES_FOR_A_MOMENT =
        12 /* connections to a dead rank and to its replacement at once; memory of others that is being mapped */
};

static size_t devices(void)
{
    struct ifaddrs *all, *one;
    size_t count = 0;

    if (getifaddrs(&all) != 0) {
        return 0;
    }
    for (one = all; one != NULL; one = one->ifa_next) {
        count += (one->ifa_flags & IFF_UP) && (one->ifa_addr != NULL) && (one->ifa_addr->sa_family == AF_INET);
    }
    freeifaddrs(all);
    return count;
}

keel_status_t keel_ucp_demand_files(const keel_transport_params_t *params, int is_network_open)
{
    const size_t limit = keel_files_limit(), open = keel_files_open();
    size_t more = FILES_A_RANK * (size_t)(params->size - 1) + FILES_OF_MEMORY + FILES_FOR_A_MOMENT;

    if (!is_network_open) {
        more += FILES_OF_NETWORK + FILES_A_DEVICE * devices();
    }
    if (limit >= open + more) {
        return KEEL_OK;
    }
    if (params->message != NULL) {
        keel_error(
            params->message,
            "the limit on open files is too low: it is %zu and may be raised to %zu (ulimit -n); %zu are open and %zu "
            "more are needed in a job of %u ranks",
            limit, keel_files_most(), open, more, params->size);
    }
    return KEEL_ERR_BUDGET;
}
