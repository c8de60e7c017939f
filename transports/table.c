/* Transports and runtimes compiled in, by the build's configuration. */
#include "transports/table.h"

#include "base/message.h"

#include <string.h>

extern const keel_transport_ops_t keel_transport_ucp_ops;
extern const char *keel_ucp_library_version(void);
extern const keel_transport_ops_t keel_transport_verbs_ops;
extern const keel_runtime_ops_t keel_runtime_pmix_ops;

const keel_transport_ops_t *keel_transport_table(unsigned idx)
{
    static const keel_transport_ops_t *const table[] = {
#ifdef KEEL_HAVE_TRANSPORT_UCP
        &keel_transport_ucp_ops,
#endif
#ifdef KEEL_HAVE_TRANSPORT_VERBS
        &keel_transport_verbs_ops,
#endif
        NULL};

    return (idx < sizeof table / sizeof *table) ? table[idx] : NULL;
}

const char *keel_transport_ucx_version(void)
{
#ifdef KEEL_HAVE_TRANSPORT_UCP
    return keel_ucp_library_version();
#else
    return NULL;
#endif
}

const keel_transport_ops_t *keel_transport_named(const char *name)
{
    unsigned idx = 0;

    while (keel_transport_table(idx) != NULL && strcmp(keel_transport_table(idx)->name, name) != 0) {
        idx++;
    }
    return keel_transport_table(idx);
}

const keel_transport_ops_t *keel_transport_pick(const keel_config_t *config)
{
    static const char *const names[] = {[KEEL_TRANSPORT_UCP] = "ucp", [KEEL_TRANSPORT_VERBS] = "verbs"};
    const keel_message_t message = {.level = (keel_message_level_t)config->level, .rank = KEEL_MESSAGE_NO_RANK};
    const keel_transport_ops_t *ops;

    if (config->transport == KEEL_TRANSPORT_AUTO) {
        return keel_transport_table(0);
    }
    ops = keel_transport_named(names[config->transport]);
    if (ops == NULL) {
        keel_error(&message, "KEEL_TRANSPORT=%s: this library was built without it", names[config->transport]);
    }
    return ops;
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
