/*
 * Process: a node. A rank has a thread for calls, and threads for recovery, parity and files.
 * Spans of a thread nest. Times are microseconds.
 */
#include "trace/trace_json.h"
#include "trace/trace_spans.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

typedef struct writer {
    FILE *stream;
    const char *separator;
} writer_t;

typedef enum { ROW_CALLS, ROW_RECOVERY, ROW_PARITY, ROW_FILES, ROWS } row_t;

static const char *const row_names[ROWS] = {"", ": recovery", ": parity", ": files"};

static row_t row_of(keel_trace_kind_t kind)
{
    switch (kind) {
    case KEEL_TRACE_PARITY:
        return ROW_PARITY;
    case KEEL_TRACE_FILE:
        return ROW_FILES;
    case KEEL_TRACE_START:
    case KEEL_TRACE_VIEW:
    case KEEL_TRACE_REBUILD:
    case KEEL_TRACE_RESTORE:
    case KEEL_TRACE_REPLAY:
    case KEEL_TRACE_CATCH_UP:
    case KEEL_TRACE_ROLLBACK:
        return ROW_RECOVERY;
    default:
        return ROW_CALLS;
    }
}

static unsigned thread_of(uint32_t rank, row_t row)
{
    return rank * ROWS + 1 + row;
}

static void begin_object(writer_t *writer)
{
    fprintf(writer->stream, "%s\n{", writer->separator);
    writer->separator = ",";
}

static void write_time(const writer_t *writer, const char *name, uint64_t ns)
{
    fprintf(writer->stream, "\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void write_string(const writer_t *writer, const char *text)
{
    fputc('"', writer->stream);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c < ' ' || c == '"' || c == '\\' || c > '~') {
            fprintf(writer->stream, "\\u%04x", c);
        } else {
            fputc(c, writer->stream);
        }
    }
    fputc('"', writer->stream);
}

static void write_name(writer_t *writer, const char *what, uint32_t process, unsigned thread, const char *name)
{
    begin_object(writer);
    fprintf(writer->stream, "\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, process,
            thread);
    write_string(writer, name);
    fputs("}}", writer->stream);
    if (thread != 0) {
        begin_object(writer);
        fprintf(writer->stream,
                "\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}",
                process, thread, thread);
    }
}

/* Names the rows that the life has. */
static void write_life_names(writer_t *writer, const keel_trace_head_t *head, const keel_trace_item_t *items,
                             size_t count)
{
    int is_used[ROWS] = {[ROW_CALLS] = 1};
    char name[96];

    for (size_t i = 0; i < count; i++) {
        is_used[row_of(items[i].kind)] = 1;
    }
    snprintf(name, sizeof(name), "node %u%s%s", head->node, head->host[0] != '\0' ? ": " : "", head->host);
    write_name(writer, "process_name", head->node + 1, 0, name);
    for (row_t row = 0; row < ROWS; row++) {
        if (is_used[row]) {
            snprintf(name, sizeof(name), "rank %u%s", head->rank, row_names[row]);
            write_name(writer, "thread_name", head->node + 1, thread_of(head->rank, row), name);
        }
    }
}

static void write_args(writer_t *writer, const keel_trace_item_t *item)
{
    const keel_trace_kind_info_t *info = keel_trace_kind_info(item->kind);
    const char *separator = "";

    fputs(",\"args\":{", writer->stream);
    if (info->number[0] != '\0') {
        fprintf(writer->stream, item->number == UINT32_MAX ? "\"%s\":\"all\"" : "\"%s\":%u", info->number,
                item->number);
        separator = ",";
    }
    for (unsigned i = 0; i < 2; i++) {
        if (info->value[i][0] != '\0') {
            fprintf(writer->stream, "%s\"%s\":%" PRIu64, separator, info->value[i], item->value[i]);
            separator = ",";
        }
    }
    if (item->lacks_begin || item->lacks_end) {
        fprintf(writer->stream, "%s\"%s\":true", separator, item->lacks_end ? "cut by death" : "begin overwritten");
    }
    fputc('}', writer->stream);
}

static void write_item(writer_t *writer, const keel_trace_head_t *head, const keel_trace_item_t *item)
{
    const keel_trace_kind_info_t *info = keel_trace_kind_info(item->kind);
    const int is_counter = info->shape == KEEL_TRACE_COUNTER, is_instant = info->shape == KEEL_TRACE_INSTANT;

    begin_object(writer);
    fprintf(writer->stream, "\"ph\":\"%s\",\"cat\":\"keel\",\"pid\":%u,\"tid\":%u,",
            is_counter   ? "C"
            : is_instant ? "i"
                         : "X",
            head->node + 1, thread_of(head->rank, row_of(item->kind)));
    write_time(writer, "ts", item->begin_ns);
    if (is_counter) { /* counters belong to the process: the name has the rank */
        fprintf(writer->stream, ",\"name\":\"rank %u: %s\"", head->rank, info->name);
    } else {
        fprintf(writer->stream, ",\"name\":\"%s", info->name);
        if (item->kind == KEEL_TRACE_GSYNC || item->kind == KEEL_TRACE_PHASE) {
            fprintf(writer->stream, " %u", item->number);
        } else if (item->kind == KEEL_TRACE_DEATH) {
            fprintf(writer->stream, " of rank %u", item->number);
        }
        fputc('"', writer->stream);
    }
    if (is_instant) {
        fputs(",\"s\":\"t\"", writer->stream);
    } else if (!is_counter) {
        fputc(',', writer->stream);
        write_time(writer, "dur", item->end_ns - item->begin_ns);
    }
    write_args(writer, item);
    fputc('}', writer->stream);
}

/* The whole life as a span around all others. */
static void write_life(writer_t *writer, const keel_trace_life_t *life)
{
    const keel_trace_head_t *head = &life->head;

    begin_object(writer);
    fprintf(writer->stream, "\"ph\":\"X\",\"cat\":\"keel\",\"pid\":%u,\"tid\":%u,", head->node + 1,
            thread_of(head->rank, ROW_CALLS));
    write_time(writer, "ts", head->begun_ns);
    fputc(',', writer->stream);
    write_time(writer, "dur", (life->end_ns > head->begun_ns) ? life->end_ns - head->begun_ns : 0);
    fprintf(writer->stream,
            ",\"name\":\"incarnation %u\",\"args\":{\"process\":%u,\"ended\":\"%s\",\"events overwritten\":%" PRIu64
            ",\"events torn\":%" PRIu64 ",\"area truncated\":%s}}",
            head->incarnation, head->process, head->left_ns != 0 ? "left" : "killed", life->overwritten, life->torn,
            life->is_truncated ? "true" : "false");
}

static int write_all(writer_t *writer, const keel_trace_life_t *life)
{
    keel_trace_item_t *items;
    size_t count;
    int error = keel_trace_items(life, &items, &count);

    if (error != 0) {
        return error;
    }
    write_life_names(writer, &life->head, items, count);
    write_life(writer, life);
    for (size_t i = 0; i < count; i++) {
        write_item(writer, &life->head, &items[i]);
    }
    keel_free(items);
    return 0;
}

int keel_trace_json_write(const keel_trace_job_t *job, FILE *stream)
{
    writer_t writer = {.stream = stream, .separator = ""};
    uint64_t overwritten = 0, torn = 0;
    int error = 0;

    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", stream);
    for (size_t i = 0; i < job->count && error == 0; i++) {
        error = write_all(&writer, &job->lives[i]);
        overwritten += job->lives[i].overwritten;
        torn += job->lives[i].torn;
    }
    fprintf(stream,
            "\n],\"otherData\":{\"ranks\":%u,\"lives\":%zu,\"events overwritten\":%" PRIu64 ",\"events torn\":%" PRIu64
            ",\"areas unreadable\":%zu}}\n",
            job->size, job->count, overwritten, torn, job->unreadable);
    return error;
}
