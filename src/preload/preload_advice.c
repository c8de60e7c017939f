/* A log holds the records since the last checkpoint. Ranks are asked for checkpoints when the soft
 * share of the log is in use. */
#include "preload/preload_advice.h"

const int preload_intervals[PRELOAD_INTERVALS] = {10, 60, 600};

static preload_log_advice_t log_advice(double usual, double rate, double peak)
{
    preload_log_advice_t log;

    log.usual = usual;
    log.rate = rate;
    log.peak = peak;
    log.lasts = rate > 0 ? usual * PRELOAD_SOFT / rate : 0;
    return log;
}

preload_advice_t preload_advice(const preload_report_t *report)
{
    preload_advice_t advice;

    advice.oplog = log_advice(PRELOAD_OPLOG_USUAL, report->put_rate_most, (double)report->peak_most);
    advice.getlog = log_advice(PRELOAD_GETLOG_USUAL, report->get_rate_most, 0);
    return advice;
}

double preload_advice_size(const preload_log_advice_t *log, double interval)
{
    const double bytes = log->rate * interval;

    return (bytes > log->peak ? bytes : log->peak) / PRELOAD_SOFT;
}
