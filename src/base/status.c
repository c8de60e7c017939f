/* The text of each status. */
#include <keel/status.h>

const char *keel_status_string(keel_status_t status)
{
    switch (status) {
    case KEEL_OK:
        return "success";
    case KEEL_INPROGRESS:
        return "operation in progress";
    case KEEL_ERR_NO_MEMORY:
        return "out of memory";
    case KEEL_ERR_INVALID_PARAM:
        return "invalid parameter";
    case KEEL_ERR_RANGE:
        return "access outside the window";
    case KEEL_ERR_RANK:
        return "no such rank";
    case KEEL_ERR_ALIGNMENT:
        return "target of an atomic not aligned to its size";
    case KEEL_ERR_UNSUPPORTED:
        return "operation or size not supported";
    case KEEL_ERR_BUDGET:
        return "configured budget too small";
    case KEEL_ERR_GROUPS:
        return "groups cannot be formed on these nodes";
    case KEEL_ERR_STATE:
        return "call out of order";
    case KEEL_ERR_CORRUPT:
        return "corrupt data";
    case KEEL_ERR_UNREACHABLE:
        return "peer unreachable";
    case KEEL_ERR_ROLLED_BACK:
        return "job rolled back to a checkpoint";
    case KEEL_ERR_CATASTROPHIC:
        return "catastrophic failure: more deaths in a group than parity covers";
    case KEEL_ERR_RUNTIME:
        return "launcher or runtime library failed";
    case KEEL_ERR_TRANSPORT:
        return "network library failed";
    case KEEL_ERR_IO:
        return "system call failed";
    case KEEL_ERR_CHECKSUM:
        return "the job is over; this rank held parity";
    case KEEL_ERR_ISOLATED:
        return "cut off from most of the job, or declared dead";
    case KEEL_ERR_LIMIT:
        return "a counter has come to its end";
    case KEEL_ERR_LOST:
        return "no copy of the data is left";
    case KEEL_ERR_LAST:
        break;
    }
    return "unknown status";
}
