/* Draws the recovery of a job. */
#include "trace/trace_timeline.h"
#include "trace/trace_spans.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    WIDTH = 1000,
    LEFT = 116, /* of the time axis */
    RIGHT = 984,
    TOP = 64, /* of the first row */
    ROW = 58,
    BAR = 28, /* height of a life's bar */
    LEGEND = 84,
    GSYNCS_MAX = 14, /* lines of gsyncs; more are not legible */
    TICKS_MAX = 8
};

#define MARGIN 4 /* a part of this many of the recovery is shown before and after */

typedef struct life_items {
    keel_trace_item_t *items;
    size_t count;
    uint64_t death_ns; /* UINT64_MAX: the life left the job */
} life_items_t;

typedef struct timeline {
    const keel_trace_job_t *job;
    FILE *stream;
    life_items_t *lives; /* as job->lives */
    int *rows;           /* by rank; -1: not drawn */
    int row_count;
    uint64_t begin_ns, end_ns; /* what is shown */
    size_t deaths;
} timeline_t;

/* ---- what is shown ---- */

static int is_recovery(keel_trace_kind_t kind)
{
    return kind == KEEL_TRACE_CATCH_UP || kind == KEEL_TRACE_ROLLBACK || kind == KEEL_TRACE_VIEW ||
           kind == KEEL_TRACE_REPLAY;
}

/* The first notice of the death by another rank, or the last sign of the life. */
static uint64_t death_of(const timeline_t *timeline, const keel_trace_head_t *head, uint64_t end_ns)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < timeline->job->count; i++) {
        const life_items_t *life = &timeline->lives[i];

        for (size_t k = 0; timeline->job->lives[i].head.job == head->job && k < life->count; k++) {
            const keel_trace_item_t *item = &life->items[k];

            if (item->kind == KEEL_TRACE_DEATH && item->number == head->rank && item->value[0] == head->incarnation &&
                item->begin_ns < first) {
                first = item->begin_ns;
            }
        }
    }
    return (first == UINT64_MAX) ? end_ns : first;
}

/* Sets the interval that is shown: around the deaths, or without one the whole job. */
static void choose_interval(timeline_t *timeline)
{
    uint64_t first = UINT64_MAX, last = 0, end = 0, margin;

    for (size_t i = 0; i < timeline->job->count; i++) {
        life_items_t *life = &timeline->lives[i];
        const keel_trace_life_t *of = &timeline->job->lives[i];

        life->death_ns = (of->head.left_ns != 0) ? UINT64_MAX : death_of(timeline, &of->head, of->end_ns);
        if (life->death_ns != UINT64_MAX) {
            first = (life->death_ns < first) ? life->death_ns : first;
            timeline->deaths++;
        }
        end = (of->end_ns > end) ? of->end_ns : end;
    }
    for (size_t i = 0; first != UINT64_MAX && i < timeline->job->count; i++) {
        for (size_t k = 0; k < timeline->lives[i].count; k++) {
            const keel_trace_item_t *item = &timeline->lives[i].items[k];

            if (is_recovery(item->kind) && item->end_ns > last) {
                last = item->end_ns;
            }
        }
    }
    end = (last > end) ? last : end;
    if (first == UINT64_MAX) {
        first = 0;
        last = end;
    }
    last = (last > first) ? last : end;
    margin = (last - first) / MARGIN;
    timeline->begin_ns = (first > margin) ? first - margin : 0;
    timeline->end_ns = (last + margin < end) ? last + margin : end;
    if (timeline->end_ns <= timeline->begin_ns) {
        timeline->end_ns = timeline->begin_ns + 1;
    }
}

static void choose_rows(timeline_t *timeline)
{
    const uint32_t size = timeline->job->size;

    for (uint32_t rank = 0; rank < size; rank++) {
        timeline->rows[rank] = -1;
    }
    for (size_t i = 0; i < timeline->job->count; i++) {
        const uint32_t rank = timeline->job->lives[i].head.rank;

        if (timeline->lives[i].death_ns != UINT64_MAX && timeline->rows[rank] < 0 &&
            timeline->row_count < KEEL_TIMELINE_ROWS) {
            timeline->rows[rank] = timeline->row_count++;
        }
    }
    for (uint32_t rank = 0; rank < size && timeline->row_count < KEEL_TIMELINE_ROWS; rank++) {
        if (timeline->rows[rank] < 0) {
            timeline->rows[rank] = timeline->row_count++;
        }
    }
    for (uint32_t rank = 0, row = 0; rank < size; rank++) { /* in the order of ranks */
        if (timeline->rows[rank] >= 0) {
            timeline->rows[rank] = (int)row++;
        }
    }
}

/* ---- parts of the figure ---- */

static double x_of(const timeline_t *timeline, uint64_t ns)
{
    const uint64_t at = (ns < timeline->begin_ns) ? timeline->begin_ns
                        : (ns > timeline->end_ns) ? timeline->end_ns
                                                  : ns;

    return LEFT + (double)(at - timeline->begin_ns) / (double)(timeline->end_ns - timeline->begin_ns) * (RIGHT - LEFT);
}

static int is_shown(const timeline_t *timeline, uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns >= timeline->begin_ns && begin_ns <= timeline->end_ns;
}

static int bar_y(const timeline_t *timeline, uint32_t rank)
{
    return TOP + timeline->rows[rank] * ROW + 14;
}

static void write_escaped(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c < ' ' || c > '~' || c == '<' || c == '&' || c == '"') {
            fprintf(stream, "&#%u;", (c < ' ') ? '?' : c);
        } else {
            fputc(c, stream);
        }
    }
}

static const char *const class_names[KEEL_TRACE_KIND_LAST] = {
    [KEEL_TRACE_PHASE] = "run",       [KEEL_TRACE_GSYNC] = "wait",       [KEEL_TRACE_COPY] = "image",
    [KEEL_TRACE_DEMAND] = "image",    [KEEL_TRACE_START] = "start",      [KEEL_TRACE_REBUILD] = "rebuild",
    [KEEL_TRACE_RESTORE] = "restore", [KEEL_TRACE_REPLAY] = "replay",    [KEEL_TRACE_CATCH_UP] = "catchup",
    [KEEL_TRACE_VIEW] = "view",       [KEEL_TRACE_ROLLBACK] = "rollback"};

/* Recovery is drawn above the calls that it happens in. */
static int layer_of(keel_trace_kind_t kind)
{
    return (kind == KEEL_TRACE_PHASE || kind == KEEL_TRACE_GSYNC)       ? 0
           : (kind == KEEL_TRACE_REPLAY || kind == KEEL_TRACE_ROLLBACK) ? 1
                                                                        : 2;
}

static void write_bar(const timeline_t *timeline, const keel_trace_head_t *head, const keel_trace_item_t *item)
{
    const char *name = class_names[item->kind];
    const int is_narrow = item->kind == KEEL_TRACE_VIEW;
    const double x = x_of(timeline, item->begin_ns), width = x_of(timeline, item->end_ns) - x;

    fprintf(timeline->stream,
            "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" class=\"%s\"><title>%s %u: %.3f ms"
            "</title></rect>\n",
            x, bar_y(timeline, head->rank) - (is_narrow ? 7 : 0), (width < 0.8) ? 0.8 : width, is_narrow ? 6 : BAR,
            name, keel_trace_kind_info(item->kind)->name, item->number, (double)(item->end_ns - item->begin_ns) * 1e-6);
}

static void write_life(const timeline_t *timeline, size_t i)
{
    const keel_trace_head_t *head = &timeline->job->lives[i].head;
    const life_items_t *life = &timeline->lives[i];

    for (int layer = 0; layer < 3; layer++) {
        for (size_t k = 0; k < life->count; k++) {
            keel_trace_item_t item = life->items[k];

            if (class_names[item.kind] == NULL || layer_of(item.kind) != layer ||
                (item.kind == KEEL_TRACE_START && head->incarnation == 0)) {
                continue;
            }
            if (item.lacks_end && life->death_ns != UINT64_MAX && life->death_ns > item.begin_ns) {
                item.end_ns = life->death_ns;
            }
            if (is_shown(timeline, item.begin_ns, item.end_ns)) {
                write_bar(timeline, head, &item);
            }
        }
    }
    if (life->death_ns != UINT64_MAX && is_shown(timeline, life->death_ns, life->death_ns)) {
        fprintf(timeline->stream,
                "<path d=\"M%.1f %d l18 18 m0 -18 l-18 18\" class=\"death\"><title>death of rank %u"
                "</title></path>\n",
                x_of(timeline, life->death_ns) - 9, bar_y(timeline, head->rank) + 5, head->rank);
    }
}

/* The notice of a death, decisions, and records that go to a replacement. */
static void write_moments(const timeline_t *timeline, size_t i)
{
    const uint32_t rank = timeline->job->lives[i].head.rank;
    const life_items_t *life = &timeline->lives[i];

    for (size_t k = 0; k < life->count; k++) {
        const keel_trace_item_t *item = &life->items[k];
        const double x = x_of(timeline, item->begin_ns);

        if (!is_shown(timeline, item->begin_ns, item->begin_ns)) {
            continue;
        }
        if (item->kind == KEEL_TRACE_DECISION) {
            fprintf(timeline->stream, "<path d=\"M%.1f %d v%d\" class=\"decision\"><title>decision</title></path>\n", x,
                    bar_y(timeline, rank) - 10, BAR + 14);
        } else if (item->kind == KEEL_TRACE_HAND_OVER && item->number < timeline->job->size &&
                   timeline->rows[item->number] >= 0) {
            const int from = bar_y(timeline, rank), to = bar_y(timeline, item->number);

            fprintf(timeline->stream,
                    "<path d=\"M%.1f %d L%.1f %d\" class=\"msg\"><title>%" PRIu64 " records"
                    "</title></path>\n",
                    x, (to > from) ? from + BAR : from, x + 6, (to > from) ? to : to + BAR, item->value[1]);
        }
    }
}

/* Lines of the gsyncs, at the moment when the first rank leaves each. */
static void write_gsyncs(const timeline_t *timeline)
{
    uint32_t lowest = UINT32_MAX, highest = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t number = lowest; pass == 1 && lowest <= highest && number <= highest; number++) {
            uint64_t first = UINT64_MAX;

            for (size_t i = 0; i < timeline->job->count; i++) {
                for (size_t k = 0; k < timeline->lives[i].count; k++) {
                    const keel_trace_item_t *item = &timeline->lives[i].items[k];

                    if (item->kind == KEEL_TRACE_GSYNC && item->number == number && !item->lacks_end &&
                        item->end_ns >= timeline->begin_ns && item->end_ns < first) {
                        first = item->end_ns;
                    }
                }
            }
            if (first <= timeline->end_ns) {
                fprintf(timeline->stream,
                        "<path d=\"M%.1f %d V%d\" class=\"gsync\"/><text x=\"%.1f\" y=\"%d\" class=\"gray\" "
                        "text-anchor=\"middle\">%u</text>\n",
                        x_of(timeline, first), TOP - 8, TOP + timeline->row_count * ROW, x_of(timeline, first),
                        TOP - 12, number);
            }
        }
        for (size_t i = 0; pass == 0 && i < timeline->job->count; i++) {
            for (size_t k = 0; k < timeline->lives[i].count; k++) {
                const keel_trace_item_t *item = &timeline->lives[i].items[k];

                if (item->kind == KEEL_TRACE_GSYNC && !item->lacks_end && item->end_ns >= timeline->begin_ns &&
                    item->end_ns <= timeline->end_ns) {
                    lowest = (item->number < lowest) ? item->number : lowest;
                    highest = (item->number > highest) ? item->number : highest;
                }
            }
        }
        if (pass == 0 && (lowest > highest || highest - lowest >= GSYNCS_MAX)) {
            return;
        }
    }
    fprintf(timeline->stream, "<text x=\"16\" y=\"%d\" class=\"gray\">gsync</text>\n", TOP - 12);
}

/* Time since the first death. */
static void write_axis(const timeline_t *timeline)
{
    const int y = TOP + timeline->row_count * ROW + 8;
    const double span = (double)(timeline->end_ns - timeline->begin_ns);
    double step = 1e3;
    uint64_t zero = UINT64_MAX;

    for (size_t i = 0; i < timeline->job->count; i++) {
        zero = (timeline->lives[i].death_ns < zero) ? timeline->lives[i].death_ns : zero;
    }
    zero = (zero == UINT64_MAX) ? 0 : zero;
    for (unsigned i = 0; span / step > TICKS_MAX; i++) {
        step *= (i % 3 == 1) ? 2.5 : 2; /* 1, 2, 5, 10, ... */
    }
    fprintf(timeline->stream, "<path d=\"M%d %d H%d\" class=\"line\"/>\n", LEFT, y, RIGHT);
    for (double t = (double)zero; t <= (double)timeline->end_ns; t += step) {
        const double x = x_of(timeline, (uint64_t)t);

        fprintf(
            timeline->stream,
            "<path d=\"M%.1f %d v5\" class=\"line\"/><text x=\"%.1f\" y=\"%d\" class=\"gray\" text-anchor=\"middle\">%g"
            "%s</text>\n",
            x, y, x, y + 18, (t - (double)zero) * 1e-6, (t == (double)zero) ? " ms" : "");
    }
}

static void write_legend(const timeline_t *timeline)
{
    static const struct {
        const char *name, *text;
    } entries[] = {{"run", "phase"},        {"wait", "in a gsync"}, {"image", "checkpoint: copy"},
                   {"view", "view change"}, {"start", "start-up"},  {"rebuild", "rebuild"},
                   {"restore", "restore"},  {"replay", "replay"},   {"catchup", "catch-up"},
                   {"rollback", "rollback"}};
    const int top = TOP + timeline->row_count * ROW + 42;

    for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        const int x = 16 + (int)(i % 5) * 140, y = top + (int)(i / 5) * 22;

        fprintf(timeline->stream,
                "<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"12\" class=\"%s\"/><text x=\"%d\" y=\"%d\" "
                "class=\"small\">%s</text>\n",
                x, y, entries[i].name, x + 24, y + 11, entries[i].text);
    }
    fprintf(
        timeline->stream,
        "<path d=\"M718 %d l12 12 m0 -12 l-12 12\" class=\"death\"/><text x=\"740\" y=\"%d\" class=\"small\">death"
        "</text><path d=\"M804 %d v14\" class=\"decision\"/><text x=\"812\" y=\"%d\" class=\"small\">decision</text>\n",
        top, top + 11, top - 1, top + 11);
    fprintf(timeline->stream,
            "<path d=\"M716 %d H732\" class=\"msg\"/><text x=\"740\" y=\"%d\" class=\"small\">records handed over"
            "</text>\n",
            top + 28, top + 33);
}

static void write_labels(const timeline_t *timeline)
{
    for (size_t i = timeline->job->count; i-- > 0;) {
        const keel_trace_head_t *head = &timeline->job->lives[i].head;

        if (timeline->rows[head->rank] < 0 || (i > 0 && timeline->job->lives[i - 1].head.rank == head->rank)) {
            continue; /* one label a rank */
        }
        fprintf(timeline->stream,
                "<text x=\"16\" y=\"%d\" class=\"rank\">rank %u</text><text x=\"16\" y=\"%d\" "
                "class=\"gray\">",
                bar_y(timeline, head->rank) + 12, head->rank, bar_y(timeline, head->rank) + 27);
        write_escaped(timeline->stream, head->host);
        fputs("</text>\n", timeline->stream);
    }
}

static void write_begin(const timeline_t *timeline)
{
    static const char style[] =
        ".run{fill:#cfe6c6;stroke:#6a9a58}.wait{fill:#fff;stroke:#6a9a58;stroke-dasharray:4 3}"
        ".image{fill:#8c6bb1;stroke:#5b3e80}.view{fill:#f4a261;stroke:#b3642a}.start{fill:#ddd;stroke:#888}"
        ".rebuild{fill:#fbe3a6;stroke:#b08a20}.restore{fill:#f7c948;stroke:#b08a20}.replay{fill:#cfe0f5;stroke:#4a76a8}"
        ".catchup{fill:#9cc3ee;stroke:#4a76a8}.rollback{fill:#f3c6c0;stroke:#b03020}.line{stroke:#999;fill:none}"
        ".gsync{stroke:#888;stroke-dasharray:2 3;fill:none}.death{stroke:#b03020;stroke-width:3;fill:none}"
        ".decision{stroke:#222;stroke-width:1.6;fill:none}.msg{stroke:#555;fill:none;marker-end:url(#arrow)}"
        ".small{font-size:12px;fill:#333}.gray{font-size:12px;fill:#777}.rank{font-weight:bold}";
    const int height = TOP + timeline->row_count * ROW + 26 + LEGEND;
    const uint32_t hidden = timeline->job->size - (uint32_t)timeline->row_count;

    fprintf(
        timeline->stream,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"14\">\n<title>Recovery of a job of %u ranks</title>\n"
        "<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" "
        "orient=\"auto\"><path d=\"M0 1 L9 5 L0 9 z\" fill=\"#555\"/></marker><style>%s</style></defs>\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        WIDTH, height, WIDTH, height, timeline->job->size, style, WIDTH, height);
    fprintf(timeline->stream, "<text x=\"16\" y=\"24\">%zu death%s, %.1f ms</text>\n", timeline->deaths,
            timeline->deaths == 1 ? "" : "s", (double)(timeline->end_ns - timeline->begin_ns) * 1e-6);
    if (hidden > 0) {
        fprintf(timeline->stream,
                "<text x=\"984\" y=\"24\" text-anchor=\"end\" class=\"gray\">%u other ranks are not drawn"
                "</text>\n",
                hidden);
    }
}

static void timeline_write(const timeline_t *timeline)
{
    write_begin(timeline);
    write_labels(timeline);
    for (size_t i = 0; i < timeline->job->count; i++) {
        if (timeline->rows[timeline->job->lives[i].head.rank] >= 0) {
            write_life(timeline, i);
        }
    }
    write_gsyncs(timeline);
    for (size_t i = 0; i < timeline->job->count; i++) {
        if (timeline->rows[timeline->job->lives[i].head.rank] >= 0) {
            write_moments(timeline, i);
        }
    }
    write_axis(timeline);
    write_legend(timeline);
    fputs("</svg>\n", timeline->stream);
}

int keel_trace_timeline_write(const keel_trace_job_t *job, FILE *stream)
{
    timeline_t timeline = {.job = job, .stream = stream};
    int error = 0;

    timeline.lives = keel_alloc((job->count + 1) * sizeof(*timeline.lives), "lives of a figure");
    timeline.rows = keel_alloc((job->size + (size_t)1) * sizeof(*timeline.rows), "rows of a figure");
    if (timeline.lives == NULL || timeline.rows == NULL) {
        error = ENOMEM;
    }
    for (size_t i = 0; i < job->count && error == 0; i++) {
        error = keel_trace_items(&job->lives[i], &timeline.lives[i].items, &timeline.lives[i].count);
    }
    if (error == 0) {
        choose_interval(&timeline);
        choose_rows(&timeline);
        timeline_write(&timeline);
    }
    for (size_t i = 0; timeline.lives != NULL && i < job->count; i++) {
        keel_free(timeline.lives[i].items);
    }
    keel_free(timeline.lives);
    keel_free(timeline.rows);
    return error;
}
