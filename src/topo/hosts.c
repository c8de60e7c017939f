/* Table of hosts. */
#include "topo/hosts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int keel_names_compare(const void *left, const void *right)
{
    const keel_name_t *a = left, *b = right;
    const int order = strcmp(a->text, b->text);

    return (order != 0) ? order : (a->value > b->value) - (a->value < b->value);
}

void keel_names_sort(keel_name_t *names, uint32_t count)
{
    qsort(names, count, sizeof(*names), keel_names_compare);
}

const keel_name_t *keel_names_find(const keel_name_t *names, uint32_t count, const char *text)
{
    uint32_t low = 0, high = count;

    while (low < high) { /* finds the first entry not before @a text */
        const uint32_t middle = low + (high - low) / 2;

        if (strcmp(names[middle].text, text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return ((low < count) && (strcmp(names[low].text, text) == 0)) ? &names[low] : NULL;
}

/* numbers hosts by their first ranks; names are sorted by name and rank, names->value is the
 * rank */
static keel_status_t keel_hosts_number(keel_hosts_t *hosts, const keel_name_t *names)
{
    uint32_t r, first = 0;

    for (r = 0; r < hosts->ranks; r++) {
        first = ((r > 0) && (strcmp(names[r].text, names[r - 1].text) == 0)) ? first : names[r].value;
        hosts->of_rank[names[r].value] = first;
        hosts->count += (first == names[r].value);
    }
    hosts->name = keel_alloc(hosts->count * sizeof(*hosts->name), "host names");
    if (hosts->name == NULL) {
        hosts->count = 0;
        return KEEL_ERR_NO_MEMORY;
    }
    return KEEL_OK;
}

static keel_status_t keel_hosts_copy_names(keel_hosts_t *hosts, const char *const *host)
{
    uint32_t r, number = 0;

    for (r = 0; r < hosts->ranks; r++) {
        const size_t length = strlen(host[r]) + 1;

        if (hosts->of_rank[r] != r) {
            /* smaller ranks are numbered already */
            hosts->of_rank[r] = hosts->of_rank[hosts->of_rank[r]];
            continue;
        }
        hosts->of_rank[r] = number;
        hosts->name[number] = keel_alloc(length, "host name");
        if (hosts->name[number] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        memcpy(hosts->name[number++], host[r], length);
    }
    return KEEL_OK;
}

/* Sorts the names for lookup. A short name is dropped if another host has the same short or full
 * name. */
static keel_status_t keel_hosts_index(keel_hosts_t *hosts)
{
    size_t bytes = 0, used = 0;
    uint32_t h, kept = 0;

    for (h = 0; h < hosts->count; h++) {
        bytes += strcspn(hosts->name[h], ".") + 1;
    }
    hosts->shorts = keel_alloc(bytes, "short host names");
    hosts->names = keel_alloc(2 * (size_t)hosts->count * sizeof(*hosts->names), "sorted host names");
    if ((hosts->shorts == NULL) || (hosts->names == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (h = 0; h < hosts->count; h++) {
        const size_t length = strcspn(hosts->name[h], ".");

        hosts->names[hosts->name_count++] = (keel_name_t){.text = hosts->name[h], .value = h};
        if (hosts->name[h][length] == '.') {
            memcpy(hosts->shorts + used, hosts->name[h], length);
            hosts->names[hosts->name_count++] = (keel_name_t){.text = hosts->shorts + used, .value = h};
            used += length + 1;
        }
    }
    keel_names_sort(hosts->names, hosts->name_count);
    for (h = 0; h < hosts->name_count;) {
        const keel_name_t *whole = NULL;
        const uint32_t begin = h;

        for (; (h < hosts->name_count) && (strcmp(hosts->names[h].text, hosts->names[begin].text) == 0); h++) {
            whole = (hosts->names[h].text == hosts->name[hosts->names[h].value]) ? &hosts->names[h] : whole;
        }
        if ((whole != NULL) || (h - begin == 1)) {
            hosts->names[kept++] = (whole != NULL) ? *whole : hosts->names[begin];
        }
    }
    hosts->name_count = kept;
    return KEEL_OK;
}

keel_status_t keel_hosts_make(uint32_t ranks, const char *const *host, keel_hosts_t *hosts_p)
{
    keel_hosts_t hosts = {.ranks = ranks};
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    keel_name_t *names;
    uint32_t r;

    if (ranks == 0) {
        return KEEL_ERR_INVALID_PARAM;
    }
    names = keel_alloc(ranks * sizeof(*names), "ranks by host");
    hosts.of_rank = keel_alloc(ranks * sizeof(*hosts.of_rank), "host of rank");
    if ((names == NULL) || (hosts.of_rank == NULL)) {
        goto err_release;
    }
    for (r = 0; r < ranks; r++) {
        names[r] = (keel_name_t){.text = host[r], .value = r};
    }
    keel_names_sort(names, ranks);
    status = keel_hosts_number(&hosts, names);
    if (status == KEEL_OK) {
        status = keel_hosts_copy_names(&hosts, host);
    }
    if (status == KEEL_OK) {
        status = keel_hosts_index(&hosts);
    }
    if (status != KEEL_OK) {
        goto err_release;
    }
    keel_free(names);
    *hosts_p = hosts;
    return KEEL_OK;

err_release:
    keel_free(names);
    keel_hosts_release(&hosts);
    return status;
}

uint32_t keel_hosts_find(const keel_hosts_t *hosts, const char *name)
{
    const keel_name_t *found = keel_names_find(hosts->names, hosts->name_count, name);

    return (found != NULL) ? found->value : KEEL_HOST_NONE;
}

void keel_hosts_release(keel_hosts_t *hosts)
{
    uint32_t h;

    for (h = 0; h < hosts->count; h++) {
        keel_free(hosts->name[h]);
    }
    keel_free(hosts->name);
    keel_free(hosts->names);
    keel_free(hosts->shorts);
    keel_free(hosts->of_rank);
    memset(hosts, 0, sizeof(*hosts));
}
