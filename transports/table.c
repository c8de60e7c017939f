/* The transports and runtimes compiled in; the build says which. */
#include "transports/table.h"

extern const keel_transport_ops_t keel_transport_ucp_ops;
extern const keel_runtime_ops_t keel_runtime_pmix_ops;

const keel_transport_ops_t *keel_transport_table(unsigned idx)
{
    static const keel_transport_ops_t *const table[] = {
#ifdef KEEL_HAVE_TRANSPORT_UCP
        &keel_transport_ucp_ops,
#endif
        NULL};

    return (idx < sizeof table / sizeof *table) ? table[idx] : NULL;
}

const keel_runtime_ops_t *keel_runtime_table(unsigned idx)
{
    static const keel_runtime_ops_t *const table[] = {
#ifdef KEEL_HAVE_RUNTIME_PMIX
        &keel_runtime_pmix_ops,
#endif
        NULL};

    return (idx < sizeof table / sizeof *table) ? table[idx] : NULL;
}
