/*
 * Announcements of network devices, with devices made of memory: the effects of each announcement.
 * Announcements by libibverbs itself are not tested, because such a test needs a device.
 */
#include "runtime/fabric.h"

#ifdef KEEL_HAVE_IBVERBS
#include "runtime/fabric_verbs.h"
#endif

#include "unit.h"

#include <string.h>

typedef struct fake {
    unsigned events;  /* events to come */
    unsigned devices; /* devices open now */
    keel_fabric_event_t event;
} fake_t;

static void *fake_open(void *arg)
{
    fake_t *fake = arg;

    fake->devices++;
    return fake;
}

static int fake_poll(void *devices, keel_fabric_event_t *event_p)
{
    fake_t *fake = devices;

    if (fake->events == 0) {
        return 0;
    }
    fake->events--;
    *event_p = fake->event;
    return 1;
}

static unsigned fake_ports(void *devices, keel_fabric_port_t *ports, unsigned max)
{
    ck_assert_uint_ge(max, 2);
    ports[0] = (keel_fabric_port_t){.device = "net_0",
                                    .port = 1,
                                    .is_active = 1,
                                    .link = "InfiniBand",
                                    .subnet = 0xfe80000000000000ull,
                                    .local_id = 7};
    ports[1] = (keel_fabric_port_t){.device = "net_0", .port = 2, .link = "Ethernet"};
    return 2;
}

static void fake_close(void *devices)
{
    ((fake_t *)devices)->devices--;
}

static void *fake_open_none(void *arg)
{
    return NULL;
}

static const keel_fabric_ops_t fake_ops = {fake_open, fake_poll, fake_ports, fake_close};

static char said[16384];

static void sink(void *arg, keel_message_level_t level, const char *line)
{
    strcat(strcat(strcat(said, (level == KEEL_MSG_WARN) ? "warn " : "info "), strchr(line, ':') + 2), "\n");
}

static const keel_message_t message = {.level = KEEL_MSG_INFO, .rank = 3, .sink = sink};

START_TEST(a_hosts_ports_are_said)
{
    fake_t fake = {0};
    keel_fabric_t *fabric = keel_fabric_watch(&fake_ops, &fake, &message);

    ck_assert_ptr_nonnull(fabric);
    ck_assert(strstr(said, "network device net_0 port 1: active, InfiniBand, subnet fe80000000000000, lid 7") != NULL);
    ck_assert(strstr(said, "network device net_0 port 2: not active, Ethernet, subnet 0000000000000000, lid 0") !=
              NULL);
    ck_assert_uint_eq(keel_fabric_poll(fabric), 0);
    keel_fabric_close(fabric);
    ck_assert_uint_eq(fake.devices, 0);
    said[0] = '\0';
}
END_TEST

START_TEST(bad_news_are_counted_and_said_with_their_port)
{
    fake_t fake = {.events = 1,
                   .event = {.device = "net_0", .port = 1, .what = "the link went down", .kind = KEEL_FABRIC_BROKEN}};
    keel_fabric_t *fabric = keel_fabric_watch(&fake_ops, &fake, &message);

    said[0] = '\0';
    ck_assert_uint_eq(keel_fabric_poll(fabric), 1);
    ck_assert(strstr(said, "warn ") != NULL);
    ck_assert(strstr(said, "net_0 port 1: the link went down: a failure may follow") != NULL);
    fake.events = 1;
    fake.event = (keel_fabric_event_t){.device = "net_0", .what = "something changed", .kind = KEEL_FABRIC_CHANGED};
    ck_assert_uint_eq(keel_fabric_poll(fabric), 2);
    ck_assert(strstr(said, "net_0: something changed\n") != NULL);
    fake.events = 1;
    fake.event.kind = KEEL_FABRIC_WELL;
    ck_assert_uint_eq(keel_fabric_poll(fabric), 2);
    keel_fabric_close(fabric);
    said[0] = '\0';
}
END_TEST

START_TEST(a_device_that_never_stops_is_counted_and_falls_silent)
{
    fake_t fake = {.events = UINT32_MAX,
                   .event = {.device = "net_0", .port = 1, .what = "the link went down", .kind = KEEL_FABRIC_BROKEN}};
    keel_fabric_t *fabric = keel_fabric_watch(&fake_ops, &fake, &message);
    uint64_t first, second;
    size_t length;

    first = keel_fabric_poll(fabric);
    length = strlen(said);
    second = keel_fabric_poll(fabric);
    ck_assert_uint_gt(first, 0);
    ck_assert_uint_gt(second, first);
    ck_assert_uint_eq(strlen(said), length);
    ck_assert(strstr(said, "later ones are counted, not reported") != NULL);
    keel_fabric_close(fabric);
    said[0] = '\0';
}
END_TEST

START_TEST(a_host_without_devices_is_not_watched)
{
    const keel_fabric_ops_t none = {fake_open_none, fake_poll, fake_ports, fake_close}, absent = {.open = NULL};

    ck_assert_ptr_null(keel_fabric_watch(&none, NULL, &message));
    ck_assert_ptr_null(keel_fabric_watch(&absent, NULL, &message));
    keel_fabric_close(NULL);
    /* the devices of this host, if any */
    keel_fabric_close(keel_fabric_watch(&keel_fabric_verbs_ops, NULL, &message));
    said[0] = '\0';
}
END_TEST

#ifdef KEEL_HAVE_IBVERBS
START_TEST(events_of_devices_and_ports_differ_from_others)
{
    keel_fabric_event_t event = {.port = 9};
    unsigned known = 0, type;

    for (type = 0; type <= IBV_EVENT_WQ_FATAL; type++) {
        known += keel_fabric_verbs_event((enum ibv_event_type)type, 1, &event);
    }
    ck_assert_uint_eq(known, 8);
    ck_assert_int_eq(keel_fabric_verbs_event(IBV_EVENT_DEVICE_FATAL, 5, &event), 1);
    /* an event of the whole device has no port */
    ck_assert(event.kind == KEEL_FABRIC_BROKEN && event.port == 0);
    ck_assert_int_eq(keel_fabric_verbs_event(IBV_EVENT_PORT_ERR, 2, &event), 1);
    ck_assert(event.kind == KEEL_FABRIC_BROKEN && event.port == 2);
    ck_assert_int_eq(keel_fabric_verbs_event(IBV_EVENT_PORT_ACTIVE, 2, &event), 1);
    ck_assert(event.kind == KEEL_FABRIC_WELL);
    ck_assert_int_eq(keel_fabric_verbs_event(IBV_EVENT_QP_FATAL, 1, &event), 0);
}
END_TEST
#endif

int main(void)
{
    const TTest *const tests[] = {a_hosts_ports_are_said,
                                  bad_news_are_counted_and_said_with_their_port,
                                  a_device_that_never_stops_is_counted_and_falls_silent,
                                  a_host_without_devices_is_not_watched,
#ifdef KEEL_HAVE_IBVERBS
                                  events_of_devices_and_ports_differ_from_others,
#endif
                                  NULL};

    return unit_run("fabric", tests);
}
