/* Joins the job of a runtime that attaches Keel by the table of include/keel/runtime.h. */
#include "job/init.h"
#include "runtime_ops.h"

#include "runtime/foreign.h"
#include "transports/table.h"

keel_status_t keel_init_attached(const keel_attach_t *runtime, const keel_params_t *params, keel_context_h *ctx_p)
{
    const keel_message_t nobody = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};
    keel_params_t returning = {0}; /* keel_init_on() checks the copy */
    keel_attach_t table;
    keel_drivers_t drivers = {.runtime = &keel_runtime_attached_ops, .runtime_arg = &table};
    keel_status_t status = keel_attached_check(runtime, &table);

    if (status != KEEL_OK) {
        return status;
    }
    if (table.transport != NULL) {
        drivers.transport = keel_transport_named(table.transport);
        if (drivers.transport == NULL) {
            keel_error(&nobody, "keel_init_attached: this library has no transport '%s'", table.transport);
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    if (params != NULL) {
        returning = *params;
    }
    if (!(returning.field_mask & KEEL_PARAM_FIELD_FLAGS)) {
        returning.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        returning.flags = 0;
    }
    returning.flags |= KEEL_PARAM_FLAG_CHECKSUM_RETURNS;
    return keel_init_on(&drivers, &returning, ctx_p);
}
