/*
 * Memory of this process that puts read from. It is lent as a whole, and a block is registered at
 * the first put from it. So only used memory is locked, and if no more can be locked, puts from
 * other blocks go by messages.
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
    int is_full;       /* no more memory can be registered */
    int is_incomplete; /* some lent memory was not recorded for lack of memory */
} keel_verbs_loans_t;

keel_status_t keel_verbs_lend(keel_verbs_loans_t *loans, void *base, size_t bytes);
void keel_verbs_take_back(keel_verbs_loans_t *loans, keel_verbs_device_t *device, void *base);
void keel_verbs_take_back_all(keel_verbs_loans_t *loans, keel_verbs_device_t *device);
/* is @a at in lent memory, or may it be? */
int keel_verbs_is_lent(const keel_verbs_loans_t *loans, const void *at);
/* Registration of the block that contains @a at. *length_p is reduced to the bytes from @a at to
 * the end of the block if larger. NULL: not lent, or registration failed, which is reported
 * once. */
struct ibv_mr *keel_verbs_lent_at(keel_verbs_loans_t *loans, keel_verbs_device_t *device,
                                  const keel_transport_params_t *params, const void *at, size_t *length_p);

#endif
