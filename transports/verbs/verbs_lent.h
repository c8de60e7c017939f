/*
 * Memory of this process that puts are read from: lent as a whole, and registered block by block when something of a block is put
 * first. So as much is locked as is used, and where no more may be locked the others go by messages.
 */
#ifndef KEEL_VERBS_LENT_H_
#define KEEL_VERBS_LENT_H_

#include "verbs_device.h"

enum { KEEL_VERBS_BLOCK = 1 << 20 };

typedef struct keel_verbs_lent {
    struct keel_verbs_lent *next;
    char *base;
    size_t bytes;
    struct ibv_mr *blocks[]; /* NULL: not registered yet */
} keel_verbs_lent_t;

typedef struct keel_verbs_loans {
    keel_verbs_lent_t *first;
    size_t registered; /* bytes */
    int is_full;       /* no more can be registered */
    int is_incomplete; /* some was not taken: nobody knows of it */
} keel_verbs_loans_t;

keel_status_t keel_verbs_lend(keel_verbs_loans_t *loans, void *base, size_t bytes);
void keel_verbs_take_back(keel_verbs_loans_t *loans, keel_verbs_device_t *device, void *base);
void keel_verbs_take_back_all(keel_verbs_loans_t *loans, keel_verbs_device_t *device);
/* whether @a at is, or may be, in lent memory */
int keel_verbs_is_lent(const keel_verbs_loans_t *loans, const void *at);
/* the registration of the block that @a at lies in; *length_p, at most what was given, gets the bytes from there to its end.
 * NULL: it is not lent, or cannot be registered, which is said once */
struct ibv_mr *keel_verbs_lent_at(keel_verbs_loans_t *loans, keel_verbs_device_t *device,
                                  const keel_transport_params_t *params, const void *at, size_t *length_p);

#endif
