/* The statistics that are summed at the end of a job. */
#include "trace/trace_words.h"

#define WORD(_field) (offsetof(keel_trace_words_t, _field) / sizeof(uint64_t))
#define SUM(_name, _field)                     \
    {                                          \
        _name, WORD(_field), KEEL_TRACE_SUM, 0 \
    }
#define STAT(_name)                                  \
    {                                                \
#_name, WORD(stats._name), KEEL_TRACE_SUM, 0 \
    }
#define PEAK(_name)                                   \
    {                                                 \
#_name, WORD(stats._name), KEEL_TRACE_MOST, 1 \
    }
#define ALL(_name)                                    \
    {                                                 \
#_name, WORD(stats._name), KEEL_TRACE_MOST, 0 \
    }
#define STEP(_name, _number)                                                            \
    {                                                                                   \
        "recovery_" _name "_ns", WORD(stats.recovery_ns) + (_number), KEEL_TRACE_SUM, 0 \
    }

/* Not summed: values of the moment or of the newest checkpoint. */
const keel_trace_field_t keel_trace_fields[] = {STAT(puts),
                                                STAT(put_bytes),
                                                STAT(gets),
                                                STAT(get_bytes),
                                                STAT(atomics),
                                                STAT(locks),
                                                ALL(gsyncs),
                                                PEAK(put_log_peak),
                                                PEAK(get_log_peak),
                                                STAT(log_overflows),
                                                ALL(checkpoints),
                                                ALL(checkpoint_aborts),
                                                PEAK(checkpoint_bytes),
                                                SUM("checkpoint_copy_ns", copy_ns),
                                                SUM("checkpoint_work_ns", work_ns),
                                                PEAK(checkpoint_memory),
                                                PEAK(transfer_peak_bytes),
                                                STAT(parity_bytes),
                                                STAT(parity_spared_bytes),
                                                STAT(demand_checkpoints),
                                                STAT(demand_committed),
                                                STAT(demands),
                                                STAT(demand_recoveries),
                                                ALL(recoveries),
                                                ALL(rollbacks),
                                                ALL(rollbacks_in_doubt),
                                                STAT(differences),
                                                STAT(replayed_puts),
                                                STAT(replayed_gets),
                                                STAT(replayed_sections),
                                                STAT(rebuilt_bytes),
                                                STEP("start", 0),
                                                STEP("agree", 1),
                                                STEP("rebuild", 2),
                                                STEP("restore", 3),
                                                STEP("replay", 4),
                                                STAT(suspicions),
                                                STAT(false_suspicions),
                                                STAT(device_hints),
                                                STAT(file_checkpoints),
                                                STAT(file_failures),
                                                STAT(file_skips),
                                                STAT(file_bytes),
                                                ALL(store_submits),
                                                STAT(store_push_bytes),
                                                STAT(store_loads),
                                                STAT(store_load_bytes),
                                                STAT(store_refills),
                                                STAT(store_losses),
                                                {NULL, 0, KEEL_TRACE_SUM, 0}};
