/* The tables of fields. */
#include "preload/preload_fields.h"
#include "preload/preload_report.h"

#define COUNT(_name, _member)                                              \
    {                                                                      \
        _name, PRELOAD_FIELD_COUNT, offsetof(preload_report_t, _member), 0 \
    }
#define REAL(_name, _member)                                              \
    {                                                                     \
        _name, PRELOAD_FIELD_REAL, offsetof(preload_report_t, _member), 0 \
    }
#define TEXT(_name, _member)                                                                                     \
    {                                                                                                            \
        _name, PRELOAD_FIELD_TEXT, offsetof(preload_report_t, _member), sizeof(((preload_report_t *)0)->_member) \
    }

const preload_field_t preload_report_fields[] = {
    TEXT("program", program),
    TEXT("host", host),
    TEXT("state", state),
    {"rank", PRELOAD_FIELD_SIGNED, offsetof(preload_report_t, rank), 0},
    {"pid", PRELOAD_FIELD_SIGNED, offsetof(preload_report_t, pid), 0},
    COUNT("processes", processes),
    COUNT("puts", calls[PRELOAD_PUT]),
    COUNT("gets", calls[PRELOAD_GET]),
    COUNT("atomics", calls[PRELOAD_ATOMIC]),
    COUNT("fetching_atomics", fetches),
    COUNT("flushes", calls[PRELOAD_FLUSH]),
    COUNT("fences", calls[PRELOAD_FENCE]),
    COUNT("rkey_pointers", calls[PRELOAD_POINTER]),
    COUNT("active_messages", calls[PRELOAD_MESSAGE]),
    COUNT("put_bytes", bytes[PRELOAD_PUT]),
    COUNT("get_bytes", bytes[PRELOAD_GET]),
    COUNT("atomic_bytes", bytes[PRELOAD_ATOMIC]),
    COUNT("failed_puts", failed[PRELOAD_PUT]),
    COUNT("failed_gets", failed[PRELOAD_GET]),
    COUNT("failed_atomics", failed[PRELOAD_ATOMIC]),
    COUNT("failed_flushes", failed[PRELOAD_FLUSH]),
    COUNT("nested_puts", nested[PRELOAD_PUT]),
    COUNT("nested_gets", nested[PRELOAD_GET]),
    COUNT("nested_atomics", nested[PRELOAD_ATOMIC]),
    COUNT("nested_flushes", nested[PRELOAD_FLUSH]),
    COUNT("put_log_bytes", put_log),
    COUNT("get_log_bytes", get_log),
    COUNT("put_log_peak", peak),
    COUNT("copied_bytes", copied),
    COUNT("late_gets", late_gets),
    COUNT("device_accesses", device),
    COUNT("generic_datatypes", unpacked),
    COUNT("records_without_room", full),
    COUNT("samples", samples),
    REAL("seconds", seconds),
    REAL("logging_seconds", logging),
    REAL("setup_seconds", setup),
    COUNT("put_log_most", put_log_most),
    COUNT("put_log_peak_most", peak_most),
    COUNT("get_log_most", get_log_most),
    REAL("put_log_rate_most", put_rate_most),
    REAL("get_log_rate_most", get_rate_most),
    {NULL, PRELOAD_FIELD_COUNT, 0, 0},
};

#undef COUNT
#define COUNT(_name, _member)                                                  \
    {                                                                          \
        _name, PRELOAD_FIELD_COUNT, offsetof(preload_target_sum_t, _member), 0 \
    }

const preload_field_t preload_target_fields[] = {
    {"worker", PRELOAD_FIELD_UID, offsetof(preload_target_sum_t, uid), 0},
    {"rank", PRELOAD_FIELD_SIGNED, offsetof(preload_target_sum_t, rank), 0},
    COUNT("puts", calls[PRELOAD_PUT]),
    COUNT("gets", calls[PRELOAD_GET]),
    COUNT("atomics", calls[PRELOAD_ATOMIC]),
    COUNT("put_bytes", bytes[PRELOAD_PUT]),
    COUNT("get_bytes", bytes[PRELOAD_GET]),
    COUNT("atomic_bytes", bytes[PRELOAD_ATOMIC]),
    COUNT("put_log_bytes", put_log),
    COUNT("get_log_bytes", get_log),
    COUNT("put_log_peak", peak),
    {NULL, PRELOAD_FIELD_COUNT, 0, 0},
};
