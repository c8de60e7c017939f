/*
 * Table of the KEEL_* variables. Values come from strings of the caller, then from the environment.
 * Errors name the variable, the value and the allowed values.
 */
#include "base/config.h"
#include "base/config_check.h"
#include "base/config_types.h"
#include "base/memory.h"
#include "base/message.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEEL_CONFIG_PREFIX      "KEEL_"
#define KEEL_CONFIG_GROUP_USUAL 4u
#define KEEL_CONFIG_OPLOG_USUAL ((size_t)256 << 20)

extern char **environ;

/* Target of the table; spin and interval have other types in keel_config_t. */
typedef struct keel_config_opts {
    keel_config_t config;
    double spin_s;
    keel_config_interval_t interval;
} keel_config_opts_t;

static const char *const keel_config_lanes_names[] = {"auto", "direct", "served", NULL};
static const char *const keel_config_transport_names[] = {"auto", "ucp", "verbs", NULL};
/* "gets" serves measurements; an enumeration has no hidden values: the message that refuses a value
 * lists all names */
static const char *const keel_config_protect_names[] = {"none", "ckpt", "gets", "puts", "all", NULL};
static const char *const keel_config_shrink_names[] = {"no", "last", "now", NULL};
static const char *const keel_config_parity_names[] = {"rotate", "dedicated", NULL};
static const char *const keel_config_transfer_names[] = {"stream", "bulk", NULL};
static const char *const keel_config_level_names[] = {"error", "warn", "info", "debug", NULL};

static const char *const keel_config_auth_names[] = {"on", "off", NULL};

/* variables of the launcher, outside the configuration */
static const char *const keel_config_foreign[] = {"KEEL_INCARNATION", "KEEL_SPAWNED", "KEEL_JOB_RESTARTS",
                                                  "KEEL_DETERMINISTIC", NULL};

/* ---- the table ---- */

#define KEEL_CONFIG_OFFSET(_field) offsetof(keel_config_opts_t, _field)

static const keel_config_field_t keel_config_fields[] = {
    {"LANES", "auto",
     "How ranks reach each other.\n"
     " - auto   : direct within a node, served between nodes.\n"
     " - direct : one-sided access to shared memory only; all ranks on one node.\n"
     " - served : by messages to a service thread of the target, on one node too.",
     KEEL_CONFIG_OFFSET(config.lanes), KEEL_CONFIG_TYPE_ENUM(keel_config_lanes_names)},

    {"PROTECT", "all",
     "Protection against the death of a rank.\n"
     " - none : nothing; a death ends the job.\n"
     " - ckpt : checkpoints; a death rolls all ranks back.\n"
     " - gets : for measurements: gets are logged, puts are not; a death rolls all ranks back.\n"
     " - puts : puts are logged, gets are not; a death rolls all ranks back if the dead rank had issued gets.\n"
     " - all  : puts and gets are logged; only the dead rank is recovered.",
     KEEL_CONFIG_OFFSET(config.protect), KEEL_CONFIG_TYPE_ENUM(keel_config_protect_names)},

    {"SHRINK", "no",
     "Whether the other ranks go on when nothing replaces a dead rank (keel_world()).\n"
     " - no   : they do not; the job ends.\n"
     " - last : when keelrun starts no further replacement (--restarts), from the newest checkpoint.\n"
     " - now  : at once, without a replacement: from the newest checkpoint, or with the memory that they have\n"
     "          (KEEL_PROTECT=none). Nothing is logged.\n"
     "Needs keelrun.",
     KEEL_CONFIG_OFFSET(config.shrink), KEEL_CONFIG_TYPE_ENUM(keel_config_shrink_names)},

    {"OPLOG_SIZE", "auto",
     "Memory for the logs of this process's own puts and gets. When the logs are full, logging towards a target\n"
     "stops with a warning, and a death of that target is a rollback.\n"
     " - auto : 256 MiB. Where checkpoints are large the logs grow on demand, up to eight times the windows and\n"
     "          protected regions, so that logging requests few checkpoints. The limit in both cases is the\n"
     "          process's share of a quarter of the node's memory (or of its control group), at least 64 MiB. The\n"
     "          logs do not grow if memory counts when it is promised (no overcommit, or a limit on the address\n"
     "          space). Over KEEL_TRANSPORT=verbs the logs take at most half of the lockable memory (ulimit -l)\n"
     "          beside connections, unless that is very little.",
     KEEL_CONFIG_OFFSET(config.oplog_size), KEEL_CONFIG_TYPE_SIZE},

    {"OPLOG_SOFT", "50",
     "Threshold of the logs, in percent of KEEL_OPLOG_SIZE and KEEL_GETLOG_SIZE. Above the threshold Keel asks the\n"
     "rank whose checkpoint would free most of the logs to take one by itself. 0: never.",
     KEEL_CONFIG_OFFSET(config.oplog_soft), KEEL_CONFIG_TYPE_COUNT},

    {"GETLOG_SIZE", "16m",
     "Memory for the log of gets that other ranks issue to this process. Best the same for all ranks: the reader's\n"
     "value determines the length of the segments of a long get, and a segment longer than 1/256 of the target's\n"
     "value is not logged.",
     KEEL_CONFIG_OFFSET(config.getlog_size), KEEL_CONFIG_TYPE_SIZE},

    {"CKPT_SIZE", "0",
     "Maximum memory for checkpoints of this process and its share of parity; 0 or inf: no limit. Buffers of\n"
     "KEEL_CKPT_TRANSFER are not included.",
     KEEL_CONFIG_OFFSET(config.ckpt_size), KEEL_CONFIG_TYPE_SIZE},

    {"CKPT_TRANSFER", "stream",
     "How a rank reads checkpoints of other ranks for parity if the checkpoints are not mapped.\n"
     " - stream : a few segments at a time: 256 KiB for each other rank of the group.\n"
     " - bulk   : up to 16 MiB of each other rank at a time: fewer waits for the network, more memory meanwhile.",
     KEEL_CONFIG_OFFSET(config.transfer), KEEL_CONFIG_TYPE_ENUM(keel_config_transfer_names), .is_hidden = 1},

    {"GROUP_SIZE", "auto",
     "Number of ranks that share parity, on different nodes if there are enough. Up to KEEL_PARITIES ranks of a\n"
     "group may be dead at a time. 0: no parity; at most the number of ranks. auto: 4, twice KEEL_PARITIES of 4 and\n"
     "more, or all ranks of a smaller job; fewer if only a smaller group survives the loss of a node, or of a\n"
     "coarser level.",
     KEEL_CONFIG_OFFSET(config.group_size), KEEL_CONFIG_TYPE_GROUP},

    {"PARITIES", "1",
     "Maximum number of ranks of a group that are dead or being rebuilt at a time: 1 (by XOR) to 8 (by\n"
     "Reed-Solomon), less than the ranks of a group. Parity takes parities/(size - parities) of a checkpoint.",
     KEEL_CONFIG_OFFSET(config.parities), KEEL_CONFIG_TYPE_COUNT},

    {"PARITY", "rotate",
     "The ranks that hold parity.\n"
     " - rotate    : the ranks of a group in turn; all ranks compute.\n"
     " - dedicated : the last KEEL_CHECKSUM_RANKS ranks of the job. These ranks do not run the program: their\n"
     "               keel_init() serves until the job ends, and the program has fewer ranks accordingly.",
     KEEL_CONFIG_OFFSET(config.parity), KEEL_CONFIG_TYPE_ENUM(keel_config_parity_names)},

    {"CHECKSUM_RANKS", "0",
     "With KEEL_PARITY=dedicated: the number of ranks that hold parity, KEEL_PARITIES for each group. The other\n"
     "ranks are split evenly into the groups, and KEEL_GROUP_SIZE is not used. 0: one group.",
     KEEL_CONFIG_OFFSET(config.checksum_ranks), KEEL_CONFIG_TYPE_COUNT},

    {"TOPO_LEVEL", "auto",
     "The failures that a group survives: no element of this level of the hierarchy holds more ranks of a group than\n"
     "parity covers. keel_info -t shows the levels and the groups.\n"
     " - auto   : spread over all known levels, as far as possible.\n"
     " - none   : groups of consecutive ranks, wherever the ranks run.\n"
     " - <name> : node, or a level of KEEL_TOPO_FILE or KEEL_TOPO_SLURM (switch, switch2, ...); refused if\n"
     "            impossible.",
     KEEL_CONFIG_OFFSET(config.topo_level), KEEL_CONFIG_TYPE_STRING},
    {"TOPO_FILE", "",
     "File of the hosts that fail together (format: keel_info -h, or Slurm's); the same for all ranks.",
     KEEL_CONFIG_OFFSET(config.topo_file), KEEL_CONFIG_TYPE_STRING},
    {"TOPO_MACHINE", "",
     "Adds the levels numa and package below the node: this (every host is like the host that reads the value), a\n"
     "synthetic machine of hwloc (pack:2 core:8 pu:2), or the path of hwloc's XML. The i-th rank of a host counts as\n"
     "running on core i, modulo the host's cores.",
     KEEL_CONFIG_OFFSET(config.topo_machine), KEEL_CONFIG_TYPE_STRING},
    {"TOPO_SLURM", "",
     "Slurm's topology.conf or topology.yaml, or the output of scontrol show topology. The levels are added to those\n"
     "of KEEL_TOPO_FILE where the levels are nested.",
     KEEL_CONFIG_OFFSET(config.topo_slurm), KEEL_CONFIG_TYPE_STRING},
    {"CKPT_INTERVAL", "daly",
     "The safe gsyncs that take a checkpoint without a request.\n"
     " - off        : none.\n"
     " - daly       : the first safe gsync, then Daly's optimum of the measured cost of a checkpoint and KEEL_MTBF.\n"
     " - <n>gsyncs  : every n-th safe gsync; calls of keel_safe_point() on rank 0 count, too.\n"
     " - <time>     : the first safe gsync after this time, as 250ms, 90s or 2h.",
     KEEL_CONFIG_OFFSET(interval), KEEL_CONFIG_TYPE_INTERVAL},

    {"MTBF", "86400s",
     "Mean time between the failures that end in a rollback of the job, for KEEL_CKPT_INTERVAL=daly. Local recovery\n"
     "makes this time longer than the job's own mean time between failures.",
     KEEL_CONFIG_OFFSET(config.mtbf_s), KEEL_CONFIG_TYPE_TIME},

    {"FILE_DIR", "",
     "Folder on a file system that all hosts share, for checkpoints in files. A job that was lost as a whole, or\n"
     "ended, starts again from the newest checkpoint there by the same command. Empty: none. Keel makes the folder\n"
     "if only its parent exists.",
     KEEL_CONFIG_OFFSET(config.file_dir), KEEL_CONFIG_TYPE_STRING},

    {"FILE_INTERVAL", "600s",
     "The checkpoints of KEEL_CKPT_INTERVAL that are written to KEEL_FILE_DIR. A checkpoint is written only after\n"
     "the previous one is complete.\n"
     " - <time>          : the first checkpoint after this time; 0: each.\n"
     " - <n>checkpoints  : every n-th checkpoint.\n"
     " - auto            : every n-th; Keel chooses n by measured costs, KEEL_MTBF and KEEL_FILE_MTBF.",
     KEEL_CONFIG_OFFSET(config.file_interval), KEEL_CONFIG_TYPE_FILES},

    {"FILE_MTBF", "2592000s",
     "Mean time between failures that parity does not cover, for KEEL_FILE_INTERVAL=auto; see keel_plan --file-rate.",
     KEEL_CONFIG_OFFSET(config.file_mtbf_s), KEEL_CONFIG_TYPE_TIME},

    {"FILE_KEEP", "2", "Number of complete checkpoints that stay in KEEL_FILE_DIR, at least 1.",
     KEEL_CONFIG_OFFSET(config.file_keep), KEEL_CONFIG_TYPE_COUNT},

    {"FILE_RATE", "0",
     "Maximum bytes per second that each rank writes to KEEL_FILE_DIR, and that it reads back then. Requested\n"
     "checkpoints and stops have no limit. 0 or inf: no limit.",
     KEEL_CONFIG_OFFSET(config.file_rate), KEEL_CONFIG_TYPE_SIZE},

    {"FILE_STOP_WITHIN", "60s",
     "Time for the checkpoint of keel_checkpoint_and_stop(), or of a file \"stop\" in KEEL_FILE_DIR. If the files are\n"
     "not complete then, the job ends with status 143. Also the time that keel_finalize() waits for a file\n"
     "operation. 0: no limit.",
     KEEL_CONFIG_OFFSET(config.file_stop_within_s), KEEL_CONFIG_TYPE_TIME},

    {"HEARTBEAT_INTERVAL", "500ms",
     "Interval at which a waiting rank asks its neighbour for a sign of life; more than half of\n"
     "KEEL_HEARTBEAT_TIMEOUT counts as half. 0 turns the heartbeat off.",
     KEEL_CONFIG_OFFSET(config.heartbeat_interval_s), KEEL_CONFIG_TYPE_TIME},

    {"HEARTBEAT_TIMEOUT", "5s",
     "Silence after which a rank is suspected: stopped, hung, or cut off from the network. The launcher kills and\n"
     "replaces a suspect. A computing rank answers all the same. At least 10ms; 0 turns the heartbeat off, for ranks\n"
     "stopped in a debugger.",
     KEEL_CONFIG_OFFSET(config.heartbeat_timeout_s), KEEL_CONFIG_TYPE_TIME},

    {"SPARES", "0",
     "Number of the launcher's processes, the last ones, that wait in keel_init() to replace a dead rank. A waiting\n"
     "spare holds its get log, 16 MiB of its logs, and memory for windows, an image and a parity share of rank 0's\n"
     "sizes, up to 1 GiB.",
     KEEL_CONFIG_OFFSET(config.spares), KEEL_CONFIG_TYPE_COUNT},

    {"SPAWN", "0",
     "Maximum number of replacements that the job requests from the launcher (PMIx_Spawn), if the launcher starts\n"
     "none by itself.",
     KEEL_CONFIG_OFFSET(config.spawns), KEEL_CONFIG_TYPE_COUNT},

    {"SPIN", "50us", "Time for which the service thread polls before it sleeps.", KEEL_CONFIG_OFFSET(spin_s),
     KEEL_CONFIG_TYPE_TIME, .is_hidden = 1},

    {"AUTH", "on",
     "Whether messages between processes carry a sum by a secret of the job, so that no other process can forge\n"
     "messages. The same for all ranks.\n"
     " - on  : yes.\n"
     " - off : no, for networks that only the job can reach.",
     KEEL_CONFIG_OFFSET(config.is_auth_off), KEEL_CONFIG_TYPE_ENUM(keel_config_auth_names)},

    {"DEVICE_EVENTS", "y",
     "Listen to the network devices of the host (libibverbs). A link that goes down or a device that fails is\n"
     "reported and counted, as a hint of a failure to come.",
     KEEL_CONFIG_OFFSET(config.device_events), KEEL_CONFIG_TYPE_BOOL, .is_hidden = 1},
    /* no level of LOG_LEVEL: users see the steps of recoveries without all other messages of the
     * level info, and one rank prints each step; at the level info every rank prints the steps */
    {"VERBOSE", "n", "Report the steps of recovery, with time of day and host, on standard error.",
     KEEL_CONFIG_OFFSET(config.verbose), KEEL_CONFIG_TYPE_BOOL},

    {"LOG_LEVEL", "warn", "Messages above this level are not printed.", KEEL_CONFIG_OFFSET(config.level),
     KEEL_CONFIG_TYPE_ENUM(keel_config_level_names)},

    {"TRACE", "", "File for a trace of the job in Chrome's format (Perfetto), written when the job ends. Empty: none.",
     KEEL_CONFIG_OFFSET(config.trace_file), KEEL_CONFIG_TYPE_STRING},
    {"TRACE_EVENTS", "16384",
     "Events of the trace that each process keeps, 40 bytes each; newer events replace older ones.",
     KEEL_CONFIG_OFFSET(config.trace_events), KEEL_CONFIG_TYPE_COUNT},
    {"STATS", "", "File for the statistics of all processes, written when the job ends; JSON if it ends in .json.",
     KEEL_CONFIG_OFFSET(config.stats_file), KEEL_CONFIG_TYPE_STRING},
    {"PARTS", "", "Folder in which the launcher collects the trace of all processes. keelrun makes the folder.",
     KEEL_CONFIG_OFFSET(config.parts), KEEL_CONFIG_TYPE_STRING, .is_hidden = 1},

    {"TLS_SERVED", "", "UCX_TLS of the UCP context for the served lane; empty for Keel's choice, tcp.",
     KEEL_CONFIG_OFFSET(config.tls_served), KEEL_CONFIG_TYPE_STRING},

    {"INTERFACE", "",
     "Network interface that joins the hosts of the job: its ranks listen only there. Empty: the interface that the\n"
     "launcher names (mpirun --mca btl_tcp_if_include), if any. For tcp UCX_NET_DEVICES takes precedence.",
     KEEL_CONFIG_OFFSET(config.interface), KEEL_CONFIG_TYPE_STRING},

    {"TRANSPORT", "auto",
     "Transport of messages between nodes; within a node memory is shared in each case. The same for all ranks.\n"
     " - auto  : ucp.\n"
     " - ucp   : UCX, over the transports of KEEL_TLS_SERVED.\n"
     " - verbs : reliable connections of an RDMA device (libibverbs).",
     KEEL_CONFIG_OFFSET(config.transport), KEEL_CONFIG_TYPE_ENUM(keel_config_transport_names)},

    {"VERBS_DEVICE", "",
     "With KEEL_TRANSPORT=verbs: NAME[:PORT[:GID INDEX]] of the RDMA device; empty for the first with an active port.",
     KEEL_CONFIG_OFFSET(config.verbs_device), KEEL_CONFIG_TYPE_STRING},

    {"REHEARSE", "",
     "Directory of a rehearsal, the same for all ranks. Each rank kills itself once after a gsync. Its replacement\n"
     "ends the job if its puts or its memory differ from those of the first life. keelrun --rehearse makes the\n"
     "directory.",
     KEEL_CONFIG_OFFSET(config.rehearse), KEEL_CONFIG_TYPE_STRING, .is_hidden = 1},

    {NULL}};

static const keel_config_table_t keel_config_table = {KEEL_CONFIG_PREFIX, keel_config_fields};

static void keel_config_empty_is_null(char **text)
{
    if ((*text)[0] == '\0') {
        keel_free(*text);
        *text = NULL;
    }
}

/* Converts the values of the table to keel_config_t. */
static void keel_config_convert(keel_config_opts_t *opts)
{
    keel_config_t *config = &opts->config;

    config->is_group_auto = (config->group_size == KEEL_CONFIG_GROUP_AUTO);
    if (config->is_group_auto) {
        config->group_size =
            (config->parities < KEEL_CONFIG_GROUP_USUAL) ? KEEL_CONFIG_GROUP_USUAL : 2 * config->parities;
    }
    config->is_oplog_auto = (config->oplog_size == KEEL_CONFIG_SIZE_AUTO);
    if (config->is_oplog_auto) {
        config->oplog_size = KEEL_CONFIG_OPLOG_USUAL;
    }
    if (config->parity != KEEL_PARITY_DEDICATED) {
        config->checksum_ranks = 0;
    } else if (config->checksum_ranks == 0) {
        config->checksum_ranks = config->parities;
    }
    config->interval_mode = opts->interval.mode;
    config->interval_value = opts->interval.value;
    config->spin_us = (unsigned)lrint(opts->spin_s * 1e6);
    keel_config_empty_is_null(&config->rehearse);
    keel_config_empty_is_null(&config->file_dir);
    keel_config_empty_is_null(&config->trace_file);
    keel_config_empty_is_null(&config->stats_file);
    keel_config_empty_is_null(&config->parts);
    keel_config_empty_is_null(&config->tls_served);
    keel_config_empty_is_null(&config->interface);
    keel_config_empty_is_null(&config->verbs_device);
    keel_config_empty_is_null(&config->topo_file);
    keel_config_empty_is_null(&config->topo_machine);
    keel_config_empty_is_null(&config->topo_slurm);
}

/* ---- unknown variables ---- */

static int keel_config_is_known(const char *variable, size_t length)
{
    unsigned i;

    for (i = 0; keel_config_foreign[i] != NULL; i++) {
        if (length == strlen(keel_config_foreign[i]) && !strncmp(variable, keel_config_foreign[i], length)) {
            return 1;
        }
    }
    return keel_config_table_has(&keel_config_table, variable, length);
}

static void keel_config_warn_of(const keel_message_t *message, const char *const *env)
{
    char list[512] = "";
    size_t used = 0;
    size_t length;

    for (; (env != NULL) && (*env != NULL); env++) {
        length = strcspn(*env, "=");
        if (strncmp(*env, KEEL_CONFIG_PREFIX, strlen(KEEL_CONFIG_PREFIX)) || keel_config_is_known(*env, length)) {
            continue;
        }
        if (used + length + 2 < sizeof list) {
            used += snprintf(list + used, sizeof list - used, " %.*s", (int)length, *env);
        }
    }
    if (used > 0) {
        keel_warn(message, "unknown variables:%s (keel_info -ca lists the known ones)", list);
    }
}

void keel_config_warn_unknown(const char *const *env, const keel_message_t *message)
{
    /* the environment belongs to the process: one warning is enough for all its contexts */
    static atomic_flag environment_checked = ATOMIC_FLAG_INIT;

    keel_config_warn_of(message, env);
    if (!atomic_flag_test_and_set(&environment_checked)) {
        keel_config_warn_of(message, (const char *const *)environ);
    }
}

/* ---- interface ---- */

static keel_status_t keel_config_read_opts(const char *const *env, keel_config_opts_t *opts)
{
    const keel_message_t message = {.level = KEEL_MSG_WARN, .rank = KEEL_MESSAGE_NO_RANK};
    keel_status_t status;

    memset(opts, 0, sizeof *opts);
    status = keel_config_table_fill(&keel_config_table, &message, env, opts);
    return (status == KEEL_OK) ? keel_config_check(&message, &opts->config, opts->spin_s) : status;
}

keel_status_t keel_config_read(const char *const *env, keel_config_t *config)
{
    keel_config_opts_t opts;
    keel_status_t status;

    status = keel_config_read_opts(env, &opts);
    if (status != KEEL_OK) {
        keel_config_table_release(&keel_config_table, &opts);
        return status;
    }
    if (opts.config.ckpt_size == KEEL_CONFIG_SIZE_INF) {
        opts.config.ckpt_size = 0;
    }
    if (opts.config.file_rate == KEEL_CONFIG_SIZE_INF) {
        opts.config.file_rate = 0;
    }
    keel_config_convert(&opts);
    *config = opts.config;
    return KEEL_OK;
}

void keel_config_release(keel_config_t *config)
{
    keel_free(config->rehearse);
    keel_free(config->file_dir);
    keel_free(config->trace_file);
    keel_free(config->stats_file);
    keel_free(config->parts);
    keel_free(config->tls_served);
    keel_free(config->interface);
    keel_free(config->verbs_device);
    keel_free(config->topo_level);
    keel_free(config->topo_file);
    keel_free(config->topo_machine);
    keel_free(config->topo_slurm);
    memset(config, 0, sizeof *config);
}

keel_status_t keel_config_print(FILE *stream, unsigned flags)
{
    const keel_message_t message = {.level = KEEL_MSG_WARN, .rank = KEEL_MESSAGE_NO_RANK};
    keel_config_opts_t opts;
    keel_status_t status;

    keel_config_warn_unknown(NULL, &message);
    /* prints a message for each refused value, which is replaced by its default */
    status = keel_config_read_opts(NULL, &opts);
    if (status != KEEL_ERR_NO_MEMORY) {
        if (flags & KEEL_CONFIG_PRINT_DOCS) {
            fprintf(stream, "#\n# Keel configuration\n#\n\n");
        }
        keel_config_table_print(&keel_config_table, &opts, flags, stream);
    }
    keel_config_table_release(&keel_config_table, &opts);
    return status;
}
