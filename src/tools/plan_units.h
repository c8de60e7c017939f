/* Numbers with units as people write them: 5%, 600s, 12h, 4g, 100Gbit/s. Each returns 0 unless all of the text is one. */
#ifndef KEEL_TOOLS_PLAN_UNITS_H_
#define KEEL_TOOLS_PLAN_UNITS_H_

#include <stddef.h>
#include <stdint.h>

int keel_plan_read_count(const char *text, uint64_t *count_p);
int keel_plan_read_number(const char *text, double *number_p);  /* finite, not negative */
int keel_plan_read_share(const char *text, double *share_p);    /* "5%" or "0.05"; above 0, at most 1 */
int keel_plan_read_time(const char *text, double *seconds_p);   /* s, m, h, d, y; seconds without one; above 0 */
int keel_plan_read_bytes(const char *text, double *bytes_p);    /* k, m, g, t: powers of 1024; above 0 */
int keel_plan_read_bandwidth(const char *text, double *rate_p); /* bytes as above, "/s" allowed; or kbit/s to tbit/s */
void keel_plan_write_bytes(double bytes, char *text, size_t max);  /* "1.5 GiB" */
void keel_plan_write_time(double seconds, char *text, size_t max); /* "1.5 h" */

#endif
