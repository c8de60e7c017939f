/* The table of epochs. */
#include "oplog/epochs.h"

#include "base/memory.h"
#include "check/plant.h"

#include <assert.h>

static keel_epoch_run_t *epochs_run(const keel_epochs_t *epochs, uint32_t number)
{
    return &epochs->ring[number & epochs->mask];
}

keel_status_t keel_epochs_init(keel_epochs_t *epochs, uint32_t capacity, uint32_t first)
{
    assert(capacity >= 2 && (capacity & (capacity - 1)) == 0);
    epochs->ring = keel_alloc(capacity * sizeof(keel_epoch_run_t), "epochs");
    if (epochs->ring == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    epochs->mask = capacity - 1;
    epochs->open = first;
    keel_epochs_clear(epochs);
    return KEEL_OK;
}

void keel_epochs_release(keel_epochs_t *epochs)
{
    keel_free(epochs->ring);
    epochs->ring = NULL;
}

keel_status_t keel_epochs_enter(keel_epochs_t *epochs, uint32_t phase)
{
    if (epochs->next != epochs->oldest) {
        const uint32_t newest = epochs_run(epochs, epochs->next - 1)->phase;

        if (keel_epochs_age(epochs) >= KEEL_EPOCHS_MAX && !KEEL_PLANT(epochs_unbounded)) {
            return KEEL_ERR_BUDGET;
        }
        assert(newest <= phase);
        if (newest == phase) {
            return KEEL_OK;
        }
    }
    if (epochs->next - epochs->oldest > epochs->mask) {
        return KEEL_ERR_BUDGET;
    }
    keel_epochs_close(epochs); /* an epoch belongs to one phase */
    *epochs_run(epochs, epochs->next++) = (keel_epoch_run_t){.first = epochs->open, .phase = phase};
    return KEEL_OK;
}

uint32_t keel_epochs_find(const keel_epochs_t *epochs, uint32_t phase)
{
    uint32_t low = 0, high = epochs->next - epochs->oldest;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (epochs_run(epochs, epochs->oldest + middle)->phase < phase) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (epochs->oldest + low == epochs->next) ? epochs->open + 1 : epochs_run(epochs, epochs->oldest + low)->first;
}

void keel_epochs_trim(keel_epochs_t *epochs, uint32_t phase)
{
    while (epochs->oldest != epochs->next && epochs_run(epochs, epochs->oldest)->phase < phase) {
        epochs->oldest++;
    }
}

void keel_epochs_trim_before(keel_epochs_t *epochs, uint32_t oldest)
{
    while (epochs->next - epochs->oldest > 1 &&
           !keel_epoch_is_before(oldest, epochs_run(epochs, epochs->oldest + 1)->first)) {
        epochs->oldest++;
    }
}

void keel_epochs_clear(keel_epochs_t *epochs)
{
    epochs->oldest = 0;
    epochs->next = 0;
}
