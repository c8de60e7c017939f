/*
 * The model. S: bytes of a rank, R: ranks of a node, k and m: members and parities of a group,
 * B: bandwidth of a node's network, C: of its memory, M: MTBF. Sizes of groups differ by one: k is
 * the
 * smallest for parity, the largest for rebuild.
 *   memory   2 S (1 + m / (k - m))      two images and two parity shares, one of each in the making
 *   stop     2 R S / C                  every byte is read and written
 *   work     m (1 + 1 / (k - m)) R S / C
 *                                       each of m shares reads k - m chunks of S / (k - m), writes
 *                                       one
 *   safe     m R S / B                  each of a rank's m shares of S / (k - m) takes the same
 *                                       amount from k - m members
 *   rebuild  (k - m) R S / B            each chunk of a lost image takes one from k - m others
 *   window   rebuild, safe and KEEL_PLAN_RESTART_S for the launcher
 *   interval Daly's for stop + work and M, like the library's, but not shorter than stop and safe
 *   lost     (stop + work) / (interval + stop + work) + (interval / 2 + rebuild) / M
 *   logs     the library's auto: as much as 8 images, at least 256 MiB, within a quarter of the
 *   node,
 *            at least 64 MiB
 * Checkpoints in files, N: ranks of the job, F: rate of the files:
 *   set      N S / F and the latency
 *   cost     5 R S / C, at most set: the writer copies each byte to a buffer and to the file system
 *            and computes its crc; as if no core were free for that
 *   restart  set, because the files are read as fast as written, and KEEL_PLAN_RESTART_S
 *   interval, checkpoints
 *            keel_two_level_best() with failures beyond parity at the rate of the risk (at 1: of
 *            M) and the other failures of M, which cost rebuild and KEEL_PLAN_RESTART_S
 */
#include "plan_cost.h"

#include "ckpt/interval.h"
#include "ckpt/two_level.h"
#include "tools/topo/reliability.h"

#include <math.h>
#include <string.h>

#define KEEL_PLAN_RESTART_S 10.0
#define KEEL_PLAN_ACCESSES  8 /* of memory for a byte of a file */
/* Daly's interval, which goes by measured costs, may take so much more of the time. */
#define KEEL_PLAN_DALY_MORE    0.001
#define KEEL_PLAN_OPLOG_USUAL  0x1p28
#define KEEL_PLAN_OPLOG_MIN    0x1p26
#define KEEL_PLAN_OPLOG_IMAGES 8
#define KEEL_PLAN_GETLOG       0x1p24

static double keel_plan_ranks_of_node(const keel_plan_options_t *options)
{
    return fmin(options->ranks_per_node, options->ranks);
}

void keel_plan_cost_logs(const keel_plan_options_t *options, keel_plan_logs_t *logs)
{
    const double share = options->node_memory / 4 / keel_plan_ranks_of_node(options);

    logs->getlog = KEEL_PLAN_GETLOG;
    logs->oplog = fmax(KEEL_PLAN_OPLOG_USUAL, KEEL_PLAN_OPLOG_IMAGES * options->memory);
    if (options->node_memory > 0) {
        logs->oplog = fmax(fmin(logs->oplog, share), KEEL_PLAN_OPLOG_MIN);
    }
}

double keel_plan_cost_node(const keel_plan_options_t *options, const keel_plan_choice_t *choice)
{
    keel_plan_logs_t logs;

    keel_plan_cost_logs(options, &logs);
    return keel_plan_ranks_of_node(options) * (options->memory + choice->memory + logs.oplog + logs.getlog);
}

int keel_plan_cost(const keel_plan_options_t *options, uint32_t asked, double mtbf_s, double window_least_s,
                   keel_plan_choice_t *choice)
{
    const double node_bytes = options->memory * keel_plan_ranks_of_node(options), m = choice->parities;
    double cost_s, least, most;
    uint64_t largest, again, groups;

    if ((asked <= choice->parities) || (asked > options->ranks)) {
        return 0;
    }
    keel_plan_groups(options->ranks, asked, choice->parities, &choice->groups, &largest);
    choice->group_size = (uint32_t)largest;
    keel_plan_groups(options->ranks, choice->group_size, choice->parities, &groups, &again);
    /* ranks too few for another group join the other groups */
    choice->setting = (groups == choice->groups) ? choice->group_size : asked;
    choice->smallest = (uint32_t)(options->ranks / choice->groups);
    least = choice->smallest - m;
    most = choice->group_size - m;
    choice->parity = 2 * options->memory * m / least;
    choice->memory = 2 * options->memory + choice->parity;
    choice->stop_s = 2 * node_bytes / options->memory_bandwidth;
    choice->safe_s = m * node_bytes / options->network;
    choice->rebuild_s = most * node_bytes / options->network;
    choice->window_s = fmax(choice->rebuild_s + choice->safe_s + KEEL_PLAN_RESTART_S, window_least_s);
    choice->work_s = m * (1 + 1 / least) * node_bytes / options->memory_bandwidth;
    cost_s = choice->stop_s + choice->work_s;
    choice->interval_s = fmax(keel_interval_daly_s(cost_s, mtbf_s), choice->stop_s + choice->safe_s);
    choice->lost = cost_s / (choice->interval_s + cost_s) + (choice->interval_s / 2 + choice->rebuild_s) / mtbf_s;
    choice->lost = fmin(choice->lost, 1);
    choice->is_too_large = (options->node_memory > 0) && (keel_plan_cost_node(options, choice) > options->node_memory);
    return 1;
}

void keel_plan_cost_files(const keel_plan_options_t *options, double mtbf_s, keel_plan_choice_t *choice)
{
    const double node_bytes = options->memory * keel_plan_ranks_of_node(options);
    /* a risk of 1 may be that of any higher rate */
    const double beyond = (choice->risk < 1) ? choice->risk / KEEL_DAY_S : fmax(1 / mtbf_s, 1 / KEEL_DAY_S);
    const double covered = 1 / mtbf_s - beyond;
    keel_plan_files_t *files = &choice->files;
    keel_two_level_t params;
    double lost;
    uint32_t checkpoints;

    files->set_s = options->ranks * options->memory / options->file_rate + options->file_latency_s;
    files->set_cost_s = fmin(KEEL_PLAN_ACCESSES * node_bytes / options->memory_bandwidth, files->set_s);
    files->beyond_mtbf_s = 1 / beyond;
    params = (keel_two_level_t){.covered_mtbf_s = (covered > 0) ? 1 / covered : INFINITY,
                                .beyond_mtbf_s = files->beyond_mtbf_s,
                                .cost_s = choice->stop_s + choice->work_s,
                                .recovery_s = choice->rebuild_s + KEEL_PLAN_RESTART_S,
                                .set_cost_s = files->set_cost_s,
                                .set_time_s = files->set_s,
                                .restart_s = files->set_s + KEEL_PLAN_RESTART_S,
                                .least_s = choice->stop_s + choice->safe_s};
    keel_two_level_best(&params, &files->interval_s, &files->checkpoints);
    files->lost = 1 - 1 / keel_two_level_time(&params, files->interval_s, files->checkpoints);
    checkpoints = keel_two_level_checkpoints(&params, choice->interval_s);
    lost = 1 - 1 / keel_two_level_time(&params, choice->interval_s, checkpoints);
    files->is_daly = (lost <= files->lost + KEEL_PLAN_DALY_MORE);
    if (files->is_daly) {
        files->interval_s = choice->interval_s;
        files->checkpoints = checkpoints;
        files->lost = lost;
    }
}
