/* Entries by rank in reports and decisions. */
#include "recovery/report/entries.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/members.h"

#include <string.h>

_Static_assert(offsetof(report_about_t, reserved) + sizeof(uint32_t) == sizeof(report_about_t) &&
                   offsetof(decision_rank_t, reserved) + sizeof(uint32_t) == sizeof(decision_rank_t),
               "entries are compared as bytes");

/* The entry that more than half of the ranks have; if there is none, any entry. */
static const void *entries_common(const void *entries, size_t size, uint32_t count)
{
    const uint8_t *entry = entries, *common = entries;
    uint32_t votes = 0;

    for (uint32_t i = 0; i < count; i++, entry += size) {
        common = (votes == 0) ? entry : common;
        votes = (memcmp(entry, common, size) == 0) ? votes + 1 : votes - 1;
    }
    return common;
}

void keel_report_pack(keel_report_t *report, uint32_t count)
{
    report->common = *(const report_about_t *)entries_common(report->about, sizeof(*report->about), count);
    report->entries = 0;
    for (uint32_t r = 0; r < count; r++) {
        if (memcmp(&report->about[r], &report->common, sizeof(*report->about)) != 0) {
            report->about[report->entries] = report->about[r];
            report->about[report->entries++].rank = r;
        }
    }
}

size_t keel_report_bytes(const keel_report_t *report)
{
    return sizeof(*report) + report->entries * sizeof(*report->about);
}

int keel_report_is_packed(const keel_report_t *report, size_t length, uint32_t count)
{
    uint32_t end = 0;

    if (length < sizeof(*report) || report->entries > count || length != keel_report_bytes(report)) {
        return 0;
    }
    for (uint32_t i = 0; i < report->entries; i++) {
        if (report->about[i].rank < end || report->about[i].rank >= count) {
            return 0;
        }
        end = report->about[i].rank + 1;
    }
    return 1;
}

const report_about_t *keel_report_about(const keel_report_t *report, uint32_t rank)
{
    uint32_t low = 0, high = report->entries;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (report->about[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (low < report->entries && report->about[low].rank == rank && !KEEL_PLANT(entries_all_common))
               ? &report->about[low]
               : &report->common;
}

int keel_report_is_of_view(const keel_recovery_t *rec, const keel_report_t *report)
{
    const report_about_t *entry = report->about, *const end = report->about + report->entries;

    KEEL_EACH_RANK(r, rec->lane) {
        const int has_entry = entry < end && entry->rank == r;
        const uint32_t incarnation = has_entry ? entry->incarnation : report->common.incarnation;

        if (incarnation != rec->lane->peers[r].incarnation) {
            return 0;
        }
        entry += has_entry;
    }
    return 1;
}

decision_t *keel_decision_pack(const decision_t *d, uint32_t count, size_t *bytes_p)
{
    decision_t *packed = keel_alloc(sizeof(*d) + count * sizeof(*d->ranks), "decision");

    if (packed == NULL) {
        return NULL;
    }
    memcpy(packed, d, sizeof(*d));
    packed->common = *(const decision_rank_t *)entries_common(d->ranks, sizeof(*d->ranks), count);
    packed->entries = 0;
    for (uint32_t r = 0; r < count; r++) {
        if (memcmp(&d->ranks[r], &packed->common, sizeof(*d->ranks)) != 0) {
            packed->ranks[packed->entries] = d->ranks[r];
            packed->ranks[packed->entries++].rank = r;
        }
    }
    *bytes_p = sizeof(*packed) + packed->entries * sizeof(*packed->ranks);
    return packed;
}

int keel_decision_is_packed(const decision_t *packed, size_t length, uint32_t count)
{
    uint32_t end = 0;

    if (length < sizeof(*packed) || packed->entries > count ||
        length != sizeof(*packed) + packed->entries * sizeof(*packed->ranks)) {
        return 0;
    }
    for (uint32_t i = 0; i < packed->entries; i++) {
        if (packed->ranks[i].rank < end || packed->ranks[i].rank >= count) {
            return 0;
        }
        end = packed->ranks[i].rank + 1;
    }
    return 1;
}

decision_t *keel_decision_unpack(const decision_t *packed, uint32_t count)
{
    decision_t *d = keel_alloc(sizeof(*d) + count * sizeof(*d->ranks), "decision");

    if (d == NULL) {
        return NULL;
    }
    memcpy(d, packed, sizeof(*d));
    for (uint32_t r = 0; r < count; r++) {
        d->ranks[r] = packed->common;
    }
    for (uint32_t i = 0; i < packed->entries; i++) {
        d->ranks[packed->ranks[i].rank] = packed->ranks[i];
        d->ranks[packed->ranks[i].rank].rank = 0;
    }
    return d;
}
