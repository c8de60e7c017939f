/* Text of the lines about survived deaths. */
#include "base/outcome_text.h"

#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OUTCOME_RANGES_MAX 12 /* further ranks or hosts are counted only */
#define OUTCOME_UNIT_MAX   32

typedef struct line {
    char *text;
    size_t max, at;
} line_t;

static void line_add(line_t *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line_add(line_t *line, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line->text + line->at, line->max - line->at, format, args);
    va_end(args);
    line->at += (n > 0) ? (size_t)n : 0;
    line->at = (line->at < line->max) ? line->at : line->max - 1;
}

static uint32_t count_of(const uint8_t *is_member, uint32_t size)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < size; i++) {
        count += is_member[i] != 0;
    }
    return count;
}

/* Ranks as "0, 1, 3" or "16-31". */
static void add_ranks(line_t *line, const char *name, const uint8_t *is_member, uint32_t size)
{
    const uint32_t count = count_of(is_member, size);
    uint32_t done = 0, ranges = 0;

    line_add(line, "%s%s ", name, (count == 1) ? "" : "s");
    for (uint32_t first = 0, end; first < size; first = end) {
        end = first + 1;
        if (!is_member[first]) {
            continue;
        }
        if (ranges++ == OUTCOME_RANGES_MAX) {
            line_add(line, " and %u more", count - done);
            return;
        }
        while (end < size && is_member[end]) {
            end++;
        }
        if (end - first < 3) {
            end = first + 1;
        }
        line_add(line, "%s%u", (done > 0) ? ", " : "", first);
        if (end > first + 1) {
            line_add(line, "-%u", end - 1);
        }
        done += end - first;
    }
}

static void add_nodes(line_t *line, const keel_outcome_facts_t *facts)
{
    const uint32_t count = count_of(facts->nodes, facts->node_count);
    uint32_t done = 0;

    for (uint32_t n = 0; n < facts->node_count; n++) {
        if (!facts->nodes[n]) {
            continue;
        }
        if (done == OUTCOME_RANGES_MAX) {
            line_add(line, " and %u more", count - done);
            return;
        }
        line_add(line, "%s", (done++ == 0) ? " on " : ", ");
        if (facts->host != NULL) {
            line_add(line, "%s", facts->host[n]);
        } else {
            line_add(line, "node %u", n);
        }
    }
}

/* "ranks 2, 5 died on n3; ", or nothing. */
static void add_deaths(line_t *line, const keel_outcome_facts_t *facts, uint8_t *is_member)
{
    uint32_t deaths = 0, ranks = 0, parity = 0;

    for (uint32_t r = 0; r < facts->size; r++) {
        is_member[r] = facts->deaths[r] > 0;
        deaths += facts->deaths[r];
        ranks += is_member[r];
        parity += is_member[r] && r >= facts->programs;
    }
    if (deaths == 0) {
        return;
    }
    add_ranks(line, (parity == ranks) ? "parity rank" : "rank", is_member, facts->size);
    line_add(line, " died");
    add_nodes(line, facts);
    if (deaths > ranks) {
        line_add(line, " (%u deaths)", deaths);
    }
    line_add(line, "; ");
}

static void add_time(line_t *line, uint64_t ns)
{
    if (ns < 1000000000u) {
        line_add(line, "%lu ms", (unsigned long)((ns + 500000u) / 1000000u));
    } else {
        line_add(line, "%.1f s", (double)ns * 1e-9);
    }
}

static void add_local(line_t *line, const keel_outcome_facts_t *facts)
{
    const uint32_t sources = count_of(facts->sources, facts->size);
    char bytes[OUTCOME_UNIT_MAX];

    line_add(line, "recovered in ");
    add_time(line, facts->took_ns);
    line_add(line, ": %lu put record%s replayed", (unsigned long)facts->records, (facts->records == 1) ? "" : "s");
    if (facts->checkpoint == 0 && !facts->is_own) {
        line_add(line, " from the program's start");
    } else if (sources > 0) {
        keel_units_write_bytes((double)facts->bytes, bytes, sizeof(bytes));
        if (facts->is_own) {
            line_add(line, ", its own newer checkpoint (%s) rebuilt from ", bytes);
        } else {
            line_add(line, ", checkpoint %u (%s) rebuilt from ", facts->checkpoint, bytes);
        }
        add_ranks(line, "rank", facts->sources, facts->size);
    }
    line_add(line, "; other ranks kept their state");
}

static void add_rollback(line_t *line, const keel_outcome_facts_t *facts)
{
    line_add(line, "all ranks rolled back to ");
    if (facts->checkpoint == 0) {
        line_add(line, "the program's start (");
    } else {
        line_add(line, "checkpoint %u (", facts->checkpoint);
    }
    add_time(line, facts->took_ns);
    line_add(line, " of work lost): %s%s", facts->why, facts->is_for_good ? ", as at every further death" : "");
}

static void add_shrink(line_t *line, const keel_outcome_facts_t *facts, uint32_t dead)
{
    if (facts->is_memory_kept) {
        line_add(line, "nothing replaces %s: the other %u go on with the memory that they have",
                 (dead == 1) ? "that rank" : "these ranks", facts->remain);
        return;
    }
    line_add(line, "the job goes on with %u ranks from ", facts->remain);
    if (facts->checkpoint == 0) {
        line_add(line, "the program's start (");
    } else {
        line_add(line, "checkpoint %u (", facts->checkpoint);
    }
    add_time(line, facts->took_ns);
    line_add(line, " of work lost)");
}

void keel_outcome_write(const keel_outcome_facts_t *facts, uint8_t *scratch, char *text, size_t max)
{
    line_t line = {.text = text, .max = max};

    text[0] = '\0';
    add_deaths(&line, facts, scratch);
    if (facts->is_rollback && facts->remain > 0 && count_of(scratch, facts->size) > 0) {
        add_shrink(&line, facts, count_of(scratch, facts->size));
    } else if (facts->is_rollback) {
        add_rollback(&line, facts);
    } else {
        add_local(&line, facts);
    }
}

static unsigned unit_shift(uint64_t bytes)
{
    return (bytes >> 20 > 0) ? 20 : 10;
}

/* "31 of 256 MiB", or "32 KiB of 16 MiB": one unit for both numbers if both have the same. */
static void add_share(line_t *line, uint64_t bytes, uint64_t most)
{
    static const char *const names[] = {[10] = "KiB", [20] = "MiB"};
    const unsigned shift = unit_shift(bytes), most_shift = unit_shift(most);
    const double peak = (double)bytes / (double)(1u << shift);

    line_add(line, (peak < 10) ? "%.2g" : "%.0f", peak);
    if (shift != most_shift) {
        line_add(line, " %s", names[shift]);
    }
    line_add(line, " of %lu %s", (unsigned long)(most >> most_shift), names[most_shift]);
}

void keel_outcome_write_sums(const keel_outcome_sums_t *sums, char *text, size_t max)
{
    line_t line = {.text = text, .max = max};

    text[0] = '\0';
    if (sums->gone > 0) {
        line_add(&line, "%lu death%s, %u rank%s gone", (unsigned long)sums->deaths, (sums->deaths == 1) ? "" : "s",
                 sums->gone, (sums->gone == 1) ? "" : "s");
        if (sums->local + sums->checkpoints == 0) {
            return;
        }
    } else {
        line_add(&line, "%lu death%s", (unsigned long)sums->deaths, (sums->deaths == 1) ? "" : "s");
    }
    line_add(&line, ", %lu recovered locally, %lu rollback%s, %lu checkpoint%s", (unsigned long)sums->local,
             (unsigned long)sums->rollbacks, (sums->rollbacks == 1) ? "" : "s", (unsigned long)sums->checkpoints,
             (sums->checkpoints == 1) ? "" : "s");
    if (sums->log_most > 0) {
        line_add(&line, ", log peak ");
        add_share(&line, sums->log_peak, sums->log_most);
    }
}
