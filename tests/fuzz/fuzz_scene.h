/*
 * One process of a job of four, without a network, a launcher or a clock: a fuzzer makes all
 * arrivals.
 */
#ifndef KEEL_FUZZ_SCENE_H_
#define KEEL_FUZZ_SCENE_H_

#include "engine/progress.h"
#include "recovery/recovery.h"

#define FUZZ_RANKS      4
#define FUZZ_WINDOW     KEEL_REGION_WINDOW0
#define FUZZ_BYTES      256    /* size of the window */
#define FUZZ_OPLOG      65536  /* bytes */
#define FUZZ_REGION_MAX 262144 /* bytes; the board, the locks and logs are smaller */
#define FUZZ_GETLOG     16384
#define FUZZ_DATA_MAX   2048 /* data of a message */
#define FUZZ_EVENTS_MAX 16

typedef struct fuzz_scene {
    keel_lane_t lane;
    keel_config_t config;
    keel_message_t message;
    keel_runtime_t runtime;
    uint32_t node[FUZZ_RANKS];
    keel_domains_t domains;
    keel_segment_pool_t pool;
    keel_put_log_t puts;
    keel_get_log_t gets;
    keel_ckpt_t ckpt;
    keel_demand_t demand;
    keel_sync_t sync;
    keel_recovery_t rec;
    keel_progress_t progress;
    uint8_t *window;
    uint64_t sequence[FUZZ_RANKS];    /* sequence number of the last request made from each rank */
    uint32_t incarnation[FUZZ_RANKS]; /* incarnation that sends the requests */
    keel_event_t event[FUZZ_EVENTS_MAX];
    unsigned event_count, event_next;
    uint64_t now;
} fuzz_scene_t;

/* A message as it lies in an input, followed by its data. */
typedef struct __attribute__((packed)) fuzz_message {
    uint8_t source; /* modulo FUZZ_RANKS */
    uint8_t type;   /* keel_wire_type_t */
    uint16_t flags;
    uint16_t length; /* of the data */
    uint64_t words[4];
} fuzz_message_t;

/* Called for every message that the process sends; the corpus maker collects inputs here. */
typedef void (*fuzz_sent_cb_t)(void *arg, uint32_t to, const void *header, const void *data, size_t length);
extern fuzz_sent_cb_t fuzz_sent;
extern void *fuzz_sent_arg;
/* last error message of the process */
extern char fuzz_refused[256];

/* Starts the process as @a rank in its @a incarnation. Ends the program on a failure. */
void fuzz_scene_begin(fuzz_scene_t *scene, uint32_t rank, uint32_t incarnation);
void fuzz_scene_end(fuzz_scene_t *scene);
/* Delivers a message. All header fields that @a message does not set are valid. */
void fuzz_scene_deliver(fuzz_scene_t *scene, const fuzz_message_t *message, const void *data);
/* Delivers header and data exactly as they lie at @a bytes; for requests and replies. */
void fuzz_scene_deliver_raw(fuzz_scene_t *scene, int is_reply, const uint8_t *bytes, size_t length);
/* Reports an event of the launcher. */
void fuzz_scene_event(fuzz_scene_t *scene, keel_event_type_t type, uint32_t rank, uint32_t incarnation);

#endif
