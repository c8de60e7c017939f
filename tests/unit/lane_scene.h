/*
 * A lane over a transport without a network. Tests deliver messages of other ranks, valid and
 * invalid ones.
 */
#ifndef KEEL_TESTS_LANE_SCENE_H_
#define KEEL_TESTS_LANE_SCENE_H_

#include "peer/peer.h"

#define RANKS  3
#define WINDOW KEEL_REGION_WINDOW0
#define BYTES  1024

typedef struct fake {
    keel_transport_t super;
    unsigned replies;
    keel_wire_t last_reply;
    uint64_t last_word;
    uint8_t room[BYTES];
    keel_status_t room_status, reply_status;
} fake_t;

extern fake_t fake;

typedef struct scene {
    keel_lane_t lane;
    keel_config_t config;
    keel_message_t message;
    keel_runtime_t runtime;
    uint8_t *window;
    uint64_t sequence[RANKS];
    unsigned noted;
    int is_log_full;
    uint8_t log[BYTES];
} scene_t;

void scene_begin(scene_t *scene, uint32_t incarnation);
void scene_end(scene_t *scene);
keel_wire_t scene_wire(scene_t *scene, uint32_t source, keel_wire_type_t type);
/* Seals and delivers a message. Returns the KEEL_SERVED_* flags of keel_lane_on_request(). */
int scene_deliver(scene_t *scene, keel_wire_t *wire, const void *data, size_t length);
/* Delivers the first message of the incarnation. */
void scene_greet(scene_t *scene, uint32_t source, uint32_t incarnation);

#endif
