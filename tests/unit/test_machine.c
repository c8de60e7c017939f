/*
 * The inside of a host, on synthetic machines and on recorded ones: no particular hardware is
 * needed.
 */
#include "topo/machine.h"

#include "base/memory.h"
#include "topo/topology.h"

#include "unit.h"

#include <string.h>
#include <unistd.h>

static keel_machine_t *load(const char *what)
{
    keel_machine_t *machine;
    keel_tree_error_t error;

    ck_assert_msg(keel_machine_load(what, &machine, &error) == KEEL_OK, "%s", error.text);
    return machine;
}

/* Compares the names of the ranks' elements on a level. */
static void check_level(const keel_domains_t *domains, const char *name, const char *expected)
{
    char text[256] = "";

    for (uint32_t l = 0; l < domains->level_count; l++) {
        const keel_domain_level_t *level = &domains->levels[l];

        if (strcmp(level->name, name) == 0) {
            for (uint32_t r = 0; r < domains->ranks; r++) {
                sprintf(text + strlen(text), "%s%u:%s", (r > 0) ? " " : "", level->of_rank[r],
                        level->element_name[level->of_rank[r]]);
            }
        }
    }
    ck_assert_str_eq(text, expected);
}

START_TEST(ranks_of_a_node_are_dealt_to_its_cores_in_order)
{
    /* Three ranks on node 7, five on node 3: one more than the host has cores. */
    const uint32_t node[] = {7, 3, 7, 3, 3, 3, 7, 3};
    keel_machine_t *machine = load("pack:2 numa:1 core:2 pu:2");
    keel_domains_t domains;

    ck_assert_int_eq(keel_machine_levels(machine, 8, node, &domains), KEEL_OK);
    check_level(&domains, "package", "0:0 1:0 0:0 1:0 2:1 2:1 3:1 1:0");
    check_level(&domains, "numa", "0:0 1:0 0:0 1:0 2:1 2:1 3:1 1:0");
    keel_domains_release(&domains);
    keel_machine_release(machine);
}
END_TEST

START_TEST(parts_of_hosts_join_the_hierarchy_below_the_node)
{
    static const struct {
        const char *machine, *levels;
    } cases[] = {
        {"pack:2 numa:2 core:1 pu:1", "numa package node"},
        {"numa:2 pack:2 core:1 pu:1", "package numa node"},
        {"pack:2 core:2 pu:1", "package numa node"},
        {"pack:1 numa:4 core:1 pu:1", "numa package node"},
        {"core:4 pu:1", "numa package node"},
        {"pu:4", "numa package node"},
        {DATA "/two_packages.xml", "numa package node"},
        {DATA "/one_package.xml", "numa package node"},
    };
    const uint32_t node[] = {0, 0, 0, 0, 1, 1, 1, 1};
    const char *const host[] = {"a", "a", "a", "a", "b", "b", "b", "b"};
    keel_topology_params_t params = {.ranks = 8, .host = host};
    keel_domains_t inside, domains;
    keel_tree_error_t error;
    char levels[128];

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        keel_machine_t *machine = load(cases[i].machine);

        ck_assert_int_eq(keel_machine_levels(machine, 8, node, &inside), KEEL_OK);
        params.inside = &inside;
        ck_assert_int_eq(keel_topology_make(&params, &domains, &error), KEEL_OK);
        ck_assert_int_eq(keel_domains_check(&domains), KEEL_OK);
        levels[0] = '\0';
        for (uint32_t l = 0; l < domains.level_count; l++) {
            strcat(strcat(levels, (l > 0) ? " " : ""), domains.levels[l].name);
        }
        ck_assert_msg(strcmp(levels, cases[i].levels) == 0, "%s: %s", cases[i].machine, levels);
        keel_domains_release(&domains);
        keel_domains_release(&inside);
        keel_machine_release(machine);
    }
}
END_TEST

static void add_line(void *arg, const char *line)
{
    strcat(strcat(arg, line), "\n");
}

START_TEST(devices_are_listed_with_bridge_and_distance)
{
    keel_machine_t *machine = load(DATA "/two_packages.xml");
    char text[1024] = "";

    keel_machine_describe(machine, add_line, text);
    ck_assert_str_eq(text, "machine: 2 packages, 4 numa nodes, 8 cores\n"
                           "device ib0: pci 0000:81:00.0 below bridge 0000:80:02.0, package 1\n"
                           "device mlx5_0: pci 0000:81:00.0 below bridge 0000:80:02.0, package 1\n"
                           "distances of numa 0: 10 12 21 21\ndistances of numa 1: 12 10 21 21\n"
                           "distances of numa 2: 21 21 10 12\ndistances of numa 3: 21 21 12 10\n");
    keel_machine_release(machine);
}
END_TEST

START_TEST(what_is_no_machine_is_refused)
{
    static const char *const cases[] = {"", "nonsense", "/", "pack:x", "pack:2 core:", DATA "/rooms.topo", ":"};
    char path[] = "/tmp/keel_machine_XXXXXX";
    const char broken[] = "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\">";
    keel_machine_t *machine;
    keel_tree_error_t error;
    int fd = mkstemp(path);

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_msg(keel_machine_load(cases[i], &machine, &error) == KEEL_ERR_INVALID_PARAM, "%s", cases[i]);
        ck_assert_str_ne(error.text, "");
    }
    ck_assert_int_eq(write(fd, broken, sizeof(broken) - 1), sizeof(broken) - 1);
    close(fd);
    ck_assert_int_eq(keel_machine_load(path, &machine, &error), KEEL_ERR_INVALID_PARAM);
    unlink(path);
}
END_TEST

START_TEST(binding_is_known_of_this_machine_only)
{
    keel_machine_t *machine = load("pack:2 core:2 pu:1");
    keel_binding_t binding;

    ck_assert_int_eq(keel_machine_binding(machine, 0), KEEL_BINDING_UNKNOWN);
    keel_machine_release(machine);
    machine = load("this");
    binding = keel_machine_binding(machine, 0); /* the caller chooses the binding of this process */
    ck_assert(binding == KEEL_BINDING_NONE || binding == KEEL_BINDING_AS_ASSUMED || binding == KEEL_BINDING_ELSEWHERE);
    keel_machine_release(machine);
}
END_TEST

static int fail_at, live;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    return fail_at-- != 0;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    live++;
}

static void freed(void *arg, void *memory)
{
    live--;
}

START_TEST(each_failing_allocation_is_reported_and_leaks_nothing)
{
    const keel_memory_hook_t hook = {may_allocate, allocated, freed, NULL};
    const uint32_t node[] = {0, 0, 1, 1};
    keel_machine_t *machine = load("pack:2 core:1 pu:1");
    keel_domains_t domains;
    keel_status_t status;
    int i = 0;

    keel_memory_set_hook(&hook);
    do {
        fail_at = i++;
        status = keel_machine_levels(machine, 4, node, &domains);
        ck_assert(status == KEEL_OK || (status == KEEL_ERR_NO_MEMORY && live == 0));
    } while (status != KEEL_OK);
    ck_assert_int_gt(i, 15);
    keel_domains_release(&domains);
    ck_assert_int_eq(live, 0);
    keel_memory_set_hook(NULL);
    keel_machine_release(machine);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {ranks_of_a_node_are_dealt_to_its_cores_in_order,
                                  parts_of_hosts_join_the_hierarchy_below_the_node,
                                  devices_are_listed_with_bridge_and_distance,
                                  what_is_no_machine_is_refused,
                                  binding_is_known_of_this_machine_only,
                                  each_failing_allocation_is_reported_and_leaks_nothing,
                                  NULL};

    /* some plugins leak, and sanitizers blame Keel for the leaks */
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    return unit_run("machine", tests);
}
