/*
 * Numbers with units as people write them: 5%, 600s, 12h, 4g, 100Gbit/s. Single parser for the
 * KEEL_* variables and the tools. Each reader returns 0 unless the whole text is one finite number
 * in decimal notation, not negative.
 */
#ifndef KEEL_BASE_UNITS_H_
#define KEEL_BASE_UNITS_H_

#include <stddef.h>
#include <stdint.h>

/* meaning of a number without a unit, other than 0 */
typedef enum {
    KEEL_UNITS_NEEDED, /* an error */
    KEEL_UNITS_USUAL   /* seconds, or bytes */
} keel_units_bare_t;

int keel_units_read_count(const char *text, uint64_t *count_p);
int keel_units_read_number(const char *text, double *number_p);
/* "5%" or "0.05"; above 0, at most 1 */
int keel_units_read_share(const char *text, double *share_p);
/* ns, us, ms, s, m or min, h, d, y (365.25 d) */
int keel_units_read_time(const char *text, keel_units_bare_t bare, double *seconds_p);
/* b, k, m, g, t, also kb and kib: powers of 1024, in either case */
int keel_units_read_bytes(const char *text, keel_units_bare_t bare, double *bytes_p);
/*
 * Bytes per second. B is a byte, and b or bit is a bit, preceded by k, M, G, T (powers of 1000, in
 * either case) or Ki, Mi, Gi, Ti, and followed by "/s" or "ps": 12GB/s, 100Gb/s, 100gbit/s,
 * 100Gbps. Ambiguous text such as 12g is refused.
 */
int keel_units_read_rate(const char *text, double *rate_p);
void keel_units_write_bytes(double bytes, char *text, size_t max);  /* "1.5 GiB" */
void keel_units_write_time(double seconds, char *text, size_t max); /* "1.5 h" */

#endif
