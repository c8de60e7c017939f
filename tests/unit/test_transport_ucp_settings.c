/*
 * The settings of Keel's UCP context under the names of several versions of UCX. This program has
 * its own ucp_config_*() and ucp_get_version(), which behave as the version under test.
 */
#include "transports/ucp/ucp_settings.h"

#include "base/message.h"
#include "unit.h"

#include <string.h>

enum { SET_MAX = 32, TEXT_MAX = 256 };

/* The UCX under test. */
static struct {
    unsigned major, minor;
    const char *listed;  /* output of ucp_config_print() */
    const char *refused; /* name of the refused setting */
    ucs_status_t refusal;
    char set[SET_MAX][64]; /* "NAME=VALUE" */
    unsigned count, open;
} ucx;

static char said[TEXT_MAX];

void ucp_get_version(unsigned *major_version, unsigned *minor_version, unsigned *release_number)
{
    *major_version = ucx.major;
    *minor_version = ucx.minor;
    *release_number = 1;
}

ucs_status_t ucp_config_read(const char *env_prefix, const char *filename, ucp_config_t **config_p)
{
    *config_p = (ucp_config_t *)&ucx;
    ucx.open++;
    return UCS_OK;
}

void ucp_config_release(ucp_config_t *config)
{
    ucx.open--;
}

void ucp_config_print(const ucp_config_t *config, FILE *stream, const char *title, ucs_config_print_flags_t print_flags)
{
    ck_assert_int_eq(print_flags, UCS_CONFIG_PRINT_CONFIG);
    fputs(ucx.listed, stream);
}

ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name, const char *value)
{
    if (ucx.refused != NULL && !strcmp(name, ucx.refused)) {
        return ucx.refusal;
    }
    ck_assert_uint_lt(ucx.count, SET_MAX);
    snprintf(ucx.set[ucx.count++], sizeof ucx.set[0], "%s=%s", name, value);
    return UCS_OK;
}

static void sink(void *arg, keel_message_level_t level, const char *line)
{
    snprintf(said, sizeof said, "%d %s", (int)level, line);
}

static void be(unsigned minor, const char *listed)
{
    memset(&ucx, 0, sizeof ucx);
    ucx.major = 1;
    ucx.minor = minor;
    ucx.listed = listed;
    said[0] = '\0';
}

static ucs_status_t read_at(const char *interface, const char *tls, size_t lockable)
{
    const keel_message_t message = {.level = KEEL_MSG_INFO, .rank = KEEL_MESSAGE_NO_RANK, .sink = sink};
    const keel_transport_params_t params = {.tls_served = tls, .message = &message};
    ucp_config_t *config = NULL;
    const ucs_status_t status = keel_ucp_settings_read(&params, interface, lockable, &config);

    ck_assert_int_eq(config != NULL, status == UCS_OK);
    ck_assert_uint_eq(ucx.open, status == UCS_OK);
    return status;
}

static ucs_status_t read_settings(const char *tls, size_t lockable)
{
    return read_at(NULL, tls, lockable);
}

static int is_set(const char *setting)
{
    unsigned i = 0;

    while (i < ucx.count && strcmp(ucx.set[i], setting) != 0) {
        i++;
    }
    return i < ucx.count;
}

/* Compares by name alone, so that a setting with a changed value is found, too. */
static int is_touched(const char *name)
{
    unsigned i = 0;

    while (i < ucx.count && (strncmp(ucx.set[i], name, strlen(name)) != 0 || ucx.set[i][strlen(name)] != '=')) {
        i++;
    }
    return i < ucx.count;
}

static const char old_list[] = "UCX_TLS=all\nUCX_PROTO_ENABLE=n\nUCX_KEEPALIVE_INTERVAL=20s\n";
static const char new_list[] = "UCX_TLS=all\nUCX_PROTO_ENABLE=y\nUCX_KEEPALIVE_INTERVAL=20s\nUCX_RCACHE_ENABLE=try\n";

START_TEST(a_transports_setting_has_no_prefix_before_1_17)
{
    unsigned minor;

    for (minor = 12; minor <= 16; minor++) {
        be(minor, old_list);
        ck_assert_int_eq(read_settings(NULL, SIZE_MAX), UCS_OK);
        ck_assert(is_set("TLS=tcp") && is_set("PROTO_ENABLE=n") && is_set("MAX_EAGER_RAILS=1"));
        ck_assert(is_set("TX_SEG_SIZE=64k") && is_set("CONN_NB=y"));
        ck_assert(!is_touched("TCP_TX_SEG_SIZE") && !is_touched("TCP_CONN_NB"));
        ck_assert(!is_touched("LOG_LEVEL")); /* the log level belongs to the process */
        ck_assert_str_eq(said, "");
    }
}
END_TEST

START_TEST(tcp_uses_the_interface_that_is_named)
{
    be(13, old_list);
    ck_assert_int_eq(read_settings(NULL, SIZE_MAX), UCS_OK);
    ck_assert(!is_touched("NET_DEVICES"));
    be(13, old_list);
    ck_assert_int_eq(read_at("eth7", NULL, SIZE_MAX), UCS_OK);
    ck_assert(is_set("NET_DEVICES=eth7"));
}
END_TEST

START_TEST(a_transports_setting_has_its_prefix_since_1_17)
{
    unsigned minor;

    for (minor = 17; minor <= 22; minor++) {
        be(minor, new_list);
        ck_assert_int_eq(read_settings("tcp", SIZE_MAX), UCS_OK);
        ck_assert(is_set("TCP_TX_SEG_SIZE=64k") && is_set("TCP_CONN_NB=y"));
        ck_assert(!is_touched("TX_SEG_SIZE") && !is_touched("CONN_NB"));
        ck_assert_str_eq(said, "");
    }
    be(0, new_list);
    ucx.major = 2;
    ck_assert_int_eq(read_settings("tcp", SIZE_MAX), UCS_OK);
    ck_assert(is_set("TCP_TX_SEG_SIZE=64k"));
}
END_TEST

START_TEST(a_setting_that_ucp_does_not_list_is_left_alone)
{
    be(30, "UCX_TLS=all\nUCX_KEEPALIVE_INTERVAL=20s\nUCX_OLD_PROTO_ENABLE=n\n");
    ck_assert_int_eq(read_settings(NULL, SIZE_MAX), UCS_OK);
    ck_assert(!is_touched("PROTO_ENABLE"));
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(registrations_are_not_cached_in_any_version)
{
    be(13, new_list); /* UCX 1.13 has both settings: its memory domains cache */
    ck_assert_int_eq(read_settings("rc_verbs,ud_verbs", SIZE_MAX), UCS_OK);
    ck_assert(is_set("REG_METHODS=direct") && !is_touched("RCACHE_ENABLE"));
    be(16, new_list);
    ck_assert_int_eq(read_settings("rc_verbs,ud_verbs", SIZE_MAX), UCS_OK);
    ck_assert(!is_touched("REG_METHODS") && is_set("RCACHE_ENABLE=n"));
    ck_assert(is_set("TLS=rc_verbs,ud_verbs") && is_set("RC_TIMEOUT=500ms") && is_set("KEEPALIVE_INTERVAL=inf"));
    ck_assert(!is_touched("RC_RX_QUEUE_LEN"));
    be(16, new_list);
    ck_assert_int_eq(read_settings("rc_verbs,ud_verbs", 16 << 20), UCS_OK);
    ck_assert(is_touched("RC_RX_QUEUE_LEN") && is_set("RC_TX_QUEUE_LEN=3"));
    be(16, new_list);
    ck_assert_int_eq(read_settings("tcp", 16 << 20), UCS_OK);
    ck_assert(!is_touched("RCACHE_ENABLE") && !is_touched("RC_TIMEOUT") && !is_touched("KEEPALIVE_INTERVAL"));
}
END_TEST

START_TEST(a_time_of_the_users_is_kept)
{
    setenv("UCX_RC_VERBS_TIMEOUT", "2s", 1);
    be(18, new_list);
    ck_assert_int_eq(read_settings("rc_verbs,ud_verbs", SIZE_MAX), UCS_OK);
    ck_assert(!is_touched("RC_TIMEOUT") && is_set("UD_TIMEOUT=300s"));
}
END_TEST

START_TEST(a_refused_setting_is_named)
{
    be(21, new_list);
    ucx.refused = "TCP_CONN_NB";
    ucx.refusal = UCS_ERR_INVALID_PARAM;
    ck_assert_int_eq(read_settings(NULL, SIZE_MAX), UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_nonnull(strstr(said, "UCX 1.21.1 refuses the setting TCP_CONN_NB=y: Invalid parameter"));
    ck_assert_int_eq(said[0] - '0', KEEL_MSG_ERROR);
}
END_TEST

/* A host without RDMA devices: UCX 1.21 knows none of their settings, and reports the error when
 * the context is made. */
START_TEST(a_refused_setting_of_a_missing_device_is_no_error)
{
    be(21, new_list);
    ucx.refused = "UD_TIMEOUT";
    ucx.refusal = UCS_ERR_INVALID_PARAM;
    ck_assert_int_eq(read_settings("rc_verbs,ud_verbs", SIZE_MAX), UCS_OK);
    ck_assert_ptr_nonnull(strstr(said, "refuses the setting UD_TIMEOUT=300s"));
    ck_assert_int_eq(said[0] - '0', KEEL_MSG_INFO);
    ck_assert(is_set("RC_RETRY_COUNT=6") && is_set("KEEPALIVE_INTERVAL=inf"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_transports_setting_has_no_prefix_before_1_17,
                                  tcp_uses_the_interface_that_is_named,
                                  a_transports_setting_has_its_prefix_since_1_17,
                                  a_setting_that_ucp_does_not_list_is_left_alone,
                                  registrations_are_not_cached_in_any_version,
                                  a_time_of_the_users_is_kept,
                                  a_refused_setting_is_named,
                                  a_refused_setting_of_a_missing_device_is_no_error,
                                  NULL};

    return unit_run("transport_ucp_settings", tests);
}
