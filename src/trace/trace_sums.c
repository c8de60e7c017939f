/* Sums over lives and ranks. */
#include "trace/trace_sums.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>

#define PAIRS_MAX 8 /* largest logs in the text */

static uint64_t life_value(const keel_trace_life_t *life, const keel_trace_field_t *field)
{
    return (field->word < life->head.words) ? life->words[field->word] : 0;
}

void keel_trace_sums_release(keel_trace_sums_t *sums)
{
    keel_free(sums->job);
    *sums = (keel_trace_sums_t){.job = NULL};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return (a > b) ? a : b;
}

int keel_trace_sums_make(const keel_trace_job_t *job, keel_trace_sums_t *sums_p)
{
    keel_trace_sums_t sums = {.fields = 0};

    while (keel_trace_fields[sums.fields].name != NULL) {
        sums.fields++;
    }
    sums.job = keel_alloc((job->size + (size_t)1) * sums.fields * sizeof(*sums.job), "sums of statistics");
    if (sums.job == NULL) {
        return ENOMEM;
    }
    sums.ranks = sums.job + sums.fields;
    for (size_t i = 0; i < job->count; i++) {
        uint64_t *rank = &sums.ranks[job->lives[i].head.rank * sums.fields];

        for (size_t f = 0; f < sums.fields; f++) {
            const uint64_t value = life_value(&job->lives[i], &keel_trace_fields[f]);

            rank[f] = keel_trace_fields[f].is_peak ? larger(rank[f], value) : rank[f] + value;
        }
    }
    for (size_t i = 0; i < job->size * sums.fields; i++) {
        const size_t f = i % sums.fields;

        sums.job[f] = (keel_trace_fields[f].rule == KEEL_TRACE_SUM) ? sums.job[f] + sums.ranks[i]
                                                                    : larger(sums.job[f], sums.ranks[i]);
    }
    *sums_p = sums;
    return 0;
}

uint64_t keel_trace_deaths(const keel_trace_job_t *job)
{
    uint64_t deaths = 0;

    for (size_t i = 0; i < job->count; i++) {
        deaths += job->lives[i].head.left_ns == 0;
    }
    return deaths;
}

/* ---- text ---- */

static void text_field(const keel_trace_job_t *job, const keel_trace_sums_t *sums, size_t f, FILE *stream)
{
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t where = 0;

    for (uint32_t rank = 0; rank < job->size; rank++) {
        const uint64_t value = sums->ranks[rank * sums->fields + f];

        least = (value < least) ? value : least;
        if (value > most) {
            most = value;
            where = rank;
        }
    }
    fprintf(stream, "%-22s %16" PRIu64 " %16" PRIu64 " %16" PRIu64 "  %u\n", keel_trace_fields[f].name, sums->job[f],
            (job->size == 0) ? 0 : least, most, where);
}

typedef struct pair {
    uint32_t source, target;
    uint64_t bytes;
} pair_t;

/* Keeps the list of the largest logs sorted. */
static void pair_insert(pair_t *pairs, pair_t pair)
{
    for (unsigned i = 0; i < PAIRS_MAX; i++) {
        if (pair.bytes > pairs[i].bytes) {
            const pair_t smaller = pairs[i];

            pairs[i] = pair;
            pair = smaller;
        }
    }
}

static void text_peaks(const keel_trace_job_t *job, FILE *stream)
{
    pair_t pairs[PAIRS_MAX] = {{.bytes = 0}};

    for (size_t i = 0; i < job->count; i++) {
        const keel_trace_life_t *life = &job->lives[i];

        for (uint32_t target = 0; target < life->head.size; target++) {
            pair_insert(pairs, (pair_t){life->head.rank, target, life->peaks[target]});
        }
    }
    for (unsigned i = 0; i < PAIRS_MAX && pairs[i].bytes > 0; i++) {
        fprintf(stream, "put log of rank %u towards rank %u: at most %" PRIu64 " bytes\n", pairs[i].source,
                pairs[i].target, pairs[i].bytes);
    }
}

int keel_trace_sums_text(const keel_trace_job_t *job, FILE *stream)
{
    keel_trace_sums_t sums;
    const int error = keel_trace_sums_make(job, &sums);

    if (error != 0) {
        return error;
    }
    fprintf(stream, "ranks %u\nlives %zu\ndeaths %" PRIu64 "\n", job->size, job->count, keel_trace_deaths(job));
    if (job->unreadable > 0) {
        fprintf(stream, "areas that cannot be read %zu\n", job->unreadable);
    }
    fprintf(stream, "\n%-22s %16s %16s %16s  %s\n", "", "job", "least of a rank", "most of a rank", "rank");
    for (size_t f = 0; f < sums.fields; f++) {
        text_field(job, &sums, f, stream);
    }
    fputc('\n', stream);
    text_peaks(job, stream);
    keel_trace_sums_release(&sums);
    return 0;
}

/* ---- JSON ---- */

static void json_life(const keel_trace_life_t *life, FILE *stream)
{
    const char *separator = "";

    fprintf(stream, "{\"rank\":%u,\"incarnation\":%u,\"process\":%u,\"node\":%u,\"ended\":\"%s\"", life->head.rank,
            life->head.incarnation, life->head.process, life->head.node, life->head.left_ns != 0 ? "left" : "killed");
    for (const keel_trace_field_t *field = keel_trace_fields; field->name != NULL; field++) {
        fprintf(stream, ",\"%s\":%" PRIu64, field->name, life_value(life, field));
    }
    fputs(",\"put_log_peak_by_target\":{", stream);
    for (uint32_t target = 0; target < life->head.size; target++) {
        if (life->peaks[target] > 0) {
            fprintf(stream, "%s\"%u\":%" PRIu64, separator, target, life->peaks[target]);
            separator = ",";
        }
    }
    fputs("}}", stream);
}

static void json_fields(const keel_trace_sums_t *sums, const uint64_t *values, FILE *stream)
{
    for (size_t f = 0; f < sums->fields; f++) {
        fprintf(stream, ",\"%s\":%" PRIu64, keel_trace_fields[f].name, values[f]);
    }
}

int keel_trace_sums_json(const keel_trace_job_t *job, FILE *stream)
{
    keel_trace_sums_t sums;
    const int error = keel_trace_sums_make(job, &sums);

    if (error != 0) {
        return error;
    }
    fprintf(stream, "{\"job\":{\"ranks\":%u,\"lives\":%zu,\"deaths\":%" PRIu64 ",\"areas_unreadable\":%zu", job->size,
            job->count, keel_trace_deaths(job), job->unreadable);
    json_fields(&sums, sums.job, stream);
    fputs("},\n\"ranks\":[", stream);
    for (uint32_t rank = 0; rank < job->size; rank++) {
        fprintf(stream, "%s\n{\"rank\":%u", rank > 0 ? "," : "", rank);
        json_fields(&sums, &sums.ranks[rank * sums.fields], stream);
        fputc('}', stream);
    }
    fputs("],\n\"lives\":[", stream);
    for (size_t i = 0; i < job->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        json_life(&job->lives[i], stream);
    }
    fputs("]}\n", stream);
    keel_trace_sums_release(&sums);
    return 0;
}
