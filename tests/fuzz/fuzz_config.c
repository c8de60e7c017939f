/*
 * KEEL_* values: an input is lines, "NAME=VALUE" each. An accepted value must lie inside its
 * documented range.
 */
#include "base/config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES_MAX 32
#define TIME_MAX_S    1e10
#define PROCESSES_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void config_check(const keel_config_t *config)
{
    assert(config->lanes < KEEL_LANES_LAST && config->protect < KEEL_PROTECT_LAST);
    assert(config->oplog_size >= 4096 && config->getlog_size >= 4096);
    assert(config->oplog_soft <= 100);
    assert(config->ckpt_size == 0 || config->ckpt_size >= 4096);
    assert(config->transfer < KEEL_TRANSFER_LAST);
    assert(config->group_size != 1);
    assert(config->parities >= 1 && config->parities <= 8 && config->parity < KEEL_PARITY_LAST);
    assert(config->checksum_ranks % config->parities == 0);
    assert((config->parity == KEEL_PARITY_DEDICATED) == (config->checksum_ranks > 0));
    assert(config->heartbeat_interval_s >= 0 && config->heartbeat_interval_s <= TIME_MAX_S);
    assert(config->heartbeat_timeout_s >= 0 && config->heartbeat_timeout_s <= TIME_MAX_S);
    assert(config->spares <= PROCESSES_MAX && config->spawns <= PROCESSES_MAX);
    assert(config->interval_mode <= KEEL_INTERVAL_TIME && config->interval_value >= 0);
    assert(config->interval_mode != KEEL_INTERVAL_GSYNCS || config->interval_value >= 1);
    assert(config->mtbf_s > 0 && config->spin_us <= 1000000);
    assert(config->level >= 0 && config->level <= 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *env[VARIABLES_MAX + 1];
    int count = 0;
    keel_config_t config;
    char *text, *line;

    if (size > 4096) {
        return 0;
    }
    text = malloc(size + 1);
    assert(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (line = text; line != NULL && count < VARIABLES_MAX;) {
        env[count++] = line;
        line = strchr(line, '\n');
        if (line != NULL) {
            *line++ = '\0';
        }
    }
    env[count] = NULL;
    if (keel_config_read(env, &config) == KEEL_OK) {
        config_check(&config);
        keel_config_release(&config);
    }
    free(text);
    return 0;
}
