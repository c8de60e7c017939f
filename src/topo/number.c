/* Numbers the elements of a topology file: the hierarchy over hosts, with names. */
#include "topo/number.h"
#include "topo/resolve.h"

#include "base/memory.h"

#include <string.h>

/* does any remaining level define the place of the host? */
static int keel_resolve_is_known(const keel_resolve_t *resolve, uint32_t host)
{
    uint32_t level;

    for (level = 0; level < resolve->tree->level_count; level++) {
        if (!resolve->is_left_out[level] && (keel_resolve_at(resolve, level, host) != KEEL_NOWHERE)) {
            return 1;
        }
    }
    return 0;
}

/* key of a host on a level: its element, or the host itself, or the set of unknown hosts */
static uint32_t keel_resolve_key(const keel_resolve_t *resolve, uint32_t level, uint32_t host)
{
    const uint32_t elements = resolve->tree->element_count, count = resolve->hosts->count;
    const uint32_t own = keel_resolve_at(resolve, level, host);

    if (own != KEEL_NOWHERE) {
        return own;
    }
    return keel_resolve_is_known(resolve, host) ? elements + host : elements + count;
}

static const char *keel_resolve_key_name(const keel_resolve_t *resolve, uint32_t key)
{
    const uint32_t elements = resolve->tree->element_count, count = resolve->hosts->count;

    if (key < elements) {
        return resolve->tree->elements[key].name;
    }
    return (key < elements + count) ? resolve->hosts->name[key - elements] : "?";
}

static char *keel_resolve_copy(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = keel_alloc(bytes, "name");

    return (copy == NULL) ? NULL : memcpy(copy, text, bytes);
}

/* @a number has room for every key */
static keel_status_t keel_resolve_level(const keel_resolve_t *resolve, uint32_t l, uint32_t *number,
                                        keel_domain_level_t *level)
{
    const uint32_t count = resolve->hosts->count;
    uint32_t h;

    level->name = keel_resolve_copy(resolve->tree->level_names[l]);
    level->of_rank = keel_alloc(count * sizeof(*level->of_rank), "element of host");
    level->element_name = keel_alloc(count * sizeof(*level->element_name), "names of elements");
    if ((level->name == NULL) || (level->of_rank == NULL) || (level->element_name == NULL)) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(number, 0xff, ((size_t)resolve->tree->element_count + count + 1) * sizeof(*number));
    for (h = 0; h < count; h++) {
        const uint32_t key = keel_resolve_key(resolve, l, h);

        if (number[key] == UINT32_MAX) {
            level->element_name[level->count] = keel_resolve_copy(keel_resolve_key_name(resolve, key));
            if (level->element_name[level->count] == NULL) {
                return KEEL_ERR_NO_MEMORY;
            }
            number[key] = level->count++;
        }
        level->of_rank[h] = number[key];
    }
    return KEEL_OK;
}

keel_status_t keel_resolve_number(const keel_resolve_t *resolve, keel_domains_t *domains)
{
    const uint32_t levels = resolve->tree->level_count, count = resolve->hosts->count;
    keel_status_t status = KEEL_OK;
    uint32_t *number, l;

    number = keel_alloc(((size_t)resolve->tree->element_count + count + 1) * sizeof(*number), "numbers of elements");
    domains->levels = keel_alloc(levels * sizeof(*domains->levels), "failure domains");
    if ((number == NULL) || (domains->levels == NULL)) {
        keel_free(number);
        return KEEL_ERR_NO_MEMORY;
    }
    for (l = 0; (l < levels) && (status == KEEL_OK); l++) {
        if (!resolve->is_left_out[l]) {
            status = keel_resolve_level(resolve, l, number, &domains->levels[domains->level_count++]);
        }
    }
    keel_free(number);
    /* other formats: nesting is checked when levels are joined */
    if ((status == KEEL_OK) && resolve->tree->is_strict) {
        status = keel_domains_check(domains);
        if (status == KEEL_ERR_INVALID_PARAM) {
            return keel_tree_refuse(resolve->error, 0, "an element lies in several elements of the level above it");
        }
    }
    return status;
}
