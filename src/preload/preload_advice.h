/* What the sizes of logs imply for the settings of Keel. */
#ifndef KEEL_PRELOAD_ADVICE_H_
#define KEEL_PRELOAD_ADVICE_H_

#include "preload/preload_report.h"

/* defaults of KEEL_OPLOG_SIZE, KEEL_GETLOG_SIZE and KEEL_OPLOG_SOFT */
#define PRELOAD_OPLOG_USUAL  ((double)(256u << 20))
#define PRELOAD_GETLOG_USUAL ((double)(16u << 20))
#define PRELOAD_SOFT         0.5

/* intervals between checkpoints, in seconds, for which a report gives the size of a log */
enum { PRELOAD_INTERVALS = 3 };
extern const int preload_intervals[PRELOAD_INTERVALS];

typedef struct preload_log_advice {
    double usual; /* bytes by default */
    double rate;  /* bytes a second, of the process with most */
    double peak;  /* bytes between two flushes: checkpoints cannot be nearer; 0: unknown */
    /* seconds until the default is half full, and ranks are asked for checkpoints; 0: no records */
    double lasts;
} preload_log_advice_t;

typedef struct preload_advice {
    preload_log_advice_t oplog, getlog;
} preload_advice_t;

/* of a report of one process, or of a sum */
preload_advice_t preload_advice(const preload_report_t *report);
/* bytes of log for checkpoints that are @a interval seconds apart */
double preload_advice_size(const preload_log_advice_t *log, double interval);

#endif
