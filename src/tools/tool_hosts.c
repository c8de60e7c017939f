#include "tools/tool_hosts.h"

#include "base/memory.h"
#include "topo/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS_RANKS_MAX KEEL_HOSTLIST_NAMES_MAX
#define HOSTS_LINE_MAX  4096

void tool_hosts_release(tool_hosts_t *hosts)
{
    uint32_t r;

    for (r = 0; r < hosts->count; r++) {
        keel_free(hosts->host[r]);
    }
    keel_free(hosts->host);
    memset(hosts, 0, sizeof(*hosts));
}

static keel_status_t hosts_grow(tool_hosts_t *hosts)
{
    const uint32_t room = (hosts->room == 0) ? 64 : 2 * hosts->room;
    void *host = keel_realloc(hosts->host, room * sizeof(*hosts->host), "hosts");

    if (host == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    hosts->host = host;
    hosts->room = room;
    return KEEL_OK;
}

static keel_status_t hosts_add(void *arg, const char *name)
{
    tool_hosts_t *hosts = arg;
    keel_status_t status;
    uint32_t i;

    for (i = 0; i < hosts->each; i++) {
        const uint32_t rank = hosts->count;

        if (rank == HOSTS_RANKS_MAX) {
            return KEEL_ERR_BUDGET;
        }
        if ((rank == hosts->room) && ((status = hosts_grow(hosts)) != KEEL_OK)) {
            return status;
        }
        hosts->host[rank] = keel_alloc(strlen(name) + 1, "host name");
        if (hosts->host[rank] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        strcpy(hosts->host[rank], name);
        hosts->count++;
    }
    return KEEL_OK;
}

/* "HOSTS" or "HOSTS*RANKS", up to a hash sign */
static keel_status_t hosts_line(tool_hosts_t *hosts, char *line, const char **why_p)
{
    uint32_t left = HOSTS_RANKS_MAX;
    keel_status_t status;
    char *star, *end;
    unsigned long each;

    *why_p = NULL;
    line[strcspn(line, "#\r\n")] = '\0';
    star = strchr(line, '*');
    hosts->each = 1;
    if (star != NULL) {
        each = strtoul(star + 1, &end, 10);
        end += strspn(end, " \t");
        if ((star[1] < '0') || (star[1] > '9') || (*end != '\0') || (each == 0) || (each > HOSTS_RANKS_MAX)) {
            *why_p = "after * stands the number of ranks a host";
            return KEEL_ERR_INVALID_PARAM;
        }
        hosts->each = (uint32_t)each;
        *star = '\0';
    }
    status = keel_hostlist_walk(line, hosts_add, hosts, &left, why_p);
    if (status == KEEL_ERR_BUDGET) {
        *why_p = "too many ranks";
    }
    return status;
}

keel_status_t tool_hosts_read(const char *program, const char *path, tool_hosts_t *hosts)
{
    keel_status_t status = KEEL_OK;
    char line[HOSTS_LINE_MAX];
    const char *why = NULL;
    unsigned number = 0;
    FILE *stream;

    memset(hosts, 0, sizeof(*hosts));
    stream = fopen(path, "r");
    if (stream == NULL) {
        fprintf(stderr, "%s: cannot read %s: %s\n", program, path, strerror(errno));
        return KEEL_ERR_IO;
    }
    while ((status == KEEL_OK) && (fgets(line, sizeof(line), stream) != NULL)) {
        number++;
        if ((strchr(line, '\n') == NULL) && !feof(stream)) {
            why = "the line is too long";
            status = KEEL_ERR_INVALID_PARAM;
        } else {
            status = hosts_line(hosts, line, &why);
        }
    }
    if ((status == KEEL_OK) && ferror(stream)) {
        fprintf(stderr, "%s: cannot read %s: %s\n", program, path, strerror(errno));
        status = KEEL_ERR_IO;
    } else if (why != NULL) {
        fprintf(stderr, "%s: %s:%u: %s\n", program, path, number, why);
    } else if (status != KEEL_OK) {
        fprintf(stderr, "%s: %s\n", program, keel_status_string(status));
    } else if (hosts->count == 0) {
        fprintf(stderr, "%s: %s names no hosts\n", program, path);
        status = KEEL_ERR_INVALID_PARAM;
    }
    fclose(stream);
    return status;
}
