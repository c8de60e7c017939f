/* The secret of a job, and the keys and sums of messages derived from it. */
#ifndef KEEL_BASE_AUTH_H_
#define KEEL_BASE_AUTH_H_

#include <stddef.h>
#include <stdint.h>

enum {
    KEEL_AUTH_SECRET = 32, /* bytes */
    KEEL_AUTH_KEY = 16
};

/*
 * State of the secret. A launcher hands out the secret while processes start, so it may arrive
 * after the first thread that receives messages has started. The state is written once, after the
 * secret; any thread may read it.
 */
enum {
    KEEL_AUTH_AWAITED = 0, /* no message is accepted */
    KEEL_AUTH_OFF,         /* KEEL_AUTH=off: messages carry no sum, and none is verified */
    KEEL_AUTH_ON
};

typedef struct keel_auth {
    int state; /* read only by keel_auth_state() */
    uint8_t secret[KEEL_AUTH_SECRET];
} keel_auth_t;

/* keys of a direction of a connection */
typedef struct keel_auth_key {
    uint8_t head[KEEL_AUTH_KEY], data[KEEL_AUTH_KEY];
} keel_auth_key_t;

/* draws a secret from the kernel's random source */
void keel_auth_draw(uint8_t secret[KEEL_AUTH_SECRET]);
/* a secret of any length as Keel's own: its BLAKE2b */
void keel_auth_condense(const void *bytes, size_t length, uint8_t secret[KEEL_AUTH_SECRET]);
void keel_auth_set(keel_auth_t *auth, const uint8_t secret[KEEL_AUTH_SECRET]);
void keel_auth_set_off(keel_auth_t *auth);
static inline int keel_auth_state(const keel_auth_t *auth)
{
    /* pairs with the release in auth.c: the secret is complete */
    return __atomic_load_n(&auth->state, __ATOMIC_ACQUIRE);
}

/* Derives a key that only holders of the secret can compute: keyed BLAKE2b of @a name. State
 * KEEL_AUTH_ON. */
void keel_auth_derive(const keel_auth_t *auth, const void *name, size_t length, keel_auth_key_t *key);
/* SipHash-2-4 */
uint64_t keel_auth_sum(const uint8_t key[KEEL_AUTH_KEY], const void *bytes, size_t length);

#endif
