/* All cryptography is libsodium's. */
#include "base/auth.h"

#include <sodium.h>
#include <string.h>

_Static_assert(KEEL_AUTH_KEY == crypto_shorthash_KEYBYTES, "a key of SipHash");
_Static_assert(sizeof(uint64_t) == crypto_shorthash_BYTES, "a sum of SipHash");
_Static_assert(KEEL_AUTH_SECRET == crypto_generichash_KEYBYTES, "a key of BLAKE2b");
_Static_assert(sizeof(keel_auth_key_t) == crypto_generichash_BYTES, "a sum of BLAKE2b is two keys");

void keel_auth_draw(uint8_t secret[KEEL_AUTH_SECRET])
{
    randombytes_buf(secret, KEEL_AUTH_SECRET);
}

void keel_auth_condense(const void *bytes, size_t length, uint8_t secret[KEEL_AUTH_SECRET])
{
    (void)crypto_generichash(secret, KEEL_AUTH_SECRET, bytes, length, NULL, 0);
}

void keel_auth_set(keel_auth_t *auth, const uint8_t secret[KEEL_AUTH_SECRET])
{
    memcpy(auth->secret, secret, KEEL_AUTH_SECRET);
    __atomic_store_n(&auth->state, KEEL_AUTH_ON, __ATOMIC_RELEASE);
}

void keel_auth_set_off(keel_auth_t *auth)
{
    __atomic_store_n(&auth->state, KEEL_AUTH_OFF, __ATOMIC_RELEASE);
}

void keel_auth_derive(const keel_auth_t *auth, const void *name, size_t length, keel_auth_key_t *key)
{
    (void)crypto_generichash((unsigned char *)key, sizeof(*key), name, length, auth->secret, sizeof(auth->secret));
}

uint64_t keel_auth_sum(const uint8_t key[KEEL_AUTH_KEY], const void *bytes, size_t length)
{
    uint64_t sum;

    (void)crypto_shorthash((unsigned char *)&sum, bytes, length, key);
    return sum;
}
