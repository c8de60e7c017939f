/* Bridge, virtual devices and addresses through rtnetlink, without any other program. */
#include "netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define NETNS_BRIDGE  "keel0"
#define NETNS_NETWORK 0x0a4d0000u /* 10.77.0.0 */
#define NETNS_PREFIX  24
#define NETNS_MESSAGE 1024 /* bytes: far more than each request below */

typedef struct request {
    union {
        struct nlmsghdr header;
        char bytes[NETNS_MESSAGE];
    };
} request_t;

static void *request_extend(request_t *request, size_t bytes)
{
    void *place = request->bytes + NLMSG_ALIGN(request->header.nlmsg_len);

    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + (uint32_t)bytes;
    return place;
}

static void request_init(request_t *request, uint16_t type, uint16_t flags)
{
    memset(request, 0, sizeof *request);
    request->header.nlmsg_len = NLMSG_HDRLEN;
    request->header.nlmsg_type = type;
    request->header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
}

static void request_put(request_t *request, uint16_t type, const void *data, size_t length)
{
    struct rtattr *attribute = request_extend(request, RTA_LENGTH(length));

    attribute->rta_type = type;
    attribute->rta_len = (uint16_t)RTA_LENGTH(length);
    if (length != 0) {
        memcpy(RTA_DATA(attribute), data, length);
    }
}

static void request_put_string(request_t *request, uint16_t type, const char *text)
{
    request_put(request, type, text, strlen(text) + 1);
}

/* Begins a nested attribute: attributes until request_close() lie inside. */
static struct rtattr *request_open(request_t *request, uint16_t type)
{
    struct rtattr *nest = request_extend(request, RTA_LENGTH(0));

    nest->rta_type = type;
    return nest;
}

static void request_close(request_t *request, struct rtattr *nest)
{
    nest->rta_len = (uint16_t)(request->bytes + request->header.nlmsg_len - (char *)nest);
}

static int request_run(request_t *request, int fd)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[NETNS_MESSAGE];
    } answer;

    if (send(fd, request, request->header.nlmsg_len, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0) {
        return errno;
    }
    return answer.header.nlmsg_type == NLMSG_ERROR ? -answer.error.error : EPROTO;
}

/* Brings a device up, under @a bridge unless 0. */
static int netns_device_up(int fd, unsigned device, unsigned bridge)
{
    request_t request;
    struct ifinfomsg *link;

    if (device == 0) {
        return ENODEV;
    }
    request_init(&request, RTM_NEWLINK, 0);
    link = request_extend(&request, sizeof *link);
    link->ifi_index = (int)device;
    link->ifi_flags = link->ifi_change = IFF_UP;
    if (bridge != 0) {
        request_put(&request, IFLA_MASTER, &bridge, sizeof bridge);
    }
    return request_run(&request, fd);
}

static int netns_add_bridge(int fd)
{
    request_t request;
    struct rtattr *info;

    request_init(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    request_extend(&request, sizeof(struct ifinfomsg));
    request_put_string(&request, IFLA_IFNAME, NETNS_BRIDGE);
    info = request_open(&request, IFLA_LINKINFO);
    request_put_string(&request, IFLA_INFO_KIND, "bridge");
    request_close(&request, info);
    return request_run(&request, fd);
}

/* Adds a pair: @a name here, and its peer NETNS_DEVICE in the namespace of this process. */
static int netns_add_pair(int fd, const char *name)
{
    uint32_t pid = (uint32_t)getpid();
    request_t request;
    struct rtattr *info, *data, *peer;

    request_init(&request, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    request_extend(&request, sizeof(struct ifinfomsg));
    request_put_string(&request, IFLA_IFNAME, name);
    info = request_open(&request, IFLA_LINKINFO);
    request_put_string(&request, IFLA_INFO_KIND, "veth");
    data = request_open(&request, IFLA_INFO_DATA);
    peer = request_open(&request, VETH_INFO_PEER);
    request_extend(&request, sizeof(struct ifinfomsg));
    request_put_string(&request, IFLA_IFNAME, NETNS_DEVICE);
    request_put(&request, IFLA_NET_NS_PID, &pid, sizeof pid);
    request_close(&request, peer);
    request_close(&request, data);
    request_close(&request, info);
    return request_run(&request, fd);
}

static int netns_add_address(int fd, uint32_t node)
{
    uint32_t address = htonl(NETNS_NETWORK + node + 1);
    request_t request;
    struct ifaddrmsg *head;

    request_init(&request, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    head = request_extend(&request, sizeof *head);
    head->ifa_family = AF_INET;
    head->ifa_prefixlen = NETNS_PREFIX;
    head->ifa_index = if_nametoindex(NETNS_DEVICE);
    request_put(&request, IFA_LOCAL, &address, sizeof address);
    request_put(&request, IFA_ADDRESS, &address, sizeof address);
    return request_run(&request, fd);
}

static int netns_socket(void)
{
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/*
 * Mounts /sys anew: it shows the devices of the namespace in which it was mounted, and UCX looks
 * for devices there.
 */
static int netns_mount_sysfs(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) != 0) {
        return errno;
    }
    return 0;
}

int netns_make_bridge(void)
{
    int fd, error;

    if (unshare(CLONE_NEWNET) != 0) {
        return errno;
    }
    fd = netns_socket();
    if (fd < 0) {
        return errno;
    }
    error = netns_add_bridge(fd);
    if (error == 0) {
        error = netns_device_up(fd, if_nametoindex(NETNS_BRIDGE), 0);
    }
    close(fd);
    return error;
}

static void netns_name_outer(uint32_t node, char *name)
{
    snprintf(name, IFNAMSIZ, "node%u", node);
}

/*
 * Cuts the node off at the bridge: the node's device stays up, so processes started on the node
 * still reach each other by its address.
 */
void netns_cut(uint32_t node, int outer)
{
    const unsigned none = 0;
    char name[IFNAMSIZ];
    request_t request;

    netns_name_outer(node, name);
    request_init(&request, RTM_NEWLINK, 0);
    request_extend(&request, sizeof(struct ifinfomsg));
    request_put_string(&request, IFLA_IFNAME, name);
    request_put(&request, IFLA_MASTER, &none, sizeof none);
    request_run(&request, outer);
}

int netns_join_bridge(uint32_t node, int *outer_p)
{
    unsigned bridge = if_nametoindex(NETNS_BRIDGE);
    int outer = netns_socket(); /* stays in the bridge's namespace */
    int inner = -1, error;
    char name[IFNAMSIZ];
    request_t request;
    struct ifinfomsg *link;

    if (outer < 0 || unshare(CLONE_NEWNET) != 0) {
        error = errno;
        goto out;
    }
    inner = netns_socket();
    if (inner < 0) {
        error = errno;
        goto out;
    }
    netns_name_outer(node, name);
    error = netns_add_pair(outer, name);
    if (error != 0) {
        goto out;
    }
    /* by name, since its number in the other namespace is unknown here */
    request_init(&request, RTM_NEWLINK, 0);
    link = request_extend(&request, sizeof *link);
    link->ifi_flags = link->ifi_change = IFF_UP;
    request_put_string(&request, IFLA_IFNAME, name);
    request_put(&request, IFLA_MASTER, &bridge, sizeof bridge);
    error = request_run(&request, outer);
    if (error == 0) {
        error = netns_device_up(inner, if_nametoindex("lo"), 0);
    }
    if (error == 0) {
        error = netns_add_address(inner, node);
    }
    if (error == 0) {
        error = netns_device_up(inner, if_nametoindex(NETNS_DEVICE), 0);
    }
    if (error == 0) {
        error = netns_mount_sysfs();
    }
out:
    if (inner >= 0) {
        close(inner);
    }
    if (outer >= 0 && error != 0) {
        close(outer);
    }
    *outer_p = outer;
    return error;
}
