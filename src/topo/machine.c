/* Reads a machine with hwloc. */
#include "topo/machine.h"

#include "base/memory.h"

#include <hwloc.h>

#include <stdio.h>
#include <string.h>

struct keel_machine {
    hwloc_topology_t topology;
    int cores; /* number of cores, or of processing units if there are no cores */
    hwloc_obj_type_t core_type;
    int is_this;
};

/* ---- loading ---- */

static int machine_is_synthetic(const char *what)
{
    return (strchr(what, ':') != NULL) && (strchr(what, '/') == NULL);
}

static keel_status_t machine_open(keel_machine_t *machine, const char *what, keel_tree_error_t *error)
{
    int rc = 0;

    machine->is_this = (strcmp(what, "this") == 0);
    if (machine_is_synthetic(what)) {
        rc = hwloc_topology_set_synthetic(machine->topology, what);
    } else if (!machine->is_this) {
        rc = hwloc_topology_set_xml(machine->topology, what);
    }
    if (rc != 0) {
        return keel_tree_refuse(error, 0, "'%.100s' is neither this, a synthetic machine, nor hwloc's XML", what);
    }
    hwloc_topology_set_io_types_filter(machine->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(machine->topology) != 0) {
        return keel_tree_refuse(error, 0, "hwloc cannot load '%.100s'", what);
    }
    machine->core_type = HWLOC_OBJ_CORE;
    machine->cores = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_CORE);
    if (machine->cores <= 0) {
        machine->core_type = HWLOC_OBJ_PU;
        machine->cores = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PU);
    }
    return (machine->cores > 0) ? KEEL_OK : keel_tree_refuse(error, 0, "'%.100s' has no cores", what);
}

keel_status_t keel_machine_load(const char *what, keel_machine_t **machine_p, keel_tree_error_t *error)
{
    keel_machine_t *machine = keel_alloc(sizeof(*machine), "machine");
    keel_status_t status;

    memset(error, 0, sizeof(*error));
    if (machine == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (hwloc_topology_init(&machine->topology) != 0) {
        keel_free(machine);
        return KEEL_ERR_NO_MEMORY;
    }
    status = machine_open(machine, what, error);
    if (status != KEEL_OK) {
        keel_machine_release(machine);
        return status;
    }
    *machine_p = machine;
    return KEEL_OK;
}

void keel_machine_release(keel_machine_t *machine)
{
    hwloc_topology_destroy(machine->topology);
    keel_free(machine);
}

/* ---- levels ---- */

static hwloc_obj_t machine_core(const keel_machine_t *machine, uint32_t local)
{
    return hwloc_get_obj_by_type(machine->topology, machine->core_type, local % (uint32_t)machine->cores);
}

/* hwloc's number of the package, or of the first NUMA node, of a core; 0 if the machine has none */
static uint32_t machine_package_of(const keel_machine_t *machine, uint32_t core)
{
    hwloc_obj_t package =
        hwloc_get_ancestor_obj_by_type(machine->topology, HWLOC_OBJ_PACKAGE, machine_core(machine, core));

    return (package == NULL) ? 0 : package->logical_index;
}

static uint32_t machine_numa_of(const keel_machine_t *machine, uint32_t core)
{
    const int first = hwloc_bitmap_first(machine_core(machine, core)->nodeset);
    hwloc_obj_t numa = (first < 0) ? NULL : hwloc_get_numanode_obj_by_os_index(machine->topology, (unsigned)first);

    return (numa == NULL) ? 0 : numa->logical_index;
}

/* @a local: for each rank, its number among the ranks of its node */
static keel_status_t machine_locals(uint32_t ranks, const keel_domain_level_t *nodes, uint32_t *local)
{
    uint32_t *count = keel_alloc(nodes->count * sizeof(*count), "ranks of nodes");
    uint32_t r;

    if (count == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (r = 0; r < ranks; r++) {
        local[r] = count[nodes->of_rank[r]]++;
    }
    keel_free(count);
    return KEEL_OK;
}

/* Element of a rank: its part of its node, numbered by first ranks. @a part: part of each core;
 * @a parts: number of parts of a machine. */
static keel_status_t machine_level(const char *name, uint32_t ranks, const keel_domain_level_t *nodes,
                                   const uint32_t *local, const uint32_t *part, uint32_t cores, uint32_t parts,
                                   keel_domain_level_t *level)
{
    uint32_t *number = keel_alloc((size_t)nodes->count * parts * sizeof(*number), "parts of nodes");
    uint32_t r;

    level->name = keel_alloc(strlen(name) + 1, "name of a level");
    level->of_rank = keel_alloc(ranks * sizeof(*level->of_rank), "part of rank");
    level->element_name = keel_alloc(ranks * sizeof(*level->element_name), "names of parts");
    if ((number == NULL) || (level->name == NULL) || (level->of_rank == NULL) || (level->element_name == NULL)) {
        goto err_free;
    }
    strcpy(level->name, name);
    for (r = 0; r < ranks; r++) {
        const uint32_t own = part[local[r] % cores];
        uint32_t *place = &number[(size_t)nodes->of_rank[r] * parts + own];

        if (*place == 0) {
            level->element_name[level->count] = keel_alloc(12, "name of a part");
            if (level->element_name[level->count] == NULL) {
                goto err_free;
            }
            snprintf(level->element_name[level->count], 12, "%u", own);
            *place = ++level->count;
        }
        level->of_rank[r] = *place - 1;
    }
    keel_free(number);
    return KEEL_OK;

err_free:
    keel_free(number); /* released with the hierarchy */
    return KEEL_ERR_NO_MEMORY;
}

keel_status_t keel_machine_levels(const keel_machine_t *machine, uint32_t ranks, const uint32_t *node,
                                  keel_domains_t *domains_p)
{
    const uint32_t cores = (uint32_t)machine->cores;
    uint32_t *local = keel_alloc(ranks * sizeof(*local), "place in node");
    uint32_t *part = keel_alloc(2 * (size_t)cores * sizeof(*part), "parts of cores");
    keel_domains_t nodes = {0}, domains = {.ranks = ranks};
    uint32_t c, numas = 1, packages = 1;
    keel_status_t status = KEEL_ERR_NO_MEMORY;

    domains.levels = keel_alloc(2 * sizeof(*domains.levels), "levels of a machine");
    if ((local == NULL) || (part == NULL) || (domains.levels == NULL)) {
        goto out;
    }
    status = keel_domains_of_nodes(ranks, node, &nodes);
    if (status == KEEL_OK) {
        status = machine_locals(ranks, nodes.levels, local);
    }
    if (status != KEEL_OK) {
        goto out;
    }
    for (c = 0; c < cores; c++) {
        part[c] = machine_numa_of(machine, c);
        part[cores + c] = machine_package_of(machine, c);
        numas = (part[c] >= numas) ? part[c] + 1 : numas;
        packages = (part[cores + c] >= packages) ? part[cores + c] + 1 : packages;
    }
    domains.level_count = 2;
    status = machine_level("package", ranks, nodes.levels, local, part + cores, cores, packages, &domains.levels[0]);
    if (status == KEEL_OK) {
        status = machine_level("numa", ranks, nodes.levels, local, part, cores, numas, &domains.levels[1]);
    }
out:
    keel_domains_release(&nodes);
    keel_free(part);
    keel_free(local);
    if (status != KEEL_OK) {
        keel_domains_release(&domains);
        return status;
    }
    *domains_p = domains;
    return KEEL_OK;
}

/* ---- binding ---- */

keel_binding_t keel_machine_binding(const keel_machine_t *machine, uint32_t local)
{
    hwloc_obj_t core = machine_core(machine, local), package;
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();
    keel_binding_t binding = KEEL_BINDING_UNKNOWN;

    if ((bound != NULL) && machine->is_this &&
        (hwloc_get_cpubind(machine->topology, bound, HWLOC_CPUBIND_PROCESS) == 0)) {
        package = hwloc_get_ancestor_obj_by_type(machine->topology, HWLOC_OBJ_PACKAGE, core);
        package = (package == NULL) ? hwloc_get_root_obj(machine->topology) : package;
        if (hwloc_bitmap_isincluded(hwloc_topology_get_topology_cpuset(machine->topology), bound)) {
            binding = KEEL_BINDING_NONE;
        } else {
            binding =
                hwloc_bitmap_isincluded(bound, package->cpuset) ? KEEL_BINDING_AS_ASSUMED : KEEL_BINDING_ELSEWHERE;
        }
    }
    hwloc_bitmap_free(bound);
    return binding;
}

/* ---- description ---- */

static void machine_describe_device(const keel_machine_t *machine, hwloc_obj_t device, keel_machine_line_cb_t line,
                                    void *arg)
{
    hwloc_obj_t pci = hwloc_get_ancestor_obj_by_type(machine->topology, HWLOC_OBJ_PCI_DEVICE, device);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(machine->topology, device);
    hwloc_obj_t bridge = (pci == NULL) ? NULL : pci->parent;
    hwloc_obj_t package = (near->type == HWLOC_OBJ_PACKAGE)
                              ? near
                              : hwloc_get_ancestor_obj_by_type(machine->topology, HWLOC_OBJ_PACKAGE, near);
    char text[256];
    size_t used;

    used = (size_t)snprintf(text, sizeof(text), "device %.40s:", device->name);
    if (pci != NULL) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, " pci %04x:%02x:%02x.%x", pci->attr->pcidev.domain,
                                 pci->attr->pcidev.bus, pci->attr->pcidev.dev, pci->attr->pcidev.func);
    }
    if ((bridge != NULL) && (bridge->type == HWLOC_OBJ_BRIDGE) &&
        (bridge->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, " below bridge %04x:%02x:%02x.%x",
                                 bridge->attr->bridge.upstream.pci.domain, bridge->attr->bridge.upstream.pci.bus,
                                 bridge->attr->bridge.upstream.pci.dev, bridge->attr->bridge.upstream.pci.func);
    }
    if (package != NULL) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, ", package %u", package->logical_index);
    }
    if ((near->nodeset != NULL) && (hwloc_bitmap_weight(near->nodeset) == 1)) {
        hwloc_obj_t numa =
            hwloc_get_numanode_obj_by_os_index(machine->topology, (unsigned)hwloc_bitmap_first(near->nodeset));

        if (numa != NULL) {
            snprintf(text + used, sizeof(text) - used, ", numa %u", numa->logical_index);
        }
    }
    line(arg, text);
}

static void machine_describe_distances(const keel_machine_t *machine, keel_machine_line_cb_t line, void *arg)
{
    struct hwloc_distances_s *distances;
    unsigned count = 1, i, j;

    if ((hwloc_distances_get_by_type(machine->topology, HWLOC_OBJ_NUMANODE, &count, &distances,
                                     HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0) ||
        (count == 0)) {
        return;
    }
    for (i = 0; i < distances->nbobjs; i++) {
        char text[256];
        size_t used = (size_t)snprintf(text, sizeof(text), "distances of numa %u:", distances->objs[i]->logical_index);

        for (j = 0; (j < distances->nbobjs) && (used + 22 < sizeof(text)); j++) {
            used += (size_t)snprintf(text + used, sizeof(text) - used, " %llu",
                                     (unsigned long long)distances->values[i * distances->nbobjs + j]);
        }
        line(arg, text);
    }
    hwloc_distances_release(machine->topology, distances);
}

void keel_machine_describe(const keel_machine_t *machine, keel_machine_line_cb_t line, void *arg)
{
    const int packages = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PACKAGE);
    const int numas = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_NUMANODE);
    hwloc_obj_t device = NULL;
    char text[128];

    snprintf(text, sizeof(text), "machine: %d package%s, %d numa node%s, %d core%s", packages,
             (packages == 1) ? "" : "s", numas, (numas == 1) ? "" : "s", machine->cores,
             (machine->cores == 1) ? "" : "s");
    line(arg, text);
    while ((device = hwloc_get_next_osdev(machine->topology, device)) != NULL) {
        if ((device->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) ||
            (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)) {
            machine_describe_device(machine, device, line, arg);
        }
    }
    machine_describe_distances(machine, line, arg);
}
