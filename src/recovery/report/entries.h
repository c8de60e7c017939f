/*
 * Entries by rank in reports and decisions. A message has the entry of most ranks once, as the
 * common entry, and an entry of its own for each other rank. So a message grows with the ranks that
 * differ, and the leader keeps reports as they come.
 */
#ifndef KEEL_RECOVERY_ENTRIES_H_
#define KEEL_RECOVERY_ENTRIES_H_

#include "recovery/view.h"

/* Packs a report with an entry for each of @a count ranks, in place. */
void keel_report_pack(keel_report_t *report, uint32_t count);
size_t keel_report_bytes(const keel_report_t *report);
/* True if @a length bytes from outside are a packed report. */
int keel_report_is_packed(const keel_report_t *report, size_t length, uint32_t count);
/* The entry of @a rank in a packed report. */
const report_about_t *keel_report_about(const keel_report_t *report, uint32_t rank);
/* True if a packed report is of the view of this rank. */
int keel_report_is_of_view(const keel_recovery_t *rec, const keel_report_t *report);

/* A packed copy of a decision with an entry for each of @a count ranks; NULL: no memory. */
decision_t *keel_decision_pack(const decision_t *d, uint32_t count, size_t *bytes_p);
/* True if @a length bytes from outside are a packed decision. */
int keel_decision_is_packed(const decision_t *packed, size_t length, uint32_t count);
/* A copy with an entry for each of @a count ranks; NULL: no memory. */
decision_t *keel_decision_unpack(const decision_t *packed, uint32_t count);

#endif
