/* The area of this life: place, statistics, end. */
#include "job/tracing.h"
#include "api/query.h"
#include "engine/context.h"

#include "base/memory.h"
#include "trace/trace_folder.h"
#include "trace/trace_words.h"
#include "trace/trace_area.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AREAS_MAX 1000 /* of one rank and incarnation: a restarted job counts again */

#define SNAPSHOT_NS (10 * UINT64_C(1000000)) /* least time between snapshots in a wait */

typedef struct tracing {
    keel_trace_t trace; /* first: keel_lane_t.trace */
    keel_trace_words_t words;
    /* of the newest checkpoint: begin, and work counted so far */
    uint64_t started_ns, worked_ns;
    uint64_t snapshot_ns;
} tracing_t;

static uint64_t tracing_now(void *arg)
{
    keel_runtime_t *runtime = arg;

    return runtime->ops->now_ns(runtime);
}

/* The folder of areas, to be freed; NULL: none is asked for, or no memory. */
static char *tracing_folder(const keel_config_t *config)
{
    const char *file = (config->trace_file != NULL) ? config->trace_file : config->stats_file;
    const char *name = (config->parts != NULL) ? config->parts : file;
    const size_t room = (name != NULL) ? strlen(name) + sizeof(KEEL_TRACE_SUFFIX) : 0;
    char *folder = (name != NULL) ? keel_alloc(room, "folder of areas") : NULL;

    if (folder != NULL) {
        snprintf(folder, room, "%s%s", name, (config->parts != NULL) ? "" : KEEL_TRACE_SUFFIX);
    }
    return folder;
}

static const char *tracing_host(const keel_runtime_t *runtime)
{
    return (runtime->place != NULL)  ? runtime->place
           : (runtime->host != NULL) ? runtime->host[runtime->node[runtime->rank]]
                                     : "";
}

static keel_trace_head_t tracing_head(const keel_context_h ctx)
{
    const keel_runtime_t *runtime = ctx->runtime;
    keel_trace_head_t head = {.rank = ctx->lane.rank,
                              .incarnation = ctx->lane.incarnation,
                              .size = ctx->lane.size,
                              .programs = ctx->lane.programs,
                              .node = runtime->node[runtime->rank],
                              .process = (uint32_t)getpid(),
                              .words = sizeof(keel_trace_words_t) / sizeof(uint64_t),
                              .begun_ns = ctx->begun_ns,
                              .day_ns = runtime->day_ns};

    if (ctx->config.trace_file != NULL || ctx->config.parts != NULL) {
        keel_trace_divide(ctx->config.trace_events, head.capacity);
    }
    snprintf(head.host, sizeof(head.host), "%s", tracing_host(runtime));
    return head;
}

/* Opens the first area with a free name. */
static int tracing_try(keel_trace_params_t *params, const char *folder, keel_trace_t *trace)
{
    const size_t room = strlen(folder) + KEEL_TRACE_NAME_MAX + 2;
    char *path = keel_alloc(room, "name of an area"), name[KEEL_TRACE_NAME_MAX];
    int error = (path == NULL) ? ENOMEM : EEXIST;

    params->path = path;
    for (unsigned i = 0; error == EEXIST && i < AREAS_MAX; i++) {
        keel_trace_area_name(name, i, params->head.rank, params->head.incarnation);
        snprintf(path, room, "%s/%s", folder, name);
        params->head.job = i;
        error = keel_trace_open(params, trace);
    }
    keel_free(path);
    return error;
}

void keel_tracing_open(keel_context_h ctx)
{
    keel_trace_params_t params = {.now = tracing_now, .arg = ctx->runtime};
    char *folder = tracing_folder(&ctx->config);
    tracing_t *tracing;
    int error;

    if (folder == NULL) {
        return;
    }
    tracing = keel_alloc(sizeof(*tracing), "trace");
    error = (tracing == NULL) ? ENOMEM : 0;
    if (error == 0 && ctx->config.parts == NULL) {
        error = keel_trace_folder_make(folder);
        error = (error == EEXIST) ? 0 : error;
    }
    if (error == 0 && ctx->config.parts == NULL && ctx->lane.incarnation == 0) {
        keel_trace_folder_clear(folder, ctx->lane.rank, ctx->lane.size);
    }
    if (error == 0) {
        params.head = tracing_head(ctx);
        error = tracing_try(&params, folder, &tracing->trace);
    }
    if (error != 0) {
        keel_warn(&ctx->message, "%s: no events of this rank are recorded: %s", folder, strerror(error));
        keel_free(tracing);
    } else {
        keel_lane_set_trace(&ctx->lane, &tracing->trace);
    }
    keel_free(folder);
}

void keel_tracing_started(keel_context_h ctx)
{
    if (ctx->lane.incarnation == 0) { /* recovery records the start-up of a replacement */
        keel_trace_span(ctx->lane.trace, KEEL_TRACE_START, 0, ctx->begun_ns, 0);
    }
}

/* Adds the cost of the newest checkpoint since the last call. */
static void tracing_add_checkpoint(tracing_t *tracing, const keel_ckpt_t *ckpt)
{
    if (tracing->started_ns != ckpt->set.started_ns) {
        tracing->started_ns = ckpt->set.started_ns;
        tracing->words.copy_ns += ckpt->copy_ns;
        tracing->worked_ns = 0;
    }
    tracing->words.work_ns += ckpt->work_ns - tracing->worked_ns;
    tracing->worked_ns = ckpt->work_ns;
}

static void tracing_snapshot(keel_context_h ctx)
{
    tracing_t *tracing = (tracing_t *)ctx->lane.trace;

    tracing_add_checkpoint(tracing, &ctx->ckpt);
    keel_context_stats(ctx, &tracing->words.stats);
    keel_trace_write_snapshot(&tracing->trace, (const uint64_t *)&tracing->words);
    tracing->snapshot_ns = tracing_now(ctx->runtime);
}

/* Without keelrun: counts the rank; the last rank writes the files. */
static void tracing_leave(keel_context_h ctx)
{
    const keel_trace_files_t files = {.trace = ctx->config.trace_file, .stats = ctx->config.stats_file};
    char *folder = tracing_folder(&ctx->config);
    const char *failed;
    int error = 0;

    if (folder != NULL) {
        error = keel_trace_folder_leave(folder, &files, ctx->lane.size, &failed);
    }
    if (error != 0) {
        keel_warn(&ctx->message, "%s: cannot be written: %s", failed, strerror(error));
    }
    keel_free(folder);
}

void keel_tracing_close(keel_context_h ctx)
{
    keel_trace_t *trace = ctx->lane.trace;

    if (trace != NULL) {
        tracing_snapshot(ctx);
        if (ctx->rec.fatal != KEEL_OK) {
            keel_trace_instant(trace, KEEL_TRACE_FAILED, (uint32_t)ctx->rec.fatal, 0, 0);
        }
        keel_lane_set_trace(&ctx->lane, NULL);
        keel_trace_close(trace);
        keel_free(trace);
        if (ctx->config.parts == NULL) {
            tracing_leave(ctx);
        }
    }
}

void keel_tracing_phase(keel_context_h ctx)
{
    if (keel_trace_is_on(ctx->lane.trace)) {
        keel_trace_instant(ctx->lane.trace, KEEL_TRACE_LOGS, 0, keel_put_log_bytes(&ctx->puts),
                           keel_get_log_bytes(&ctx->gets));
        tracing_snapshot(ctx);
    }
}

void keel_tracing_wait(keel_context_h ctx)
{
    if (keel_trace_is_on(ctx->lane.trace) &&
        tracing_now(ctx->runtime) - ((tracing_t *)ctx->lane.trace)->snapshot_ns > SNAPSHOT_NS) {
        tracing_snapshot(ctx);
    }
}
