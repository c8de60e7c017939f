/* Configuration: the KEEL_* variables, read once in init. */
#ifndef KEEL_BASE_CONFIG_H_
#define KEEL_BASE_CONFIG_H_

#include "base/message.h"

#include <keel/def.h>
#include <keel/status.h>

#include <stdio.h>

#define KEEL_CONFIG_PARITIES_MAX 8u /* maximum of KEEL_PARITIES */

typedef enum {
    KEEL_PROTECT_NONE, /* plain one-sided communication, a death ends the job */
    KEEL_PROTECT_CKPT, /* checkpoints only: every death is a rollback */
    /* gets logged, to measure the cost: every death is a rollback as with checkpoints only */
    KEEL_PROTECT_GETS,
    /* puts logged; gets are not: a death is a rollback unless the dead rank issued no gets */
    KEEL_PROTECT_PUTS,
    KEEL_PROTECT_ALL,
    KEEL_PROTECT_LAST
} keel_protect_t;

/* What follows a death that nothing replaces. */
typedef enum {
    KEEL_SHRINK_NO,   /* the job ends */
    KEEL_SHRINK_LAST, /* the other ranks go on, when no spare is left */
    KEEL_SHRINK_NOW,  /* the other ranks go on at once */
    KEEL_SHRINK_NAMES
} keel_shrink_mode_t;

/* names of possible transports */
typedef enum { KEEL_TRANSPORT_AUTO, KEEL_TRANSPORT_UCP, KEEL_TRANSPORT_VERBS, KEEL_TRANSPORT_LAST } keel_transports_t;
typedef enum { KEEL_LANES_AUTO, KEEL_LANES_DIRECT, KEEL_LANES_SERVED, KEEL_LANES_LAST } keel_lanes_t;

typedef enum {
    KEEL_INTERVAL_OFF,    /* explicit checkpoints only */
    KEEL_INTERVAL_DALY,   /* from the measured cost and MTBF [F 6.1] */
    KEEL_INTERVAL_GSYNCS, /* after a number of safe gsyncs */
    KEEL_INTERVAL_TIME
} keel_interval_mode_t;

typedef struct keel_file_interval {
    double time_s;        /* least time between checkpoints in files; 0: each checkpoint */
    uint32_t checkpoints; /* one of so many checkpoints goes to files; 0: by time */
    int is_auto;          /* the number of checkpoints is chosen by measured costs */
} keel_file_interval_t;

typedef enum {
    KEEL_PARITY_ROTATE,    /* on all members of a group in turn */
    KEEL_PARITY_DEDICATED, /* on dedicated ranks [F 6] */
    KEEL_PARITY_LAST
} keel_parity_kind_t;

typedef enum {
    KEEL_TRANSFER_STREAM, /* few pieces in flight [F 6.2] */
    KEEL_TRANSFER_BULK,   /* many pieces in flight */
    KEEL_TRANSFER_LAST
} keel_transfer_t;

typedef struct keel_config {
    keel_lanes_t lanes;        /* KEEL_LANES=auto|direct|served */
    keel_protect_t protect;    /* KEEL_PROTECT=none|ckpt|gets|puts|all */
    keel_shrink_mode_t shrink; /* KEEL_SHRINK=no|last|now */
    size_t oplog_size;         /* KEEL_OPLOG_SIZE: put log and own get log of this process, bytes */
    int is_oplog_auto;         /* value auto: more for large checkpoints */
    /* KEEL_OPLOG_SOFT: percent of oplog_size and getlog_size before images are requested; 0:
     * never */
    unsigned oplog_soft;
    /* KEEL_GETLOG_SIZE: room for other ranks' records of gets from this process, bytes */
    size_t getlog_size;
    size_t ckpt_size;         /* KEEL_CKPT_SIZE: images and parity, bytes; 0: no limit */
    keel_transfer_t transfer; /* KEEL_CKPT_TRANSFER=stream|bulk */
    /* KEEL_GROUP_SIZE: ranks that share parity, at least 2; 0: no parity */
    unsigned group_size;
    /* KEEL_PARITIES: members of a group that may be lost at a time, 1 to 8 */
    unsigned parities;
    keel_parity_kind_t parity; /* KEEL_PARITY=rotate|dedicated */
    /* KEEL_CHECKSUM_RANKS: number of last ranks of the job, which hold parity; 0: none */
    unsigned checksum_ranks;
    int is_group_auto; /* value auto: a job with fewer ranks is one group */
    char *topo_level;  /* KEEL_TOPO_LEVEL=auto|none|a level's name */
    char *topo_file;   /* KEEL_TOPO_FILE: path of a topology file, or NULL */
    /* KEEL_TOPO_MACHINE: structure of a host (topo/machine.h), or NULL */
    char *topo_machine;
    /* KEEL_TOPO_SLURM: path of a file in Slurm's format, or NULL */
    char *topo_slurm;
    keel_interval_mode_t interval_mode; /* KEEL_CKPT_INTERVAL=off|daly|<n>gsyncs|<time> */
    double interval_value;              /* gsyncs or seconds */
    double mtbf_s;                      /* KEEL_MTBF: of the job, seconds */
    /* KEEL_HEARTBEAT_INTERVAL: interval of probes of the neighbour; 0: off */
    double heartbeat_interval_s;
    /* KEEL_HEARTBEAT_TIMEOUT: silence until a rank is suspected; 0: off */
    double heartbeat_timeout_s;
    /* KEEL_SPARES: number of last processes that wait to replace a dead rank */
    unsigned spares;
    /* KEEL_SPAWN: maximum number of replacements requested from the launcher (PMIx_Spawn) */
    unsigned spawns;
    unsigned spin_us;  /* KEEL_SPIN: service thread, microseconds */
    int is_auth_off;   /* KEEL_AUTH=off: messages from outside the job are not detected */
    int device_events; /* KEEL_DEVICE_EVENTS=y: report announcements of network devices */
    /* KEEL_VERBOSE=y: report death, view, rebuild and front with times on stderr */
    int verbose;
    int level; /* KEEL_LOG_LEVEL=error|warn|info|debug -> keel_message_level_t */
    /* keel_params_t: signal that the service thread does not block; 0: none */
    int signal;
    /* keel_params_t: callback of each wait; NULL: none */
    void (*progress)(void *arg);
    void *progress_arg;
    /* KEEL_FILE_INTERVAL: which checkpoints go to files */
    keel_file_interval_t file_interval;
    double file_mtbf_s;          /* KEEL_FILE_MTBF: between failures beyond parity, seconds */
    char *file_dir;              /* KEEL_FILE_DIR: folder of checkpoints in files, or NULL */
    unsigned file_keep;          /* KEEL_FILE_KEEP: complete sets of files that stay, at least 1 */
    size_t file_rate;            /* KEEL_FILE_RATE: bytes per second of a rank; 0: no limit */
    double file_stop_within_s;   /* KEEL_FILE_STOP_WITHIN: for the files of a stop; 0: no limit */
    char *trace_file;            /* KEEL_TRACE: file for the trace of the job, or NULL */
    char *stats_file;            /* KEEL_STATS: file for the statistics of the job, or NULL */
    unsigned trace_events;       /* KEEL_TRACE_EVENTS: events kept by a process */
    char *parts;                 /* KEEL_PARTS: folder of the launcher for areas, or NULL */
    char *rehearse;              /* KEEL_REHEARSE: directory, or NULL */
    char *tls_served;            /* KEEL_TLS_SERVED: UCX_TLS of the UCP context */
    char *interface;             /* KEEL_INTERFACE: of the network that joins the hosts, or NULL */
    keel_transports_t transport; /* KEEL_TRANSPORT=auto|ucp|verbs */
    char *verbs_device;          /* KEEL_VERBS_DEVICE: NAME[:PORT[:GID INDEX]], or NULL */
} keel_config_t;

/* @a env: "NAME=VALUE" strings that override the environment, or NULL. */
keel_status_t keel_config_read(const char *const *env, keel_config_t *config);
/* Warns of unknown KEEL_* variables in @a env and, once in the process, in the environment. One
 * process of a job calls this: all have the same variables. */
void keel_config_warn_unknown(const char *const *env, const keel_message_t *message);
void keel_config_release(keel_config_t *config);
/* For keel_info: prints the values, with the flags KEEL_CONFIG_PRINT_*. KEEL_ERR_INVALID_PARAM with
 * a message if a value is refused. */
keel_status_t keel_config_print(FILE *stream, unsigned flags);

#endif
