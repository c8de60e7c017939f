#include "plan_layout.h"

#include "base/memory.h"
#include "topo/group.h"

#include <stdio.h>
#include <string.h>

/* ---- ranks on elements ---- */

/* The first rank on element e, or on a later element, of a level with count elements. */
static uint32_t keel_plan_first_rank(uint64_t ranks, uint32_t ranks_per_node, uint64_t nodes, uint64_t e,
                                     uint64_t count)
{
    /* node i is on element floor(i * count / nodes) */
    const uint64_t node = (e * nodes + count - 1) / count;
    uint64_t rank;

    if ((ranks_per_node > 0) || (ranks < nodes)) {
        rank = node * ((ranks_per_node > 0) ? ranks_per_node : 1);
    } else {
        rank = (node * ranks + nodes - 1) / nodes;
    }
    return (uint32_t)((rank < ranks) ? rank : ranks);
}

/* The first rank of each element by the domains; elements without ranks come last. */
static uint32_t keel_plan_start(const keel_plan_machine_t *machine, uint32_t level, uint64_t ranks,
                                uint32_t ranks_per_node, uint64_t e)
{
    const uint32_t *of_rank;
    uint32_t low = 0, high = (uint32_t)ranks, middle;

    if (machine->domains == NULL) {
        return keel_plan_first_rank(ranks, ranks_per_node, machine->levels[0].count, e, machine->levels[level].count);
    }
    of_rank = machine->domains->levels[level].of_rank; /* sorted */
    while (low < high) {
        middle = low + (high - low) / 2;
        if (of_rank[middle] < e) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int keel_plan_layout_elements(const keel_plan_machine_t *machine, uint32_t ranks_per_node,
                                     keel_plan_layout_t *layout)
{
    uint32_t j, e;

    for (j = 0; j < machine->level_count; j++) {
        layout->count[j] = (uint32_t)machine->levels[j].count;
        layout->start[j] = keel_alloc((layout->count[j] + 1) * sizeof **layout->start, "plan elements");
        if (layout->start[j] == NULL) {
            return -1;
        }
        for (e = 0; e <= layout->count[j]; e++) {
            layout->start[j][e] = keel_plan_start(machine, j, layout->ranks, ranks_per_node, e);
        }
        layout->start[j][e - 1] = layout->ranks;
    }
    return 0;
}

void keel_plan_most_ranks(const keel_plan_machine_t *machine, uint32_t ranks, uint32_t ranks_per_node, uint64_t *most)
{
    uint64_t e, first, next;
    uint32_t j;

    for (j = 0; j < machine->level_count; j++) {
        const uint64_t count = machine->levels[j].count;
        first = most[j] = 0;
        for (e = 1; e <= count; e++) {
            next = (e < count) ? keel_plan_start(machine, j, ranks, ranks_per_node, e) : ranks;
            most[j] = (next - first > most[j]) ? next - first : most[j];
            first = next;
        }
    }
}

static int keel_plan_check_nodes(const keel_plan_machine_t *machine, uint32_t ranks, uint32_t ranks_per_node,
                                 keel_plan_error_t *error)
{
    if ((machine->domains == NULL) && (ranks_per_node > 0) &&
        (ranks > (uint64_t)ranks_per_node * machine->levels[0].count)) {
        snprintf(error->text, sizeof error->text, "%u ranks at %u a node do not fit on the %llu nodes of %s", ranks,
                 ranks_per_node, (unsigned long long)machine->levels[0].count, machine->name);
        return -1;
    }
    return 0;
}

int keel_plan_use_elements(keel_plan_machine_t *machine, uint32_t ranks, uint32_t ranks_per_node,
                           keel_plan_error_t *error)
{
    uint64_t e, count, first, next;
    uint32_t j;

    memset(error, 0, sizeof *error);
    if (keel_plan_check_nodes(machine, ranks, ranks_per_node, error)) {
        return -1;
    }
    for (j = 0; j < machine->level_count; j++) {
        count = machine->levels[j].count;
        machine->levels[j].used = 0;
        for (e = 0; e < count; e++) {
            first = keel_plan_start(machine, j, ranks, ranks_per_node, e);
            next = (e + 1 < count) ? keel_plan_start(machine, j, ranks, ranks_per_node, e + 1) : ranks;
            machine->levels[j].used += (first < next);
        }
    }
    return 0;
}

/* ---- groups formed by the library ---- */

/* Makes domains of the elements with ranks, with consecutive numbers. */
static keel_status_t keel_plan_layout_domains(const keel_plan_layout_t *layout, keel_domains_t *domains)
{
    uint32_t j, element, rank;

    domains->ranks = layout->ranks;
    domains->levels = keel_alloc(layout->level_count * sizeof *domains->levels, "plan domains");
    if (domains->levels == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    domains->level_count = layout->level_count;
    for (j = 0; j < layout->level_count; j++) {
        keel_domain_level_t *level = &domains->levels[j];
        level->of_rank = keel_alloc(layout->ranks * sizeof *level->of_rank, "plan domains");
        if (level->of_rank == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        for (element = 0; element < layout->count[j]; element++) {
            for (rank = layout->start[j][element]; rank < layout->start[j][element + 1]; rank++) {
                level->of_rank[rank] = level->count;
            }
            level->count += (layout->start[j][element] < layout->start[j][element + 1]);
        }
    }
    return KEEL_OK;
}

static keel_status_t keel_plan_layout_keel(const keel_plan_layout_params_t *params, keel_plan_layout_t *layout)
{
    const keel_place_params_t demand = {
        .group_size = params->group_size, .parities = params->parities, .level = params->aware - 1};
    keel_domains_t domains = {0};
    keel_groups_t groups = {0};
    keel_status_t status;

    status = keel_plan_layout_domains(layout, &domains);
    if (status == KEEL_OK) {
        status = keel_groups_place(&domains, &demand, &groups, &layout->worst);
    }
    if (status == KEEL_OK) {
        memcpy(layout->group_of, groups.of_rank, layout->ranks * sizeof *layout->group_of);
        layout->group_count = groups.count;
        keel_groups_release(&groups);
    }
    keel_domains_release(&domains);
    return status;
}

void keel_plan_groups(uint64_t ranks, uint32_t group_size, uint32_t parities, uint64_t *groups_p, uint64_t *largest_p)
{
    const uint64_t enough = (ranks + group_size - 1) / group_size, most = ranks / (parities + 1);

    *groups_p = (enough <= most) ? enough : (most > 0) ? most : 1;
    *largest_p = (ranks + *groups_p - 1) / *groups_p;
}

/* ---- the other placements ---- */

static void keel_plan_layout_neighbours(const keel_plan_layout_params_t *params, keel_plan_layout_t *layout)
{
    uint32_t rank;

    layout->group_count = (layout->ranks + params->group_size - 1) / params->group_size;
    for (rank = 0; rank < layout->ranks; rank++) {
        layout->group_of[rank] = (uint32_t)((uint64_t)rank * layout->group_count / layout->ranks);
    }
}

/* Element i of a class puts its rank r into group r of the class. */
static int keel_plan_layout_aligned(const keel_plan_layout_params_t *params, keel_plan_layout_t *layout,
                                    keel_plan_error_t *error)
{
    const uint32_t elements = layout->count[params->aware - 1];
    const uint32_t each = layout->ranks / elements;
    uint32_t j, rank;

    for (j = 0; j < params->aware; j++) {
        if ((layout->count[j] % elements != 0) || (layout->ranks % layout->count[j] != 0)) {
            snprintf(
                error->text, sizeof error->text,
                "an aligned placement needs as many ranks and elements of finer levels on each of the %u elements; "
                "the ranks have to be a multiple of %u",
                elements, layout->count[0]);
            return -1;
        }
    }
    if (elements % params->group_size != 0) {
        snprintf(error->text, sizeof error->text,
                 "an aligned placement needs a group size that divides the %u elements of the level, not %u", elements,
                 params->group_size);
        return -1;
    }
    layout->group_count = layout->ranks / params->group_size;
    for (rank = 0; rank < layout->ranks; rank++) {
        layout->group_of[rank] = rank / each / params->group_size * each + rank % each;
    }
    layout->worst = 1;
    return 0;
}

/* ---- interface ---- */

static int keel_plan_layout_groups(const keel_plan_layout_params_t *params, keel_plan_layout_t *layout,
                                   keel_plan_error_t *error)
{
    keel_status_t status;

    if ((params->aware == 0) || (params->place == KEEL_PLAN_PLACE_NEIGHBOURS)) {
        keel_plan_layout_neighbours(params, layout);
        return 0;
    }
    if (params->place == KEEL_PLAN_PLACE_ALIGNED) {
        return keel_plan_layout_aligned(params, layout, error);
    }
    status = keel_plan_layout_keel(params, layout);
    if (status != KEEL_OK) {
        snprintf(error->text, sizeof error->text, "groups of %u with %u parities cannot be placed: %s",
                 params->group_size, params->parities, keel_status_string(status));
    }
    return (status == KEEL_OK) ? 0 : -1;
}

int keel_plan_layout_make(const keel_plan_machine_t *machine, const keel_plan_layout_params_t *params,
                          keel_plan_layout_t *layout, keel_plan_error_t *error)
{
    memset(layout, 0, sizeof *layout);
    memset(error, 0, sizeof *error);
    if ((params->group_size > params->ranks) || (params->parities >= params->group_size)) {
        snprintf(error->text, sizeof error->text, "groups of %u with %u parities cannot be formed of %u ranks",
                 params->group_size, params->parities, params->ranks);
        return -1;
    }
    if (keel_plan_check_nodes(machine, params->ranks, params->ranks_per_node, error)) {
        return -1;
    }
    layout->ranks = params->ranks;
    layout->parities = params->parities;
    layout->level_count = machine->level_count;
    layout->group_of = keel_alloc(params->ranks * sizeof *layout->group_of, "plan groups");
    if ((layout->group_of == NULL) || keel_plan_layout_elements(machine, params->ranks_per_node, layout)) {
        snprintf(error->text, sizeof error->text, "not enough memory for %u ranks", params->ranks);
        goto err_release;
    }
    if (keel_plan_layout_groups(params, layout, error)) {
        goto err_release;
    }
    return 0;

err_release:
    keel_plan_layout_release(layout);
    return -1;
}

void keel_plan_layout_release(keel_plan_layout_t *layout)
{
    uint32_t j;

    for (j = 0; j < layout->level_count; j++) {
        keel_free(layout->start[j]);
    }
    keel_free(layout->group_of);
    memset(layout, 0, sizeof *layout);
}
