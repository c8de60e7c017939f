/* Buffers of calls with parameters. */
#include "preload/preload_call.h"

/* one access of all buffers of a list, each of which takes a record */
static void list_access(preload_thread_t *thread, preload_access_t *access, const ucp_dt_iov_t *list, size_t count)
{
    preload_access_t part = *access;

    access->length = 0;
    access->data = NULL;
    for (size_t i = 0; i < count; i++) {
        access->length += list[i].length;
    }
    preload_thread_access(thread, access);
    if (part.data == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        part.data = list[i].buffer;
        part.length = list[i].length;
        preload_thread_copy(thread, &part);
        part.address += part.length;
    }
}

/* Is the buffer known to be in the memory of a device? */
static int is_device(const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0 && param->memory_type != UCS_MEMORY_TYPE_HOST &&
           param->memory_type < UCS_MEMORY_TYPE_LAST;
}

void preload_access_nbx(preload_thread_t *thread, preload_access_t *access, const void *buffer, size_t count,
                        const ucp_request_param_t *param)
{
    ucp_datatype_t datatype = ucp_dt_make_contig(1);

    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) != 0) {
        datatype = param->datatype;
    }
    if (is_device(param)) {
        preload_add(&thread->device, 1);
        access->data = NULL;
    }
    switch (datatype & UCP_DATATYPE_CLASS_MASK) {
    case UCP_DATATYPE_CONTIG:
        access->length = count * (size_t)(datatype >> UCP_DATATYPE_SHIFT);
        preload_thread_access(thread, access);
        break;
    case UCP_DATATYPE_IOV:
        list_access(thread, access, buffer, count);
        break;
    default:
        preload_add(&thread->unpacked, 1);
        access->data = NULL;
        preload_thread_access(thread, access);
        break;
    }
}
