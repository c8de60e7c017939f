/* Ranges of the values, alone and in combination. */
#include "base/config_check.h"
#include "base/config_types.h"

#define KEEL_CONFIG_SIZE_MIN      ((size_t)4 << 10)
#define KEEL_CONFIG_SIZE_MAX      ((size_t)1 << 44)
#define KEEL_CONFIG_PROCESSES_MAX (1u << 20) /* maximum number of spares or of replacements */

static keel_status_t check_size(const keel_message_t *message, const char *name, size_t size)
{
    if ((size >= KEEL_CONFIG_SIZE_MIN) && (size <= KEEL_CONFIG_SIZE_MAX)) {
        return KEEL_OK;
    }
    keel_error(message, "%s of %zu bytes is out of range, allowed are %zu to %zu", name, size, KEEL_CONFIG_SIZE_MIN,
               KEEL_CONFIG_SIZE_MAX);
    return KEEL_ERR_INVALID_PARAM;
}

static keel_status_t check_count(const keel_message_t *message, const char *name, unsigned count, unsigned max)
{
    if (count <= max) {
        return KEEL_OK;
    }
    keel_error(message, "%s of %u is out of range, allowed are 0 to %u", name, count, max);
    return KEEL_ERR_INVALID_PARAM;
}

/* a comparison with NaN is false */
static keel_status_t check_time(const keel_message_t *message, const char *name, double seconds, double min, double max)
{
    if ((seconds >= min) && (seconds <= max)) {
        return KEEL_OK;
    }
    keel_error(message, "%s of %gs is out of range, allowed are %gs to %gs", name, seconds, min, max);
    return KEEL_ERR_INVALID_PARAM;
}

keel_status_t keel_config_check(const keel_message_t *message, const keel_config_t *config, double spin_s)
{
    int bad = 0;

    if (config->oplog_size != KEEL_CONFIG_SIZE_AUTO) {
        bad |= check_size(message, "KEEL_OPLOG_SIZE", config->oplog_size);
    }
    bad |= check_size(message, "KEEL_GETLOG_SIZE", config->getlog_size);
    if ((config->ckpt_size != 0) && (config->ckpt_size != KEEL_CONFIG_SIZE_INF)) {
        bad |= check_size(message, "KEEL_CKPT_SIZE", config->ckpt_size);
    }
    if ((config->file_rate != 0) && (config->file_rate != KEEL_CONFIG_SIZE_INF)) {
        bad |= check_size(message, "KEEL_FILE_RATE", config->file_rate);
    }
    if (config->group_size == 1) {
        keel_error(message, "KEEL_GROUP_SIZE of 1 is out of range, allowed are auto, 0 (no parity) and 2 or more");
        bad = 1;
    }
    if ((config->parities < 1) || (config->parities > KEEL_CONFIG_PARITIES_MAX)) {
        keel_error(message, "KEEL_PARITIES of %u is out of range, allowed are 1 to %d", config->parities,
                   KEEL_CONFIG_PARITIES_MAX);
        bad = 1;
    }
    if ((config->parity == KEEL_PARITY_ROTATE) && (config->group_size > 1) &&
        (config->parities >= config->group_size)) {
        keel_error(message, "KEEL_PARITIES of %u is too many for KEEL_GROUP_SIZE of %u, allowed is less",
                   config->parities, config->group_size);
        bad = 1;
    }
    if ((config->parities > 0) && (config->checksum_ranks % config->parities != 0)) {
        keel_error(message, "KEEL_CHECKSUM_RANKS is %u, it has to be a multiple of KEEL_PARITIES, which is %u",
                   config->checksum_ranks, config->parities);
        bad = 1;
    }
    bad |= check_count(message, "KEEL_OPLOG_SOFT", config->oplog_soft, 100);
    bad |= check_count(message, "KEEL_TRACE_EVENTS", config->trace_events, 1u << 24);
    bad |= check_count(message, "KEEL_SPARES", config->spares, KEEL_CONFIG_PROCESSES_MAX);
    bad |= check_count(message, "KEEL_SPAWN", config->spawns, KEEL_CONFIG_PROCESSES_MAX);
    bad |= check_time(message, "KEEL_MTBF", config->mtbf_s, 1e-3, KEEL_CONFIG_TIME_MAX);
    bad |= check_time(message, "KEEL_FILE_MTBF", config->file_mtbf_s, 1e-3, KEEL_CONFIG_TIME_MAX);
    bad |= check_time(message, "KEEL_FILE_STOP_WITHIN", config->file_stop_within_s, 0, KEEL_CONFIG_TIME_MAX);
    if (config->file_keep < 1) {
        keel_error(message, "KEEL_FILE_KEEP of 0 is out of range, allowed is 1 or more");
        bad = 1;
    }
    bad |= check_time(message, "KEEL_SPIN", spin_s, 0, 1);
    bad |= check_time(message, "KEEL_HEARTBEAT_INTERVAL", config->heartbeat_interval_s, 0, KEEL_CONFIG_TIME_MAX);
    bad |= check_time(message, "KEEL_HEARTBEAT_TIMEOUT", config->heartbeat_timeout_s, 0, KEEL_CONFIG_TIME_MAX);
    return bad ? KEEL_ERR_INVALID_PARAM : KEEL_OK;
}
