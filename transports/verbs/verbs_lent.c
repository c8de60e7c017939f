/* Memory that puts read from. */
#include "verbs_lent.h"

#include "base/memory.h"
#include "base/message.h"

#include <errno.h>
#include <string.h>

static size_t blocks_of(size_t bytes)
{
    return (bytes + KEEL_VERBS_BLOCK - 1) / KEEL_VERBS_BLOCK;
}

keel_status_t keel_verbs_lend(keel_verbs_loans_t *loans, void *base, size_t bytes)
{
    keel_verbs_lent_t *lent = keel_alloc(sizeof(*lent) + blocks_of(bytes) * sizeof(lent->blocks[0]), "lent memory");

    if (lent == NULL) {
        loans->is_incomplete = 1;
        return KEEL_ERR_NO_MEMORY;
    }
    lent->base = base;
    lent->bytes = bytes;
    lent->next = loans->first;
    loans->first = lent;
    return KEEL_OK;
}

static void drop(keel_verbs_loans_t *loans, keel_verbs_device_t *device, keel_verbs_lent_t **place)
{
    keel_verbs_lent_t *lent = *place;

    *place = lent->next;
    for (size_t i = 0; i < blocks_of(lent->bytes); i++) {
        if (lent->blocks[i] != NULL) {
            loans->registered -= lent->blocks[i]->length;
            loans->is_full = 0;
            keel_verbs_unlock(device, lent->blocks[i]);
        }
    }
    keel_free(lent);
}

void keel_verbs_take_back(keel_verbs_loans_t *loans, keel_verbs_device_t *device, void *base)
{
    for (keel_verbs_lent_t **place = &loans->first; *place != NULL; place = &(*place)->next) {
        if ((*place)->base == base) {
            drop(loans, device, place);
            return;
        }
    }
}

void keel_verbs_take_back_all(keel_verbs_loans_t *loans, keel_verbs_device_t *device)
{
    while (loans->first != NULL) {
        drop(loans, device, &loans->first);
    }
}

static keel_verbs_lent_t *find(const keel_verbs_loans_t *loans, const char *at)
{
    keel_verbs_lent_t *lent = loans->first;

    while (lent != NULL && (at < lent->base || at >= lent->base + lent->bytes)) {
        lent = lent->next;
    }
    return lent;
}

int keel_verbs_is_lent(const keel_verbs_loans_t *loans, const void *at)
{
    return loans->is_incomplete || find(loans, at) != NULL;
}

static void report_full(const keel_verbs_loans_t *loans, const keel_transport_params_t *params, int reason)
{
    if (params->message != NULL) {
        keel_warn(params->message,
                  "no more memory can be locked (%s, ulimit -l): of the logs %zu bytes are; what longer puts to other "
                  "nodes have "
                  "beyond goes by messages",
                  strerror(reason), loans->registered);
    }
}

struct ibv_mr *keel_verbs_lent_at(keel_verbs_loans_t *loans, keel_verbs_device_t *device,
                                  const keel_transport_params_t *params, const void *at, size_t *length_p)
{
    keel_verbs_lent_t *lent = find(loans, at);
    size_t offset, block, begin, length;

    if (lent == NULL) {
        return NULL;
    }
    offset = (size_t)((const char *)at - lent->base);
    block = offset / KEEL_VERBS_BLOCK;
    begin = block * KEEL_VERBS_BLOCK;
    length = (lent->bytes - begin < KEEL_VERBS_BLOCK) ? lent->bytes - begin : KEEL_VERBS_BLOCK;
    if (lent->blocks[block] == NULL && !loans->is_full) {
        lent->blocks[block] = keel_verbs_lock(device, lent->base + begin, length, IBV_ACCESS_LOCAL_WRITE);
        if (lent->blocks[block] == NULL) {
            loans->is_full = 1;
            report_full(loans, params, errno);
        } else {
            loans->registered += length;
        }
    }
    if (*length_p > begin + length - offset) {
        *length_p = begin + length - offset;
    }
    return lent->blocks[block];
}
